/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/new/from_header.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/check/against_header.h"
#include "ctl/command.h"
#include "ctl/header/comment.h"
#include "ctl/header/plan_write.h"
#include "ctl/terminal.h"
#include "json/writer.h"
#include "manifest/manifest.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/text/glob.h"
#include "wire/wire.h"

/* A function of the headers: a tool, or a reason against one. */
struct candidate {
	const char *name;
	char *tool; /* an entry of `tools`, or NULL */
	char *why;  /* or NULL */
	struct plan *plan;
};

struct generating {
	const char *id;
	const struct ctl_options *options;
	struct compiler compiler;
	struct header header;
	const char **header_paths; /* paths of compiler.headers; NULL: not found */
	struct gir gir;            /* without --from-gir: empty */
	/* the names of the libraries, each a path from the root or a name for the linker; owned */
	char *names[WIRE_LIBRARIES_MAX];
	void *libraries[WIRE_LIBRARIES_MAX];
	size_t n_libraries;
	struct candidate *candidates;
	size_t n_candidates;
	int error;
};

static void cleanup_generating(struct generating *generating)
{
	for (size_t i = 0; i < generating->n_candidates; i++) {
		free(generating->candidates[i].tool);
		free(generating->candidates[i].why);
		free(generating->candidates[i].plan);
	}
	free(generating->candidates);
	free(generating->header_paths);
	header_deinit(&generating->header);
	gir_deinit(&generating->gir);
	for (size_t i = 0; i < generating->n_libraries; i++) {
		free(generating->names[i]);
		if (generating->libraries[i])
			dlclose(generating->libraries[i]);
	}
}

static void drop_tool(struct candidate *candidate, const char *why, size_t size)
{
	free(candidate->tool);
	candidate->tool = NULL;
	free(candidate->why);
	candidate->why = strndup(why, size);
}

/* ── which functions ─────────────────────────────────────────────────────────────────────────── */

/* Return whether @file is the header @name of the command line, whose path is @whole, or a part: a
 * header in the same folder, or in a folder with the name of the header. */
static bool is_part(const char *file, const char *name, const char *whole)
{
	size_t size = strlen(whole);
	const char *slash = strrchr(whole, '/');

	if (strcmp(file, whole) == 0)
		return true;
	/* sodium.h has its parts in sodium/. */
	if (size > 2 && strncmp(file, whole, size - 2) == 0 && file[size - 2] == '/')
		return true;
	return strchr(name, '/') && slash && strncmp(file, whole, (size_t)(slash - whole) + 1) == 0;
}

/* Return the path of the header number @index, as the compiler found it, or NULL. The source has a
 * line for each header. A header may have been included before by another: then its line shows no
 * file. */
static const char *find_header_path(const struct generating *generating, size_t index)
{
	const struct c_tokens *tokens = &generating->header.tokens;
	const char *name = generating->compiler.headers[index];
	char path[PATH_MAX];
	const char *whole = compiler_find_file(name, path);

	for (size_t i = tokens->n_includes; i-- > 0;)
		if (tokens->includes[i].line == index + 1)
			return tokens->files[tokens->includes[i].file];
	for (size_t i = 0; i < tokens->n_files; i++) {
		const char *file = tokens->files[i];

		if (strcmp(whole ? file : header_short_name(file), whole ? whole : name) == 0)
			return file;
	}
	return NULL;
}

static bool is_of_headers(const struct generating *generating, const struct c_function *function)
{
	if (generating->options->gir)
		return gir_find(&generating->gir, function->name) != NULL;
	for (size_t i = 0; i < generating->compiler.n_headers; i++) {
		const char *path = generating->header_paths[i];

		if (path && is_part(function->file, generating->compiler.headers[i], path))
			return true;
	}
	return false;
}

/* Return whether --only, globs with commas between them, has the name. */
static bool is_wanted_function(const char *only, const char *name)
{
	for (const char *at = only; at && *at; at += *at == ',') {
		size_t size = strcspn(at, ",");

		if (glob_matches(at, size, name, strlen(name)))
			return true;
		at += size;
	}
	return !only;
}

