/* SPDX-License-Identifier: Apache-2.0 */
#include "core/metrics/exposition.h"

#include <stdio.h>
#include <string.h>

#include "core/metrics/metrics.h"
#include "core/state.h"
#include "json/writer.h"
#include "util/clock.h"

/* Write the lines that describe the family @name of the type @type. */
static void begin_family(struct buffer *out, const char *name, const char *type, const char *help)
{
	buffer_printf(out, "# TYPE %s %s\n", name, type);
	buffer_printf(out, "# HELP %s %s\n", name, help);
}

/* Write the lines that describe the counter @name, which ends in _total: in OpenMetrics its family
 * has the name without that. */
static void begin_counter(
	struct buffer *out, enum exposition_format format, const char *name, const char *help)
{
	char family[64];
	size_t size = strlen(name) - (format == EXPOSITION_OPENMETRICS ? strlen("_total") : 0);

	snprintf(family, sizeof(family), "%.*s", (int)size, name);
	begin_family(out, family, "counter", help);
}

static void write_label(struct buffer *out, const char *name, const char *value)
{
	buffer_append_string(out, name);
	buffer_append_string(out, "=\"");
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			buffer_append_char(out, '\\');
		if (*value == '\n')
			buffer_append_string(out, "\\n");
		else
			buffer_append_char(out, *value);
	}
	buffer_append_char(out, '"');
}

/* Write "NAME{toolbox="…",tool="…"", whose bracket is still open. */
static void begin_sample(struct buffer *out, const char *name, const struct metrics_tool *tool)
{
	buffer_append_string(out, name);
	buffer_append_char(out, '{');
	write_label(out, "toolbox", tool->names);
	buffer_append_char(out, ',');
	write_label(out, "tool", tool->tool);
}

static void write_count(struct buffer *out, uint64_t count)
{
	buffer_append_string(out, "} ");
	json_write_u64(out, count);
	buffer_append_char(out, '\n');
}

static void write_code(
	struct buffer *out, const struct metrics_tool *tool, const char *code, uint64_t count)
{
	if (count == 0)
		return;
	begin_sample(out, "toolboxd_calls_total", tool);
	buffer_append_char(out, ',');
	write_label(out, "code", code);
	write_count(out, count);
}

static void write_calls(
	const struct metrics *metrics, enum exposition_format format, struct buffer *out)
{
	begin_counter(out, format, "toolboxd_calls_total",
		"Calls that were answered, by code; ok for a result.");
	for (const struct metrics_tool *tool = metrics->first_tool; tool; tool = tool->next) {
		write_code(out, tool, "ok", tool->ok);
		for (int code = 0; code < ANSWER_CODES; code++)
			write_code(out, tool, answer_code_name((enum answer_code)code),
				tool->codes[code]);
	}
}

static void write_duration(struct buffer *out, const struct metrics_tool *tool)
{
	uint64_t count = 0;

	for (size_t i = 0; i <= METRICS_BOUNDS; i++) {
		count += tool->durations.buckets[i];
		begin_sample(out, "toolboxd_call_duration_seconds_bucket", tool);
		if (i < METRICS_BOUNDS)
			buffer_printf(
				out, ",le=\"%.10g\"", (double)metrics_bounds_us[i] / US_PER_S);
		else
			buffer_append_string(out, ",le=\"+Inf\"");
		write_count(out, count);
	}
	begin_sample(out, "toolboxd_call_duration_seconds_count", tool);
	write_count(out, count);
	begin_sample(out, "toolboxd_call_duration_seconds_sum", tool);
	buffer_printf(out, "} %.6f\n", (double)tool->durations.sum_us / US_PER_S);
}

static bool has_durations(const struct metrics_tool *tool)
{
	for (size_t i = 0; i <= METRICS_BOUNDS; i++)
		if (tool->durations.buckets[i] > 0)
			return true;
	return false;
}

