/* SPDX-License-Identifier: Apache-2.0 */
#include "core/status.h"

#include <string.h>

#include "core/listing.h"
#include "json/writer.h"
#include "util/clock.h"
#include "util/stamp.h"

#define MS_PER_S  1000
#define US_PER_MS 1000.0

static void write_number(struct buffer *out, const char *key, uint64_t value)
{
	buffer_append_char(out, ',');
	json_write_key(out, key);
	json_write_u64(out, value);
}

static void write_quantile_ms(struct buffer *out, const char *key,
	const struct runner_statistics *statistics, double quantile)
{
	uint64_t value_us = histogram_quantile(&statistics->durations_us, quantile);

	buffer_append_char(out, ',');
	json_write_key(out, key);
	json_write_f64(out, (double)value_us / US_PER_MS);
}

static void write_time(struct buffer *out, const char *key, int64_t ns)
{
	json_write_key(out, key);
	buffer_append_char(out, '"');
	stamp_write_time(out, ns);
	buffer_append_char(out, '"');
}

/* Write why @toolbox serves an earlier version than its files have: @failure. */
static void write_last_good(
	const struct toolbox *toolbox, const struct catalogue_failure *failure, struct buffer *out)
{
	buffer_append_string(out, ",\"last_good\":{");
	write_time(out, "loaded", toolbox->package->loaded_ns);
	buffer_append_char(out, ',');
	write_time(out, "failed", failure->since_ns);
	json_write_member_text(out, "error", failure->error);
	buffer_append_char(out, '}');
}

/* Write the toolbox at @index of @view. */
static void write_toolbox(
	const struct offer *offer, const struct catalogue *view, size_t index, struct buffer *out)
{
	const struct toolbox *toolbox = catalogue_toolbox(view, index, NULL, NULL);
	const char *disabled = catalogue_disabled_by(view, index);
	const struct catalogue_failure *failure = catalogue_kept_for(view, index);
	struct runner *runner = offer_runner(offer, toolbox);
	const struct runner_statistics *statistics = runner_statistics(runner, toolbox);
	const char *why = disabled ? disabled : runner_reason(runner);

	buffer_append_char(out, '{');
	json_write_member_text(out, "toolbox_id", toolbox->id);
	json_write_member_text(out, "kind", kind_facts(toolbox->package->kind)->name);
	json_write_member_text(out, "file", toolbox->package->file);
	json_write_member_text(out, "sandbox", sandbox_class_name(toolbox->package->sandbox.class));
	json_write_member_text(
		out, "state", disabled ? "disabled" : runner_state_name(runner_state(runner)));
	json_write_member_text(out, "why", !why && failure ? failure->error : why);
	write_number(out, "hosts", runner_n_hosts(runner));
	write_number(out, "calls", statistics->calls);
	write_number(out, "errors", statistics->errors);
	write_number(out, "queue", runner_n_waiting(runner));
	write_quantile_ms(out, "p50_ms", statistics, 0.5);
	write_quantile_ms(out, "p99_ms", statistics, 0.99);
	if (failure)
		write_last_good(toolbox, failure, out);
	buffer_append_char(out, '}');
}

static void write_toolboxes(
	const struct offer *offer, const struct catalogue *view, struct buffer *out)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < catalogue_n_toolboxes(view); i++) {
		if (i > 0)
			buffer_append_char(out, ',');
		write_toolbox(offer, view, i, out);
	}
	buffer_append_char(out, ']');
}

/* Count the calls in flight of tools that @view has. */
static void count_calls(const struct calls *calls, const struct catalogue *view,
	size_t *ret_in_flight, size_t *ret_held_bytes)
{
	*ret_in_flight = *ret_held_bytes = 0;
	list_for_each(link, &calls->in_flight) {
		const struct call *call = container_of(link, struct call, link);
		const struct tool *found;

		if (catalogue_find(view, call->tool->name, strlen(call->tool->name),
			    call->tool->toolbox->id, strlen(call->tool->toolbox->id), false,
			    &found) != 0)
			continue;
		*ret_in_flight += 1;
		*ret_held_bytes += call->held_bytes;
	}
}

static void write_calls(const struct service *service, struct buffer *out)
{
	const struct calls *calls = &service->calls;
	size_t n_in_flight = calls->n_in_flight;
	size_t held_bytes = calls->held_bytes;

	if (service->scope.view != service->offer.catalogue)
		count_calls(calls, service->scope.view, &n_in_flight, &held_bytes);
	buffer_append_string(out, "{\"in_flight\":");
	json_write_u64(out, n_in_flight);
	write_number(out, "held_bytes", held_bytes);
	buffer_append_char(out, '}');
}

/* Write the folders of the files that toolboxctl keeps (config/remembered.h), low to high. */
static void write_folders(const struct text_list *folders, struct buffer *out)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < folders->n_items; i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		json_write_text(out, folders->items[i]);
	}
	buffer_append_char(out, ']');
}

void status_write(const struct service *service, struct answer *answer)
{
	const struct catalogue *view = service->scope.view;
	char url[BUS_URL_BYTES];

	bus_address_format(bus_address(service->bus), url);
	answer_member_text(answer, "version", TOOLBOXD_VERSION);
	answer_member_number(answer, "uptime_s", (clock_now_ms() - service->started_ms) / MS_PER_S);
	answer_member_text(answer, "bus", url);
	answer_member_number(answer, "generation", catalogue_generation(view));
	write_calls(service, answer_member(answer, "calls"));
	if (service->config.audit_file)
		recorder_write_status(&service->recorder, answer_member(answer, "audit"));
	approval_write_status(&service->approval, answer_member(answer, "approval"));
	write_toolboxes(&service->offer, view, answer_member(answer, "toolboxes"));
	listing_write_failed(view, answer_member(answer, "failed"));
	listing_write_not_offered(view, answer_member(answer, "not_offered"));
	write_folders(&service->config.folders, answer_member(answer, "folders"));
	reload_write_mistakes(&service->reload, view, answer);
}
