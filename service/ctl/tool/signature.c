/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/tool/signature.h"

#include <string.h>

#include "catalogue/model_schema.h"
#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/writer.h"
#include "schema/words/sample.h"
#include "schema/words/signature.h"
#include "util/cleanup.h"
#include "util/text/text.h"
#include "util/text/visible.h"

/* Characters of keys that are one plain name on a command line. */
#define KEY_LETTERS TEXT_ALPHANUMERIC "_-"

struct schema *tool_schema_compile(
	const struct json_tape *tape, uint32_t definition, const char *key)
{
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct schema *schema = NULL;
	uint32_t token = json_type_at(tape, definition) == JSON_OBJECT
				 ? json_find(tape, definition, key)
				 : JSON_NONE;

	if (token == JSON_NONE || schema_compile(tape, token, NULL, &schema, &error) != 0)
		return NULL;
	return schema;
}

/* Return the schema of the arguments as a model gets it, with the parameters of all alternatives at
 * its root, to be freed; NULL: it cannot be read. */
static struct schema *compile_arguments(const struct json_tape *tape, uint32_t definition)
{
	cleanup(schema_error_deinit) struct schema_error error = {0};
	cleanup(json_tape_cleanup) struct json_tape form_tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer form = {0};
	struct schema *schema = NULL;
	uint32_t token = json_type_at(tape, definition) == JSON_OBJECT
				 ? json_find(tape, definition, "argument_schema")
				 : JSON_NONE;

	if (token == JSON_NONE)
		return NULL;
	json_write_compact(&text, tape, token);
	if (!buffer_terminate(&text))
		return NULL;
	model_schema_write(text.data, &form);
	if (buffer_status(&form) < 0 ||
		json_tape_read(&form_tape, form.data, form.size, 8 * JSON_DEPTH_DEFAULT, NULL) !=
			0 ||
		schema_compile(&form_tape, 0, NULL, &schema, &error) != 0)
		return NULL;
	return schema;
}

void tool_signature_append(const struct json_tape *tape, uint32_t definition, struct buffer *out)
{
	cleanup(schema_cleanup) struct schema *arguments = compile_arguments(tape, definition);
	cleanup(schema_cleanup) struct schema *result =
		tool_schema_compile(tape, definition, "output_schema");
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_char(&text, '(');
	if (arguments)
		signature_write_parameters(arguments, &text);
	else
		buffer_append_string(&text, "…");
	buffer_append_string(&text, ") → ");
	if (result)
		signature_write_result(result, &text);
	else
		buffer_append_string(&text, "any");
	terminal_append_member(out, tape, definition, "name");
	buffer_fail_with(out, &text);
	if (buffer_status(&text) == 0)
		terminal_append_line(out, text.data, text.size);
}

void tool_signature_complain(struct ctl_session *session, const struct ctl_options *options,
	const struct ctl_response *response)
{
	cleanup(ctl_response_deinit) struct ctl_response definition = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	cleanup(buffer_deinit) struct buffer line = {0};

	if (ctl_response_find(response, 0, "valid", JSON_FALSE) == JSON_NONE &&
		!ctl_response_has_code(response, "invalid_arguments"))
		return;
	ctl_request_tool(&data, options->positional[1], options);
	if (ctl_session_ask(session, "ovos.tools.get", &data, &definition) != 0 ||
		ctl_response_status(&definition) != CTL_DONE)
		return;
	tool_signature_append(&definition.tape, 0, &line);
	terminal_complain_text(&line);
}

/* Complain that there is no such tool, when the error has no near name, which would end with '?'.
 * Return false when it is another error. */
static bool complain_unknown(const struct ctl_response *response, const struct ctl_options *options)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	terminal_append_member(&text, &response->tape, 0, "error");
	if (options->file || !ctl_response_has_code(response, "unknown_tool") ||
		buffer_status(&text) < 0 || text.size == 0 || text.data[text.size - 1] == '?')
		return false;
	buffer_append_string(&text, "; see toolboxctl list --why");
	terminal_complain_text(&text);
	return true;
}

void tool_error_complain(const struct ctl_response *response, const struct ctl_options *options)
{
	const struct json_tape *tape = &response->tape;
	uint32_t ids = ctl_response_find(response, 0, "toolbox_ids", JSON_ARRAY);
	const char *name = options->positional[1];
	cleanup(buffer_deinit) struct buffer text = {0};

	if (ids == JSON_NONE) {
		if (!complain_unknown(response, options))
			ctl_response_complain(response);
		return;
	}
	json_each(i, tape, ids) {
		buffer_append_string(&text, i == json_first(tape, ids) ? "" : " or ");
		terminal_append_value(&text, tape, i);
		buffer_printf(&text, "/%s", name);
	}
	if (buffer_terminate(&text))
		terminal_complain("Several toolboxes have '%s': type %s", name, text.data);
}

