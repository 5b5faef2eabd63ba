/* SPDX-License-Identifier: Apache-2.0 */
#include "core/listing/listing.h"

#include <string.h>

#include "catalogue/definition.h"
#include "catalogue/kind.h"
#include "catalogue/markdown.h"
#include "core/call/calls.h"
#include "core/request/request.h"
#include "core/request/answer.h"
#include "json/writer.h"

/* A run of tools in list order. */
struct run {
	size_t first;
	size_t n_tools;
};

/* Return the tools of the toolbox @id; all tools when it is NULL. */
static struct run run_of(const struct catalogue *catalogue, const char *id, size_t size)
{
	struct run run = {0, catalogue_n_tools(catalogue)};
	long index;

	if (!id)
		return run;
	index = catalogue_find_toolbox(catalogue, id, size);
	if (index < 0)
		return (struct run){0, 0};
	catalogue_toolbox(catalogue, (size_t)index, &run.first, &run.n_tools);
	return run;
}

/* Make room for the full definitions at once: a buffer that grows copies most of them again. */
static void reserve_definitions(
	const struct catalogue *catalogue, struct run run, struct buffer *out)
{
	size_t size = run.n_tools + 1; /* brackets and commas */

	for (size_t i = 0; i < run.n_tools; i++)
		size += catalogue_tool(catalogue, run.first + i)->definition_size;
	buffer_reserve(out, size);
}

/* Begin the next object of the array whose first element is at @start of @out. */
static void begin_entry(struct buffer *out, size_t start, const char *toolbox_id)
{
	buffer_append_string(out, out->size > start ? ",{" : "{");
	json_write_member_text(out, "toolbox_id", toolbox_id);
}

void listing_leave_out(
	const struct tool *tool, enum definition_format format, struct buffer *left_out)
{
	cleanup(buffer_deinit) struct buffer reason = {0};

	definition_write_reason(tool, format, &reason);
	begin_entry(left_out, 0, tool->toolbox->id);
	json_write_member_text(left_out, "name", tool->name);
	json_write_member_text(left_out, "why", buffer_terminate(&reason));
	buffer_append_char(left_out, '}');
}

static void write_run(const struct catalogue *catalogue, struct run run,
	enum definition_format format, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer left_out = {0};
	char name[MODEL_NAME_BYTES];
	const char *separator = "";

	if (format == DEFINITION_FULL)
		reserve_definitions(catalogue, run, out);
	buffer_append_char(out, '[');
	for (size_t i = run.first; i < run.first + run.n_tools; i++) {
		const struct tool *tool = catalogue_tool(catalogue, i);
		size_t start = out->size;

		buffer_append_string(out, separator);
		if (definition_write(tool, format,
			    format == DEFINITION_FULL ? NULL
						      : catalogue_model_name(catalogue, i, name),
			    out)) {
			separator = ",";
			continue;
		}
		out->size = start;
		listing_leave_out(tool, format, &left_out);
	}
	buffer_append_char(out, ']');
	if (left_out.size == 0)
		return;
	buffer_append_string(out, ",\"left_out\":[");
	buffer_append_buffer(out, &left_out);
	buffer_append_char(out, ']');
}

/* Write the tools below the headings of their toolboxes. */
static void write_text(const struct catalogue *catalogue, struct run run, struct buffer *out)
{
	const struct toolbox *toolbox = NULL;
	char name[MODEL_NAME_BYTES];

	for (size_t i = 0; i < run.n_tools; i++) {
		const struct tool *tool = catalogue_tool(catalogue, run.first + i);

		if (tool->toolbox != toolbox)
			markdown_write_toolbox(tool->toolbox, out);
		toolbox = tool->toolbox;
		markdown_write_tool(
			tool, catalogue_model_name(catalogue, run.first + i, name), out);
	}
}

void listing_write_markdown(
	const struct catalogue *catalogue, const char *toolbox_id, size_t size, struct buffer *out)
{
	write_text(catalogue, run_of(catalogue, toolbox_id, size), out);
}

void listing_write(const struct catalogue *catalogue, const char *toolbox_id, size_t size,
	enum definition_format format, struct buffer *out)
{
	struct run run = run_of(catalogue, toolbox_id, size);
	cleanup(buffer_deinit) struct buffer text = {0};

	if (format != DEFINITION_MARKDOWN) {
		write_run(catalogue, run, format, out);
		return;
	}
	write_text(catalogue, run, &text);
	json_write_buffer(out, &text);
}

const char *listing_member(enum definition_format format)
{
	return format == DEFINITION_MARKDOWN ? "text" : "tools";
}

/* Return whether @id is the toolbox that @wanted names; an absent one names all. */
static bool is_wanted(const struct text_view *wanted, const char *id)
{
	return !wanted->text || text_view_is(*wanted, id);
}

