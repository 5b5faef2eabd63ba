/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/terminal.h"
#include "json/reader.h"
#include "schema/schema.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/*
 * toolboxctl validate: check JSON against a JSON Schema, without a daemon.
 *
 *   SCHEMA ──compiled once──▶ every INSTANCE, or (--lines) every line of it ──▶ one verdict each
 *
 * SCHEMA may refer to the schemas that are built in (urn:toolboxd:error, …).
 */

/* A schema, an instance, a line. */
#define DOCUMENT_BYTES_MAX (256u << 20)

#define DEPTH_MAX 1000

/* The files of schemas/, built in. */
extern const char configuration_schema_json[];
extern const char definition_schema_json[];
extern const char error_schema_json[];
extern const char manifest_schema_json[];
extern const char message_schema_json[];
extern const char question_schema_json[];

static const struct shipped {
	const char *uri;
	const char *text;
} shipped[] = {
	{"urn:toolboxd:configuration", configuration_schema_json},
	{"urn:toolboxd:definition", definition_schema_json},
	{"urn:toolboxd:error", error_schema_json},
	{"urn:toolboxd:message", message_schema_json},
	{"urn:toolboxd:messages:ovos.tools.approval.requested", question_schema_json},
	{"urn:toolboxd:toolbox-manifest", manifest_schema_json},
};

#define N_SHIPPED ARRAY_SIZE(shipped)

/* The schemas that a schema may refer to. */
struct references {
	struct json_tape tapes[N_SHIPPED];
	struct schema_resource resources[N_SHIPPED];
};

struct validator {
	struct schema *schema;
	struct schema_context *context;
	bool is_json;
	bool is_lines;
	bool has_invalid;
	struct json_tape tape; /* reused for every instance */
};

static bool is_stdin(const char *file)
{
	return strcmp(file, "-") == 0;
}

/* Read a file, or stdin. Return 0, or CTL_USAGE with a message on stderr. */
static int read_document(const char *file, struct buffer *ret_text)
{
	int r = is_stdin(file) ? file_read_fd(STDIN_FILENO, DOCUMENT_BYTES_MAX, ret_text)
			       : file_read(file, DOCUMENT_BYTES_MAX, ret_text);

	if (r == 0)
		return 0;
	terminal_complain("%s: cannot be read: %s", file, strerror(-r));
	return CTL_USAGE;
}

static int complain_memory(void)
{
	terminal_complain("%s", strerror(ENOMEM));
	return CTL_USAGE;
}

static void references_deinit(struct references *references)
{
	for (size_t i = 0; i < N_SHIPPED; i++)
		json_tape_deinit(&references->tapes[i]);
}

/* Return 0 or -ENOMEM. */
static int read_references(struct references *references)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < N_SHIPPED; i++) {
		r = json_tape_read(&references->tapes[i], shipped[i].text, strlen(shipped[i].text),
			DEPTH_MAX, NULL);
		references->resources[i] = (struct schema_resource){
			.uri = shipped[i].uri, .tape = &references->tapes[i]};
	}
	return r;
}

/* Compile @tape. Few schemas refer to those that are shipped, which are read for them alone: what
 * compiles without them has asked for none. Return as schema_compile() does. */
static int compile_tape(
	const struct json_tape *tape, struct schema **ret_schema, struct schema_error *ret_error)
{
	cleanup(references_deinit) struct references references = {0};
	struct schema_options options = {
		.resources = references.resources, .n_resources = N_SHIPPED};
	int r = schema_compile(tape, 0, NULL, ret_schema, ret_error);

	if (r != SCHEMA_E_REFUSED)
		return r;
	schema_error_deinit(ret_error);
	r = read_references(&references);
	return r == 0 ? schema_compile(tape, 0, &options, ret_schema, ret_error) : r;
}

/* Compile the schema in @text. Return 0, or CTL_USAGE with a message on stderr. */
static int compile_schema(struct validator *validator, const char *file, const struct buffer *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	const char *bytes = buffer_text(text);
	struct json_error json_error;
	unsigned int line;
	unsigned int column;
	int r = json_tape_read(&tape, bytes, text->size, DEPTH_MAX, &json_error);

	if (r > 0) {
		json_locate(bytes, json_error.offset, &line, &column);
		terminal_complain("%s:%u:%u: %s", file, line, column, json_error.message);
		return CTL_USAGE;
	}
	if (r == 0)
		r = compile_tape(&tape, &validator->schema, &error);
	if (r == 0)
		return 0;
	if (r < 0)
		return complain_memory();
	json_locate(bytes, error.offset, &line, &column);
	terminal_complain("%s:%u %s: %s", file, line, error.pointer.data, error.message.data);
	return CTL_USAGE;
}

