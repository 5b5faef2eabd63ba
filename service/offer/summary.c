/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/text.h"

/* A line for the level debug has names of about so many bytes. */
#define LIST_BYTES 1500

/* ── lists of names ──────────────────────────────────────────────────────────────────────────── */

/* Add `TOOLBOX/NAME`, or `TOOLBOX` when @name is NULL. 0 or -ENOMEM. */
static int add_name(struct text_list *list, const char *toolbox_id, const char *name)
{
	char *text;

	if (asprintf(&text, "%s%s%s", toolbox_id, name ? "/" : "", name ? name : "") < 0)
		return -ENOMEM;
	return text_list_take(list, text);
}

static void sort_names(struct text_list *list)
{
	if (list->n_items > 1)
		qsort(list->items, list->n_items, sizeof(*list->items), text_compare);
}

/* Return whether @list, which is sorted, has @name. */
static bool has_name(const struct text_list *list, const char *name)
{
	return list->n_items > 0 &&
	       bsearch(&name, list->items, list->n_items, sizeof(*list->items), text_compare);
}

/* ── what has changed ────────────────────────────────────────────────────────────────────────── */

/* A line that is being written. */
struct summary {
	struct buffer *out;
	size_t n_names;
};

static void add_separator(struct buffer *out)
{
	if (out->size > 0)
		buffer_append_string(out, ", ");
}

/* Append "NAME VERB" for each of @names, or a number for those without room. @verbs is the verb of
 * more than one. Without a verb the names are whole phrases. */
static void add_names(
	struct summary *summary, const struct text_list *names, const char *verb, const char *verbs)
{
	size_t n = 0;

	for (; n < names->n_items && summary->n_names < SUMMARY_NAMES_MAX; n++) {
		add_separator(summary->out);
		buffer_printf(
			summary->out, "%s%s%s", names->items[n], verb ? " " : "", verb ? verb : "");
		summary->n_names++;
	}
	if (n == names->n_items)
		return;
	add_separator(summary->out);
	buffer_printf(summary->out, "%zu%s %s", names->n_items - n, n > 0 ? " more" : "",
		names->n_items - n == 1 && verb ? verb : verbs);
}

/* Return how many tools the toolbox @id of @size bytes offers. */
static size_t count_tools(const struct catalogue *catalogue, const char *id, size_t size)
{
	long index = catalogue_find_toolbox(catalogue, id, size);
	size_t n_tools = 0;

	if (index >= 0)
		catalogue_toolbox(catalogue, (size_t)index, NULL, &n_tools);
	return n_tools;
}

/* Return how many of @tools, from @first on, belong to the toolbox of the first. */
static size_t count_run(const struct text_list *tools, size_t first, size_t id_size)
{
	size_t n = 1;

	while (first + n < tools->n_items &&
		strncmp(tools->items[first], tools->items[first + n], id_size + 1) == 0)
		n++;
	return n;
}

/* Append @tools of @there, sorted; a toolbox in place of its tools when it has no others, and none
 * in @elsewhere (NULL: when they are several). 0 or -ENOMEM. */
static int add_tool_changes(struct summary *summary, const struct text_list *tools,
	const struct catalogue *there, const struct catalogue *elsewhere, const char *verb)
{
	cleanup(text_list_deinit) struct text_list names = {0};
	size_t n;
	int r = 0;

	for (size_t i = 0; r == 0 && i < tools->n_items; i += n) {
		const char *id = tools->items[i];
		size_t size = strcspn(id, "/");
		bool is_whole;

		n = count_run(tools, i, size);
		is_whole = n == count_tools(there, id, size) &&
			   (elsewhere ? count_tools(elsewhere, id, size) == 0 : n > 1);
		if (is_whole) {
			cleanup_free char *whole = strndup(id, size);

			r = whole ? text_list_add(&names, whole) : -ENOMEM;
		}
		for (size_t j = 0; r == 0 && !is_whole && j < n; j++)
			r = text_list_add(&names, tools->items[i + j]);
	}
	if (r == 0)
		add_names(summary, &names, verb, verb);
	return r;
}

/* Add the ids of the failures of @catalogue, all or only new ones, sorted. 0 or -ENOMEM. */
static int list_failed(const struct catalogue *catalogue, bool is_all, struct text_list *names)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_failures(catalogue); i++)
		if (is_all || catalogue_failure(catalogue, i)->is_new)
			r = text_list_add(names, catalogue_failure(catalogue, i)->toolbox_id);
	sort_names(names);
	return r;
}

/* Return whether the toolbox @id is left out as a whole: it may only be asked again what it has. */
static bool is_box_left_out(const struct catalogue *catalogue, const char *id)
{
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		if (!skipped->name && strcmp(skipped->toolbox_id, id) == 0)
			return true;
	}
	return false;
}

