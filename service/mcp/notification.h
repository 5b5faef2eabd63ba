/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/buffer.h"
#include "util/text/text_view.h"

/* Notifications to a client. Each is one line of JSON. */

/* The progress of one call, as it was sent. Its values increase strictly, whatever the tool
 * reports. */
struct mcp_progress {
	double last;
	bool has_last;
};

/* The least step of progress, for a report without an increase of its own. */
#define MCP_PROGRESS_STEP 0x1p-20

/*
 * Append notifications/progress for the progressToken @token (JSON): the tool has reported @value
 * (from 0 to 1; any other, and NAN: unknown) and @text (absent: none). Return false, with nothing
 * appended, for a report without news, and after 1.
 */
bool mcp_write_progress(struct buffer *out, struct mcp_progress *progress, struct text_view token,
	double value, struct text_view text);

/* Append notifications/tools/list_changed; @subscription: the id of the subscriptions/listen, as
 * JSON, or absent (legacy). */
void mcp_write_list_changed(struct buffer *out, struct text_view subscription);

/* Append the first message of the subscriptions/listen with the id @subscription. @task_ids: the
 * watched tasks, as the JSON text of an array; NULL: it has asked for none. */
void mcp_write_acknowledged(struct buffer *out, struct text_view subscription,
	bool wants_tool_changes, const struct text_view *task_ids);

/* Begin the notification @method: the object is open after its method. */
void mcp_begin_notification(struct buffer *out, const char *method);

/* Append the member of `_meta` for the subscription. */
void mcp_write_subscription(struct buffer *out, struct text_view subscription);
