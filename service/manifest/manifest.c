/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/manifest.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json/member.h"
#include "json/number.h"
#include "json/pointer.h"
#include "json/writer.h"
#include "manifest/array_file.h"
#include "manifest/bus/bus.h"
#include "manifest/mcp.h"
#include "manifest/native/native_init.h"
#include "manifest/native/native_type_alias.h"
#include "manifest/off.h"
#include "manifest/reader.h"
#include "manifest/published.h"
#include "manifest/python.h"
#include "manifest/scope.h"
#include "manifest/tool.h"
#include "util/array.h"
#include "util/file/paths.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/file/file.h"
#include "util/file/stamp.h"

/* schemas/toolbox-manifest.schema.json, built in. */
extern const char manifest_schema_json[];

/* Room for a JSON Pointer into an array file; a longer one is cut, and found by what is left. */
#define ARRAY_POINTER_BYTES 512

/* Keys at the top for some kinds only. */
#define OF(kind) (1u << (kind))
static const struct {
	const char *key;
	unsigned int kinds; /* a bit for each */
} keys_of_kinds[] = {
	{"library", OF(KIND_NATIVE) | OF(KIND_PLUGIN)},
	{"libraries", OF(KIND_NATIVE)},
	{"file", OF(KIND_PYTHON_FILE)},
	{"init", OF(KIND_NATIVE)},
	{"enums", OF(KIND_NATIVE)},
	{"structs", OF(KIND_NATIVE)},
	{"tools", OF(KIND_NATIVE) | OF(KIND_COMMAND) | OF(KIND_MCP) | OF(KIND_BUS)},
	{"destination", OF(KIND_BUS)},
	{"config", OF(KIND_PLUGIN) | OF(KIND_PYTHON)},
	{"concurrent", OF(KIND_PLUGIN)},
	{"gate", OF(KIND_NATIVE) | OF(KIND_COMMAND)},
	{"output", OF(KIND_PLUGIN)},
	{"cwd", OF(KIND_COMMAND)},
	{"env", OF(KIND_COMMAND)},
	{"python", OF(KIND_PYTHON) | OF(KIND_PYTHON_FILE)},
	{"plugins", OF(KIND_PYTHON)},
	{"mcp", OF(KIND_MCP)},
	{"include", OF(KIND_MCP)},
	{"exclude", OF(KIND_MCP)},
	{"pin", OF(KIND_MCP)},
	{"resources", OF(KIND_MCP)},
};

static int compile_shape(struct schema **ret_shape)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct schema_options options = {.is_trusted = true, .is_brief = true};
	int r = json_tape_read(&tape, manifest_schema_json, strlen(manifest_schema_json),
		JSON_DEPTH_DEFAULT, NULL);

	if (r != 0)
		return r < 0 ? r : -EINVAL;
	r = schema_compile(&tape, 0, &options, ret_shape, &error);
	return r > 0 ? -EINVAL : r;
}

struct manifest_reader *manifest_reader_new(const char *library_dir)
{
	cleanup(manifest_reader_cleanup) struct manifest_reader *reader =
		calloc(1, sizeof(*reader));

	if (!reader || published_read(&reader->published) < 0)
		return NULL;
	reader->context = schema_context_new();
	reader->library_dir = library_dir ? strdup(library_dir) : NULL;
	reader->check_ms = SCHEMA_CHECK_MS;
	reader->tools_max = SIZE_MAX;
	if (!reader->context || (library_dir && !reader->library_dir))
		return NULL;
	return take_ptr(reader);
}

void manifest_reader_limit_checks(struct manifest_reader *reader, uint32_t ms)
{
	reader->check_ms = ms;
}

void manifest_reader_limit_tools(struct manifest_reader *reader, size_t tools_max)
{
	reader->tools_max = tools_max;
}

void manifest_reader_leave_out(
	struct manifest_reader *reader, manifest_leaves_out_function leaves_out, const void *data)
{
	reader->leaves_out = leaves_out;
	reader->leaves_out_data = data;
}

