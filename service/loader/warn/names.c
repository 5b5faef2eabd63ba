/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/warn/names.h"

#include <stdlib.h>
#include <string.h>

#include "config/profiles.h"
#include "policy/access.h"
#include "policy/names.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/text/text.h"

/* One check of all names. */
struct names_check {
	const struct config *config;
	const struct catalogue *catalogue;
	diagnostic_function report;
	void *data;
};

/* Return whether @skipped is a toolbox left out as a whole: its tools are not known. If a file was
 * replaced by one in a higher folder, the tools come from the replacement. */
static bool is_without_tools(
	const struct catalogue *catalogue, const struct catalogue_skipped *skipped)
{
	const char *id = skipped->toolbox_id;
	long index = skipped->name ? -1 : catalogue_find_toolbox(catalogue, id, strlen(id));

	return !skipped->name &&
	       (index < 0 || catalogue_toolbox(catalogue, (size_t)index, NULL, NULL)->n_tools == 0);
}

/* Return whether @name means any found tool. The tools of a toolbox left out as a whole are not
 * known: any name with the toolbox's id may mean a tool. */
static bool is_known(const struct catalogue *catalogue, char *name)
{
	const struct text_list list = {&name, 1};

	if (name_select(name, catalogue, NULL))
		return true;
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		if (skipped->name && name_means(name, skipped->toolbox_id, skipped->name))
			return true;
		if (is_without_tools(catalogue, skipped) && strchr(name, '/') &&
			names_may_mean(&list, skipped->toolbox_id))
			return true;
	}
	return false;
}

/* Warn of the @n texts at @texts, which are sorted here, each once: "@what 'a', 'b'". */
static void warn(const struct names_check *check, const char *key, const char *what,
	const char **texts, size_t n)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (n == 0)
		return;
	qsort(texts, n, sizeof(*texts), text_compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(texts[i - 1], texts[i]) != 0)
			buffer_printf(&text, "%s'%s'", i > 0 ? ", " : what, texts[i]);
	if (buffer_terminate(&text))
		check->report(check->data, &(struct diagnostic){DIAGNOSTIC_WARNING, .pointer = key,
						   .text = text.data});
}

static void check_list(
	const struct names_check *check, const char *key, const struct text_list *list)
{
	cleanup_free const char **unknown = calloc(list->n_items + 1, sizeof(*unknown));
	size_t n = 0;

	for (size_t i = 0; unknown && i < list->n_items; i++)
		if (!is_known(check->catalogue, list->items[i]))
			unknown[n++] = list->items[i];
	warn(check, key, "no tool is called ", unknown, n);
}

static bool has_profile(const struct config *config, const char *name)
{
	return config_profiles_find(&config->profiles, name) || strcmp(name, ACCESS_DEFAULT) == 0;
}

/* The profiles given by access rules, but not defined. */
static void check_access(const struct names_check *check)
{
	const struct config *config = check->config;
	cleanup_free const char **unknown = calloc(config->n_access + 1, sizeof(*unknown));
	size_t n = 0;

	for (size_t i = 0; unknown && i < config->n_access; i++)
		if (!has_profile(config, config->access[i].profile))
			unknown[n++] = config->access[i].profile;
	warn(check, "access", "these profiles do not exist, and grant nothing: ", unknown, n);
}

/* Return whether a toolbox called @id was found, with all of its tools known. */
static bool has_known_tools(const struct catalogue *catalogue, const char *id)
{
	for (size_t i = 0; i < catalogue_n_failures(catalogue); i++)
		if (strcmp(catalogue_failure(catalogue, i)->toolbox_id, id) == 0)
			return false;
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++)
		if (is_without_tools(catalogue, catalogue_skipped(catalogue, i)) &&
			strcmp(catalogue_skipped(catalogue, i)->toolbox_id, id) == 0)
			return false;
	return true;
}

/* Return whether the toolbox @id has the tool @name, offered or skipped. */
static bool has_tool(const struct catalogue *catalogue, const char *id, const char *name)
{
	const struct tool *tool;

	if (catalogue_find(catalogue, name, strlen(name), id, strlen(id), false, &tool) == 0 &&
		strcmp(tool->name, name) == 0)
		return true;
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		if (skipped->name && strcmp(skipped->toolbox_id, id) == 0 &&
			strcmp(skipped->name, name) == 0)
			return true;
	}
	return false;
}

