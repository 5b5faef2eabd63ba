/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* The topics of tools of kind bus (contract.md, Kind bus). Each @topic is NUL-terminated. */

/* Return whether @topic has the form of a topic (OVOS-MSG-1): letters, digits, '_' and '-' in
 * segments that '.' or ':' separates. */
bool bus_topics_is_valid(const char *topic);

/* Return whether @topic belongs to toolboxd: a tool with such a topic would call the service past
 * the limits of the caller. */
bool bus_topics_is_ours(const char *topic);

/* Return whether a message with @topic changes the machine, or makes others act as if a person had
 * asked: the risk of its tool is `execute`. */
bool bus_topics_is_dangerous(const char *topic);

/* Return whether the reply to @topic is @topic with ".response" at its end (OVOS-MSG-1 §5). */
bool bus_topics_has_response(const char *topic);
