/* SPDX-License-Identifier: Apache-2.0 */
#include "core/metrics/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/digest.h"

/* The series of a tool that was called: its buckets, their sum and their count. Its codes come
 * later. */
#define TOOL_SERIES (METRICS_BOUNDS + 3)

/* The series that are always there: gauges, reloads, and everything of `other`. */
#define FIXED_SERIES (16 + TOOL_SERIES + ANSWER_CODES + 1 + RUNNER_STARTS)

#define MS 1000

const uint32_t metrics_bounds_us[METRICS_BOUNDS] = {MS / 10, MS / 4, MS / 2, MS, 5 * MS / 2, 5 * MS,
	10 * MS, 25 * MS, 50 * MS, 100 * MS, 250 * MS, 1000 * MS, 5000 * MS, 30000 * MS,
	120000 * MS};

static struct metrics_tool *make_tool(const char *toolbox, const char *tool)
{
	size_t at = strlen(toolbox) + 1;
	size_t size = at + strlen(tool) + 1;
	struct metrics_tool *made = calloc(1, sizeof(*made) + size);

	if (!made)
		return NULL;
	memcpy(made->names, toolbox, at);
	memcpy(made->names + at, tool, size - at);
	made->tool = made->names + at;
	return made;
}

static struct metrics_package *make_package(const char *id)
{
	struct metrics_package *made = calloc(1, sizeof(*made) + strlen(id) + 1);

	if (made)
		memcpy(made->id, id, strlen(id) + 1);
	return made;
}

static void append_tool(struct metrics *metrics, struct metrics_tool *tool)
{
	*metrics->tools_end = tool;
	metrics->tools_end = &tool->next;
}

int metrics_init(struct metrics *metrics)
{
	*metrics = (struct metrics){
		.other = make_tool("other", "other"),
		.other_package = make_package("other"),
		.n_series = FIXED_SERIES,
	};
	metrics->tools_end = &metrics->first_tool;
	if (!metrics->other || !metrics->other_package)
		return -ENOMEM;
	append_tool(metrics, metrics->other);
	metrics->packages = metrics->other_package;
	return 0;
}

void metrics_deinit(struct metrics *metrics)
{
	struct metrics_tool *next_tool;
	struct metrics_package *next_package;

	for (struct metrics_tool *tool = metrics->first_tool; tool; tool = next_tool) {
		next_tool = tool->next;
		free(tool);
	}
	for (struct metrics_package *package = metrics->packages; package; package = next_package) {
		next_package = package->next;
		free(package);
	}
	*metrics = (struct metrics){0};
}

/* Reserve @n series. Return whether there are so many left. */
static bool take_series(struct metrics *metrics, size_t n)
{
	if (METRICS_SERIES_MAX - metrics->n_series < n)
		return false;
	metrics->n_series += n;
	return true;
}

static struct metrics_tool **find_row(struct metrics *metrics, const char *name)
{
	uint64_t digest = DIGEST_SEED;

	for (; *name; name++)
		digest = (digest ^ (unsigned char)*name) * DIGEST_PRIME;
	return &metrics->rows[(digest ^ digest >> 32) % METRICS_ROWS];
}

/* Return the counters of @tool, or of `other`. */
static struct metrics_tool *find_tool(struct metrics *metrics, const struct tool *tool)
{
	const char *toolbox = tool ? tool->toolbox->id : "";
	const char *name = tool ? tool->name : "";
	struct metrics_tool **row = find_row(metrics, name);
	struct metrics_tool *found = *row;

	while (found && (strcmp(found->tool, name) != 0 || strcmp(found->names, toolbox) != 0))
		found = found->next_in_row;
	if (found || metrics->n_series + TOOL_SERIES > METRICS_SERIES_MAX)
		return found ? found : metrics->other;
	found = make_tool(toolbox, name);
	if (!found)
		return metrics->other;
	take_series(metrics, TOOL_SERIES);
	append_tool(metrics, found);
	found->next_in_row = *row;
	*row = found;
	return found;
}

/* Count one more in the counter of @code, or of `other` when no series is left. */
static void count_code(struct metrics *metrics, struct metrics_tool *tool, int code)
{
	uint64_t *count = code < 0 ? &tool->ok : &tool->codes[code];

	if (*count == 0 && tool != metrics->other && !take_series(metrics, 1))
		count_code(metrics, metrics->other, code);
	else
		++*count;
}

void metrics_count_refused(struct metrics *metrics, const struct tool *tool, enum answer_code code)
{
	count_code(metrics, find_tool(metrics, tool), (int)code);
}

void metrics_count_call(
	struct metrics *metrics, const struct tool *tool, uint64_t duration_us, int code)
{
	struct metrics_tool *found = find_tool(metrics, tool);
	size_t i = 0;

	while (i < METRICS_BOUNDS && duration_us > metrics_bounds_us[i])
		i++;
	found->durations.buckets[i]++;
	found->durations.sum_us += duration_us;
	count_code(metrics, found, code);
}

void metrics_count_start(
	struct metrics *metrics, const struct package *package, enum runner_start reason)
{
	struct metrics_package *found = metrics->packages;

	while (found && strcmp(found->id, package->id) != 0)
		found = found->next;
	if (!found && take_series(metrics, RUNNER_STARTS)) {
		found = make_package(package->id);
		if (found) {
			found->next = metrics->packages;
			metrics->packages = found;
		}
	}
	(found ? found : metrics->other_package)->starts[reason]++;
}
