/* SPDX-License-Identifier: Apache-2.0 */

/*
 * tool_statistics: the figures of toolboxd itself, which come with the call (toolbox_given() in
 * toolbox.h). They are in the order of toolboxes, so the tools of each are together.
 */

#include <stdio.h>
#include <string.h>

#include "nearest.h"
#include "system.h"

struct figures {
	const char *toolbox_id;
	const char *name;
	uint64_t calls;
	uint64_t failures;
	bool has_times;
	double p50_ms;
	double p99_ms;
};

/* Write the pointer to the member @key of the tool at @index to @path, and return it. */
static const char *path_of(char path[64], uint32_t index, const char *key)
{
	snprintf(path, 64, "/tools/%u/%s", index, key);
	return path;
}

static void read_figures(struct toolbox_call given, uint32_t index, struct figures *ret_figures)
{
	struct figures figures = {.toolbox_id = "", .name = ""};
	char path[64];

	toolbox_get_string(given, path_of(path, index, "toolbox_id"), &figures.toolbox_id, NULL);
	toolbox_get_string(given, path_of(path, index, "name"), &figures.name, NULL);
	toolbox_get_u64(given, path_of(path, index, "calls"), &figures.calls);
	toolbox_get_u64(given, path_of(path, index, "errors"), &figures.failures);
	figures.has_times = toolbox_get_double(given, path_of(path, index, "p50_ms"),
				    &figures.p50_ms) == TOOLBOX_OK;
	toolbox_get_double(given, path_of(path, index, "p99_ms"), &figures.p99_ms);
	*ret_figures = figures;
}

static void put_counts(struct toolbox_call call, uint64_t calls, uint64_t failures)
{
	toolbox_put_u64(call, "calls", calls);
	toolbox_put_u64(call, "failures", failures);
}

static void put_tool(struct toolbox_call call, const struct figures *figures)
{
	toolbox_open_object(call, NULL);
	toolbox_put_string(call, "name", figures->name);
	put_counts(call, figures->calls, figures->failures);
	if (figures->has_times) {
		toolbox_put_double(call, "p50_ms", figures->p50_ms);
		toolbox_put_double(call, "p99_ms", figures->p99_ms);
	}
	toolbox_close(call);
}

/* Put the figures of the toolbox @wanted (NULL: of all), and their sums. Return whether there were
 * any. */
static bool put_toolboxes(struct toolbox_call call, const char *wanted, uint32_t n)
{
	struct figures sum = {.toolbox_id = ""};
	const char *last = NULL;

	toolbox_open_array(call, "toolboxes");
	for (uint32_t i = 0; i < n; i++) {
		struct figures figures;

		read_figures(toolbox_given(call), i, &figures);
		if (wanted && strcmp(figures.toolbox_id, wanted) != 0)
			continue;
		if (!last || strcmp(figures.toolbox_id, last) != 0) {
			if (last) {
				toolbox_close(call);
				toolbox_close(call);
			}
			toolbox_open_object(call, NULL);
			toolbox_put_string(call, "toolbox_id", figures.toolbox_id);
			toolbox_open_array(call, "tools");
			last = figures.toolbox_id;
		}
		put_tool(call, &figures);
		sum.calls += figures.calls;
		sum.failures += figures.failures;
	}
	if (last) {
		toolbox_close(call);
		toolbox_close(call);
	}
	toolbox_close(call);
	put_counts(call, sum.calls, sum.failures);
	return last != NULL;
}

/* Fail: no tool of @wanted was called. */
static void fail_uncalled(struct toolbox_call call, const char *wanted, uint32_t n)
{
	struct nearest nearest = {.n = 0};
	char words[NEAREST_MAX * NEAREST_BYTES + 16];

	for (uint32_t i = 0; i < n; i++) {
		struct figures figures;

		read_figures(toolbox_given(call), i, &figures);
		nearest_offer(&nearest, wanted, figures.toolbox_id);
	}
	nearest_write(&nearest, words, sizeof(words));
	if (*words)
		fail(call, "no tool of a toolbox '%.400s' was called; did you mean %s?", wanted,
			words);
	else
		fail(call,
			"no tool of a toolbox '%.400s' was called. Without `toolbox`, all that "
			"were "
			"called are listed",
			wanted);
}

void tool_statistics(struct toolbox_call call, void *data)
{
	const char *wanted = NULL;
	uint64_t left_out = 0;
	uint32_t n = 0;

	(void)data;
	toolbox_get_string(call, "toolbox", &wanted, NULL);
	toolbox_get_count(toolbox_given(call), "tools", &n);
	toolbox_get_u64(toolbox_given(call), "left_out", &left_out);
	if (!put_toolboxes(call, wanted, n) && wanted) {
		fail_uncalled(call, wanted, n);
		return;
	}
	toolbox_put_u64(call, "left_out", left_out);
	toolbox_reply(call);
}
