/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/invoke/arguments.h"
#include "ctl/invoke/call.h"
#include "ctl/invoke/print.h"
#include "ctl/offline/private.h"
#include "ctl/offline/trace.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/status/ask.h"
#include "ctl/terminal.h"
#include "ctl/tool/signature.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/cleanup.h"

/*
 * toolboxctl invoke: run a tool, or (--dry-run) ask whether it would take the arguments.
 *
 *   --args, - ───────────────────────────────────────────────────▶ arguments ─▶ invoke
 *   words and their files ─▶ get, for the schema and the deadline ────▲
 */

/* The deadline of a tool and the time for a start, for a definition without them. */
#define TIMEOUT_MS       30000
#define START_TIMEOUT_MS 10000

/* The longest of such a time. */
#define TIME_MAX_MS (UINT64_C(86400) * 1000)

/* The time that messages may be on their way. */
#define TRAVEL_MS 5000

/* The exit status after a signal, less its number. */
#define SIGNAL_STATUS 128

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
static int report_refusal(int r, const struct buffer *reason)
{
	if (r < 0)
		terminal_complain("%s", strerror(-r));
	else if (r > 0)
		terminal_complain("%s", reason->data);
	return r == 0 ? 0 : CTL_USAGE;
}

/* Read all arguments as one object: --args, or stdin. */
static int read_object(
	const struct ctl_options *options, struct buffer *ret_args, struct buffer *reason)
{
	static const char name[] = "the arguments";
	int r = 0;

	if (options->args)
		buffer_append_string(ret_args, options->args);
	else
		r = words_read_file("-", name, strlen(name), ret_args, reason);
	if (r == WORDS_E_USAGE && !buffer_terminate(reason))
		r = -ENOMEM;
	return r ? r : ctl_arguments_check(buffer_text(ret_args), ret_args->size, reason);
}

/* The arguments of the command line: an object, or words that the schema of the tool makes one. */
struct given {
	struct buffer object; /* empty: there are words */
	struct words words;
};

static void given_deinit(struct given *given)
{
	buffer_deinit(&given->object);
	words_deinit(&given->words);
}

/* Read the arguments as far as no schema is needed: these mistakes in the command line are reported
 * before the service is asked. */
static int read_given(const struct ctl_options *options, struct given *ret_given)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	size_t n_words;
	const char *const *words = words_of(options, &n_words);
	int r;

	if (options->args && n_words > 0) {
		terminal_complain("--args are all the arguments: '%s' is one too many", words[0]);
		return CTL_USAGE;
	}
	if (options->args || is_from_stdin(options))
		r = read_object(options, &ret_given->object, &reason);
	else
		r = words_read(words, n_words, &ret_given->words, &reason);
	return report_refusal(r, &reason);
}

/* Get the definition of the tool. Return 0, also when there is none: the response to invoke reports
 * that best. */
static int get_definition(struct ctl_session *session, const struct ctl_options *options,
	struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	r = ctl_request_tool(&data, options->positional[1], options);
	ctl_request_flag(&data, "deadline");
	return r == 0 ? ctl_session_ask(session, "ovos.tools.get", &data, ret_response) : r;
}

/* Make the words of the command line an object, by the schema of the tool. Without one, the reason
 * is the mistake. */
static int write_words(struct given *given, const struct ctl_options *options,
	const struct ctl_response *definition)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	uint32_t schema = json_find(&definition->tape, 0, "argument_schema");
	int r;

	if (given->object.size > 0)
		return 0;
	r = ctl_arguments_write(&given->words, &definition->tape, schema, &given->object, &reason);
	if (r > 0 && ctl_response_status(definition) != CTL_DONE) {
		tool_error_complain(definition, options);
		return CTL_ERROR;
	}
	return report_refusal(r, &reason);
}

/* Return the time in the member @key of the definition, else @usual_ms. */
static uint64_t read_time(const struct ctl_response *definition, const char *key, uint64_t usual_ms)
{
	json_read_u64(&definition->tape, json_find(&definition->tape, 0, key), &usual_ms);
	return usual_ms < TIME_MAX_MS ? usual_ms : TIME_MAX_MS;
}

/* Return the time that a call of the tool may take. Its deadline does not run while a process
 * starts. */
