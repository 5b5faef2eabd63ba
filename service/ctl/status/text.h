/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"

/* Members of a status, as people read them. */

/* Return the number at @token; 0 for another value. */
double status_number_at(const struct json_tape *tape, uint32_t token);

/* Return the number in the member @key of @object, as status_number_at() does. */
double status_number(const struct json_tape *tape, uint32_t object, const char *key);

/* Return whether @object has the member @key, and it is not null. */
bool status_has(const struct json_tape *tape, uint32_t object, const char *key);

/* Append @ms: "5.12 ms", "-" for none. */
void status_append_duration(struct buffer *out, double ms);

/* Append a time, in UTC as messages have it, as local time: 10:02:28 today, else 2026-11-22
 * 10:02. */
void status_append_time(struct buffer *out, const struct json_tape *tape, uint32_t token);

/* Return the style of the text of a toolbox's state (table_next_styled()); NULL for none. */
const char *status_style(const struct json_tape *tape, uint32_t toolbox);
