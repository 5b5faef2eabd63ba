/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl/command.h"
#include "ctl/new/from_header.h"
#include "ctl/new/mcp.h"
#include "ctl/new/skill.h"
#include "ctl/new/template.h"
#include "ctl/terminal.h"
#include "json/writer.h"
#include "manifest/manifest.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/*
 * toolboxctl new: write a new toolbox into a folder of its own.
 *
 *   templates/native/my_toolbox.c ──id words──▶ words/words.c
 *   templates/native/tests/my_toolbox.calls ──▶ words/tests/words.calls
 *
 * The new files belong to their author: the licence line of the template is left out.
 */

/* The kind without templates: its server describes itself. */
#define MCP "mcp"

#define LICENCE_MARK "SPDX-License-Identifier:"

struct writing {
	const char *id;
	const char *kind;
	struct buffer files; /* the paths written, each with its NUL */
};

/* ── kinds ───────────────────────────────────────────────────────────────────────────────────── */

static bool is_kind(const char *name)
{
	if (strcmp(name, MCP) == 0)
		return true;
	for (size_t i = 0; i < n_templates; i++)
		if (strcmp(templates[i].kind, name) == 0)
			return true;
	return false;
}

/* Append the kinds: "a, b, c". */
static void append_kinds(struct buffer *out)
{
	const char *last = "";

	for (size_t i = 0; i < n_templates; i++) {
		const char *kind = templates[i].kind;

		if (strcmp(kind, last) == 0)
			continue;
		buffer_append_string(out, out->size > 0 ? ", " : "");
		buffer_append_string(out, kind);
		last = kind;
	}
	buffer_append_string(out, ", " MCP);
}

static int refuse_kind(const char *kind)
{
	cleanup(buffer_deinit) struct buffer kinds = {0};

	append_kinds(&kinds);
	if (!buffer_terminate(&kinds))
		return CTL_ERROR;
	if (kind)
		terminal_complain("--kind must be one of %s, not '%s'", kinds.data, kind);
	else
		terminal_complain("--kind is missing: one of %s", kinds.data);
	return CTL_USAGE;
}

static int check_options(const struct ctl_options *options)
{
	const char *id = options->positional[1];
	const char *kind = options->kind;

	if (!id || options->out) {
		terminal_complain(id ? "--out is for --from-skill"
				     : "new needs more arguments: toolboxctl new ID --kind KIND");
		return CTL_USAGE;
	}
	if ((options->from_header || options->gir) && kind && strcmp(kind, "native") != 0) {
		terminal_complain(
			"--from-header and --from-gir are for --kind native, not %s", kind);
		return CTL_USAGE;
	}
	if (!options->from_header && !options->gir &&
		(options->library || options->only || options->risk || options->pkg ||
			options->cflags || options->why)) {
		terminal_complain("--library, --only, --risk, --pkg, --cflags and --why are for "
				  "--from-header and --from-gir");
		return CTL_USAGE;
	}
	if (!options->from_header && !options->gir && (!kind || !is_kind(kind)))
		return refuse_kind(kind);
	if ((!kind || strcmp(kind, MCP) != 0) &&
		(options->url || options->n_command > 0 || options->n_variables > 0 ||
			options->n_headers > 0)) {
		terminal_complain("--url, --command, --env and --header are for --kind %s, not %s",
			MCP, kind ? kind : "native");
		return CTL_USAGE;
	}
	/* A '-' at the start would make the folder's name a flag of the next command. */
	if (manifest_is_id(id) && *id != '-')
		return 0;
	terminal_complain("the id must be 1 to %d letters, digits, '_' or '-' that begin with no "
			  "'-', not '%s'",
		TOOLBOX_ID_BYTES, id);
	return CTL_USAGE;
}

/* ── one file ────────────────────────────────────────────────────────────────────────────────── */

static bool starts_with(const char *text, const char *end, const char *token)
{
	size_t size = strlen(token);

	return (size_t)(end - text) >= size && memcmp(text, token, size) == 0;
}

/* Append @size bytes of a template, with the id instead of the template's own. */
static void append_named(struct buffer *out, const char *text, size_t size, const char *id)
{
	const char *end = text + size;
	char module[TOOLBOX_ID_BYTES + 1];

	snprintf(module, sizeof(module), "%s", id);
	for (char *dash = module; (dash = strchr(dash, '-'));)
		*dash = '_';
	while (text < end) {
		if (starts_with(text, end, TEMPLATE_ID)) {
			buffer_append_string(out, id);
			text += strlen(TEMPLATE_ID);
		} else if (starts_with(text, end, TEMPLATE_MODULE)) {
			buffer_append_string(out, module);
			text += strlen(TEMPLATE_MODULE);
		} else {
			buffer_append_char(out, *text++);
		}
	}
}

