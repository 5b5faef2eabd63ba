/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl/command.h"
#include "ctl/invoke/arguments.h"
#include "ctl/offline/calls_file.h"
#include "ctl/offline/test.h"
#include "ctl/offline/private.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "ctl/tool_names.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "loader/gate/close.h"
#include "util/clock.h"
#include "util/text/utf8.h"

/*
 * toolboxctl test: call the tools of a manifest, and compare what they give.
 *
 *   FILE ─▶ private service ─▶ its definitions' examples ─┐
 *   tests/NAME.calls beside it, or those that are named ──┴─▶ invoke ─▶ ok, FAILED ─▶ N of M passed
 *
 * An example is a part of the documentation: examples of tools that write or execute are called by
 * --all only, and `check --run` calls examples of tools that only read. A file of calls is there to
 * be called.
 */

#define CALLS_SUFFIX ".calls"
#define CALLS_FOLDER "tests"

/* The most characters of a text in a line. */
#define SHOWN_CHARS 400

/* The columns before what follows `ok` or `FAILED`. */
#define HANGING 8

#define RESULT_DEPTH_MAX 1000

/* The time of all examples of `check --run`. */
#define CHECK_MS 10000

struct test {
	const struct ctl_options *options;
	struct ctl_session *session;
	struct ctl_response list; /* the definitions */
	const char *file;         /* the file of calls; NULL: examples */
	bool is_check;            /* for `check --run`: examples alone */
	uint64_t end_ms;          /* when the time of `check --run` is over */
	struct buffer *summary;   /* for `check --run --json`; else NULL: it is printed */
	struct buffer json;       /* elements of the member `calls` */
	unsigned int n_calls;
	unsigned int n_passed;
	unsigned int n_skipped;
};

/* One call, and what is expected of it. */
struct trial {
	const char *tool;   /* TOOL or TOOLBOX/TOOL */
	struct buffer args; /* JSON text */
	unsigned int line;  /* in the file of calls */
	enum calls_expectation expectation;
	const char *expected; /* see struct calls_line */
	double tolerance;     /* see values_are_close() */
};

/* ── what came ───────────────────────────────────────────────────────────────────────────────── */

/* Return whether the value at @token of @tape is the JSON text that @trial expects. */
static bool is_expected(const struct trial *trial, const struct json_tape *tape, uint32_t token)
{
	cleanup(json_tape_deinit) struct json_tape wanted = {0};

	return json_tape_read(&wanted, trial->expected, strlen(trial->expected), RESULT_DEPTH_MAX,
		       NULL) == 0 &&
	       values_are_close(&wanted, 0, tape, token, trial->tolerance);
}

static bool is_as_expected(const struct trial *trial, const struct ctl_response *response)
{
	uint32_t code = ctl_response_find(response, 0, "code", JSON_STRING);
	uint32_t result = json_find(&response->tape, 0, "result");

	if (trial->expectation == CALLS_ERROR)
		return code != JSON_NONE && json_string_equals(&response->tape, code,
						    trial->expected, strlen(trial->expected));
	return result != JSON_NONE &&
	       (trial->expectation == CALLS_ANY || is_expected(trial, &response->tape, result));
}

/* Append the result, or "error CODE: TEXT". */
static void append_outcome(const struct ctl_response *response, struct buffer *out)
{
	uint32_t result = json_find(&response->tape, 0, "result");

	if (result != JSON_NONE) {
		json_write_compact(out, &response->tape, result);
		return;
	}
	buffer_append_string(out, "error ");
	terminal_append_member(out, &response->tape, 0, "code");
	buffer_append_string(out, ": ");
	terminal_append_member(out, &response->tape, 0, "error");
}

/* ── what is printed ─────────────────────────────────────────────────────────────────────────── */

/* Append the start of @text on one line. */
static void append_shown(struct buffer *out, const char *text, size_t size)
{
	size_t shown = utf8_prefix(text, size, SHOWN_CHARS);

	terminal_append_line(out, text, shown);
	if (shown < size)
		terminal_append_line(out, "…", strlen("…"));
}

