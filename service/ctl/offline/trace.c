/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/offline/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl/request.h"
#include "ctl/response.h"
#include "ctl/terminal.h"
#include "ctl/tool/signature.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/text/visible.h"

/* A report has at most 256 lines per process, each with three paths. */
#define REPORT_BYTES_MAX (64u << 20)

/* The paths of one line in the width of a terminal. */
#define PATH_WIDTH 40

/* The lists that a manifest has. */
enum { READ, WRITE, N_LISTS };
static const char *const list_names[] = {"read", "write"};

struct trace {
	const struct json_tape *args; /* tape of the call's arguments */
	struct buffer paths;          /* a line for each path */
	struct buffer notes;          /* other lines */
	struct buffer lists[N_LISTS]; /* elements of the lists to add */
	size_t n_paths;
	bool is_traced;
};

int trace_open(char ret_path[TRACE_PATH_BYTES])
{
	int fd = memfd_create("report", MFD_CLOEXEC);

	if (fd < 0)
		terminal_complain("cannot trace: %s", strerror(errno));
	snprintf(ret_path, TRACE_PATH_BYTES, "/proc/%d/fd/%d", getpid(), fd);
	return fd;
}

/* ── one line of the report ──────────────────────────────────────────────────────────────────── */

/* Return whether the path @path belongs to an argument, or to a file below the folder named by an
 * argument. */
static bool is_below(const char *path, const char *argument, size_t size)
{
	while (size > 1 && argument[size - 1] == '/')
		size--;
	return size > 0 && strncmp(path, argument, size) == 0 &&
	       (path[size] == '\0' || path[size] == '/');
}

static bool is_argument(const struct trace *trace, const char *path)
{
	const struct json_tape *args = trace->args;

	for (uint32_t i = 0; i < args->count; i++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		if (json_type_at(args, i) != JSON_STRING)
			continue;
		json_string_decode(args, i, &text);
		if (buffer_terminate(&text) && is_below(path, text.data, text.size))
			return true;
	}
	return false;
}

/* Add @name to the list, unless it is there. */
static void add_to_list(struct buffer *list, const char *name)
{
	cleanup(buffer_deinit) struct buffer element = {0};

	json_write_text(&element, name);
	if (!buffer_terminate(&element) ||
		(buffer_terminate(list) && strstr(list->data, element.data)))
		return;
	buffer_append_string(list, list->size > 0 ? ", " : "");
	buffer_append(list, element.data, element.size);
}

static void add_path(struct trace *trace, const struct json_tape *line, const char *access)
{
	cleanup_free char *path = json_find_dup(line, 0, "path");
	cleanup_free char *name = json_find_dup(line, 0, "name");
	cleanup_free char *given = json_find_dup(line, 0, "given");
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t list = strcmp(access, "read") == 0 ? READ : WRITE;
	const char *note = "";

	if (!path || !name || !given)
		return;
	if (json_find(line, 0, "permissions") != JSON_NONE)
		note = "(its permissions refuse it, too)";
	else if (is_argument(trace, path) || is_argument(trace, given))
		note = "(came from an argument: name a folder)";
	else
		add_to_list(&trace->lists[list], name);
	visible_append(&text, path, strlen(path));
	if (!buffer_terminate(&text))
		return;
	buffer_printf(
		&trace->paths, "  %-5s  %-*s", list_names[list], *note ? PATH_WIDTH : 0, text.data);
	buffer_printf(&trace->paths, "%s%s\n", *note ? "  " : "", note);
	trace->n_paths++;
}

static void add_note(struct trace *trace, const char *begin, const char *text)
{
	cleanup(buffer_deinit) struct buffer note = {0};

	buffer_printf(&note, "  %s%s\n", begin, text);
	if (buffer_terminate(&note) &&
		!(buffer_terminate(&trace->notes) && strstr(trace->notes.data, note.data)))
		buffer_append(&trace->notes, note.data, note.size);
}

/* Read one line. Lines of several processes may be the same. */
static void add_line(struct trace *trace, const char *text, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape line = {0};

	if (json_tape_read(&line, text, size, JSON_DEPTH_DEFAULT, NULL) != 0 ||
		json_type_at(&line, 0) != JSON_OBJECT)
		return;
	cleanup_free char *access = json_find_dup(&line, 0, "access");
	cleanup_free char *reason = json_find_dup(&line, 0, "reason");
	cleanup_free char *unreadable = json_find_dup(&line, 0, "unreadable");

	if (access)
		add_path(trace, &line, access);
	else if (reason)
		add_note(trace, "nothing was traced: ", reason);
	else if (unreadable)
		add_note(trace, "some paths could not be read: ", unreadable);
	else if (json_find(&line, 0, "more") != JSON_NONE)
		add_note(trace, "more paths are left out", "");
	else
		trace->is_traced = true;
}