void manifest_reader_check_off(struct manifest_reader *reader)
{
	reader->checks_off = true;
}

bool manifest_reader_leaves_out(const struct manifest_reader *reader, const struct package *package)
{
	return reader->leaves_out && reader->leaves_out(reader->leaves_out_data, package);
}

void manifest_reader_bound(
	struct manifest_reader *reader, const atomic_bool *is_stopped, uint64_t most_ms)
{
	reader->is_stopped = is_stopped;
	reader->most_ms = most_ms;
}

static bool is_stopped(const struct manifest_reader *reader)
{
	return reader->is_stopped && *reader->is_stopped;
}

/* Return whether no time is left for the tools being read by @data, the reader. */
static bool is_over(void *data)
{
	struct manifest_reader *reader = data;

	return is_stopped(reader) ||
	       (reader->most_ms && clock_is_up(&reader->end_ns, reader->most_ms * NS_PER_MS));
}

void manifest_reader_free(struct manifest_reader *reader)
{
	if (!reader)
		return;
	schema_free(reader->shape);
	schema_context_free(reader->context);
	json_tape_deinit(&reader->tape);
	json_tape_deinit(&reader->published);
	buffer_deinit(&reader->bytes);
	free(reader->library_dir);
	free(reader);
}

/* Read the file; what is wrong with it is a problem. */
static int read_bytes(
	struct manifest_reader *reader, const char *path, struct diagnostics *problems)
{
	int r;

	reader->is_refused_for_good = false;
	reader->stamp = (struct stamp){0};
	buffer_reset(&reader->bytes);
	r = file_read_stamped(path, MANIFEST_BYTES_MAX, &reader->bytes, &reader->stamp);
	if (r == -ENOMEM)
		return r;
	if (r == -EFBIG)
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "",
			"must be at most %u bytes; it is larger", MANIFEST_BYTES_MAX);
	else if (r < 0)
		diagnostics_add(
			problems, DIAGNOSTIC_ERROR, 0, "", "cannot be read: %s", strerror(-r));
	return r < 0 ? MANIFEST_E_REFUSED : 0;
}

/* Parse the bytes of the file; what is wrong with them is a problem. */
static int read_tape(struct manifest_reader *reader, struct diagnostics *problems)
{
	struct json_error error;
	unsigned int line;
	unsigned int column;
	int r = json_tape_read(
		&reader->tape, reader->bytes.data, reader->bytes.size, JSON_DEPTH_DEFAULT, &error);
	if (r <= 0)
		return r;
	reader->is_refused_for_good = reader->stamp.inode != 0;
	json_locate(reader->bytes.data, error.offset, &line, &column);
	diagnostics_add(problems, DIAGNOSTIC_ERROR, line, "", "line %u, column %u: %s", line,
		column, error.message);
	return MANIFEST_E_REFUSED;
}

static bool ends_in(const char *text, const char *end)
{
	size_t size = strlen(text);

	return size >= strlen(end) && strcmp(text + size - strlen(end), end) == 0;
}

/* A violation of the shape, and the intended value, if known. */
static void add_violation(const struct json_tape *tape, const struct schema_violation *violation,
	struct diagnostics *problems)
{
	uint32_t token = json_pointer_nearest(tape, violation->path);
	const char *meant =
		ends_in(violation->path, "/type") ? native_type_alias(tape, token) : NULL;

	if (meant)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, token,
			"must be \"%s\", not %.*s; see docs/native.md for the others", meant,
			(int)json_at(tape, token)->length + 2, json_bytes(tape, token) - 1);
	else
		diagnose_at(problems, DIAGNOSTIC_ERROR, tape, violation->path, violation->message);
}