static void append_expected(const struct trial *trial, struct buffer *out)
{
	if (trial->expectation == CALLS_ANY)
		buffer_append_string(out, "a result");
	else if (trial->expectation == CALLS_ERROR)
		buffer_append_string(out, "error ");
	if (trial->expected)
		append_shown(out, trial->expected, strlen(trial->expected));
}

static void print_trial(const struct test *test, const struct trial *trial, bool is_good, double ms,
	const struct buffer *outcome)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append_string(&line, is_good ? "ok      " : "FAILED  ");
	append_shown(&line, trial->tool, strlen(trial->tool));
	buffer_append_char(&line, ' ');
	append_shown(&line, trial->args.data, trial->args.size);
	if (is_good) {
		buffer_append_string(&line, " -> ");
		append_shown(&line, outcome->data, outcome->size);
		buffer_printf(&line, "  %.1f ms", ms);
	} else if (test->file) {
		buffer_printf(&line, "  (%s:%u)", test->file, trial->line);
	}
	terminal_append_paragraph(&out, &line, 0, HANGING);
	if (!is_good) {
		buffer_reset(&line);
		buffer_append_string(&line, "expected ");
		append_expected(trial, &line);
		terminal_append_paragraph(&out, &line, HANGING, HANGING);
		buffer_reset(&line);
		buffer_append_string(&line, "came     ");
		append_shown(&line, outcome->data, outcome->size);
		terminal_append_paragraph(&out, &line, HANGING, HANGING);
	}
	terminal_print(&out);
	fflush(stdout);
}

/* Append the object of a call to the member `calls`. */
static void add_json(struct test *test, const struct trial *trial, bool is_good, double ms,
	const struct ctl_response *response)
{
	struct buffer *out = &test->json;

	buffer_append_string(out, out->size > 0 ? ",{" : "{");
	json_write_member_text(out, "tool", trial->tool);
	json_write_member_text(out, "file", test->file);
	buffer_printf(out, ",\"line\":%u,\"args\":", trial->line);
	buffer_append(out, trial->args.data, trial->args.size);
	buffer_printf(out, ",\"ok\":%s,\"duration_ms\":%.1f,", is_good ? "true" : "false", ms);
	json_write_key(out, trial->expectation == CALLS_ERROR ? "expected_code" : "expected");
	if (trial->expectation == CALLS_RESULT)
		buffer_append_string(out, trial->expected);
	else
		json_write_text(out, trial->expected);
	json_write_member_json(out, "response", response->text.data, response->text.size);
	buffer_append_char(out, '}');
}

static void print_summary(const struct test *test)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	if (test->options->json) {
		buffer_printf(&out, "{\"passed\":%u,\"failed\":%u,\"skipped\":%u,\"calls\":[",
			test->n_passed, test->n_calls - test->n_passed, test->n_skipped);
		buffer_append_buffer(&out, &test->json);
		buffer_append_string(&out, "]}\n");
		if (test->summary)
			buffer_append_buffer(test->summary, &out);
		else
			terminal_print_json_text(&out);
		return;
	}
	buffer_printf(&out, "%u of %u passed\n", test->n_passed, test->n_calls);
	if (test->n_skipped > 0)
		buffer_printf(&out, "%u example%s of tools that %s %s not called%s\n",
			test->n_skipped, test->n_skipped == 1 ? "" : "s",
			test->is_check ? "have another risk than read, or need others,"
				       : "write or execute",
			test->n_skipped == 1 ? "was" : "were", test->is_check ? "" : ": see --all");
	terminal_print(&out);
}

/* ── a call ──────────────────────────────────────────────────────────────────────────────────── */

static int try_call(struct test *test, const struct trial *trial)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	cleanup(buffer_deinit) struct buffer outcome = {0};
	uint64_t start_ns;
	double ms;
	bool is_good;
	int r;

	r = ctl_request_tool(&data, trial->tool, test->options);
	buffer_fail_with(&data, &trial->args);
	json_write_member_json(&data, "args", trial->args.data, trial->args.size);
	start_ns = clock_now_ns();
	r = r ? r : ctl_session_ask(test->session, "ovos.tools.invoke", &data, &response);
	if (r != 0)
		return r;
	ms = (double)(clock_now_ns() - start_ns) / NS_PER_MS;
	is_good = is_as_expected(trial, &response);
	test->n_calls++;
	test->n_passed += is_good;
	append_outcome(&response, &outcome);
	if (test->options->json)
		add_json(test, trial, is_good, ms, &response);
	else
		print_trial(test, trial, is_good, ms, &outcome);
	return buffer_status(&outcome) < 0 ? CTL_ERROR : 0;
}

