/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/names.h"

#include <string.h>

#include "catalogue/package.h"
#include "util/text/glob.h"

/* Return whether the @size bytes of @part, one side of a slash, mean @text. */
static bool part_means(const char *part, size_t size, const char *text)
{
	return glob_matches(part, size, text, strlen(text));
}

/* Return the part of @name for the tool, and the part for its toolbox: NULL without such a part. */
static const char *split_name(const char *name, const char **ret_toolbox, size_t *ret_size)
{
	const char *slash = strchr(name, '/');

	*ret_toolbox = slash ? name : NULL;
	*ret_size = slash ? (size_t)(slash - name) : 0;
	return slash ? slash + 1 : name;
}

bool name_means(const char *name, const char *toolbox_id, const char *tool)
{
	const char *toolbox;
	const char *rest;
	size_t size;

	/* Each name of a list is compared with each tool, and most of them begin otherwise. */
	if (*name != '*' && *name != *toolbox_id && *name != *tool)
		return false;
	rest = split_name(name, &toolbox, &size);
	return (!toolbox || part_means(toolbox, size, toolbox_id)) &&
	       part_means(rest, strlen(rest), tool);
}

bool names_mean(const struct text_list *names, const char *toolbox_id, const char *tool)
{
	for (size_t i = 0; i < names->n_items; i++)
		if (name_means(names->items[i], toolbox_id, tool))
			return true;
	return false;
}

bool names_mean_toolbox(const struct text_list *names, const char *toolbox_id)
{
	for (size_t i = 0; i < names->n_items; i++) {
		const char *name = names->items[i];
		const char *toolbox;
		const char *rest;
		size_t size;

		if (*name != '*' && *name != *toolbox_id)
			continue;
		rest = split_name(name, &toolbox, &size);
		/* Nothing but stars means whatever a tool may be called. */
		if (*rest && !rest[strspn(rest, "*")] &&
			(!toolbox || part_means(toolbox, size, toolbox_id)))
			return true;
	}
	return false;
}

bool names_may_mean(const struct text_list *names, const char *toolbox_id)
{
	for (size_t i = 0; i < names->n_items; i++) {
		const char *toolbox;
		size_t size;

		split_name(names->items[i], &toolbox, &size);
		if (!toolbox || part_means(toolbox, size, toolbox_id))
			return true;
	}
	return false;
}

/* ── selection ───────────────────────────────────────────────────────────────────────────────── */

/* Add the tools of a name without a star: few share a name. A bare name means guests, which come
 * last, only when no other tool has the name: else a server would get the rights of a tool by using
 * its name. */
static bool select_exact(
	const char *name, const struct catalogue *catalogue, struct catalogue_set *set)
{
	const char *toolbox;
	size_t size;
	const char *rest = split_name(name, &toolbox, &size);
	bool has_installed = false;
	bool is_any = false;

	for (size_t at = catalogue_first_named(catalogue, rest, strlen(rest)); at != CATALOGUE_NONE;
		at = catalogue_next_named(catalogue, at)) {
		const struct toolbox *owner = catalogue_tool(catalogue, at)->toolbox;

		if (toolbox && !part_means(toolbox, size, owner->id))
			continue;
		if (!toolbox && has_installed && package_is_guest(owner->package))
			break;
		has_installed = has_installed || !package_is_guest(owner->package);
		if (set)
			catalogue_set_add(set, at);
		is_any = true;
	}
	return is_any;
}

static bool select_matching(
	const char *name, const struct catalogue *catalogue, struct catalogue_set *set)
{
	bool is_any = false;

	for (size_t i = 0; i < catalogue_n_tools(catalogue) && (set || !is_any); i++) {
		const struct tool *tool = catalogue_tool(catalogue, i);

		if (!name_means(name, tool->toolbox->id, tool->name))
			continue;
		if (set)
			catalogue_set_add(set, i);
		is_any = true;
	}
	return is_any;
}

bool name_select(const char *name, const struct catalogue *catalogue, struct catalogue_set *set)
{
	return strchr(name, '*') ? select_matching(name, catalogue, set)
				 : select_exact(name, catalogue, set);
}

/* ── the filter ──────────────────────────────────────────────────────────────────────────────── */

bool filter_offers(const struct filter *filter, const char *toolbox_id, const char *tool)
{
	if (filter->enabled->n_items > 0)
		return names_mean(filter->enabled, toolbox_id, tool);
	return !names_mean(filter->disabled, toolbox_id, tool);
}

bool filter_offers_any(const struct filter *filter, const char *toolbox_id)
{
	if (filter->enabled->n_items > 0)
		return names_may_mean(filter->enabled, toolbox_id);
	return !names_mean_toolbox(filter->disabled, toolbox_id);
}
