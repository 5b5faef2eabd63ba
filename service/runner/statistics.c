/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/statistics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/file/stamp.h"

int tool_statistics_init(struct tool_statistics *statistics, const struct package *package)
{
	statistics->by_tool = calloc(package->n_tools + 1, sizeof(*statistics->by_tool));
	if (!statistics->by_tool)
		return -ENOMEM;
	statistics->n_tools = (uint32_t)package->n_tools;
	return 0;
}

void tool_statistics_deinit(struct tool_statistics *statistics)
{
	for (uint32_t i = 0; i < statistics->n_tools; i++)
		free(statistics->by_tool[i]);
	free(statistics->by_tool);
	*statistics = (struct tool_statistics){0};
}

struct statistics *tool_statistics_make(struct tool_statistics *statistics, uint32_t tool)
{
	statistics->by_tool[tool] = calloc(1, sizeof(struct statistics));
	return statistics->by_tool[tool];
}

/* Return the most bytes of the UTF-8 @text, up to @size, that end with a whole character. */
static size_t cut_size(const char *text, size_t size)
{
	while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
		size--;
	return size;
}

void statistics_note_failure(
	struct statistics *statistics, const char *code, const char *text, size_t size)
{
	struct statistics_failure *failure = &statistics->last_failure;

	if (size >= sizeof(failure->text))
		size = cut_size(text, sizeof(failure->text) - 1);
	statistics->errors++;
	failure->code = code;
	failure->at_ns = stamp_now_ns();
	memcpy(failure->text, size > 0 ? text : "", size);
	failure->text[size] = '\0';
}

void statistics_add(struct statistics *sum, const struct statistics *part)
{
	if (!part)
		return;
	sum->calls += part->calls;
	sum->errors += part->errors;
	histogram_merge(&sum->durations_us, &part->durations_us);
	if (part->last_failure.code &&
		(!sum->last_failure.code || part->last_failure.at_ns > sum->last_failure.at_ns))
		sum->last_failure = part->last_failure;
}