static void write_durations(
	const struct metrics *metrics, enum exposition_format format, struct buffer *out)
{
	static const char name[] = "toolboxd_call_duration_seconds";

	if (format == EXPOSITION_OPENMETRICS)
		buffer_printf(out, "# UNIT %s seconds\n", name);
	begin_family(out, name, "histogram", "From the request to the answer, of calls that ran.");
	for (const struct metrics_tool *tool = metrics->first_tool; tool; tool = tool->next)
		if (has_durations(tool))
			write_duration(out, tool);
}

static void write_starts(
	const struct metrics *metrics, enum exposition_format format, struct buffer *out)
{
	begin_counter(out, format, "toolboxd_host_starts_total",
		"Host processes that were started, by reason.");
	for (const struct metrics_package *package = metrics->packages; package;
		package = package->next)
		for (int reason = 0; reason < RUNNER_STARTS; reason++) {
			if (package->starts[reason] == 0)
				continue;
			buffer_append_string(out, "toolboxd_host_starts_total{");
			write_label(out, "toolbox", package->id);
			buffer_append_char(out, ',');
			write_label(out, "reason", runner_start_name((enum runner_start)reason));
			write_count(out, package->starts[reason]);
		}
}

static void write_reloads(
	const struct reload *reload, enum exposition_format format, struct buffer *out)
{
	begin_counter(out, format, "toolboxd_reloads_total",
		"Reloads that are over, the first load among them.");
	for (int outcome = 0; outcome < RELOAD_OUTCOMES; outcome++) {
		buffer_append_string(out, "toolboxd_reloads_total{");
		write_label(out, "outcome", reload_outcome_name((enum reload_outcome)outcome));
		write_count(out, reload->outcomes[outcome]);
	}
}

static void write_gauge(struct buffer *out, const char *name, const char *help, uint64_t value)
{
	begin_family(out, name, "gauge", help);
	buffer_append_string(out, name);
	buffer_append_char(out, ' ');
	json_write_u64(out, value);
	buffer_append_char(out, '\n');
}

/* Return whether the runner of the toolbox at @index was met before: the toolboxes of a package
 * share it. */
static bool is_repeated(const struct offer *offer, size_t index)
{
	const struct package *package = runner_package(offer->runners[index]);

	for (size_t i = 0; package->n_toolboxes > 1 && i < index; i++)
		if (offer->runners[i] == offer->runners[index])
			return true;
	return false;
}

static void write_state(const struct service *service, struct buffer *out)
{
	const struct offer *offer = &service->offer;
	uint64_t n_hosts = 0;
	uint64_t n_waiting = 0;
	uint64_t n_guests;
	uint64_t n_texts;

	for (size_t i = 0; i < offer->n_runners; i++) {
		if (is_repeated(offer, i))
			continue;
		n_hosts += runner_n_hosts(offer->runners[i]);
		n_waiting += runner_n_waiting(offer->runners[i]);
	}
	for (size_t i = 0; i < offer->n_retired; i++) {
		n_hosts += runner_n_hosts(offer->retired[i]);
		n_waiting += runner_n_waiting(offer->retired[i]);
	}
	write_gauge(out, "toolboxd_hosts", "Host processes.", n_hosts);
	write_gauge(out, "toolboxd_queue", "Calls that wait for a host.", n_waiting);
	write_gauge(out, "toolboxd_tools", "Tools that are offered.",
		catalogue_n_tools(offer->catalogue));
	guests_count(&service->guests, &n_guests, &n_texts);
	write_gauge(out, "toolboxd_guests", "Guests with offered tools.", n_guests);
	write_gauge(out, "toolboxd_guests_waiting", "Registrations that wait for a load.", n_texts);
	write_gauge(out, "toolboxd_bus_connected", "1 while there is a bus, else 0.",
		bus_is_up(service->bus));
}

const char *exposition_type(enum exposition_format format)
{
	return format == EXPOSITION_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

void exposition_write(
	const struct service *service, enum exposition_format format, struct buffer *out)
{
	write_calls(&service->metrics, format, out);
	write_durations(&service->metrics, format, out);
	write_starts(&service->metrics, format, out);
	write_reloads(&service->reload, format, out);
	write_state(service, out);
	if (format == EXPOSITION_OPENMETRICS)
		buffer_append_string(out, "# EOF\n");
}
