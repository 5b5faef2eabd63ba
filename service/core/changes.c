/* SPDX-License-Identifier: Apache-2.0 */
#include "core/changes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list_deinit(struct changes_list *list)
{
	for (size_t i = 0; i < list->n_names; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct changes_list){0};
}

void changes_deinit(struct changes *changes)
{
	list_deinit(&changes->added);
	list_deinit(&changes->removed);
	list_deinit(&changes->changed);
}

bool changes_are_empty(const struct changes *changes)
{
	return changes->added.n_names + changes->removed.n_names + changes->changed.n_names == 0;
}

static int add(struct changes_list *list, const struct tool *tool)
{
	char **names = reallocarray(list->names, list->n_names + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	list->names = names;
	if (asprintf(&names[list->n_names], "%s/%s", tool->toolbox->id, tool->name) < 0)
		return -ENOMEM;
	list->n_names++;
	return 0;
}

static const struct tool *find_same(const struct catalogue *catalogue, const struct tool *tool)
{
	const struct tool *same;

	if (!catalogue ||
		catalogue_find(catalogue, tool->name, strlen(tool->name), tool->toolbox->id,
			strlen(tool->toolbox->id), false, &same) != 0)
		return NULL;
	return same;
}

static bool differs(const struct tool *before, const struct tool *after)
{
	if (before == after)
		return false;
	return strcmp(before->definition, after->definition) != 0 ||
		before->toolbox->library.digest != after->toolbox->library.digest;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct changes_list *list)
{
	if (list->n_names > 1)
		qsort(list->names, list->n_names, sizeof(*list->names), compare);
}

int changes_find(const struct catalogue *before, const struct catalogue *after,
	struct changes *ret_changes)
{
	cleanup(changes_deinit) struct changes changes = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_tools(after); i++) {
		const struct tool *tool = catalogue_tool(after, i);
		const struct tool *same = find_same(before, tool);

		if (!same)
			r = add(&changes.added, tool);
		else if (differs(same, tool))
			r = add(&changes.changed, tool);
	}
	for (size_t i = 0; before && r == 0 && i < catalogue_n_tools(before); i++)
		if (!find_same(after, catalogue_tool(before, i)))
			r = add(&changes.removed, catalogue_tool(before, i));
	if (r < 0)
		return r;
	sort(&changes.added);
	sort(&changes.removed);
	sort(&changes.changed);
	*ret_changes = changes;
	changes = (struct changes){0};
	return 0;
}