int manifest_check_shape(struct manifest_reader *reader, struct diagnostics *problems)
{
	const struct json_tape *tape = &reader->tape;
	cleanup(schema_report_deinit) struct schema_report report = {0};
	int r;

	/* A reload without a change reads no manifest, and needs no schema. */
	if (!reader->shape && compile_shape(&reader->shape) < 0)
		return -ENOMEM;
	/* The schema of manifests looks at each value a few times: a long one just takes its
	 * time. */
	schema_context_limit_time(reader->context, 0);
	r = schema_validate(reader->shape, reader->context, tape, 0);
	if (r <= 0)
		return r;
	r = schema_explain(reader->shape, reader->context, tape, 0, &report);
	if (r < 0)
		return r;
	for (size_t i = 0; i < report.n_violations; i++)
		add_violation(tape, &report.violations[i], problems);
	return MANIFEST_E_REFUSED;
}

/* The kind, of a manifest whose shape is right. */
static enum toolbox_kind kind_of(const struct json_tape *tape)
{
	uint32_t token = json_find(tape, 0, "kind");
	int kind = 0;

	while (kind + 1 < N_KINDS &&
		!json_string_equals(tape, token, kind_facts((enum toolbox_kind)kind)->name,
			strlen(kind_facts((enum toolbox_kind)kind)->name)))
		kind++;
	if (kind == KIND_PYTHON && json_find(tape, 0, "file") != JSON_NONE)
		return KIND_PYTHON_FILE;
	return (enum toolbox_kind)kind;
}

/* Keys without a meaning for the kind would be ignored: a mistake. */
static void refuse_keys_of_others(
	const struct json_tape *tape, enum toolbox_kind kind, struct diagnostics *problems)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys_of_kinds); i++) {
		uint32_t value = json_find(tape, 0, keys_of_kinds[i].key);

		if (value != JSON_NONE && !(keys_of_kinds[i].kinds & OF(kind)))
			diagnose(problems, DIAGNOSTIC_ERROR, tape, value,
				"\"%s\" is not a key of a toolbox of the kind \"%s\"; leave it out",
				keys_of_kinds[i].key, kind_facts(kind)->name);
	}
}

static int read_id(const struct json_tape *tape, const char *path, struct package *package,
	struct diagnostics *problems)
{
	uint32_t given = json_find(tape, 0, "toolbox_id");
	size_t size;
	const char *stem = manifest_stem(path, &size);

	package->id =
		given != JSON_NONE ? json_string_dup(tape, given, &size) : strndup(stem, size);
	if (!package->id)
		return -ENOMEM;
	if (!manifest_is_id(package->id) || strlen(package->id) != size)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, given,
			"the toolbox id '%s'%s must be 1 to %d letters, digits, '_' or '-'",
			package->id,
			given != JSON_NONE ? ""
					   : " (the file's name, as there is no \"toolbox_id\")",
			MANIFEST_ID_BYTES - 1);
	return 0;
}

static uint64_t number_or(
	const struct json_tape *tape, uint32_t object, const char *key, uint64_t fallback)
{
	uint64_t value;

	/* The shape has bounded it: it fits. */
	return json_read_u64(tape, json_find(tape, object, key), &value) ? value : fallback;
}

static void read_limits(
	const struct json_tape *tape, enum toolbox_kind kind, struct toolbox_limits *limits)
{
	uint32_t object = json_find(tape, 0, "limits");

	limits->workers = kind_facts(kind)->workers;
	if (object == JSON_NONE)
		return;
	limits->timeout_ms = number_or(tape, object, "timeout_ms", 0);
	limits->max_ms = number_or(tape, object, "max_ms", 0);
	limits->workers = (uint32_t)number_or(tape, object, "workers", limits->workers);
	limits->queue = (uint32_t)number_or(tape, object, "queue", 0);
	limits->memory_mb = (uint32_t)number_or(tape, object, "memory_mb", 0);
	limits->prestart = json_member_is_true(tape, object, "prestart");
	limits->has_idle_s = json_find(tape, object, "idle_s") != JSON_NONE;
	limits->idle_s = number_or(tape, object, "idle_s", 0);
}

/* Read how many calls the process of a plugin has at a time; then there is one process. */
static void read_concurrent(
	const struct json_tape *tape, struct package *package, struct diagnostics *problems)
{
	uint32_t token = json_find(tape, 0, "concurrent");

	package->concurrent = (uint32_t)number_or(tape, 0, "concurrent", 0);
	if (package->concurrent > 0 && package->limits.workers != 1)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, token, "%s", PACKAGE_ONE_PROCESS);
}

