/* SPDX-License-Identifier: Apache-2.0 */
#include "core/status/detail.h"

#include <string.h>

#include "json/writer.h"
#include "util/clock.h"
#include "util/file/stamp.h"

static void write_quantile_ms(
	struct buffer *out, const char *key, const struct statistics *statistics, double quantile)
{
	uint64_t value_us = histogram_quantile(&statistics->durations_us, quantile);

	json_write_member(out, key);
	if (statistics->durations_us.count > 0)
		json_write_f64(out, (double)value_us / US_PER_MS);
	else
		buffer_append_string(out, "null");
}

void detail_write_quantiles(const struct statistics *statistics, struct buffer *out)
{
	write_quantile_ms(out, "p50_ms", statistics, 0.5);
	write_quantile_ms(out, "p99_ms", statistics, 0.99);
}

void detail_write_time(struct buffer *out, const char *key, int64_t at_ns)
{
	cleanup(buffer_deinit) struct buffer time = {0};

	stamp_write_time(&time, at_ns);
	json_write_member_text(out, key, buffer_terminate(&time) ? time.data : NULL);
}

static void write_last_failure(
	const struct statistics_failure *failure, bool has_texts, struct buffer *out)
{
	const char *text = failure->text;

	if (!failure->code) {
		buffer_append_string(out, "null}");
		return;
	}
	buffer_append_char(out, '{');
	json_write_member_text(out, "code", failure->code);
	buffer_append_string(out, ",\"why\":");
	if (has_texts && *text)
		json_write_bytes_lossy(out, text, strlen(text));
	else
		buffer_append_string(out, "null");
	detail_write_time(out, "time", failure->at_ns);
	buffer_append_string(out, "}}");
}

static void write_tool_detail(
	const struct tool *tool, const struct runner *runner, bool has_texts, struct buffer *out)
{
	static const struct statistics none;
	const struct statistics *found = runner_statistics(runner, tool);
	const struct statistics *statistics = found ? found : &none;

	buffer_append_char(out, '{');
	json_write_member_text(out, "name", tool->name);
	json_write_member_u64(out, "calls", statistics->calls);
	json_write_member_u64(out, "errors", statistics->errors);
	detail_write_quantiles(statistics, out);
	buffer_append_string(out, ",\"last_failure\":");
	write_last_failure(&statistics->last_failure, has_texts, out);
}

void detail_write_tools(const struct catalogue *view, size_t first, size_t n_tools,
	const struct runner *runner, bool has_texts, struct buffer *out)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < n_tools; i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		write_tool_detail(catalogue_tool(view, first + i), runner, has_texts, out);
	}
	buffer_append_char(out, ']');
}

void detail_write_output(const struct runner *runner, struct buffer *out)
{
	const struct output_tail *output = runner ? runner_output(runner) : NULL;
	const struct output_tail_line *line;

	buffer_append_char(out, '[');
	for (size_t i = 0; output && (line = output_tail_line(output, i)); i++) {
		buffer_append_string(out, i > 0 ? ",{" : "{");
		json_write_key(out, "line");
		json_write_bytes_lossy(out, line->text, line->size);
		detail_write_time(out, "time", line->at_ns);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}
