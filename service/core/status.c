/* SPDX-License-Identifier: Apache-2.0 */
#include "core/status.h"

#include "core/listing.h"
#include "json/writer.h"
#include "util/clock.h"

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

static void write_toolbox(const struct config *config, const struct toolbox *toolbox,
	struct runner *runner, struct buffer *out)
{
	const struct runner_statistics *statistics = runner_statistics(runner, toolbox);
	bool is_enabled = config_toolbox_is_enabled(config, toolbox->id);

	buffer_append_char(out, '{');
	json_write_member_text(out, "toolbox_id", toolbox->id);
	json_write_member_text(out, "kind", kind_facts(toolbox->package->kind)->name);
	json_write_member_text(out, "file", toolbox->package->file);
	json_write_member_text(out, "sandbox", sandbox_class_name(toolbox->package->sandbox.class));
	json_write_member_text(
		out, "state", is_enabled ? runner_state_name(runner_state(runner)) : "disabled");
	json_write_member_text(out, "why",
		is_enabled ? runner_reason(runner) : "not enabled in the configuration");
	write_number(out, "hosts", runner_n_hosts(runner));
	write_number(out, "calls", statistics->calls);
	write_number(out, "errors", statistics->errors);
	write_number(out, "queue", runner_n_waiting(runner));
	write_quantile_ms(out, "p50_ms", statistics, 0.5);
	write_quantile_ms(out, "p99_ms", statistics, 0.99);
	buffer_append_char(out, '}');
}

static void write_toolboxes(
	const struct offer *offer, const struct config *config, struct buffer *out)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < offer->n_runners; i++) {
		if (i > 0)
			buffer_append_char(out, ',');
		write_toolbox(config, catalogue_toolbox(offer->catalogue, i, NULL, NULL),
			offer->runners[i], out);
	}
	buffer_append_char(out, ']');
}

static void write_calls(const struct calls *calls, struct buffer *out)
{
	buffer_append_string(out, "{\"in_flight\":");
	json_write_u64(out, calls->n_in_flight);
	write_number(out, "held_bytes", calls->held_bytes);
	buffer_append_char(out, '}');
}

void status_write(const struct service *service, struct answer *answer)
{
	const struct catalogue *catalogue = service->offer.catalogue;
	char url[BUS_URL_BYTES];

	bus_address_format(bus_address(service->bus), url);
	answer_member_text(answer, "version", TOOLBOXD_VERSION);
	answer_member_number(answer, "uptime_s", (clock_now_ms() - service->started_ms) / MS_PER_S);
	answer_member_text(answer, "bus", url);
	answer_member_number(answer, "generation", catalogue_generation(catalogue));
	write_calls(&service->calls, answer_member(answer, "calls"));
	write_toolboxes(&service->offer, &service->config, answer_member(answer, "toolboxes"));
	listing_write_failed(catalogue, answer_member(answer, "failed"));
	listing_write_not_offered(catalogue, answer_member(answer, "not_offered"));
	reload_write_mistakes(&service->reload, answer);
}
