/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"
#include "util/buffer.h"

/* The data of a request: members of an object, without its braces. */

/* Append a member with the value @text, or nothing for NULL. */
void ctl_request_member(struct buffer *data, const char *key, const char *text);

/* Append a member with the value true. */
void ctl_request_flag(struct buffer *data, const char *key);

/* Append a member with the words of the command line after the command, with spaces between
 * them. */
void ctl_request_words(struct buffer *data, const char *key, const struct ctl_options *options);

/* Append the members for the name of a tool: `name` and `toolbox_id` from NAME or TOOLBOX/NAME,
 * --toolbox and --profile. Return 0, or CTL_USAGE after a complaint if @name and --toolbox name
 * different toolboxes. */
int ctl_request_tool(struct buffer *data, const char *name, const struct ctl_options *options);

/* Append the object with the members @data, which may be NULL. */
void ctl_request_object(struct buffer *out, const struct buffer *data);