/* Append the toolboxes that failed in @before and do not fail now: they serve their present version
 * again, or are gone. One that is new among the offered is `added` already. */
static int add_mended(struct summary *summary, const struct catalogue *before,
	const struct catalogue *after, const struct text_list *failed)
{
	cleanup(text_list_deinit) struct text_list before_failed = {0};
	cleanup(text_list_deinit) struct text_list again = {0};
	cleanup(text_list_deinit) struct text_list gone = {0};
	int r = list_failed(before, true, &before_failed);

	for (size_t i = 0; r == 0 && i < before_failed.n_items; i++) {
		const char *id = before_failed.items[i];
		size_t size = strlen(id);

		if (has_name(failed, id) || is_box_left_out(after, id) ||
			(i > 0 && strcmp(id, before_failed.items[i - 1]) == 0))
			continue;
		if (catalogue_find_toolbox(after, id, size) < 0)
			r = text_list_add(&gone, id);
		else if (count_tools(before, id, size) > 0 || count_tools(after, id, size) == 0)
			r = text_list_add(&again, id);
	}
	add_names(summary, &again, "is loaded again", "are loaded again");
	add_names(summary, &gone, "no longer fails", "no longer fail");
	return r;
}

/* Append the toolboxes that fail as they did not in @before. */
static int add_failures(
	struct summary *summary, const struct catalogue *before, const struct catalogue *after)
{
	cleanup(text_list_deinit) struct text_list failed = {0};
	cleanup(text_list_deinit) struct text_list new = {0};
	int r = list_failed(after, true, &failed);

	if (r == 0)
		r = add_mended(summary, before, after, &failed);
	if (r == 0)
		r = list_failed(after, false, &new);
	if (r == 0)
		add_names(summary, &new, "fails", "fail");
	return r;
}

/* Add the names of the tools that @catalogue has left out, sorted. 0 or -ENOMEM. */
static int list_left_out(const struct catalogue *catalogue, struct text_list *names)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		if (skipped->name)
			r = add_name(names, skipped->toolbox_id, skipped->name);
	}
	sort_names(names);
	return r;
}

/* A tool that is left out now, and was not before. */
struct left_out {
	char *name; /* TOOLBOX/NAME; first, for text_compare() */
	const struct catalogue_skipped *skipped;
};

struct left_outs {
	struct left_out *items;
	size_t n_items;
};

static void left_outs_deinit(struct left_outs *list)
{
	for (size_t i = 0; i < list->n_items; i++)
		free(list->items[i].name);
	free(list->items);
}

/* List the tools that are left out in @after and were not in @before, sorted. 0 or -ENOMEM. */
static int list_newly_left_out(
	const struct catalogue *before, const struct catalogue *after, struct left_outs *ret_list)
{
	cleanup(text_list_deinit) struct text_list known = {0};
	int r = list_left_out(before, &known);

	for (size_t i = 0; r == 0 && i < catalogue_n_skipped(after); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(after, i);
		cleanup_free char *name = NULL;

		if (!skipped->name)
			continue;
		if (asprintf(&name, "%s/%s", skipped->toolbox_id, skipped->name) < 0)
			return -ENOMEM;
		if (has_name(&known, name))
			continue;
		r = array_grow(ret_list->items, ret_list->n_items);
		if (r == 0)
			ret_list->items[ret_list->n_items++] =
				(struct left_out){take_ptr(name), skipped};
	}
	if (ret_list->n_items > 1)
		qsort(ret_list->items, ret_list->n_items, sizeof(*ret_list->items), text_compare);
	return r;
}

/* Return how many tools of @list, from @first on, have the toolbox and the reason of the first. */
static size_t count_alike(const struct left_outs *list, size_t first)
{
	const struct catalogue_skipped *skipped = list->items[first].skipped;
	size_t n = 1;

	while (first + n < list->n_items &&
		strcmp(list->items[first + n].skipped->toolbox_id, skipped->toolbox_id) == 0 &&
		strcmp(list->items[first + n].skipped->reason, skipped->reason) == 0)
		n++;
	return n;
}

/* Append the tools of @list with their reasons; a toolbox in place of its tools when it offers no
 * others in @after, and they have one reason. 0 or -ENOMEM. */
static int add_left_out(
	struct summary *summary, const struct left_outs *list, const struct catalogue *after)
{
	cleanup(text_list_deinit) struct text_list phrases = {0};
	size_t n;
	int r = 0;