/* Read the library at @token, or the file of kind python. */
static int read_library(struct manifest_reader *reader, const char *folder, uint32_t token,
	bool is_file, struct toolbox_library *ret_library, struct diagnostics *problems)
{
	size_t size;
	cleanup_free char *name = json_string_dup(&reader->tape, token, &size);
	cleanup_free char *beside = NULL;

	if (!name)
		return -ENOMEM;
	if (strlen(name) != size)
		diagnose(problems, DIAGNOSTIC_ERROR, &reader->tape, token,
			"must be a path or a library's name without U+0000");
	/* A file is never looked for elsewhere. */
	if (is_file && asprintf(&beside, "%s%s%s", *name == '/' ? "" : folder,
			       *name == '/' ? "" : "/", name) < 0) {
		beside = NULL;
		return -ENOMEM;
	}
	if (beside)
		return toolbox_library_find(beside, folder, NULL, ret_library);
	return toolbox_library_find(name, folder, reader->library_dir, ret_library);
}

/* Read the list of libraries at @list. */
static int read_library_list(struct manifest_reader *reader, const char *folder, uint32_t list,
	struct package *package, struct diagnostics *problems)
{
	struct toolbox_library *library = NULL;

	json_each(at, &reader->tape, list) {
		int r;

		if (library && !(library->next = calloc(1, sizeof(*library))))
			return -ENOMEM;
		library = library ? library->next : &package->library;
		r = read_library(reader, folder, at, false, library, problems);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_libraries(struct manifest_reader *reader, const char *folder,
	struct package *package, struct diagnostics *problems)
{
	const struct json_tape *tape = &reader->tape;
	bool is_file = package->kind == KIND_PYTHON_FILE;
	uint32_t token = json_find(tape, 0, is_file ? "file" : "library");
	uint32_t list = json_find(tape, 0, "libraries");

	if (package->kind == KIND_NATIVE && list == JSON_NONE && token == JSON_NONE)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, 0,
			"missing required property 'library', or 'libraries' for several");
	if (list != JSON_NONE && token != JSON_NONE)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, list,
			"'library' is there, too: leave out one of them");
	package->has_library_list = list != JSON_NONE;
	if (list != JSON_NONE)
		return read_library_list(reader, folder, list, package, problems);
	return token == JSON_NONE
		       ? 0
		       : read_library(reader, folder, token, is_file, &package->library, problems);
}

/* Settings are known only for a kind whose toolbox reads them itself. */
static void refuse_settings(const struct json_tape *tape, uint32_t sandbox,
	const struct sandbox_paths *paths, struct diagnostics *problems)
{
	for (size_t i = 0; i < paths->list.n_items; i++)
		if (sandbox_path_is_setting(paths->list.items[i]))
			diagnose(problems, DIAGNOSTIC_ERROR, tape, sandbox,
				"%s names a setting, which only a toolbox of the kind \"plugin\" "
				"has; expected a path",
				paths->list.items[i]);
}

static int read_sandbox(const struct json_tape *tape, const char *folder, struct package *package,
	struct diagnostics *problems)
{
	uint32_t token = json_find(tape, 0, "sandbox");
	const struct toolbox_limits *limits = &package->limits;
	struct sandbox_mistake mistake;
	int r = 0;

	package->sandbox.class = kind_facts(package->kind)->sandbox;
	package->sandbox.memory_mb =
		limits->memory_mb ? limits->memory_mb : kind_facts(package->kind)->memory_mb;
	if (token != JSON_NONE)
		r = toolbox_sandbox_read(tape, token, folder, &package->sandbox, &mistake);
	if (r == SANDBOX_E_MALFORMED)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, mistake.token, "%s", mistake.expected);
	if (package->kind != KIND_PLUGIN) {
		refuse_settings(tape, token, &package->sandbox.read, problems);
		refuse_settings(tape, token, &package->sandbox.write, problems);
	}
	if (kind_facts(package->kind)->sandbox == SANDBOX_COMMAND &&
		package->sandbox.class < SANDBOX_COMMAND)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, token,
			"no program can be started in the class \"%s\"; expected \"command\" or "
			"\"none\"",
			sandbox_class_name(package->sandbox.class));
	return r < 0 ? r : 0;
}

