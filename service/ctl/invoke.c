/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/arguments.h"
#include "ctl/command.h"
#include "ctl/offline/private.h"
#include "ctl/offline/trace.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "ctl/tool/signature.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/cleanup.h"
#include "util/file.h"

/*
 * toolboxctl invoke: run a tool, or (--dry-run) ask whether it would take the arguments.
 *
 *   words of the command line ─┬─ key:=JSON, --args, - ────────────────▶ arguments ─▶ invoke
 *                              └─ key=value ─▶ get, for the tool's schema ───▲
 */

/* Read the arguments from stdin. */
#define STDIN_BYTES_MAX (64u << 20)

#define MS_PER_S 1000
#define DAY_S    86400

static const char *const *words_of(const struct ctl_options *options, size_t *ret_n_words)
{
	*ret_n_words = options->n_positional - 2;
	return options->positional + 2;
}

static bool is_from_stdin(const struct ctl_options *options)
{
	return options->n_positional == 3 && strcmp(options->positional[2], "-") == 0;
}

/* Report why the arguments cannot be used, and return the status. */
static int complain(int r, const struct buffer *reason)
{
	if (r < 0)
		terminal_complain("%s", strerror(-r));
	else if (r > 0)
		terminal_complain("%s", reason->data);
	return r == 0 ? 0 : CTL_USAGE;
}

static int read_stdin(struct buffer *ret_args, struct buffer *reason)
{
	int r = file_read_fd(STDIN_FILENO, STDIN_BYTES_MAX, ret_args);

	if (r < 0)
		return r;
	return ctl_arguments_check(ret_args->data ? ret_args->data : "", ret_args->size, reason);
}

/*
 * Read the arguments as far as no schema is needed: every mistake in the command line is reported
 * before the service is asked. Words are read as if any value were allowed, because their mistakes
 * do not depend on the schema.
 */
static int read_call_arguments(const struct ctl_options *options, struct buffer *ret_args)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	size_t n_words;
	const char *const *words = words_of(options, &n_words);
	int r;

	if (options->args && n_words > 0) {
		terminal_complain("--args are all the arguments: '%s' is one too many", words[0]);
		return CTL_USAGE;
	}
	if (options->args) {
		buffer_append_string(ret_args, options->args);
		r = ctl_arguments_check(options->args, strlen(options->args), &reason);
	} else if (is_from_stdin(options)) {
		r = read_stdin(ret_args, &reason);
	} else {
		r = ctl_arguments_write(words, n_words, NULL, JSON_NONE, ret_args, &reason);
	}
	return complain(r == 0 ? buffer_status(ret_args) : r, &reason);
}

/* Get the tool's schema, and read the words of the command line by it. */
static int read_typed_arguments(
	struct ctl_session *session, const struct ctl_options *options, struct buffer *ret_args)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	size_t n_words;
	const char *const *words = words_of(options, &n_words);
	int r;

	ctl_request_begin(&data);
	r = ctl_request_tool(&data, options->positional[1], options);
	ctl_request_end(&data);
	if (r == 0)
		r = ctl_session_ask(session, "ovos.tools.get", &data, &response);
	if (r != 0)
		return r;
	/* A tool without a definition cannot be invoked either: the response to invoke reports it
	 * best. */
	if (ctl_response_status(&response) != CTL_DONE)
		return 0;
	buffer_reset(ret_args);
	r = ctl_arguments_write(words, n_words, &response.tape,
		json_find(&response.tape, 0, "argument_schema"), ret_args, &reason);
	return complain(r, &reason);
}

static void print_verdict(const struct ctl_response *response)
{
	static const char valid_line[] = "valid\n";
	const struct json_tape *tape = &response->tape;
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t violations = ctl_response_find(response, 0, "violations", JSON_ARRAY);

	if (ctl_response_find(response, 0, "valid", JSON_TRUE) != JSON_NONE) {
		buffer_append_string(&text, valid_line);
		terminal_print(&text);
		return;
	}
	if (violations == JSON_NONE)
		return;
	for (uint32_t i = json_first(tape, violations); i < json_end(tape, violations);
		i = json_next(tape, i)) {
		uint32_t path = ctl_response_find(response, i, "path", JSON_STRING);
		uint32_t message = ctl_response_find(response, i, "message", JSON_STRING);

		buffer_reset(&text);
		if (path != JSON_NONE)
			terminal_append_value(&text, tape, path);
		buffer_append_string(&text, text.size > 0 ? ": " : "");
		if (message != JSON_NONE)
			terminal_append_value(&text, tape, message);
		if (buffer_terminate(&text))
			terminal_complain("%s", text.data);
	}
}

/* Print the response and return the status. */
static int print_answer(const struct ctl_options *options, const struct ctl_response *response)
{
	int status = ctl_response_status(response);
	uint32_t result = json_find(&response->tape, 0, "result");

	if (options->dry_run && status == CTL_DONE &&
		ctl_response_find(response, 0, "valid", JSON_TRUE) == JSON_NONE)
		status = CTL_ERROR;
	if (options->json)
		ctl_response_print(response);
	else if (json_find(&response->tape, 0, "error") != JSON_NONE)
		ctl_response_complain(response);
	else if (options->dry_run)
		print_verdict(response);
	else if (result != JSON_NONE)
		terminal_print_json(&response->tape, result);
	return status;
}

/* ── a person who is asked ───────────────────────────────────────────────────────────────────── */

#define REQUESTED_TOPIC "ovos.tools.approval.requested"
#define RESOLVED_TOPIC  "ovos.tools.approval.resolved"