static bool is_in_library(void *data, const struct c_function *function)
{
	const struct generating *generating = data;

	for (size_t i = 0; i < generating->n_libraries; i++)
		if (dlsym(generating->libraries[i], function->name))
			return true;
	return false;
}

/* ── the manifest ────────────────────────────────────────────────────────────────────────────── */

/* Append the member `library`, or `libraries`. */
static void write_library_names(const struct generating *generating, struct buffer *out)
{
	bool is_list = generating->n_libraries > 1;

	buffer_append_string(out, is_list ? "\"libraries\": [" : "\"library\": ");
	for (size_t i = 0; i < generating->n_libraries; i++) {
		buffer_append_string(out, i > 0 ? ", " : "");
		json_write_bytes_lossy(out, generating->names[i], strlen(generating->names[i]));
	}
	buffer_append_string(out, is_list ? "]" : "");
}

/* Append the manifest with the tools of the candidates from @first on, @n of them. @id: the member
 * "toolbox_id", or NULL. */
static void write_header_manifest(const struct generating *generating, const char *id, size_t first,
	size_t n, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer names = {0};
	cleanup(buffer_deinit) struct buffer enums = {0};
	bool is_first = true;

	buffer_append_string(out, "{\n  \"kind\": \"native\",\n  ");
	if (id)
		buffer_printf(out, "\"toolbox_id\": \"%s\",\n  ", id);
	write_library_names(generating, out);
	if (generating->options->risk)
		buffer_printf(out, ",\n  \"risk\": \"%s\"", generating->options->risk);
	for (size_t i = first; i < first + n; i++)
		if (generating->candidates[i].tool)
			plan_write_enums(generating->candidates[i].plan, &names, &enums);
	if (enums.size > 0) {
		buffer_append_string(out, ",\n  \"enums\": {");
		buffer_append_buffer(out, &enums);
		buffer_append_string(out, "\n  }");
	}
	buffer_append_string(out, ",\n  \"tools\": [");
	for (size_t i = first; i < first + n; i++) {
		if (!generating->candidates[i].tool)
			continue;
		buffer_append_string(out, is_first ? "\n    " : ",\n    ");
		buffer_append_string(out, generating->candidates[i].tool);
		is_first = false;
	}
	buffer_append_string(out, "\n  ]\n}\n");
}

/* Read a manifest of one candidate like any other, and drop a refused tool. Its folder is not there
 * yet; the library is a path from the root, or a name for the linker. */
static void try_tool(struct generating *generating, struct manifest_reader *reader, size_t index)
{
	struct candidate *candidate = &generating->candidates[index];
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer why = {0};
	cleanup(package_cleanup) struct package *package = NULL;
	struct diagnostics problems = {0};
	int r;

	write_header_manifest(generating, generating->id, index, 1, &text);
	r = buffer_status(&text);
	r = r ? r : manifest_read_text(reader, "/", text.data, text.size, &package, &problems);
	if (r < 0)
		generating->error = r;
	if (r > 0) {
		buffer_append_string(&why, "this toolboxctl cannot say its tool: ");
		if (problems.n_items > 0)
			buffer_append_string(&why, problems.items[0].text);
		drop_tool(candidate, buffer_terminate(&why) ? why.data : "", why.size);
	}
	diagnostics_deinit(&problems);
}

/* Plan one function, and add it to the candidates. */
static void add_candidate(struct generating *generating, struct planner *planner,
	struct manifest_reader *reader, const struct c_function *function)
{
	struct candidate candidate = {.name = function->name};
	cleanup(buffer_deinit) struct buffer tool = {0};
	bool is_planned;

