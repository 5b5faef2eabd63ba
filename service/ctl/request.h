/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"
#include "util/buffer.h"

/* The data of a request, written from its front. */

/* Open the object. */
void ctl_request_begin(struct buffer *data);

/* Append a member whose value is a text; nothing when @text is NULL. */
void ctl_request_member(struct buffer *data, const char *key, const char *text);

/* Append what names a tool: `name` and `toolbox_id` of NAME or TOOLBOX/NAME, and what --toolbox and
 * --profile say. 0, or CTL_USAGE, told, when @name and --toolbox name different toolboxes. */
int ctl_request_tool(struct buffer *data, const char *name, const struct ctl_options *options);

/* Close the object. */
void ctl_request_end(struct buffer *data);