/* The time that messages on their way may take after the end of a question. */
#define RESOLVE_MS 2000

/* The question about our call, as far as we know it: questions have no id of the call. */
struct waiting {
	struct ctl_session *session;
	const char *name; /* the tool, without its toolbox */
	char *id;         /* NULL: no question yet */
};

static bool is_text(const struct json_tape *event, const char *key, const char *text)
{
	uint32_t token = json_find(event, 0, key);

	return token != JSON_NONE && json_type_at(event, token) == JSON_STRING &&
	       json_string_equals(event, token, text, strlen(text));
}

/* Stop the clock for a question that may be about our call. */
static void wait_for_person(struct waiting *waiting, const struct json_tape *event)
{
	uint32_t id = json_find(event, 0, "id");
	uint32_t expires = json_find(event, 0, "expires_s");
	double seconds = 0;

	if (waiting->id || !is_text(event, "source", CTL_SOURCE) ||
		!is_text(event, "name", waiting->name) || id == JSON_NONE ||
		json_type_at(event, id) != JSON_STRING || expires == JSON_NONE ||
		json_type_at(event, expires) != JSON_NUMBER ||
		json_number_f64(event, expires, &seconds) != 0 ||
		!(seconds >= 0 && seconds <= DAY_S))
		return;
	waiting->id = json_string_dup(event, id, NULL);
	ctl_session_pause(waiting->session, (uint64_t)(seconds * MS_PER_S) + RESOLVE_MS);
	if (waiting->id && isatty(STDERR_FILENO))
		terminal_complain("waiting for approval %s, up to %.0f s …", waiting->id, seconds);
}

static void take_event(void *data, const char *topic, const struct json_tape *event)
{
	struct waiting *waiting = data;

	if (json_type_at(event, 0) != JSON_OBJECT)
		return;
	if (strcmp(topic, REQUESTED_TOPIC) == 0) {
		wait_for_person(waiting, event);
	} else if (waiting->id && is_text(event, "id", waiting->id)) {
		free(take_ptr(waiting->id));
		ctl_session_resume(waiting->session);
	}
}

/* ── the call ────────────────────────────────────────────────────────────────────────────────── */

static int ask_for_call(struct ctl_session *session, const struct ctl_options *options,
	const struct buffer *args, struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	static const char *const topics[] = {REQUESTED_TOPIC, RESOLVED_TOPIC};
	const char *topic = options->dry_run ? "ovos.tools.validate" : "ovos.tools.invoke";
	const char *slash = strchr(options->positional[1], '/');
	struct waiting waiting = {
		.session = session, .name = slash ? slash + 1 : options->positional[1]};
	int r;

	ctl_request_begin(&data);
	r = ctl_request_tool(&data, options->positional[1], options);
	if (r != 0)
		return r;
	buffer_append_char(&data, ',');
	json_write_key(&data, "args");
	buffer_append(&data, args->data, args->size);
	ctl_request_end(&data);
	ctl_session_listen(session, topics, sizeof(topics) / sizeof(*topics), take_event, &waiting);
	r = ctl_session_ask(session, topic, &data, ret_response);
	ctl_session_listen(session, NULL, 0, NULL, NULL);
	free(waiting.id);
	return r;
}

/* Call the tool over @session. */
static int call_tool(
	struct ctl_session *session, const struct ctl_options *options, struct buffer *args)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	size_t n_words;
	const char *const *words = words_of(options, &n_words);
	int r = 0;

	if (ctl_arguments_need_schema(words, n_words))
		r = read_typed_arguments(session, options, args);
	if (r == 0)
		r = ask_for_call(session, options, args, &response);
	if (r != 0)
		return r;
	r = print_answer(options, &response);
	if (!options->json)
		tool_signature_complain(session, options, &response);
	return r;
}

/* Copy the path of --file, or ask the daemon for that of the tool. */
static int find_file(const struct ctl_options *options, char **ret_file)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	int r;

	if (options->file) {
		*ret_file = strdup(options->file);
		return *ret_file ? 0 : CTL_ERROR;
	}
	r = ctl_session_open(options, &session);
	return r ? r : trace_find_file(session, options, options->positional[1], ret_file);
}

/* Call the tool in a service of our own, which has one file. */
static int call_privately(const struct ctl_options *options, struct buffer *args)
{
	cleanup(private_service_cleanup) struct private_service *private = NULL;
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup_close int report = -1;
	cleanup_free char *file = NULL;
	char path[TRACE_PATH_BYTES];
	struct config_flags flags = {.n_files = 1};
	struct ctl_options patient = *options;
	int r = find_file(options, &file);

	if (r)
		return r;
	flags.files = (const char *const *)&file;
	if (options->trace_files) {
		report = trace_open(path);
		if (report < 0)
			return CTL_ERROR;
		flags.trace_files = path;
	}
	/* A Python toolbox takes seconds to describe itself. */
	if (options->timeout_ms == CTL_TIMEOUT_MS)
		patient.timeout_ms = PRIVATE_TIMEOUT_MS;
	r = private_service_start(&flags, &private);
	r = r ? r : ctl_session_open_at(&patient, &private->address, &session);
	r = r ? r : call_tool(session, &patient, args);
	if (report >= 0 && private)
		trace_print(report, options->positional[1], file, args);
	return r;
}

int ctl_invoke(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(buffer_deinit) struct buffer args = {0};
	int r = read_call_arguments(options, &args);

	if (r == 0 && (options->file || options->trace_files))
		return call_privately(options, &args);
	if (r == 0)
		r = ctl_session_open(options, &session);
	return r == 0 ? call_tool(session, options, &args) : r;
}
