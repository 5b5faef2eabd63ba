/* SPDX-License-Identifier: Apache-2.0 */
#include "core/status/status.h"

#include <errno.h>
#include <string.h>

#include "core/listing/listing.h"
#include "core/status/detail.h"
#include "json/writer.h"
#include "loader/operator/fences.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/file/paths.h"

/* Calls in flight. */
struct call_counts {
	size_t in_flight;
	size_t held_bytes;
	size_t running;
	size_t waiting; /* for their turn */
};

/* Return whether @view has the tool of @call. */
static bool is_seen(const struct catalogue *view, const struct call *call)
{
	const struct tool *tool = call->tool;
	const struct tool *found;

	return catalogue_find(view, tool->name, strlen(tool->name), tool->toolbox->id,
		       strlen(tool->toolbox->id), false, &found) == 0;
}

/* Count the calls of tools that @view has, of the toolbox @id (NULL: of all). */
static struct call_counts count_calls(
	const struct calls *calls, const struct catalogue *view, const char *id)
{
	struct call_counts counts = {0};

	list_each(const struct call, call, &calls->in_flight, link) {
		bool is_waiting = !list_is_empty(&call->runner_call.link);

		if ((id && strcmp(call->tool->toolbox->id, id) != 0) || !is_seen(view, call))
			continue;
		counts.in_flight++;
		counts.held_bytes += call->held_bytes;
		if (call->runner_call.is_taken && is_waiting)
			counts.waiting++;
		else if (call->runner_call.is_taken)
			counts.running++;
	}
	return counts;
}

/* A toolbox of the view that a caller has, and what runs it. */
struct offered {
	const struct toolbox *toolbox;
	const struct runner *runner;             /* NULL: the toolbox is left out, so disabled */
	const char *disabled;                    /* why none of its tools is offered, or NULL */
	const struct catalogue_failure *failure; /* why it serves an earlier version, or NULL */
	size_t first;                            /* the run of its tools in the view */
	size_t n_tools;
};

/* Return whether the caller of the request sees every tool. */
static bool sees_all(const struct service *service)
{
	return offer_shows_all(&service->offer, service->scope.view);
}

static struct offered find_offered(const struct catalogue *view, size_t index)
{
	struct offered offered = {
		.disabled = catalogue_disabled_by(view, index),
		.failure = catalogue_kept_for(view, index),
	};

	offered.toolbox = catalogue_toolbox(view, index, &offered.first, &offered.n_tools);
	offered.runner = offered.toolbox->package->runner;
	return offered;
}

/* Write the members that describe what runs now, as far as the caller sees its tools. */
static void write_running(
	const struct service *service, const struct offered *offered, struct buffer *out)
{
	size_t running = offered->runner ? runner_n_running(offered->runner) : 0;
	size_t waiting = offered->runner ? runner_n_waiting(offered->runner) : 0;

	if (!sees_all(service)) {
		struct call_counts counts =
			count_calls(&service->calls, service->scope.view, offered->toolbox->id);

		running = counts.running;
		waiting = counts.waiting;
	}
	json_write_member_u64(out, "running", running);
	json_write_member_u64(out, "queue", waiting);
}

/* Write why @toolbox serves an earlier version than its files have: @failure. */
static void write_last_good(
	const struct toolbox *toolbox, const struct catalogue_failure *failure, struct buffer *out)
{
	buffer_append_string(out, ",\"last_good\":{");
	detail_write_time(out, "loaded", toolbox->package->loaded_ns);
	detail_write_time(out, "failed", failure->since_ns);
	json_write_member_text(out, "error", failure->error);
	buffer_append_char(out, '}');
}

static void write_toolbox(
	const struct service *service, const struct offered *offered, struct buffer *out)
{
	const struct catalogue *view = service->scope.view;
	const struct toolbox *toolbox = offered->toolbox;
	const struct runner *runner = offered->runner;
	const struct catalogue_failure *failure = offered->failure;
	const char *disabled = offered->disabled;
	const char *why = disabled ? disabled : runner_reason(runner);
	struct statistics sum = {0};

	for (size_t i = 0; i < offered->n_tools; i++)
		statistics_add(
			&sum, runner_statistics(runner, catalogue_tool(view, offered->first + i)));
	buffer_append_char(out, '{');
	json_write_member_text(out, "toolbox_id", toolbox->id);
	json_write_member_text(out, "kind", kind_facts(toolbox->package->kind)->name);
	if (toolbox->entry_point)
		json_write_member_text(out, "entry_point", toolbox->entry_point);
	if (toolbox->package->guest_source)
		json_write_member_text(out, "source", toolbox->package->guest_source);
	else
		json_write_member_text(out, "file", toolbox->package->file);
	json_write_member_text(out, "sandbox", package_sandbox_name(toolbox->package));
	json_write_member_text(
		out, "state", disabled ? "disabled" : runner_state_name(runner_state(runner)));
	json_write_member_text(out, "why", !why && failure ? failure->error : why);
	if (disabled)
		json_write_member_text(out, "since", NULL);
	else
		detail_write_time(out, "since", runner_state_since_ns(runner));
	json_write_member_u64(out, "tools", offered->n_tools);
	json_write_member_u64(out, "hosts", runner ? runner_n_hosts(runner) : 0);
	json_write_member_u64(out, "calls", sum.calls);
	json_write_member_u64(out, "errors", sum.errors);
	write_running(service, offered, out);
	detail_write_quantiles(&sum, out);
	if (failure)
		write_last_good(toolbox, failure, out);
	buffer_append_char(out, '}');
}

