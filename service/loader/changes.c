/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/changes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/text.h"

void changes_deinit(struct changes *changes)
{
	text_list_deinit(&changes->added);
	text_list_deinit(&changes->removed);
	text_list_deinit(&changes->changed);
}

bool changes_are_empty(const struct changes *changes)
{
	return changes->added.n_items + changes->removed.n_items + changes->changed.n_items == 0;
}

static int add_change(struct text_list *list, const struct tool *tool)
{
	char *name;

	if (asprintf(&name, "%s/%s", tool->toolbox->id, tool->name) < 0)
		return -ENOMEM;
	return text_list_take(list, name);
}

/* The offered tools of one toolbox. */
struct run {
	const struct catalogue *catalogue;
	size_t first;
	size_t n;
};

static const struct tool *tool_at(const struct run *run, size_t index)
{
	return catalogue_tool(run->catalogue, run->first + index);
}

/* Whether the toolbox was not loaded again and the filter is the same. */
static bool is_same_run(const struct run *before, const struct run *after)
{
	if (before->n != after->n)
		return false;
	for (size_t i = 0; i < after->n; i++)
		if (tool_at(before, i) != tool_at(after, i))
			return false;
	return true;
}

static int compare_tools(const void *a, const void *b)
{
	return strcmp(
		(*(const struct tool *const *)a)->name, (*(const struct tool *const *)b)->name);
}

/* The tools of @run by name, which the caller frees; NULL without memory. */
static const struct tool **sort_run(const struct run *run)
{
	const struct tool **tools = calloc(run->n + 1, sizeof(*tools));

	for (size_t i = 0; tools && i < run->n; i++)
		tools[i] = tool_at(run, i);
	if (tools)
		qsort(tools, run->n, sizeof(*tools), compare_tools);
	return tools;
}

/* Compare one toolbox; an empty run means an absent toolbox. Walk the tools of both by name, side
 * by side: a search for each would take the square of their number. */
static int compare_runs(const struct run *before, const struct run *after, struct changes *changes)
{
	cleanup_free const struct tool **old = NULL;
	cleanup_free const struct tool **new = NULL;
	size_t at_old = 0;
	size_t at_new = 0;
	int r = 0;

	if (is_same_run(before, after))
		return 0;
	old = sort_run(before);
	new = sort_run(after);
	if (!old || !new)
		return -ENOMEM;
	while (r == 0 && (at_old < before->n || at_new < after->n)) {
		int order = at_old == before->n  ? 1
			    : at_new == after->n ? -1
						 : compare_tools(&old[at_old], &new[at_new]);

		if (order < 0)
			r = add_change(&changes->removed, old[at_old++]);
		else if (order > 0)
			r = add_change(&changes->added, new[at_new++]);
		else if (tool_differs(old[at_old++], new[at_new++]))
			r = add_change(&changes->changed, new[at_new - 1]);
	}
	return r;
}

/* Both catalogues list their toolboxes by id: walk them side by side. */
static int compare_catalogues(
	const struct catalogue *before, const struct catalogue *after, struct changes *changes)
{
	size_t n_before = before ? catalogue_n_toolboxes(before) : 0;
	size_t n_after = catalogue_n_toolboxes(after);
	size_t at_before = 0;
	size_t at_after = 0;
	int r = 0;

	while (r == 0 && (at_before < n_before || at_after < n_after)) {
		struct run old = {.catalogue = before};
		struct run new = {.catalogue = after};
		const char *old_id =
			at_before < n_before
				? catalogue_toolbox(before, at_before, &old.first, &old.n)->id
				: NULL;
		const char *new_id =
			at_after < n_after
				? catalogue_toolbox(after, at_after, &new.first, &new.n)->id
				: NULL;
		int order = !old_id ? 1 : !new_id ? -1 : strcmp(old_id, new_id);

		if (order <= 0)
			at_before++;
		else
			old.n = 0;
		if (order >= 0)
			at_after++;
		else
			new.n = 0;
		r = compare_runs(&old, &new, changes);
	}
	return r;
}

static void sort(struct text_list *list)
{
	if (list->n_items > 1)
		qsort(list->items, list->n_items, sizeof(*list->items), text_compare);
}

int changes_find(
	const struct catalogue *before, const struct catalogue *after, struct changes *ret_changes)
{
	cleanup(changes_deinit) struct changes changes = {0};
	int r = compare_catalogues(before, after, &changes);

	if (r < 0)
		return r;
	sort(&changes.added);
	sort(&changes.removed);
	sort(&changes.changed);
	*ret_changes = changes;
	changes = (struct changes){0};
	return 0;
}