/* Append the template without its licence line and an empty line after that. */
static void append_text(struct buffer *out, const char *text, const char *id)
{
	const char *mark = strstr(text, LICENCE_MARK);
	const char *start = mark;
	const char *rest;

	if (!mark) {
		append_named(out, text, strlen(text), id);
		return;
	}
	while (start > text && start[-1] != '\n')
		start--;
	rest = mark + strcspn(mark, "\n");
	rest += *rest == '\n';
	rest += *rest == '\n';
	append_named(out, text, (size_t)(start - text), id);
	append_named(out, rest, strlen(rest), id);
}

/* Make the folders on the way to @path. 0 or a negative errno. */
static int make_folders(char *path)
{
	for (char *slash = path; (slash = strchr(slash, '/')); slash++) {
		int r;

		*slash = '\0';
		r = mkdir(path, 0777) < 0 && errno != EEXIST ? -errno : 0;
		*slash = '/';
		if (r < 0)
			return r;
	}
	return 0;
}

/* Return 0 or a negative errno. */
static int write_file(const char *path, const struct buffer *text, mode_t mode)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	return fd < 0 ? -errno : file_write_all(fd, text->data, text->size);
}

/* Return CTL_DONE, or CTL_ERROR with a message on stderr. */
static int write_template(struct writing *writing, const struct template *template)
{
	cleanup(buffer_deinit) struct buffer path = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	bool is_program = strncmp(template->text, "#!", 2) == 0;
	int r;

	buffer_printf(&path, "%s/", writing->id);
	append_named(&path, template->name, strlen(template->name), writing->id);
	append_text(&text, template->text, writing->id);
	r = buffer_terminate(&path) ? buffer_status(&text) : -ENOMEM;
	if (r == 0)
		r = make_folders(path.data);
	if (r == 0)
		r = write_file(path.data, &text, is_program ? 0777 : 0666);
	if (r < 0) {
		terminal_complain("%s cannot be written: %s",
			buffer_terminate(&path) ? path.data : writing->id, strerror(-r));
		return CTL_ERROR;
	}
	buffer_append(&writing->files, path.data, path.size + 1);
	return CTL_DONE;
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

static int write_all(struct writing *writing)
{
	int r = CTL_DONE;

	if (mkdir(writing->id, 0777) < 0 && errno == EEXIST) {
		terminal_complain("'%s' is there already: choose another id", writing->id);
		return CTL_USAGE;
	}
	for (size_t i = 0; r == CTL_DONE && i < n_templates; i++)
		if (strcmp(templates[i].kind, writing->kind) == 0)
			r = write_template(writing, &templates[i]);
	return r;
}

static void print_json(const struct writing *writing)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	const char *end = writing->files.data + writing->files.size;

	buffer_printf(&out, "{\"toolbox_id\":\"%s\",\"kind\":\"%s\",\"files\":[", writing->id,
		writing->kind);
	for (const char *file = writing->files.data; file < end; file += strlen(file) + 1) {
		buffer_append_string(&out, file == writing->files.data ? "" : ",");
		json_write_text(&out, file);
	}
	buffer_append_string(&out, "]}\n");
	terminal_print(&out);
}

static void print_next(const struct writing *writing)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	const char *end = writing->files.data + writing->files.size;
	const char *id = writing->id;

	for (const char *file = writing->files.data; file < end; file += strlen(file) + 1)
		buffer_printf(&out, "%s\n", file);
	buffer_printf(&out,
		"\nBuild and test it:\n\n"
		"  cmake -G Ninja -S %s -B %s/build\n"
		"  cmake --build %s/build\n"
		"  ctest --test-dir %s/build\n\n"
		"Serve it, on a device with a bus, or with a bus of its own:\n\n"
		"  toolboxd --toolbox-dir %s/build/toolbox.d\n"
		"  toolboxd --embedded-bus --toolbox-dir %s/build/toolbox.d\n\n"
		"Go on with it; each change is loaded, each call shown:\n\n"
		"  toolboxctl dev %s\n",
		id, id, id, id, id, id, id);
	terminal_print(&out);
}

int ctl_new(const struct ctl_options *options)
{
	struct writing writing = {.id = options->positional[1], .kind = options->kind};
	int r;

	if (options->skill)
		return new_skill(options);
	r = check_options(options);
	if (r == 0 && (options->from_header || options->gir))
		return new_from_header(writing.id, options);
	if (r == 0 && strcmp(writing.kind, MCP) == 0)
		return new_mcp(writing.id, options);
	if (r == 0)
		r = write_all(&writing);
	if (r == CTL_DONE && options->json)
		print_json(&writing);
	else if (r == CTL_DONE)
		print_next(&writing);
	buffer_deinit(&writing.files);
	return r;
}