/* Read the paths that are relative to the manifest's real folder. */
static int read_places(struct manifest_reader *reader, const char *path, struct package *package,
	struct diagnostics *problems)
{
	cleanup_free char *real = realpath(path, NULL);
	const char *folder;
	uint32_t index;
	int r;

	if (!real && errno == ENOMEM)
		return -ENOMEM;
	if (!real) {
		diagnose(problems, DIAGNOSTIC_ERROR, &reader->tape,
			json_find(&reader->tape, 0, "library"),
			"the manifest's folder cannot be found: %s", strerror(errno));
		return 0;
	}
	folder = dirname(real);
	r = read_libraries(reader, folder, package, problems);
	if (r == 0 && (package->kind == KIND_PYTHON || package->kind == KIND_PYTHON_FILE))
		r = manifest_python_read(&reader->tape, folder, package, problems);
	if (r == 0 && package->kind == KIND_PYTHON_FILE)
		r = origins_add(&package->definition, package->library.path, &index);
	if (r == 0 && package->kind == KIND_MCP)
		r = manifest_mcp_read(&reader->tape, folder, package, problems);
	if (r == 0 && package->kind == KIND_NATIVE)
		r = native_types_read(&reader->tape, 0, &package->types, problems);
	r = r > 0 ? 0 : r;
	if (r == 0 && package->kind == KIND_NATIVE)
		r = manifest_native_init_read(&reader->tape, package, problems);
	return r ? r : read_sandbox(&reader->tape, folder, package, problems);
}