	candidate.plan = calloc(1, sizeof(*candidate.plan));
	if (!candidate.plan || array_grow(generating->candidates, generating->n_candidates) < 0) {
		free(candidate.plan);
		generating->error = -ENOMEM;
		return;
	}
	generating->candidates[generating->n_candidates++] = candidate;
	is_planned = plan_make(planner, function, candidate.plan);
	if (is_planned)
		plan_write_tool(&generating->header, candidate.plan, &tool);
	candidate.why = is_planned ? NULL : strdup(candidate.plan->reason);
	candidate.tool = is_planned ? buffer_take(&tool, NULL) : NULL;
	generating->candidates[generating->n_candidates - 1] = candidate;
	if (!candidate.tool && !candidate.why)
		generating->error = -ENOMEM;
	else if (candidate.tool)
		try_tool(generating, reader, generating->n_candidates - 1);
}

/* Plan the functions of the headers. Return 0 or a negative errno. */
static int plan_all(struct generating *generating)
{
	const struct c_declarations *all = &generating->header.declarations;
	struct planner planner = {.header = &generating->header,
		.is_there = is_in_library,
		.data = generating,
		.gir = generating->options->gir ? &generating->gir : NULL};
	cleanup(manifest_reader_cleanup) struct manifest_reader *reader = manifest_reader_new(NULL);

	generating->header_paths =
		calloc(generating->compiler.n_headers + 1, sizeof(*generating->header_paths));
	if (!reader || !generating->header_paths)
		return -ENOMEM;
	for (size_t i = 0; i < generating->compiler.n_headers; i++)
		generating->header_paths[i] = find_header_path(generating, i);
	for (size_t i = 0; generating->error == 0 && i < all->n_functions; i++) {
		const struct c_function *function = all->functions[i];

		if (!function->is_static && is_of_headers(generating, function) &&
			is_wanted_function(generating->options->only, function->name))
			add_candidate(generating, &planner, reader, function);
	}
	return generating->error;
}

/* ── against the header ──────────────────────────────────────────────────────────────────────── */

/* Return the candidate with the tool number @n of the manifest. */
static struct candidate *find_written_tool(struct generating *generating, unsigned long n)
{
	for (size_t i = 0; i < generating->n_candidates; i++)
		if (generating->candidates[i].why == NULL && n-- == 0)
			return &generating->candidates[i];
	return NULL;
}

struct mismatches {
	struct generating *generating;
	char *whys[]; /* by the number of the tool */
};

/* Keep the first error of a tool. */
static void keep_mismatch(void *data, const struct diagnostic *finding)
{
	struct mismatches *mismatches = data;
	unsigned long n;
	char *end;

	if (finding->severity != DIAGNOSTIC_ERROR ||
		strncmp(finding->pointer, "/tools/", strlen("/tools/")) != 0)
		return;
	n = strtoul(finding->pointer + strlen("/tools/"), &end, 10);
	if (!find_written_tool(mismatches->generating, n) || mismatches->whys[n])
		return;
	mismatches->whys[n] = strdup(finding->text);
}

/* Drop the tools that the compiler refuses. Return 0, an enum compiler_status or a negative
 * errno. */
static int hold_all(struct generating *generating, struct buffer *messages)
{
	cleanup_free struct mismatches *mismatches =
		calloc(1, sizeof(*mismatches) + (generating->n_candidates + 1) * sizeof(char *));
	const struct diagnostic_sink sink = {keep_mismatch, mismatches};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t n = 0;
	int r;

	if (!mismatches)
		return -ENOMEM;
	mismatches->generating = generating;
	write_header_manifest(generating, NULL, 0, generating->n_candidates, &text);
	r = buffer_status(&text);
	r = r ? r : json_tape_read(&tape, text.data, text.size, JSON_DEPTH_DEFAULT, NULL);
	r = r ? r : against_header("", &tape, &generating->compiler, &sink, messages);
	for (size_t i = 0; i < generating->n_candidates; i++) {
		struct candidate *candidate = &generating->candidates[i];
		char *why = candidate->why ? NULL : mismatches->whys[n++];

		if (why)
			drop_tool(candidate, why, strlen(why));
		free(why);
	}
	return r;
}

/* ── what was written ────────────────────────────────────────────────────────────────────────── */

static size_t count_written(const struct generating *generating)
{
	size_t n = 0;

	for (size_t i = 0; i < generating->n_candidates; i++)
		n += generating->candidates[i].tool != NULL;
	return n;
}