	for (size_t i = 0; r == 0 && i < list->n_items; i += n) {
		const struct catalogue_skipped *skipped = list->items[i].skipped;
		bool is_whole;
		char *phrase;

		n = count_alike(list, i);
		is_whole = n > 1 && count_tools(after, skipped->toolbox_id,
					    strlen(skipped->toolbox_id)) == 0;
		n = is_whole ? n : 1;
		r = asprintf(&phrase, "%s is left out (%s)",
			    is_whole ? skipped->toolbox_id : list->items[i].name,
			    skipped->reason) < 0
			    ? -ENOMEM
			    : text_list_take(&phrases, phrase);
	}
	if (r == 0)
		add_names(summary, &phrases, NULL, "are left out");
	return r;
}

/* Append the tools of @removed that are not in @left_out. 0 or -ENOMEM. */
static int add_removed(struct summary *summary, const struct text_list *removed,
	const struct left_outs *left_out, const struct catalogue *before,
	const struct catalogue *after)
{
	cleanup(text_list_deinit) struct text_list gone = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < removed->n_items; i++) {
		struct left_out wanted = {removed->items[i], NULL};

		if (left_out->n_items == 0 || !bsearch(&wanted, left_out->items, left_out->n_items,
						      sizeof(*left_out->items), text_compare))
			r = text_list_add(&gone, removed->items[i]);
	}
	return r ? r : add_tool_changes(summary, &gone, before, after, "removed");
}

int summary_write(const struct catalogue *before, const struct catalogue *after,
	const struct changes *changes, struct buffer *out)
{
	struct summary summary = {.out = out};
	cleanup(left_outs_deinit) struct left_outs left_out = {0};
	int r = list_newly_left_out(before, after, &left_out);

	if (r == 0)
		r = add_tool_changes(&summary, &changes->changed, after, NULL, "changed");
	if (r == 0)
		r = add_tool_changes(&summary, &changes->added, after, before, "added");
	if (r == 0)
		r = add_removed(&summary, &changes->removed, &left_out, before, after);
	if (r == 0)
		r = add_failures(&summary, before, after);
	if (r == 0)
		r = add_left_out(&summary, &left_out, after);
	return r ? r : buffer_status(out);
}

void summary_write_failing(const struct catalogue *catalogue, struct buffer *out)
{
	size_t n = 0;

	for (size_t i = 0; i < catalogue_n_failures(catalogue); i++)
		n += !catalogue_failure(catalogue, i)->is_new;
	if (n == 0)
		return;
	add_separator(out);
	buffer_printf(out, "%zu still %s", n, n == 1 ? "fails" : "fail");
}

/* ── everything ──────────────────────────────────────────────────────────────────────────────── */

/* Add the line "TEXT (N): a, b and 3 more" to @lines. 0 or -ENOMEM. */
static int add_summary_line(struct text_list *lines, const char *text, struct text_list *names)
{
	cleanup(buffer_deinit) struct buffer line = {0};

	buffer_printf(&line, "%s (%zu)", text, names->n_items);
	text_list_write(names, LIST_BYTES, &line);
	return buffer_terminate(&line) ? text_list_add(lines, line.data) : -ENOMEM;
}

/* Return whether @toolbox is the same object as in @before. */
static bool is_kept(const struct catalogue *before, const struct toolbox *toolbox)
{
	long index = before ? catalogue_find_toolbox(before, toolbox->id, strlen(toolbox->id)) : -1;

	return index >= 0 && catalogue_toolbox(before, (size_t)index, NULL, NULL) == toolbox;
}

int summary_add_details(
	const struct catalogue *before, const struct catalogue *after, struct text_list *lines)
{
	cleanup(text_list_deinit) struct text_list loaded = {0};
	cleanup(text_list_deinit) struct text_list failed = {0};
	cleanup(text_list_deinit) struct text_list offered = {0};
	cleanup(text_list_deinit) struct text_list left_out = {0};
	int r = list_failed(after, true, &failed);

	for (size_t i = 0; r == 0 && i < catalogue_n_toolboxes(after); i++) {
		const struct toolbox *toolbox = catalogue_toolbox(after, i, NULL, NULL);

		if (!is_kept(before, toolbox))
			r = text_list_add(&loaded, toolbox->id);
	}
	for (size_t i = 0; r == 0 && i < catalogue_n_tools(after); i++)
		r = add_name(&offered, catalogue_tool(after, i)->toolbox->id,
			catalogue_tool(after, i)->name);
	sort_names(&offered);
	if (r == 0)
		r = list_left_out(after, &left_out);
	r = r ? r : add_summary_line(lines, "Toolboxes loaded", &loaded);
	r = r ? r : add_summary_line(lines, "Toolboxes failed", &failed);
	r = r ? r : add_summary_line(lines, "Tools offered", &offered);
	return r ? r : add_summary_line(lines, "Tools left out", &left_out);
}