/* Return whether the line repeats an earlier line. */
static bool is_repeated(const char *report, const char *line, size_t size)
{
	const char *first = memmem(report, (size_t)(line - report) + size, line, size);

	return first != line;
}

/* ── the report ──────────────────────────────────────────────────────────────────────────────── */

static void write_advice(const struct trace *trace, const char *file, struct buffer *out)
{
	bool is_first = true;

	if (trace->lists[READ].size + trace->lists[WRITE].size == 0)
		return;
	buffer_append_string(out, "add to ");
	visible_append(out, file, strlen(file));
	buffer_append_string(out, ": \"sandbox\": {");
	for (size_t i = 0; i < N_LISTS; i++) {
		if (trace->lists[i].size == 0)
			continue;
		buffer_printf(out, "%s\"%s\": [", is_first ? "" : ", ", list_names[i]);
		visible_append(out, trace->lists[i].data, trace->lists[i].size);
		buffer_append_char(out, ']');
		is_first = false;
	}
	buffer_append_string(out, "}\n");
}

static void write_report(
	const struct trace *trace, const char *name, const char *file, struct buffer *out)
{
	visible_append(out, name, strlen(name));
	if (trace->n_paths > 0)
		buffer_printf(out, ": %zu path%s that no rule allows\n", trace->n_paths,
			trace->n_paths == 1 ? "" : "s");
	else if (trace->is_traced)
		buffer_append_string(out, ": the sandbox allows every path that it tried\n");
	else
		buffer_append_string(out, ": no path was traced\n");
	buffer_append(out, trace->paths.data, trace->paths.size);
	buffer_append(out, trace->notes.data, trace->notes.size);
	write_advice(trace, file, out);
}

void trace_print(int fd, const char *name, const char *file, const struct buffer *args)
{
	cleanup(buffer_deinit) struct buffer report = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct trace trace = {.args = &tape};

	if (lseek(fd, 0, SEEK_SET) < 0 || file_read_fd(fd, REPORT_BYTES_MAX, &report) < 0 ||
		!buffer_terminate(&report)) {
		terminal_complain("the report cannot be read");
		return;
	}
	/* Without arguments no path comes from one. */
	if (json_tape_read(&tape, buffer_text(args), args->size, JSON_DEPTH_DEFAULT, NULL) != 0)
		json_tape_deinit(&tape);
	for (const char *line = report.data; *line;) {
		size_t size = strcspn(line, "\n");

		if (!is_repeated(report.data, line, size))
			add_line(&trace, line, size);
		line += size + (line[size] == '\n');
	}
	write_report(&trace, name, file, &out);
	fflush(stdout);
	if (buffer_status(&out) == 0)
		file_write_all(STDERR_FILENO, out.data, out.size);
	buffer_deinit(&trace.paths);
	buffer_deinit(&trace.notes);
	for (size_t i = 0; i < N_LISTS; i++)
		buffer_deinit(&trace.lists[i]);
}

/* ── the manifest of a tool ──────────────────────────────────────────────────────────────────── */

/* Ask for the tool, which names its toolbox. */
static int ask_for_toolbox(struct ctl_session *session, const struct ctl_options *options,
	const char *name, char **ret_toolbox_id)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	r = ctl_request_tool(&data, name, options);
	r = r ? r : ctl_session_ask(session, "ovos.tools.get", &data, &response);
	if (r == 0 && ctl_response_status(&response) != CTL_DONE) {
		tool_error_complain(&response, options);
		return ctl_response_status(&response);
	}
	if (r == 0)
		*ret_toolbox_id = json_find_dup(&response.tape, 0, "toolbox_id");
	return r;
}

int trace_find_file(struct ctl_session *session, const struct ctl_options *options,
	const char *name, char **ret_file)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup_free char *toolbox_id = NULL;
	const struct json_tape *tape = &response.tape;
	uint32_t list;
	int r = ask_for_toolbox(session, options, name, &toolbox_id);

	r = r ? r : ctl_session_ask(session, "ovos.tools.status", NULL, &response);
	if (r)
		return r;
	list = ctl_response_find(&response, 0, "toolboxes", JSON_ARRAY);
	json_each_found_while(toolbox_id, i, tape, list) {
		uint32_t id = ctl_response_find(&response, i, "toolbox_id", JSON_STRING);
		uint32_t file = ctl_response_find(&response, i, "file", JSON_STRING);

		if (id == JSON_NONE || file == JSON_NONE || !json_is_text(tape, id, toolbox_id))
			continue;
		*ret_file = json_string_dup(tape, file, NULL);
		return *ret_file ? 0 : CTL_ERROR;
	}
	terminal_complain("the service does not name the file of '%s'; name it with --file", name);
	return CTL_ERROR;
}