static uint64_t most_ms(const struct ctl_response *definition)
{
	return read_time(definition, "timeout_ms", TIMEOUT_MS) +
	       read_time(definition, "start_timeout_ms", START_TIMEOUT_MS) + TRAVEL_MS;
}

/* Ask on @topic for the tool with the arguments, and @flag (NULL: none). */
static int ask_for(struct ctl_session *session, const char *topic, const char *flag,
	const struct ctl_options *options, const struct buffer *args,
	struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	r = ctl_request_tool(&data, options->positional[1], options);
	json_write_member_json(&data, "args", args->data, args->size);
	if (flag)
		ctl_request_flag(&data, flag);
	return r == 0 ? ctl_session_ask(session, topic, &data, ret_response) : r;
}

/* Print the last lines of the processes of the tool's toolbox, after a process died in the call. A
 * daemon's have calls of others, too: print where it is shown. */
static void print_crash(struct ctl_session *session, const struct ctl_options *options,
	const struct ctl_response *definition)
{
	cleanup(ctl_response_deinit) struct ctl_response status = {0};
	cleanup_free char *id = json_find_dup(&definition->tape, 0, "toolbox_id");

	if (!id)
		return;
	if (!options->file && !options->trace_files)
		fprintf(stderr, "  what its processes have printed: toolboxctl status %s\n", id);
	else if (status_ask(session, id, &status) == 0)
		print_output(&status);
}

/* Call the tool over @session. */
static int call_tool(
	struct ctl_session *session, const struct ctl_options *options, struct given *given)
{
	cleanup(ctl_response_deinit) struct ctl_response definition = {0};
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int signal_number = 0;
	int r = get_definition(session, options, &definition);

	if (r == 0)
		r = write_words(given, options, &definition);
	/* A process may judge the arguments, within the time of a call. */
	if (r == 0 && options->dry_run && !options->has_timeout)
		ctl_session_set_patience(session, most_ms(&definition));
	if (r == 0 && options->dry_run)
		r = ask_for(
			session, "ovos.tools.validate", NULL, options, &given->object, &response);
	else if (r == 0 && options->background)
		r = ask_for(session, "ovos.tools.invoke", "background", options, &given->object,
			&response);
	else if (r == 0)
		r = call_run(session, options, &given->object, most_ms(&definition), &response,
			&signal_number);
	if (r == 0 || (r == CTL_NO_ANSWER && response.text.size > 0)) {
		int status = print_response(options, &response, &definition);

		r = r ? r : status;
	}
	if (response.text.size > 0 && !options->json &&
		ctl_response_has_code(&response, "host_crashed"))
		print_crash(session, options, &definition);
	if (r != 0 && response.text.size > 0 && !options->json && !signal_number)
		tool_signature_complain(session, options, &response);
	return signal_number ? SIGNAL_STATUS + signal_number : r;
}

/* Copy the path of --file, or ask the daemon for the file of the tool. */
static int find_file(const struct ctl_options *options, char **ret_file)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	int r;

	if (options->file) {
		if (access(options->file, R_OK) < 0) {
			terminal_complain("%s: cannot be read: %s", options->file, strerror(errno));
			return CTL_USAGE;
		}
		*ret_file = strdup(options->file);
		return *ret_file ? 0 : CTL_ERROR;
	}
	r = ctl_session_open(options, &session);
	return r ? r : trace_find_file(session, options, options->positional[1], ret_file);
}

/* Call the tool in a service of our own, which has one file. */
static int call_privately(const struct ctl_options *options, struct given *given)
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
	if (!options->has_timeout)
		patient.timeout_ms = PRIVATE_TIMEOUT_MS;
	r = private_service_start(&flags, &private);
	r = r ? r : ctl_session_open_at(&patient, &private->address, &session);
	r = r ? r : call_tool(session, &patient, given);
	if (report >= 0 && private)
		trace_print(report, options->positional[1], file, &given->object);
	return r;
}

int ctl_invoke(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(given_deinit) struct given given = {0};
	int r = read_given(options, &given);

	if (r == 0 && (options->file || options->trace_files))
		return call_privately(options, &given);
	if (r == 0)
		r = ctl_session_open(options, &session);
	return r == 0 ? call_tool(session, options, &given) : r;
}