static void print_header_tools(const struct generating *generating)
{
	const char *id = generating->id;
	size_t n = count_written(generating);
	cleanup(buffer_deinit) struct buffer out = {0};

	for (size_t i = 0; generating->options->why && i < generating->n_candidates; i++) {
		const struct candidate *candidate = &generating->candidates[i];

		if (!candidate->why)
			continue;
		terminal_append_line(&out, candidate->name, strlen(candidate->name));
		buffer_append_string(&out, ": ");
		terminal_append_line(&out, candidate->why, strlen(candidate->why));
		buffer_append_char(&out, '\n');
	}
	buffer_printf(&out,
		"%s%s/%s.json: %zu of %zu functions are tools%s\n\n"
		"Read its questions, and what each tool does:\n\n"
		"  toolboxctl check %s/%s.json\n"
		"  toolboxctl invoke --file %s/%s.json TOOL\n",
		out.size > 0 ? "\n" : "", id, id, n, generating->n_candidates,
		n < generating->n_candidates && !generating->options->why
			? "; --why lists the others"
			: "",
		id, id, id, id);
	terminal_print(&out);
}

static void print_written_json(const struct generating *generating)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	bool is_first = true;

	buffer_printf(&out,
		"{\"toolbox_id\":\"%s\",\"kind\":\"native\",\"files\":[\"%s/%s.json\"],"
		"\"functions\":%zu,\"tools\":[",
		generating->id, generating->id, generating->id, generating->n_candidates);
	for (size_t i = 0; i < generating->n_candidates; i++) {
		if (!generating->candidates[i].tool)
			continue;
		buffer_printf(
			&out, "%s\"%s\"", is_first ? "" : ",", generating->candidates[i].name);
		is_first = false;
	}
	buffer_append_string(&out, "],\"not_offered\":[");
	is_first = true;
	for (size_t i = 0; i < generating->n_candidates; i++) {
		const struct candidate *candidate = &generating->candidates[i];

		if (!candidate->why)
			continue;
		buffer_printf(
			&out, "%s{\"name\":\"%s\",\"why\":", is_first ? "" : ",", candidate->name);
		json_write_bytes_lossy(&out, candidate->why, strlen(candidate->why));
		buffer_append_char(&out, '}');
		is_first = false;
	}
	buffer_append_string(&out, "]}\n");
	terminal_print_json_text(&out);
}

/* Make the folder ID with the manifest of all tools. Return 0 or a negative errno. */
static int save_tools(const struct generating *generating)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	char name[TOOLBOX_ID_BYTES + sizeof(".json")];
	int r;

	write_header_manifest(generating, NULL, 0, generating->n_candidates, &text);
	r = buffer_status(&text);
	if (r == 0 && mkdir(generating->id, 0777) < 0)
		r = -errno;
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "%s.json", generating->id);
	r = file_replace(generating->id, name, text.data, text.size, 0644);
	if (r < 0)
		rmdir(generating->id);
	return r;
}

/* ── all of it ───────────────────────────────────────────────────────────────────────────────── */

static int check_header_options(const char *id, const struct ctl_options *options)
{
	const char *risk = options->risk;

	if (!options->library && !options->gir) {
		terminal_complain("--library is missing: the shared library that has the "
				  "functions, such as libz.so.1");
		return CTL_USAGE;
	}
	if (risk && strcmp(risk, "read") != 0 && strcmp(risk, "write") != 0 &&
		strcmp(risk, "execute") != 0) {
		terminal_complain("--risk must be read, write or execute, not '%s'", risk);
		return CTL_USAGE;
	}
	if (access(id, F_OK) == 0) {
		terminal_complain("'%s' is there already: choose another id", id);
		return CTL_USAGE;
	}
	return CTL_DONE;
}

/* Report the words of the compiler or of the system. */
static int refuse_header(int r, struct buffer *messages)
{
	size_t size = 0;
	const char *reason = r < 0 ? strerror(-r) : compiler_reason(messages, &size);

	terminal_complain("%.*s", r < 0 ? (int)strlen(reason) : (int)size, reason);
	return CTL_ERROR;
}