/* The names in `toolboxes.<id>.tools` of @toolbox without a tool in it. */
static void check_tools(const struct names_check *check, const struct config_toolbox *toolbox)
{
	cleanup_free const char **unknown = NULL;
	cleanup(buffer_deinit) struct buffer key = {0};
	size_t n = 0;

	if (toolbox->tools.n_items == 0 || !has_known_tools(check->catalogue, toolbox->toolbox_id))
		return;
	unknown = calloc(toolbox->tools.n_items, sizeof(*unknown));
	if (!unknown)
		return;
	for (size_t i = 0; i < toolbox->tools.n_items; i++)
		if (!has_tool(check->catalogue, toolbox->toolbox_id, toolbox->tools.items[i].name))
			unknown[n++] = toolbox->tools.items[i].name;
	buffer_printf(&key, "toolboxes.%s.tools", toolbox->toolbox_id);
	if (buffer_terminate(&key))
		warn(check, key.data, "it has no tool called ", unknown, n);
}

/* The names in `toolboxes.<id>.sandbox` of @toolbox without a setting. */
static void check_sandbox(const struct names_check *check, const struct config_toolbox *toolbox)
{
	const char *id = toolbox->toolbox_id;
	long index = catalogue_find_toolbox(check->catalogue, id, strlen(id));
	const struct text_list none = {0};
	const struct text_list *names =
		index < 0 ? &none
			  : &catalogue_toolbox(check->catalogue, (size_t)index, NULL, NULL)
				     ->package->unknown_settings;
	cleanup_free const char **unknown = NULL;
	cleanup(buffer_deinit) struct buffer key = {0};

	if (names->n_items == 0)
		return;
	unknown = calloc(names->n_items, sizeof(*unknown));
	for (size_t i = 0; unknown && i < names->n_items; i++)
		unknown[i] = names->items[i];
	buffer_printf(&key, "toolboxes.%s.sandbox", id);
	if (unknown && buffer_terminate(&key))
		warn(check, key.data, "it has no setting called ", unknown, names->n_items);
}

/* Return whether a toolbox called @id was found: offered, skipped or failed. */
static bool has_toolbox(const struct catalogue *catalogue, const char *id)
{
	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++)
		if (strcmp(catalogue_toolbox(catalogue, i, NULL, NULL)->id, id) == 0)
			return true;
	for (size_t i = 0; i < catalogue_n_failures(catalogue); i++)
		if (strcmp(catalogue_failure(catalogue, i)->toolbox_id, id) == 0)
			return true;
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++)
		if (strcmp(catalogue_skipped(catalogue, i)->toolbox_id, id) == 0)
			return true;
	return false;
}

void warn_unknown(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	const struct names_check check = {config, catalogue, report, data};
	struct text_list own = config->approval_allow;

	/* A list of disabled tools does not count once anything is enabled. */
	if (config->tools_enabled.n_items > 0)
		check_list(&check, "tools_enabled", &config->tools_enabled);
	else
		check_list(&check, "tools_disabled", &config->tools_disabled);
	check_list(&check, "experimental", &config->experimental);
	check_list(&check, "disabled.json", &config->disabled.names);
	for (size_t i = 0; i < config->profiles.n_items; i++) {
		cleanup(buffer_deinit) struct buffer key = {0};

		buffer_printf(&key, "profiles.%s", config->profiles.items[i].name);
		if (buffer_terminate(&key))
			check_list(&check, key.data, &config->profiles.items[i].tool_names);
	}
	check_access(&check);
	/* The names of allow.json are at the end of approval_allow, too. */
	own.n_items -= config->allowed.names.n_items;
	check_list(&check, "approval.allow", &own);
	check_list(&check, "allow.json", &config->allowed.names);
	for (size_t i = 0; i < config->n_toolboxes; i++) {
		check_tools(&check, &config->toolboxes[i]);
		check_sandbox(&check, &config->toolboxes[i]);
	}
}

void warn_unknown_toolboxes(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	const struct names_check check = {config, catalogue, report, data};
	cleanup_free const char **unknown = calloc(config->n_toolboxes + 1, sizeof(*unknown));
	size_t n = 0;

	for (size_t i = 0; unknown && i < config->n_toolboxes; i++)
		if (!has_toolbox(catalogue, config->toolboxes[i].toolbox_id))
			unknown[n++] = config->toolboxes[i].toolbox_id;
	warn(&check, "toolboxes", "no toolbox is called ", unknown, n);
}