/* ── examples ────────────────────────────────────────────────────────────────────────────────── */

/* Append TOOLBOX/TOOL of the definition at @definition. */
static void append_name(const struct json_tape *tape, uint32_t definition, struct buffer *out)
{
	json_string_decode(tape, json_find(tape, definition, "toolbox_id"), out);
	buffer_append_char(out, '/');
	json_string_decode(tape, json_find(tape, definition, "name"), out);
	buffer_terminate(out);
}

/* Return whether the tool at @definition needs no others for its results, as the kinds bus and mcp
 * do. */
static bool is_alone(const struct ctl_response *list, uint32_t definition)
{
	uint32_t source = ctl_response_find(list, definition, "source", JSON_OBJECT);
	uint32_t kind = source != JSON_NONE ? json_find(&list->tape, source, "kind") : JSON_NONE;

	return !json_is_text(&list->tape, kind, "bus") && !json_is_text(&list->tape, kind, "mcp");
}

/* Return whether the examples of the tool at @definition are called. A check runs no tool whose
 * author has not written that it only reads. */
static bool is_called(const struct test *test, uint32_t definition)
{
	const struct ctl_response *list = &test->list;
	uint32_t risk = ctl_response_find(list, definition, "risk", JSON_STRING);
	bool only_reads = json_is_text(&list->tape, risk, "read");

	if (test->is_check)
		return only_reads && is_alone(list, definition);
	return test->options->all || risk == JSON_NONE || only_reads;
}

static int try_example(struct test *test, uint32_t definition, uint32_t example)
{
	const struct json_tape *tape = &test->list.tape;
	cleanup(buffer_deinit) struct buffer name = {0};
	cleanup(buffer_deinit) struct buffer expected = {0};
	struct trial trial = {.expectation = CALLS_ANY};
	uint32_t args = json_find(tape, example, "args");
	uint32_t result = json_find(tape, example, "result");
	int r = CTL_ERROR;

	append_name(tape, definition, &name);
	if (args == JSON_NONE)
		buffer_append_string(&trial.args, "{}");
	else
		json_write_compact(&trial.args, tape, args);
	if (result != JSON_NONE) {
		json_write_compact(&expected, tape, result);
		trial.expectation = CALLS_RESULT;
		trial.expected = buffer_terminate(&expected);
	}
	json_read_f64(tape, json_find(tape, example, "tolerance"), &trial.tolerance);
	trial.tool = name.data;
	if (buffer_status(&name) == 0 && buffer_status(&trial.args) == 0 &&
		buffer_status(&expected) == 0)
		r = try_call(test, &trial);
	buffer_deinit(&trial.args);
	return r;
}

/* Return whether there is time for another example; else complain. */
static bool is_in_time(const struct test *test)
{
	if (!test->is_check || clock_now_ms() < test->end_ms)
		return true;
	terminal_complain("the examples take longer than %d s together", CHECK_MS / 1000);
	return false;
}

static int try_examples(struct test *test)
{
	const struct json_tape *tape = &test->list.tape;
	uint32_t tools = ctl_response_find(&test->list, 0, "tools", JSON_ARRAY);
	int r = 0;

	json_each_found_while(r == 0, tool, tape, tools) {
		uint32_t examples = ctl_response_find(&test->list, tool, "examples", JSON_ARRAY);

		if (examples == JSON_NONE)
			continue;
		if (!is_called(test, tool)) {
			test->n_skipped += json_count(tape, examples);
			continue;
		}
		json_each_while(r == 0, i, tape, examples)
			r = is_in_time(test) ? try_example(test, tool, i) : CTL_ERROR;
	}
	return r;
}

