/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/package.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "util/array.h"
#include "util/assert.h"
#include "util/environment.h"

struct package *package_new(void)
{
	struct package *package = calloc(1, sizeof(*package));

	if (!package)
		return NULL;
	package->references = 1;
	package->loaded_ns = stamp_now_ns();
	return package;
}

static void package_free(struct package *package)
{
	for (size_t i = 0; i < package->n_toolboxes; i++)
		toolbox_free(package->toolboxes[i]);
	free(package->toolboxes);
	free(package->tools);
	free(package->id);
	free(package->file);
	origins_deinit(&package->definition);
	origins_deinit(&package->programs);
	free(package->off);
	free(package->config);
	native_program_free(package->init);
	native_types_free(package->types);
	free(package->environment);
	free(package->state_folder);
	text_list_deinit(&package->unknown_settings);
	toolbox_sandbox_deinit(&package->sandbox);
	toolbox_library_deinit(&package->library);
	free(package->python.interpreters);
	free(package->python.plugins);
	free(package->python.left_out);
	free(package->mcp.server);
	free(package->mcp.origin);
	free(package->mcp.rules);
	free(package->mcp.variables);
	free(package->guest_source);
	skipped_list_deinit(&package->left_out);
	free(package->not_enforced);
	free(package->refused);
	free(package->described);
	free(package->load);
	free(package);
}

void package_discard(struct package *package)
{
	struct package_bin *bin = package->bin;
	struct package *next;

	check(package->references == 0);
	if (!bin) {
		package_free(package);
		return;
	}
	next = atomic_load(&bin->first);
	/* Once it is in the bin, the other thread may free it. */
	do
		package->next = next;
	while (!atomic_compare_exchange_weak(&bin->first, &next, package));
	if (!next && bin->filled)
		bin->filled(bin->data);
}

void package_bin_empty(struct package_bin *bin)
{
	struct package *package = atomic_exchange(&bin->first, NULL);

	while (package) {
		struct package *next = package->next;

		package_free(package);
		package = next;
	}
}

int package_add(struct package *package, struct toolbox *toolbox)
{
	check(toolbox->package == package);
	if (array_grow(package->toolboxes, package->n_toolboxes) < 0)
		return -ENOMEM;
	toolbox->index = (uint32_t)package->n_toolboxes;
	package->toolboxes[package->n_toolboxes++] = toolbox;
	return 0;
}

/* ── the LOAD frame ──────────────────────────────────────────────────────────────────────────── */

/* The text around the tools in a frame with tools. */
#define HEAD_END    "}"
#define LEGACY      ",\"legacy\":true"
#define TOOLS_BEGIN ",\"tools\":["

/* Write how a tool is called, or its name when its host knows the rest. */
static void write_tool(const struct tool *tool, struct buffer *out)
{
	const struct package *package = tool->toolbox->package;

	switch (package->kind) {
	case KIND_NATIVE:
		if (tool->steps)
			buffer_append_string(out, tool->steps->source);
		else
			native_write(&tool->native, out);
		break;
	case KIND_COMMAND:
		command_write(&tool->command, tool->name, package->environment, out);
		break;
	case KIND_PLUGIN:
	case KIND_PYTHON_FILE:
		json_write_text(out, tool->name);
		break;
	case KIND_BUS:
		bus_call_write(tool->bus, out);
		break;
	case KIND_PYTHON:
		buffer_append_char(out, '[');
		json_write_text(out, tool->toolbox->id);
		buffer_append_char(out, ',');
		json_write_text(out, tool->name);
		buffer_append_char(out, ',');
		json_write_text(out, tool->toolbox->entry_point);
		buffer_append_char(out, ']');
		break;
	case KIND_MCP:
		buffer_append_string(out, "{\"name\":");
		json_write_text(out, tool->server_name);
		json_write_member_text(out, "pin", tool->pin);
		if (tool->risk == TOOL_READ)
			buffer_append_string(out, ",\"reads\":true");
		buffer_append_char(out, '}');
		break;
	case KIND_GUEST:
		/* It goes to no host. A tool of another source is another one. */
		buffer_append_string(out, "{\"name\":");
		json_write_text(out, tool->name);
		json_write_member_text(out, "source", package->guest_source);
		buffer_append_char(out, '}');
		break;
	}
}