void listing_write_failed(
	const struct catalogue *catalogue, const struct text_view *toolbox_id, struct buffer *out)
{
	size_t start;

	buffer_append_char(out, '[');
	start = out->size;
	for (size_t i = 0; i < catalogue_n_failures(catalogue); i++) {
		const struct catalogue_failure *failure = catalogue_failure(catalogue, i);

		if (!is_wanted(toolbox_id, failure->toolbox_id))
			continue;
		begin_entry(out, start, failure->toolbox_id);
		json_write_member_text(out, "file", failure->file);
		json_write_member_text(out, "error", failure->error);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}

void listing_write_not_offered(
	const struct catalogue *catalogue, const struct text_view *toolbox_id, struct buffer *out)
{
	size_t start;

	buffer_append_char(out, '[');
	start = out->size;
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		if (!is_wanted(toolbox_id, skipped->toolbox_id))
			continue;
		begin_entry(out, start, skipped->toolbox_id);
		json_write_member_text(out, "name", skipped->name);
		json_write_member_text(out, "why", skipped->reason);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}

/* ── the topics ──────────────────────────────────────────────────────────────────────────────── */

/* Write the toolboxes of @view that are quarantined: their tools are listed, but refused. It costs
 * nothing for toolboxes that are hidden. */
static void write_quarantined(const struct catalogue *view, struct answer *answer)
{
	struct buffer *out = NULL;

	for (size_t i = 0; i < catalogue_n_toolboxes(view); i++) {
		const struct toolbox *toolbox = catalogue_toolbox(view, i, NULL, NULL);
		const struct runner *runner = toolbox->package->runner;

		if (!runner || runner_state(runner) != RUNNER_QUARANTINED)
			continue;
		if (out)
			buffer_append_char(out, ',');
		else
			buffer_append_char(out = answer_member(answer, "quarantined"), '[');
		json_write_text(out, toolbox->id);
	}
	if (out)
		buffer_append_char(out, ']');
}

/* Write the toolboxes of @view, with their descriptions. */
static void write_seen_toolboxes(const struct catalogue *view, struct buffer *out)
{
	size_t start;

	buffer_append_char(out, '[');
	start = out->size;
	for (size_t i = 0; i < catalogue_n_toolboxes(view); i++) {
		const struct toolbox *toolbox = catalogue_toolbox(view, i, NULL, NULL);

		begin_entry(out, start, toolbox->id);
		json_write_member_text(out, "description", toolbox->description);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}

void listing_list(const struct request_scope *scope, struct answer *answer)
{
	const struct request *request = &scope->request;
	const struct catalogue *catalogue = scope->view;

	write_quarantined(catalogue, answer);
	if (request->wants_toolboxes)
		write_seen_toolboxes(catalogue, answer_member(answer, "toolboxes"));
	listing_write(catalogue, request->toolbox_id.text, request->toolbox_id.size,
		request->format, answer_member(answer, listing_member(request->format)));
}

void listing_get(const struct offer *offer, const struct config *config,
	const struct request_scope *scope, struct answer *answer)
{
	bool last_wins = config->duplicate_names == CONFIG_DUPLICATES_LAST;
	const struct tool *tool;

	if (!request_find_tool(offer, scope->view, &scope->request, last_wins, answer, &tool))
		return;
	/* The definition is flat: its members, without its braces, are the answer's. */
	buffer_append(&answer->message, tool->definition + 1, tool->definition_size - 2);
	if (!scope->request.wants_deadline)
		return;
	answer_member_number(answer, "timeout_ms", call_timeout_ms(config, tool, 0));
	if (kind_facts(tool->toolbox->package->kind)->workers > 0)
		answer_member_number(answer, "start_timeout_ms",
			package_start_ms(tool->toolbox->package, config->start_timeout_ms));
}

/* The size of a context that is returned whole in any case, and of all contexts together. */
#define CONTEXT_BYTES  4096
#define CONTEXTS_BYTES (1u << 20)

/*
 * Return the part of the context that the responses to one discover return. All of these together
 * have at most twice the bytes of the request and a MiB, and with all definitions at most a frame
 * more than twice the request: a request of one frame must not make us send one for each toolbox.
 */
static enum bus_context_part find_part(
	const struct catalogue *catalogue, const struct bus_envelope *envelope, size_t frame_bytes)
{
	size_t n_toolboxes = catalogue_n_toolboxes(catalogue);
	size_t allowed = 2 * bus_context_size(envelope, BUS_CONTEXT_WHOLE);
	enum bus_context_part part = BUS_CONTEXT_WHOLE;
	size_t defined = 0;

	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++)
		defined += catalogue_tool(catalogue, i)->definition_size;
	if (defined < frame_bytes)
		allowed += frame_bytes - defined < CONTEXTS_BYTES ? frame_bytes - defined
								  : CONTEXTS_BYTES;
	if (allowed < n_toolboxes * CONTEXT_BYTES)
		allowed = n_toolboxes * CONTEXT_BYTES;
	while (part < BUS_CONTEXT_EMPTY && bus_context_size(envelope, part) * n_toolboxes > allowed)
		part++;
	return part;
}

void listing_discover(const struct catalogue *catalogue, const struct bus_envelope *envelope,
	size_t frame_bytes, struct bus *bus)
{
	enum bus_context_part part = find_part(catalogue, envelope, frame_bytes);

	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++) {
		struct run run;
		const struct toolbox *toolbox =
			catalogue_toolbox(catalogue, i, &run.first, &run.n_tools);
		struct answer answer;

		if (run.n_tools == 0)
			continue;
		answer_begin_part(&answer, envelope, part, bus_share(bus, envelope));
		answer_member_text(&answer, "toolbox_id", toolbox->id);
		answer_keep(&answer);
		write_run(catalogue, run, DEFINITION_FULL, answer_member(&answer, "tools"));
		answer_make_fit(&answer, frame_bytes, "get its tools one by one");
		answer_send(&answer, bus);
	}
}