/* ── files of calls ──────────────────────────────────────────────────────────────────────────── */

/* Return the schema of the arguments of @tool, by which their words are read; JSON_NONE when there
 * is no such tool, which its call will report. */
static uint32_t find_schema(const struct test *test, const char *tool)
{
	const struct json_tape *tape = &test->list.tape;
	uint32_t tools = ctl_response_find(&test->list, 0, "tools", JSON_ARRAY);
	uint32_t found = JSON_NONE;

	json_each_found_while(found == JSON_NONE, i, tape, tools) {
		cleanup(buffer_deinit) struct buffer name = {0};

		append_name(tape, i, &name);
		if (buffer_status(&name) == 0 &&
			(strcmp(name.data, tool) == 0 ||
				strcmp(strchr(name.data, '/') + 1, tool) == 0))
			found = json_find(tape, i, "argument_schema");
	}
	return found;
}

/* A calls_function. */
static int try_line(void *data, const struct calls_line *line)
{
	struct test *test = data;
	cleanup(buffer_deinit) struct buffer reason = {0};
	cleanup(words_deinit) struct words words = {0};
	struct trial trial = {.tool = line->tool,
		.line = line->number,
		.expectation = line->expectation,
		.expected = line->expected};
	int r = 0;

	if (line->object)
		buffer_append_string(&trial.args, line->object);
	else
		r = words_read(line->words, line->n_words, &words, &reason);
	if (r == 0 && !line->object)
		r = ctl_arguments_write(&words, &test->list.tape, find_schema(test, line->tool),
			&trial.args, &reason);
	if (r == 0)
		r = buffer_status(&trial.args);
	if (r != 0) {
		terminal_complain(
			"%s:%u: %s", test->file, line->number, r > 0 ? reason.data : strerror(-r));
		r = r > 0 ? CTL_USAGE : CTL_ERROR;
	} else {
		r = try_call(test, &trial);
	}
	buffer_deinit(&trial.args);
	return r;
}

static int try_file(struct test *test, const char *path)
{
	int r;

	test->file = path;
	r = calls_file_read(path, try_line, test);
	test->file = NULL;
	return r;
}

static bool is_calls_file(const char *path)
{
	size_t size = strlen(path);

	return size > strlen(CALLS_SUFFIX) &&
	       strcmp(path + size - strlen(CALLS_SUFFIX), CALLS_SUFFIX) == 0;
}

static int is_calls_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && is_calls_file(entry->d_name);
}

/* Try the files of calls in the folder `tests`, which is in the folder @path or beside the file
 * @path. */