/* Whether the tools of @package are written: a host that describes tools gets them only
 * afterwards. */
static bool knows_tools(const struct package *package)
{
	const struct kind_facts *facts = kind_facts(package->kind);

	if (!facts->describes_tools)
		return true;
	return facts->has_members ? package->n_toolboxes > 0 : package->n_tools > 0;
}

/* Write the time of a host for its start, if the package knows the time. */
static void write_start(const struct package *package, struct buffer *out)
{
	uint64_t start_ms = package_start_ms(package, package->start_timeout_ms);

	if (start_ms > 0)
		buffer_printf(out, ",\"start_timeout_ms\":%" PRIu64, start_ms);
}

static void write_python(const struct package_python *python, struct buffer *out)
{
	buffer_append_string(out, ",\"python\":");
	buffer_append_string(out, python->interpreters);
	if (python->plugins) {
		buffer_append_string(out, ",\"plugins\":");
		buffer_append_string(out, python->plugins);
	}
	if (python->left_out) {
		buffer_append_string(out, ",\"left_out\":");
		buffer_append_string(out, python->left_out);
	}
}

unsigned int package_capacity(const struct package *package)
{
	if (package->concurrent > 0)
		return package->concurrent;
	return kind_facts(package->kind)->carries_calls ? PACKAGE_CALLS_MAX : 1;
}

static void write_libraries(const struct package *package, struct buffer *out)
{
	const struct toolbox_library *library = &package->library;
	bool is_list = package->has_library_list;

	buffer_append_string(out, is_list ? ",\"libraries\":[" : ",\"library\":");
	json_write_text(out, library->path);
	while ((library = library->next)) {
		buffer_append_char(out, ',');
		json_write_text(out, library->path);
	}
	if (is_list)
		buffer_append_char(out, ']');
}

/* Write the LOAD frame of @package up to its tools, or, if they are not written, all of it. */
static void write_head(const struct package *package, struct buffer *out)
{
	buffer_printf(out, "{\"kind\":\"%s\",\"toolbox_id\":",
		package->concurrent > 0 ? "concurrent" : kind_facts(package->kind)->name);
	json_write_text(out, package->id);
	if (package->library.path)
		write_libraries(package, out);
	buffer_append_string(out, ",\"sandbox\":");
	toolbox_sandbox_write(&package->sandbox, out);
	buffer_printf(out, ",\"memory_mb\":%u,\"guard\":%s", package->sandbox.memory_mb,
		package_has_guard(package) ? "true" : "false");
	if (package->config)
		buffer_printf(out, ",\"config\":%s", package->config);
	if (package->trace_files)
		json_write_member_text(out, "trace_files", package->trace_files);
	if (package->python.interpreters) {
		write_python(&package->python, out);
		write_start(package, out);
	}
	if (package->kind == KIND_MCP) {
		write_start(package, out);
		buffer_printf(out, ",\"mcp\":%s%s%s", package->mcp.server,
			knows_tools(package) && package->mcp.is_legacy ? LEGACY : "",
			package->mcp.has_resources ? ",\"resources\":true" : "");
	}
	if (package->mcp.list)
		buffer_printf(out, ",\"digest\":%" PRIu64, package->mcp.list);
	/* Once for all tools, which only name them. */
	if (package->types)
		native_types_write(package->types, out);
	buffer_append_string(out, knows_tools(package) ? TOOLS_BEGIN : HEAD_END);
}

/* Return the text of the initial steps; NULL: there are none. */
static const char *init_of(const struct package *package)
{
	return package->init ? package->init->source : NULL;
}