/* ── a command to copy ───────────────────────────────────────────────────────────────────────── */

/* Append the JSON text of a value as a word; characters that a terminal would obey are escaped,
 * which is the same JSON. */
static void append_json(struct buffer *out, const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer shown = {0};

	visible_append(&shown, text, size);
	buffer_fail_with(out, &shown);
	if (buffer_status(&shown) == 0)
		terminal_append_shell_word(out, shown.data, shown.size);
}

/* Whether the text of a string means just that as KEY=VALUE: it is no JSON, names no file, and a
 * terminal shows it as it is. */
static bool is_plain_text(const struct buffer *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer shown = {0};

	if (buffer_status(text) < 0 || text->size == 0 || text->data[0] == '@')
		return false;
	visible_append(&shown, text->data, text->size);
	return buffer_status(&shown) == 0 && buffer_equals(&shown, text) &&
	       json_tape_read(&tape, text->data, text->size, JSON_DEPTH_DEFAULT, NULL) != 0;
}

static void append_argument(struct buffer *out, const struct json_tape *tape, uint32_t key)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer json = {0};
	bool is_string = json_type_at(tape, key + 1) == JSON_STRING;

	if (is_string)
		json_string_decode(tape, key + 1, &text);
	json_write_compact(&json, tape, key + 1);
	buffer_append_char(out, ' ');
	json_string_decode(tape, key, out);
	if (buffer_status(&json) < 0) {
		buffer_fail_with(out, &json);
	} else if (is_string && is_plain_text(&text)) {
		buffer_append_char(out, '=');
		terminal_append_shell_word(out, text.data, text.size);
	} else {
		buffer_append_string(out, is_string ? ":=" : "=");
		append_json(out, json.data, json.size);
	}
}

/* Whether each key of the object is a plain name. */
static bool has_plain_keys(const struct json_tape *tape, uint32_t object)
{
	json_each_key(key, tape, object) {
		cleanup_free char *name = json_string_dup(tape, key, NULL);

		if (!name || !*name || *name == '-' || name[strspn(name, KEY_LETTERS)] != '\0')
			return false;
	}
	return true;
}

static void append_arguments(struct buffer *out, const struct json_tape *tape, uint32_t object)
{
	cleanup(buffer_deinit) struct buffer json = {0};

	if (has_plain_keys(tape, object)) {
		json_each_key(key, tape, object)
			append_argument(out, tape, key);
		return;
	}
	json_write_compact(&json, tape, object);
	buffer_fail_with(out, &json);
	buffer_append_string(out, " --args ");
	if (buffer_status(&json) == 0)
		append_json(out, json.data, json.size);
}

/* Return the arguments of the first example, or JSON_NONE. */
static uint32_t find_example(const struct json_tape *tape, uint32_t definition)
{
	uint32_t examples = json_find_typed_at(tape, definition, "examples", JSON_ARRAY);

	if (examples == JSON_NONE || json_count(tape, examples) == 0)
		return JSON_NONE;
	return json_find_typed_at(tape, json_first(tape, examples), "args", JSON_OBJECT);
}

/* Append arguments that are made from the schema. Return whether they satisfy it. */
static bool append_sample(struct buffer *out, const struct json_tape *tape, uint32_t definition)
{
	cleanup(schema_cleanup) struct schema *schema =
		tool_schema_compile(tape, definition, "argument_schema");
	cleanup(json_tape_cleanup) struct json_tape sample_tape = {0};
	cleanup(buffer_deinit) struct buffer sample = {0};
	bool fits;

	if (!schema || sample_write(schema, &sample, &fits) != 0 ||
		json_tape_read(&sample_tape, sample.data, sample.size, JSON_DEPTH_DEFAULT, NULL) !=
			0 ||
		json_type_at(&sample_tape, 0) != JSON_OBJECT)
		return false;
	append_arguments(out, &sample_tape, 0);
	return fits;
}

bool tool_command_append(const struct json_tape *tape, uint32_t definition, struct buffer *out)
{
	uint32_t example = find_example(tape, definition);
	cleanup(buffer_deinit) struct buffer name = {0};

	terminal_append_tool(&name, tape, definition);
	buffer_fail_with(out, &name);
	buffer_append_string(out, "toolboxctl invoke ");
	if (buffer_status(&name) == 0)
		terminal_append_shell_word(out, name.data, name.size);
	if (example == JSON_NONE)
		return append_sample(out, tape, definition);
	append_arguments(out, tape, example);
	return true;
}