static int try_folder(struct test *test, const char *path)
{
	char copy[PATH_MAX];
	char folder[PATH_MAX + sizeof(CALLS_FOLDER)];
	struct dirent **entries = NULL;
	struct stat status;
	bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
	int n_entries;
	int r = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(folder, sizeof(folder), "%s/" CALLS_FOLDER, is_folder ? path : dirname(copy));
	n_entries = scandir(folder, &entries, is_calls_entry, alphasort);
	for (int i = 0; i < n_entries; i++) {
		char file[sizeof(folder) + NAME_MAX + 1];

		snprintf(file, sizeof(file), "%s/%s", folder, entries[i]->d_name);
		if (r == 0)
			r = try_file(test, file);
		free(entries[i]);
	}
	free(entries);
	if (n_entries >= 0 || errno == ENOENT || errno == ENOTDIR)
		return r;
	terminal_complain("%s cannot be read: %s", folder, strerror(errno));
	return CTL_ERROR;
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

/* The files of a command line: manifests, folders and programs first, then files of calls. */
struct files {
	const char **paths;
	size_t n_toolboxes;
	size_t n_all;
};

static int sort_files(const struct ctl_options *options, struct files *files)
{
	size_t n = options->n_positional - 1;
	const char *const *given = options->positional + 1;

	files->paths = calloc(n, sizeof(*files->paths));
	if (!files->paths)
		return CTL_ERROR;
	for (size_t i = 0; i < n; i++)
		if (!is_calls_file(given[i]))
			files->paths[files->n_all++] = given[i];
	files->n_toolboxes = files->n_all;
	for (size_t i = 0; i < n; i++)
		if (is_calls_file(given[i]))
			files->paths[files->n_all++] = given[i];
	if (files->n_toolboxes > 0)
		return 0;
	terminal_complain("%s are calls of which tools? Name a manifest, too", given[0]);
	return CTL_USAGE;
}

/* Return the number of elements of the list @key. */
static uint32_t count_in(const struct ctl_response *response, const char *key)
{
	uint32_t list = ctl_response_find(response, 0, key, JSON_ARRAY);

	return list != JSON_NONE ? json_count(&response->tape, list) : 0;
}

static void complain_not_offered(const struct ctl_response *response, uint32_t index)
{
	cleanup(buffer_deinit) struct buffer line = {0};

	terminal_append_member(&line, &response->tape, index, "toolbox_id");
	if (ctl_response_find(response, index, "name", JSON_STRING) != JSON_NONE) {
		buffer_append_char(&line, '/');
		terminal_append_member(&line, &response->tape, index, "name");
	}
	buffer_append_string(&line, " is not offered: ");
	terminal_append_member(&line, &response->tape, index, "why");
	terminal_complain_text(&line);
}

static int try_all(struct test *test, const struct files *files)
{
	cleanup(ctl_response_deinit) struct ctl_response status = {0};
	int r = ctl_session_ask(test->session, "ovos.tools.status", NULL, &status);
	uint32_t failures = r == 0 ? count_in(&status, "failed") : 0;

	r = r ? r : tool_names_list(test->session, NULL, &test->list);
	if (r != 0)
		return r;
	if (count_in(&test->list, "tools") == 0 &&
		failures + count_in(&status, "not_offered") > 0) {
		/* The service has logged failures. */
		ctl_response_complain_each(&status, "not_offered", complain_not_offered, false);
		if (test->options->json)
			print_summary(test);
		return CTL_ERROR;
	}
	r = try_examples(test);
	if (test->is_check) {
		print_summary(test);
		return r == 0 && failures == 0 && test->n_passed == test->n_calls ? CTL_DONE
										  : CTL_ERROR;
	}
	for (size_t i = files->n_toolboxes; i < files->n_all && r == 0; i++)
		r = try_file(test, files->paths[i]);
	for (size_t i = 0; files->n_all == files->n_toolboxes && i < files->n_all && r == 0; i++)
		r = try_folder(test, files->paths[i]);
	if (r != 0)
		return r;
	print_summary(test);
	if (test->n_calls == 0 && test->n_skipped == 0 && failures == 0)
		terminal_complain("nothing was called: the tools have no `examples`, and beside "
				  "the file there is no " CALLS_FOLDER "/*" CALLS_SUFFIX);
	return failures || test->n_calls == 0 || test->n_passed < test->n_calls ? CTL_ERROR
										: CTL_DONE;
}

/* Run @test, without a session, by its options. Return an enum ctl_status. */
static int run_test(struct test *test)
{
	const struct ctl_options *options = test->options;
	cleanup(private_service_cleanup) struct private_service *private = NULL;
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	struct ctl_options patient = *options;
	struct files files = {0};
	struct config_flags flags = {0};
	int r = sort_files(options, &files);

	patient.timeout_ms = PRIVATE_TIMEOUT_MS;
	flags.files = files.paths;
	flags.n_files = files.n_toolboxes;
	r = r ? r : private_service_start(&flags, &private);
	r = r ? r : ctl_session_open_at(&patient, &private->address, &session);
	test->session = session;
	test->end_ms = clock_now_ms() + CHECK_MS;
	r = r ? r : try_all(test, &files);
	free(files.paths);
	buffer_deinit(&test->json);
	ctl_response_deinit(&test->list);
	return r;
}

int ctl_test(const struct ctl_options *options)
{
	struct test test = {.options = options};

	return run_test(&test);
}

int test_examples(const struct ctl_options *options, struct buffer *summary)
{
	struct ctl_options reading = *options;
	struct test test = {.options = &reading, .is_check = true, .summary = summary};

	reading.all = false;
	return run_test(&test);
}