/* Append the initial steps, which a host that only looks does not run. */
static void write_init(const struct package *package, struct buffer *out)
{
	if (package->init)
		buffer_printf(out, ",\"init\":%s", init_of(package));
}

void package_write_load(struct package *const *packages, size_t n_packages, struct buffer *out)
{
	if (!knows_tools(packages[0])) {
		/* The key of a cached description is a digest of the frame without the era, a part
		 * of the description. */
		buffer_append(out, packages[0]->load, packages[0]->load_head - strlen(HEAD_END));
		buffer_append_string(out, packages[0]->mcp.is_legacy ? LEGACY HEAD_END : HEAD_END);
		return;
	}
	buffer_append(out, packages[0]->load, packages[0]->load_head);
	for (size_t i = 0; i < n_packages; i++) {
		const struct package *package = packages[i];

		if (package->n_tools == 0)
			continue;
		json_write_comma(out);
		buffer_append(out, package->load + package->load_head,
			package->load_size - package->load_head - package->load_tail);
	}
	/* All of them have the same (package_compare_loads()). */
	buffer_append_string(out, packages[0]->init ? "],\"is_check\":true" : "]");
	write_init(packages[0], out);
	buffer_append_string(out, HEAD_END);
}

/* Digest what all tools of @package are run with: its sandbox, server, variables, configuration and
 * tables, not its limits. */
static int digest_surroundings(
	const struct package *package, unsigned char ret_digest[ORIGIN_DIGEST_BYTES])
{
	cleanup(buffer_deinit) struct buffer out = {0};
	const char *const texts[] = {package->library.path, package->config, init_of(package),
		package->mcp.server, package->python.interpreters};

	for (const char *entry = package->environment; entry && *entry;
		entry = environment_next(entry))
		buffer_append(&out, entry, strlen(entry) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_write_text(&out, texts[i]);
	for (const struct toolbox_library *library = package->library.next; library;
		library = library->next)
		json_write_text(&out, library->path);
	toolbox_sandbox_write(&package->sandbox, &out);
	if (package->types)
		native_types_write(package->types, &out);
	if (buffer_status(&out) == 0)
		origin_digest(out.data, out.size, ret_digest);
	return buffer_status(&out);
}

/* Digest how @tool, described in the LOAD frame by the @size bytes at @text, is run in the
 * @surroundings. */
static int digest_run(
	struct tool *tool, const unsigned char *surroundings, const char *text, size_t size)
{
	const struct package *package = tool->toolbox->package;
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append(&out, surroundings, ORIGIN_DIGEST_BYTES);
	if (package->kind == KIND_COMMAND)
		buffer_append(
			&out, package->programs.items[tool->program].digest, ORIGIN_DIGEST_BYTES);
	for (uint32_t i = 0; package->kind == KIND_COMMAND && i < tool->n_scripts; i++)
		buffer_append(&out, package->programs.items[tool->scripts[i]].digest,
			ORIGIN_DIGEST_BYTES);
	buffer_append(&out, text, size);
	if (buffer_status(&out) == 0)
		origin_digest(out.data, out.size, tool->run);
	return buffer_status(&out);
}

static int number_tools(struct package *package)
{
	size_t n_tools = 0;

	for (size_t i = 0; i < package->n_toolboxes; i++)
		n_tools += package->toolboxes[i]->n_tools;
	free(package->tools);
	package->n_tools = 0;
	package->tools = calloc(n_tools + 1, sizeof(*package->tools));
	if (!package->tools)
		return -ENOMEM;
	for (size_t i = 0; i < package->n_toolboxes; i++)
		for (size_t j = 0; j < package->toolboxes[i]->n_tools; j++) {
			struct tool *tool = &package->toolboxes[i]->tools[j];

			tool->index = (uint32_t)package->n_tools;
			package->tools[package->n_tools++] = tool;
		}
	return 0;
}

int package_prepare(struct package *package)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	unsigned char surroundings[ORIGIN_DIGEST_BYTES];
	size_t begin;

	if (number_tools(package) < 0 || digest_surroundings(package, surroundings) < 0)
		return -ENOMEM;
	free(take_ptr(package->load));
	write_head(package, &out);
	package->load_head = out.size;
	if (knows_tools(package)) {
		for (size_t i = 0; i < package->n_tools; i++) {
			json_write_comma(&out);
			begin = out.size;
			write_tool(package->tools[i], &out);
			if (buffer_status(&out) < 0 ||
				digest_run(package->tools[i], surroundings, out.data + begin,
					out.size - begin) < 0)
				return -ENOMEM;
		}
		begin = out.size;
		buffer_append_char(&out, ']');
		write_init(package, &out);
		buffer_append_string(&out, HEAD_END);
		package->load_tail = out.size - begin;
	}
	package->load = buffer_take(&out, &package->load_size);
	return package->load ? 0 : -ENOMEM;
}

