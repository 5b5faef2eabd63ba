/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/notification.h"

#include "json/writer.h"

void mcp_begin_notification(struct buffer *out, const char *method)
{
	buffer_append_string(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/");
	buffer_append_string(out, method);
	buffer_append_char(out, '"');
}

/* Find the next value to send for the reported @value. Return false when there is none. */
static bool advance(struct mcp_progress *progress, double value, bool has_text)
{
	bool is_known = value >= 0 && value <= 1;
	double next = is_known ? value : 0;

	if (progress->has_last && next <= progress->last) {
		if (!has_text && !(is_known && (value <= 0 || value >= 1)))
			return false;
		next = progress->last + MCP_PROGRESS_STEP;
	}
	if (next > 1 || (!is_known && !has_text))
		return false;
	*progress = (struct mcp_progress){next, true};
	return true;
}

bool mcp_write_progress(struct buffer *out, struct mcp_progress *progress, struct text_view token,
	double value, struct text_view text)
{
	if (!advance(progress, value, text.text && text.size > 0))
		return false;
	mcp_begin_notification(out, "progress");
	buffer_append_string(out, ",\"params\":{\"progressToken\":");
	buffer_append(out, token.text, token.size);
	buffer_append_string(out, ",\"progress\":");
	json_write_f64(out, progress->last);
	buffer_append_string(out, ",\"total\":1");
	if (text.text && text.size > 0) {
		buffer_append_string(out, ",\"message\":");
		json_write_bytes_lossy(out, text.text, text.size);
	}
	buffer_append_string(out, "}}");
	return true;
}

void mcp_write_subscription(struct buffer *out, struct text_view subscription)
{
	buffer_append_string(out, "\"io.modelcontextprotocol/subscriptionId\":");
	buffer_append(out, subscription.text, subscription.size);
}

void mcp_write_list_changed(struct buffer *out, struct text_view subscription)
{
	mcp_begin_notification(out, "tools/list_changed");
	if (subscription.text) {
		buffer_append_string(out, ",\"params\":{\"_meta\":{");
		mcp_write_subscription(out, subscription);
		buffer_append_string(out, "}}");
	}
	buffer_append_char(out, '}');
}

void mcp_write_acknowledged(struct buffer *out, struct text_view subscription,
	bool wants_tool_changes, const struct text_view *task_ids)
{
	mcp_begin_notification(out, "subscriptions/acknowledged");
	buffer_append_string(out, ",\"params\":{\"_meta\":{");
	mcp_write_subscription(out, subscription);
	buffer_printf(out, "},\"notifications\":{%s",
		wants_tool_changes ? "\"toolsListChanged\":true" : "");
	if (task_ids) {
		buffer_append_string(out, wants_tool_changes ? ",\"taskIds\":" : "\"taskIds\":");
		buffer_append(out, task_ids->text, task_ids->size);
	}
	buffer_append_string(out, "}}}");
}
