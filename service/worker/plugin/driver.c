/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "worker/library.h"
#include "worker/plugin/call.h"
#include "worker/plugin/table.h"

/*
 * A library written for toolboxd (toolbox.h).
 *
 *   LOAD without `tools`          LOADED describes them: the daemon reads the table
 *   LOAD with `tools`: [name, …]  a call names a tool by its index in the list
 *
 * If the library has other tools by now than when the daemon read the table, the tools with an
 * unchanged name are served. A call never reaches another tool than the checked one.
 */
struct plugin_driver {
	struct library library;
	struct plugin_table table;
	bool is_asked; /* LOADED describes the tools */
	const struct plugin_function **calls;
	uint32_t n_calls;
};

/* Find the struct exported by the library. */
static int find_symbol(const struct driver_load *load, const struct library *library,
	void **ret_symbol, size_t *ret_size, struct diagnostics *problems)
{
	uint32_t token = json_find(load->tape, 0, "library");
	void *symbol = dlsym(library->handle, "toolbox_plugin");

	if (!symbol)
		return driver_refuse(problems, load->tape, token,
			"it does not export 'toolbox_plugin' (toolbox.h), so it is not a plugin; a "
			"library's own functions are of the kind \"native\"");
	if (!library_is_data(symbol, ret_size))
		return driver_refuse(problems, load->tape, token,
			"'toolbox_plugin' is a function, not a struct toolbox_plugin");
	*ret_symbol = symbol;
	return 0;
}

static int compare_function_names(const void *a, const void *b)
{
	const struct plugin_function *left = *(const struct plugin_function *const *)a;
	const struct plugin_function *right = *(const struct plugin_function *const *)b;

	return strcmp(left->name, right->name);
}

/* Map the tools of @list, described earlier, in its order. A missing tool becomes NULL. */
static int map_list(struct plugin_driver *driver, const struct json_tape *tape, uint32_t list,
	const struct plugin_function **sorted)
{
	json_each(at, tape, list) {
		struct plugin_function wanted = {.name = json_string_dup(tape, at, NULL)};
		const struct plugin_function *key = &wanted;
		const struct plugin_function **found;

		if (!wanted.name)
			return -ENOMEM;
		found = bsearch(&key, sorted, driver->table.n_functions, sizeof(*sorted),
			compare_function_names);
		free(wanted.name);
		driver->calls[driver->n_calls++] = found ? *found : NULL;
	}
	return 0;
}

static const struct plugin_function **list_functions(const struct plugin_table *table)
{
	const struct plugin_function **list = calloc(table->n_functions + 1u, sizeof(*list));

	for (uint32_t i = 0; list && i < table->n_functions; i++)
		list[i] = &table->functions[i];
	return list;
}

/* Map the indices of calls to tools. */
static int map_calls(struct plugin_driver *driver, const struct json_tape *tape)
{
	uint32_t list = json_find(tape, 0, "tools");
	const struct plugin_function **functions = list_functions(&driver->table);
	int r;

	if (!functions)
		return -ENOMEM;
	if (list == JSON_NONE) {
		driver->is_asked = true;
		driver->calls = functions;
		driver->n_calls = driver->table.n_functions;
		return 0;
	}
	driver->calls = calloc(json_count(tape, list) + 1u, sizeof(*driver->calls));
	qsort(functions, driver->table.n_functions, sizeof(*functions), compare_function_names);
	r = driver->calls ? map_list(driver, tape, list, functions) : -ENOMEM;
	free(functions);
	return r;
}

static void unload_plugin(void *data)
{
	struct plugin_driver *driver = data;

	if (!driver)
		return;
	if (driver->table.deinit)
		driver->table.deinit();
	plugin_table_deinit(&driver->table);
	free(driver->calls);
	free(driver);
}

static int load_into(
	struct plugin_driver *driver, const struct driver_load *load, struct diagnostics *problems)
{
	void *symbol = NULL;
	size_t size = 0;
	int r = library_open(load, 0, &driver->library, problems);

	if (r == 0)
		r = find_symbol(load, &driver->library, &symbol, &size, problems);
	if (r == 0)
		r = plugin_table_read(load, symbol, size, &driver->table, problems);
	return r ? r : map_calls(driver, load->tape);
}

/* LOAD frame: {"library": a path or a name, "config"?: object, "tools"?: [name, …]} */
static int load_plugin(
	const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	struct plugin_driver *driver = calloc(1, sizeof(*driver));
	int r;

	if (!driver)
		return -ENOMEM;
	r = load_into(driver, load, problems);
	if (r)
		unload_plugin(driver);
	else
		*ret_driver = driver;
	return r;
}

/* Write the places, in the list of tools, of tools that refuse arguments by their meaning. */
static void describe_validating(const struct plugin_table *table, struct buffer *out)
{
	buffer_append_string(out, ",\"validating\":[");
	for (uint32_t i = 0; i < table->n_functions; i++) {
		if (!table->functions[i].validate)
			continue;
		json_write_comma(out);
		json_write_u64(out, i);
	}
	buffer_append_char(out, ']');
}

static void describe_plugin(const void *data, struct buffer *out)
{
	const struct plugin_driver *driver = data;

	buffer_append_char(out, ',');
	library_describe(&driver->library, out);
	if (!driver->is_asked)
		return;
	json_write_member_json(
		out, "tools", driver->table.described.data, driver->table.described.size);
	describe_validating(&driver->table, out);
}

static const char no_tool[] = "the library has no tool of this name any more";

/* Let @run have the function of @call. */
static int with_function(const struct plugin_driver *driver, const struct driver_call *call,
	int (*run)(const struct driver_call *, const struct plugin_function *, struct buffer *),
	struct buffer *out)
{
	if (call->tool >= driver->n_calls)
		return -EINVAL;
	if (driver->calls[call->tool])
		return run(call, driver->calls[call->tool], out);
	buffer_append_string(out, no_tool);
	return DRIVER_E_FAILED;
}

static int invoke_plugin(void *data, const struct driver_call *call, struct buffer *out)
{
	return with_function(data, call, plugin_call_run, out);
}

static int check_plugin(void *data, const struct driver_call *call, struct buffer *out)
{
	return with_function(data, call, plugin_call_check, out);
}

const struct driver plugin_driver = {
	.kind = "plugin",
	.load = load_plugin,
	.describe = describe_plugin,
	.invoke = invoke_plugin,
	.check = check_plugin,
	.free = unload_plugin,
};

/* ── several calls ───────────────────────────────────────────────────────────────────────────── */

static int load_concurrent(
	const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	plugin_call_carry();
	return load_plugin(load, ret_driver, problems);
}

static int begin_shared(void *data, const struct driver_call *call)
{
	const struct plugin_driver *driver = data;

	if (call->tool >= driver->n_calls)
		return -EINVAL;
	return driver->calls[call->tool] ? plugin_call_begin(call, driver->calls[call->tool])
					 : plugin_call_decline(call, no_tool);
}

static int cancel_shared(void *data, uint64_t id, bool is_late)
{
	(void)data;
	(void)is_late;
	plugin_call_cancel(id);
	return 0;
}

static int open_wire(void *data)
{
	(void)data;
	return plugin_call_loaded();
}

static void replaced(void *data)
{
	const struct plugin_driver *driver = data;

	if (driver->table.replaced)
		driver->table.replaced();
}

const struct driver concurrent_plugin_driver = {
	.kind = "concurrent",
	.load = load_concurrent,
	.describe = describe_plugin,
	.loaded = open_wire,
	.begin = begin_shared,
	.cancel = cancel_shared,
	.replaced = replaced,
	.free = unload_plugin,
};