/* Return whether the LOAD frame has tables, whose names are of one toolbox. */
static bool has_tables(const struct package *package)
{
	return package->types && (package->types->n_enums > 0 || package->types->n_structs > 0);
}

/* Order by the paths of the libraries, and by their bytes. */
static int compare_libraries(
	const struct toolbox_library *left, const struct toolbox_library *right)
{
	int order = 0;

	for (; order == 0 && left && right; left = left->next, right = right->next) {
		order = strcmp(left->path, right->path);
		if (order == 0)
			order = (left->digest > right->digest) - (left->digest < right->digest);
	}
	return order != 0 ? order : (left != NULL) - (right != NULL);
}

int package_compare_loads(const struct package *left, const struct package *right)
{
	int order = (left->kind > right->kind) - (left->kind < right->kind);
	bool is_alone = left->kind != KIND_NATIVE || has_tables(left);

	if (order == 0)
		order = has_tables(left) - has_tables(right);
	if (order == 0 && is_alone)
		order = strcmp(left->file, right->file);
	if (order == 0 && is_alone)
		order = strcmp(left->id, right->id);
	if (order == 0 && left->kind == KIND_NATIVE)
		order = compare_libraries(&left->library, &right->library);
	if (order == 0 && left->kind == KIND_NATIVE)
		order = strcmp(
			init_of(left) ? init_of(left) : "", init_of(right) ? init_of(right) : "");
	return order != 0 ? order : toolbox_sandbox_compare(&left->sandbox, &right->sandbox);
}

void package_renew(struct package *package, const struct package *fresh)
{
	origins_renew(&package->definition, &fresh->definition);
	if (origins_are_same(&package->programs, &fresh->programs))
		origins_renew(&package->programs, &fresh->programs);
}

bool package_has_same_programs(const struct package *package)
{
	for (size_t i = 0; package->kind == KIND_COMMAND && i < package->n_tools; i++)
		if (!tool_program_is_current(package->tools[i]))
			return false;
	return true;
}

uint64_t package_start_ms(const struct package *package, uint64_t configured_ms)
{
	uint64_t least_ms = kind_facts(package->kind)->start_least_ms;

	return configured_ms > least_ms ? configured_ms : least_ms;
}

const char *package_sandbox_name(const struct package *package)
{
	return kind_facts(package->kind)->workers > 0 ? sandbox_class_name(package->sandbox.class)
						      : NULL;
}

const char *package_library_place(const struct package *package)
{
	if (package->kind == KIND_PYTHON_FILE)
		return "/file";
	return package->has_library_list ? "/libraries" : "/library";
}

bool package_has_guard(const struct package *package)
{
	return package->sandbox.class == SANDBOX_COMMAND || kind_facts(package->kind)->has_guard;
}

bool package_starts_programs(const struct package *package)
{
	return package->sandbox.class >= SANDBOX_COMMAND || kind_facts(package->kind)->has_guard;
}