/* Read the GIR file; its header and its package take the place of --from-header and --pkg. */
static int take_gir(struct generating *generating, struct buffer *messages)
{
	int r = gir_read(generating->options->gir, &generating->gir, messages);

	if (r)
		return r;
	generating->compiler.headers = (const char *const *)generating->gir.headers;
	generating->compiler.n_headers = generating->gir.n_headers;
	if (!generating->compiler.pkg)
		generating->compiler.pkg = generating->gir.package;
	return 0;
}

static int report_written(const struct generating *generating)
{
	if (count_written(generating) == 0) {
		if (generating->options->why)
			print_header_tools(generating);
		terminal_complain("no function of the header can be a tool%s",
			generating->n_candidates > 0 ? ": --why lists the reasons"
						     : "; does --only name one?");
		return CTL_ERROR;
	}
	if (generating->options->json)
		print_written_json(generating);
	else
		print_header_tools(generating);
	return CTL_DONE;
}

/* Open the library @name of @size bytes. Loading shows its functions, and the functions of
 * all libraries below. Return 0, or the exit status after a message. */
static int open_library(struct generating *generating, const char *name, size_t size)
{
	cleanup_free char *given = strndup(name, size);
	char *whole = given && strchr(given, '/') ? realpath(given, NULL) : NULL;
	size_t index = generating->n_libraries;

	if (size == 0) {
		terminal_complain("a library in the list of libraries has no name");
		return CTL_USAGE;
	}
	for (size_t i = 0; given && i < index; i++)
		if (strcmp(generating->names[i], whole ? whole : given) == 0) {
			terminal_complain("%s is in the list of libraries twice", given);
			free(whole);
			return CTL_USAGE;
		}
	if (index >= WIRE_LIBRARIES_MAX) {
		terminal_complain("a toolbox has at most %d libraries", WIRE_LIBRARIES_MAX);
		return CTL_USAGE;
	}
	generating->names[index] = whole ? whole : take_ptr(given);
	generating->n_libraries++;
	generating->libraries[index] =
		generating->names[index] ? dlopen(generating->names[index], RTLD_LAZY | RTLD_LOCAL)
					 : NULL;
	if (generating->libraries[index])
		return 0;
	terminal_complain("%s", generating->names[index] ? dlerror() : strerror(ENOMEM));
	return CTL_ERROR;
}

/* Open the libraries of the command line, with commas between them, or else of the GIR file.
 * Returns as open_library() does. */
static int open_libraries(struct generating *generating)
{
	const struct ctl_options *options = generating->options;
	const char *at = options->library ? options->library : generating->gir.library;
	int r = 0;

	if (!at) {
		terminal_complain(
			"%s.gir names no shared library: --library is missing", options->gir);
		return CTL_USAGE;
	}
	for (;;) {
		size_t size = strcspn(at, ",");

		r = open_library(generating, at, size);
		if (r || at[size] == '\0')
			return r;
		at += size + 1;
	}
}

int new_from_header(const char *id, const struct ctl_options *options)
{
	cleanup(cleanup_generating) struct generating generating = {
		.id = id,
		.options = options,
		.compiler = {options->from_headers, options->n_from_headers, options->pkg,
			options->cflags},
	};
	cleanup(buffer_deinit) struct buffer messages = {0};
	int r = check_header_options(id, options);

	if (r != CTL_DONE)
		return r;
	r = options->gir ? take_gir(&generating, &messages) : 0;
	if (r)
		return refuse_header(r, &messages);
	r = open_libraries(&generating);
	if (r)
		return r;
	r = header_read(&generating.compiler, true, &generating.header, &messages);
	r = r ? r : comment_place(&generating.header);
	r = r ? r : plan_all(&generating);
	r = r ? r : hold_all(&generating, &messages);
	if (r == 0 && count_written(&generating) > 0)
		r = save_tools(&generating);
	if (r)
		return refuse_header(r, &messages);
	return report_written(&generating);
}