static void write_toolboxes(const struct service *service, struct buffer *out)
{
	const struct catalogue *view = service->scope.view;

	buffer_append_char(out, '[');
	for (size_t i = 0; i < catalogue_n_toolboxes(view); i++) {
		struct offered offered = find_offered(view, i);

		buffer_append_string(out, i > 0 ? "," : "");
		write_toolbox(service, &offered, out);
	}
	buffer_append_char(out, ']');
}

/* Write the toolbox @id, if the caller sees it, with the tools and the last lines of the hosts. */
static void write_detail(
	const struct service *service, const struct text_view *id, struct answer *answer)
{
	const struct catalogue *view = service->scope.view;
	bool has_texts = sees_all(service);
	long index = catalogue_find_toolbox(view, id->text, id->size);
	struct buffer *out = answer_member(answer, "toolboxes");
	struct offered offered;

	if (index < 0) {
		buffer_append_string(out, "[]");
		return;
	}
	offered = find_offered(view, (size_t)index);
	buffer_append_char(out, '[');
	write_toolbox(service, &offered, out);
	buffer_append_char(out, ']');
	detail_write_tools(view, offered.first, offered.n_tools, offered.runner, has_texts,
		answer_member(answer, "tools"));
	if (has_texts)
		detail_write_output(offered.runner, answer_member(answer, "output"));
}

/* Return whether a toolbox of @view, or the one with @id, has fences around its paths. */
static bool has_fences(const struct catalogue *view, const struct text_view *id)
{
	bool is_found = false;

	for (size_t i = 0; i < catalogue_n_toolboxes(view); i++) {
		const struct toolbox *toolbox = find_offered(view, i).toolbox;

		is_found |= toolbox->package->fences != 0 &&
			    (!id->text || text_view_is(*id, toolbox->id));
	}
	return is_found;
}

/* Write what stays hidden in the paths of toolboxes. */
static void write_hidden(
	const struct service *service, const struct text_view *id, struct answer *answer)
{
	cleanup(fences_deinit) struct fences fences = {0};

	if (sees_all(service) && has_fences(service->scope.view, id) &&
		fences_find(&service->config, &fences) == 0)
		json_write_texts(answer_member(answer, "hidden"), fences.hidden.items,
			fences.hidden.n_items);
}

static void write_calls(const struct service *service, struct buffer *out)
{
	const struct calls *calls = &service->calls;
	struct call_counts counts = {calls->n_in_flight, calls->held_bytes, 0, 0};

	if (!sees_all(service))
		counts = count_calls(calls, service->scope.view, NULL);
	buffer_append_string(out, "{\"in_flight\":");
	json_write_u64(out, counts.in_flight);
	json_write_member_u64(out, "held_bytes", counts.held_bytes);
	if (sees_all(service))
		json_write_member_u64(out, "checking", service->waiting.queues[WAITING_CHECK].n);
	buffer_append_char(out, '}');
}

static void write_state_folder(struct answer *answer)
{
	cleanup_free char *state = NULL;

	if (paths_state(&state) < 0)
		answer->message.error = -ENOMEM;
	else if (state)
		answer_member_text(answer, "state", state);
}

void status_write(const struct service *service, struct answer *answer)
{
	const struct catalogue *view = service->scope.view;
	const struct text_view *id = &service->scope.request.toolbox_id;
	char url[BUS_URL_BYTES];

	bus_address_format(bus_address(service->bus), url);
	answer_member_text(answer, "version", TOOLBOXD_VERSION);
	answer_member_number(answer, "uptime_s", (clock_now_ms() - service->started_ms) / MS_PER_S);
	answer_member_text(answer, "bus", url);
	answer_member_number(answer, "generation", catalogue_generation(view));
	write_calls(service, answer_member(answer, "calls"));
	if (service->config.audit_file)
		recorder_write_status(&service->recorder, answer_member(answer, "audit"));
	approval_write_status(
		&service->approval, sees_all(service), answer_member(answer, "approval"));
	listening_write_status(&service->listening, answer);
	other_services_write(&service->rivals, answer);
	if (id->text)
		write_detail(service, id, answer);
	else
		write_toolboxes(service, answer_member(answer, "toolboxes"));
	listing_write_failed(view, id, answer_member(answer, "failed"));
	listing_write_not_offered(view, id, answer_member(answer, "not_offered"));
	write_hidden(service, id, answer);
	/* The folders of the files that toolboxctl keeps (config/remembered.h), low to high. */
	json_write_texts(answer_member(answer, "folders"), service->config.folders.items,
		service->config.folders.n_items);
	write_state_folder(answer);
	reload_write_mistakes(&service->reload, view, answer);
}