/* Append the violations of the instance in @text to @ret_report. Return 0 or -ENOMEM. */
static int examine(struct validator *validator, const char *text, size_t size,
	struct schema_report *ret_report)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	struct json_error error;
	unsigned int line;
	unsigned int column;
	int r = json_tape_read(&validator->tape, text, size, DEPTH_MAX, &error);

	if (r < 0)
		return r;
	if (r > 0) {
		json_locate(text, error.offset, &line, &column);
		buffer_printf(
			&message, "not JSON (line %u, column %u): %s", line, column, error.message);
		if (!buffer_terminate(&message))
			return -ENOMEM;
		return schema_report_add(ret_report, "", message.data);
	}
	r = schema_validate(validator->schema, validator->context, &validator->tape, 0);
	if (r <= 0)
		return r;
	r = schema_explain(validator->schema, validator->context, &validator->tape, 0, ret_report);
	return r < 0 ? r : 0;
}

/* {"valid": …, "violations": […]} */
static void write_verdict_json(
	const struct schema_report *report, bool is_valid, struct buffer *out)
{
	buffer_printf(out, "{\"valid\":%s,\"violations\":", is_valid ? "true" : "false");
	schema_report_write_json(report, out);
	buffer_append_string(out, "}\n");
}

/* Print FILE: valid, or FILE: invalid: …; for a line, without its file. */
static void write_verdict(const struct validator *validator, const char *file,
	const struct schema_report *report, bool is_valid, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!validator->is_lines)
		buffer_printf(&text, "%s: ", file);
	buffer_append_string(&text, is_valid ? "valid" : "invalid: ");
	if (!is_valid)
		schema_report_write_text(report, "Parameters", &text);
	if (buffer_status(&text) < 0)
		out->error = buffer_status(&text);
	else
		terminal_append_line(out, text.data, text.size);
	buffer_append_char(out, '\n');
}

/* Print the verdict on one instance. Return 0, or CTL_USAGE with a message on stderr. */
static int judge_text(struct validator *validator, const char *file, const char *text, size_t size)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	bool is_valid;

	if (examine(validator, text, size, &report) < 0)
		return complain_memory();
	/* The summary of the schema is for callers of tools: here the reader has the schema. */
	free(take_ptr(report.summary));
	is_valid = report.n_violations == 0;
	validator->has_invalid |= !is_valid;
	if (validator->is_json)
		write_verdict_json(&report, is_valid, &out);
	else
		write_verdict(validator, file, &report, is_valid, &out);
	if (buffer_status(&out) < 0)
		return complain_memory();
	if (validator->is_json)
		terminal_print_json_text(&out);
	else
		terminal_print(&out);
	return 0;
}

static int judge_file(struct validator *validator, const char *file)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = read_document(file, &text);

	if (r != 0)
		return r;
	return judge_text(validator, file, buffer_text(&text), text.size);
}

/* Judge each line as it arrives: the writer of a pipe may wait for each verdict. */
static int judge_stream(struct validator *validator, const char *file, FILE *stream)
{
	cleanup_free char *line = NULL;
	size_t capacity = 0;
	ssize_t size;
	int r = 0;

	while (r == 0 && (size = getline(&line, &capacity, stream)) >= 0) {
		if (size > 0 && line[size - 1] == '\n')
			size--;
		r = judge_text(validator, file, line, (size_t)size);
	}
	if (r == 0 && ferror(stream)) {
		terminal_complain("%s: cannot be read: %s", file, strerror(errno));
		return CTL_USAGE;
	}
	return r;
}

static int judge_lines(struct validator *validator, const char *file)
{
	FILE *stream = is_stdin(file) ? stdin : fopen(file, "re");
	int r;

	if (!stream) {
		terminal_complain("%s: cannot be read: %s", file, strerror(errno));
		return CTL_USAGE;
	}
	r = judge_stream(validator, file, stream);
	if (stream != stdin)
		fclose(stream);
	return r;
}

static void validator_deinit(struct validator *validator)
{
	schema_free(validator->schema);
	schema_context_free(validator->context);
	json_tape_deinit(&validator->tape);
}

/* There is one stdin. */
static int check_stdin(const struct ctl_options *options)
{
	unsigned int n_stdin = 0;

	for (size_t i = 1; i < options->n_positional; i++)
		n_stdin += is_stdin(options->positional[i]);
	if (n_stdin <= 1)
		return 0;
	terminal_complain("'-' (stdin) is given %u times: it can be read once", n_stdin);
	return CTL_USAGE;
}

static int prepare(struct validator *validator, const char *file)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = read_document(file, &text);

	if (r == 0)
		r = compile_schema(validator, file, &text);
	if (r != 0)
		return r;
	validator->context = schema_context_new();
	return validator->context ? 0 : complain_memory();
}

int ctl_validate(const struct ctl_options *options)
{
	cleanup(validator_deinit) struct validator validator = {
		.is_json = options->json, .is_lines = options->lines};
	int r = check_stdin(options);

	if (r == 0)
		r = prepare(&validator, options->positional[1]);
	if (r != 0)
		return r;
	if (options->lines)
		setvbuf(stdout, NULL, _IOLBF, 0);
	/* One file that cannot be read does not keep the others from their verdicts. */
	for (size_t i = 2; i < options->n_positional; i++) {
		const char *file = options->positional[i];
		int status = options->lines ? judge_lines(&validator, file)
					    : judge_file(&validator, file);

		r = r == 0 ? status : r;
	}
	if (r != 0)
		return r;
	return validator.has_invalid ? CTL_ERROR : CTL_DONE;
}