static int compare_tool_names(const void *a, const void *b)
{
	const struct tool *left = *(const struct tool *const *)a;
	const struct tool *right = *(const struct tool *const *)b;
	int order = strcmp(left->name, right->name);

	return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

/* Sorted by name, tools of one name are neighbours, however many there are. */
int manifest_each_twin(const struct toolbox *toolbox,
	int (*found)(void *data, const struct tool *twin, const struct tool *before), void *data)
{
	cleanup_free const struct tool **tools = calloc(toolbox->n_tools + 1, sizeof(*tools));
	int r = 0;

	if (!tools)
		return -ENOMEM;
	for (size_t i = 0; i < toolbox->n_tools; i++)
		tools[i] = &toolbox->tools[i];
	qsort(tools, toolbox->n_tools, sizeof(*tools), compare_tool_names);
	for (size_t i = 1; r == 0 && i < toolbox->n_tools; i++)
		if (strcmp(tools[i - 1]->name, tools[i]->name) == 0)
			r = found(data, tools[i], tools[i - 1]);
	return r;
}

/* Report in @data, the scope of the tools, that @twin has the name of @before. 0. */
static int refuse_twin(void *data, const struct tool *twin, const struct tool *before)
{
	const struct manifest_scope *scope = data;
	char pointer[sizeof("/tools/4294967295/name")];
	char text[128];

	snprintf(pointer, sizeof(pointer), "/tools/%u/name", twin->index);
	snprintf(text, sizeof(text), "the name '%s' is taken by tool %u, counted from 0",
		twin->name, before->index);
	diagnose_at(scope->problems, DIAGNOSTIC_ERROR, scope->tape, pointer, text);
	return 0;
}

int manifest_read_tools(struct manifest_reader *reader, const struct json_tape *tape,
	uint32_t tools, struct toolbox *toolbox, struct diagnostics *problems)
{
	const struct package *package = toolbox->package;
	cleanup_free char *real = realpath(package->file, NULL);
	uint32_t token = json_first(tape, tools);
	struct manifest_scope scope = {
		.tape = tape,
		.toolbox = toolbox,
		.published = &reader->published,
		.folder = real ? dirname(real) : "/",
		.schema_options =
			{
				.check_defaults = kind_facts(package->kind)->fills_defaults &&
						  package->kind != KIND_MCP,
				.assert_formats = package->asserts_formats,
				.ignores_mistakes = package->kind == KIND_MCP,
				.ignores_patterns = kind_facts(package->kind)->judges,
				.check_ms = reader->check_ms,
				.is_over = is_over,
				.data = reader,
			},
		.context = reader->context,
		.problems = problems,
	};
	uint32_t n_tools = json_count(tape, tools);
	int r;

	if (!real && errno == ENOMEM)
		return -ENOMEM;
	reader->end_ns = 0;
	schema_context_limit_time(reader->context, reader->check_ms);
	toolbox->tools = calloc(n_tools, sizeof(*toolbox->tools));
	if (!toolbox->tools)
		return -ENOMEM;
	for (; toolbox->n_tools < n_tools; token = json_next(tape, token)) {
		struct tool *tool = &toolbox->tools[toolbox->n_tools];

		tool->index = (uint32_t)toolbox->n_tools++;
		tool->toolbox = toolbox;
		r = manifest_tool_read(&scope, token, tool);
		if (r < 0)
			return r;
		if (is_stopped(reader))
			return -ECANCELED;
		if (is_over(reader)) {
			diagnose(problems, DIAGNOSTIC_ERROR, tape, tools,
				"reading the tools takes longer than %llu ms: give some of them to "
				"another toolbox, or make their patterns simpler",
				(unsigned long long)reader->most_ms);
			return 0;
		}
	}
	return problems->n_errors == 0 ? manifest_each_twin(toolbox, refuse_twin, &scope) : 0;
}

/* Keep the JSON text of a value passed on unread. */
static int read_config(const struct json_tape *tape, struct package *package)
{
	uint32_t token = json_find(tape, 0, "config");
	cleanup(buffer_deinit) struct buffer text = {0};

	if (token == JSON_NONE)
		return 0;
	json_write_compact(&text, tape, token);
	package->config = buffer_take(&text, NULL);
	return package->config ? 0 : -ENOMEM;
}

/* Read the remaining members; the shape was checked. */
static void read_flags(const struct json_tape *tape, struct package *package)
{
	uint32_t coerce = json_find(tape, 0, "coerce");
	uint32_t risk = json_find(tape, 0, "risk");

	package->coerces = coerce == JSON_NONE ? kind_facts(package->kind)->coerces
					       : json_is_true(tape, coerce);
	package->risk = risk == JSON_NONE ? TOOL_UNRATED : tool_risk_at(tape, risk);
	package->has_content =
		json_find(tape, 0, "output") != JSON_NONE || package->kind == KIND_MCP;
	package->has_gate = json_find(tape, 0, "gate") != JSON_NONE;
	package->asserts_formats = json_member_is_true(tape, 0, "assert_formats");
}

/* Return whether the tools of @package are not read: a host describes them, the package is left out
 * and costs next to nothing so, or a mistake in its tables is reported already. */
static bool skips_tools(const struct package *package)
{
	return kind_facts(package->kind)->describes_tools || package->is_left_out ||
	       (package->kind == KIND_NATIVE && !package->types);
}

/* Add the toolbox of a package with one, with the tools listed by the manifest. */
static int read_toolbox(
	struct manifest_reader *reader, struct package *package, struct diagnostics *problems)
{
	const struct json_tape *tape = &reader->tape;
	cleanup(toolbox_cleanup) struct toolbox *toolbox = toolbox_new(package, package->id, NULL);
	uint32_t description = json_find(tape, 0, "description");
	struct toolbox *added;

	if (!toolbox || package_add(package, toolbox) < 0)
		return -ENOMEM;
	added = take_ptr(toolbox);
	if (description != JSON_NONE) {
		added->description = json_string_dup(tape, description, NULL);
		if (!added->description)
			return -ENOMEM;
	}
	if (skips_tools(package))
		return 0;
	return manifest_read_tools(reader, tape, json_find(tape, 0, "tools"), added, problems);
}

/* Note the file read at @path, if there was a file, for the calls of its tools. */
static int take_origin(
	const struct manifest_reader *reader, const char *path, struct package *package)
{
	const struct buffer *bytes = &reader->bytes;

	return reader->stamp.inode ? origins_take(&package->definition, path, &reader->stamp,
					     bytes->data, bytes->size)
				   : 0;
}

static int read_package(struct manifest_reader *reader, const char *path, struct package *package,
	struct diagnostics *problems)
{
	const struct json_tape *tape = &reader->tape;
	int r;

	package->stamp = reader->stamp;
	package->digest = digest_bytes(DIGEST_SEED, reader->bytes.data, reader->bytes.size);
	package->file = strdup(path);
	if (!package->file)
		return -ENOMEM;
	package->kind = kind_of(tape);
	refuse_keys_of_others(tape, package->kind, problems);
	if (package->kind == KIND_BUS)
		manifest_bus_refuse_processes(tape, problems);
	read_flags(tape, package);
	read_limits(tape, package->kind, &package->limits);
	read_concurrent(tape, package, problems);
	r = read_id(tape, path, package, problems);
	if (r == 0)
		r = manifest_read_off(tape, 0, package->id, NULL, &package->off);
	package->is_left_out = r == 0 && manifest_reader_leaves_out(reader, package);
	if (r == 0 && !package->is_left_out)
		r = take_origin(reader, path, package);
	if (r == 0)
		r = read_places(reader, path, package, problems);
	if (r == 0)
		r = read_config(tape, package);
	if (r == 0 && !kind_facts(package->kind)->has_members)
		r = read_toolbox(reader, package, problems);
	if (r == 0 && problems->n_errors == 0)
		r = package_prepare(package);
	return r;
}

/* Return whether the mistakes in a manifest of @kind are mistakes wherever it is read: no program,
 * interpreter or server is looked for. */
static bool is_known_by_bytes(enum toolbox_kind kind)
{
	return kind == KIND_NATIVE || kind == KIND_PLUGIN || kind == KIND_BUS;
}

/* Make the package of the manifest in reader->tape. */
static int read_manifest(struct manifest_reader *reader, const char *path,
	struct package **ret_package, struct diagnostics *problems)
{
	cleanup(package_cleanup) struct package *package = NULL;
	int r = manifest_check_shape(reader, problems);

	reader->is_refused_for_good = r == MANIFEST_E_REFUSED && reader->stamp.inode != 0;
	if (r != 0)
		return r;
	package = package_new();
	if (!package)
		return -ENOMEM;
	r = read_package(reader, path, package, problems);
	if (r < 0)
		return r;
	if (problems->n_errors > 0) {
		reader->is_refused_for_good = reader->stamp.inode != 0 &&
					      is_known_by_bytes(package->kind) && !is_over(reader);
		return MANIFEST_E_REFUSED;
	}
	*ret_package = take_ptr(package);
	return 0;
}

bool manifest_is_refused_for_good(const struct manifest_reader *reader)
{
	return reader->is_refused_for_good;
}

/* Report the problems of the manifest made from an array as problems of the array. */
static void move_problems(
	const struct json_tape *array, const struct diagnostics *from, struct diagnostics *problems)
{
	char pointer[ARRAY_POINTER_BYTES];

	for (size_t i = 0; i < from->n_items; i++) {
		array_file_pointer(from->items[i].pointer, pointer, sizeof(pointer));
		diagnose_at(problems, from->items[i].severity, array, pointer, from->items[i].text);
	}
}

/* Read the array in reader->tape. The package is known by the file's own bytes. */
static int read_array(struct manifest_reader *reader, const char *path,
	struct package **ret_package, struct diagnostics *problems)
{
	cleanup(buffer_deinit) struct buffer bytes = reader->bytes;
	cleanup(json_tape_cleanup) struct json_tape array = reader->tape;
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(diagnostics_deinit) struct diagnostics inside = {0};
	struct stamp stamp = reader->stamp;
	int r;

	reader->bytes = (struct buffer){0};
	reader->tape = (struct json_tape){0};
	r = array_file_translate(&array, problems, &text);
	if (r == 0 && problems->n_errors > 0)
		return MANIFEST_E_REFUSED;
	if (r == 0)
		r = manifest_read_text(reader, path, text.data, text.size, ret_package, &inside);
	move_problems(&array, &inside, problems);
	if (r != 0)
		return r;
	(*ret_package)->stamp = stamp;
	(*ret_package)->digest = digest_bytes(DIGEST_SEED, bytes.data, bytes.size);
	r = origins_take(&(*ret_package)->definition, path, &stamp, bytes.data, bytes.size);
	if (r < 0)
		package_unref(take_ptr(*ret_package));
	return r;
}

/* Refuse a list of servers as another program keeps it: what its members mean is not known. */
static int refuse_list(const struct manifest_reader *reader, struct diagnostics *problems)
{
	const char *key = mcp_other_list_key(&reader->tape);
	cleanup(buffer_deinit) struct buffer pointer = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&pointer, "/%s", key);
	buffer_printf(&text, "a list of servers has the key mcpServers, not %s", key);
	if (!buffer_terminate(&pointer) || !buffer_terminate(&text))
		return -ENOMEM;
	diagnose_at(problems, DIAGNOSTIC_ERROR, &reader->tape, pointer.data, text.data);
	return MANIFEST_E_REFUSED;
}

int manifest_read(struct manifest_reader *reader, const char *path, struct package **ret_package,
	struct diagnostics *problems)
{
	int r = read_bytes(reader, path, problems);

	if (r == 0)
		r = manifest_off_read(reader, path, false,
			(struct text_view){reader->bytes.data, reader->bytes.size}, ret_package);
	if (r != 0 || *ret_package)
		return r;
	r = read_tape(reader, problems);
	if (r != 0)
		return r;
	if (mcp_is_server_list(&reader->tape))
		return MANIFEST_IS_LIST;
	if (mcp_other_list_key(&reader->tape))
		return refuse_list(reader, problems);
	return json_type_at(&reader->tape, 0) == JSON_ARRAY
		       ? read_array(reader, path, ret_package, problems)
		       : read_manifest(reader, path, ret_package, problems);
}

int manifest_take_origin(
	const struct manifest_reader *reader, const char *path, struct origins *origins)
{
	return origins_take(origins, path, &reader->stamp, reader->bytes.data, reader->bytes.size);
}

int manifest_read_servers(struct manifest_reader *reader, struct mcp_server_entries *ret_entries,
	struct diagnostics *problems)
{
	cleanup_free char *home = NULL;
	int r = paths_home(&home);

	r = r ? r : mcp_server_entries_read(&reader->tape, home ? home : "/", ret_entries);

	if (r == -EINVAL) {
		diagnose_at(problems, DIAGNOSTIC_ERROR, &reader->tape, "/mcpServers",
			"must be an object, with a member for each server");
		return MANIFEST_E_REFUSED;
	}
	if (r == 0 && ret_entries->n_more > 0)
		diagnose(problems, DIAGNOSTIC_ERROR, &reader->tape,
			json_find(&reader->tape, 0, "mcpServers"),
			"has more than %d servers; %zu are left out", MCP_SERVERS_MAX,
			ret_entries->n_more);
	return r;
}

int manifest_read_text(struct manifest_reader *reader, const char *path, const char *text,
	size_t size, struct package **ret_package, struct diagnostics *problems)
{
	struct json_error error = {0};
	int r;

	reader->stamp = (struct stamp){0};
	buffer_reset(&reader->bytes);
	buffer_append(&reader->bytes, text, size);
	r = buffer_status(&reader->bytes);
	if (r == 0)
		r = json_tape_read(&reader->tape, reader->bytes.data, reader->bytes.size,
			JSON_DEPTH_DEFAULT, &error);
	if (r < 0)
		return r;
	if (r > 0) {
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "", "%s", error.message);
		return MANIFEST_E_REFUSED;
	}
	return read_manifest(reader, path, ret_package, problems);
}
