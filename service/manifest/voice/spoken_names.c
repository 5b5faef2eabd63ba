/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/voice/spoken_names.h"

#include <errno.h>
#include <string.h>

#include "call/command.h"
#include "catalogue/voice/spoken.h"
#include "json/member.h"
#include "json/writer.h"
#include "manifest/voice/property.h"
#include "util/text/language_tag.h"

/* The schemas of the tool. */
struct schemas {
	struct json_tape arguments;
	struct json_tape output;
};

static void schemas_deinit(struct schemas *schemas)
{
	json_tape_deinit(&schemas->arguments);
	json_tape_deinit(&schemas->output);
}

static int parse_schema(struct json_tape *tape, const char *text)
{
	return json_tape_read(tape, text, strlen(text), 2 * JSON_DEPTH_DEFAULT, NULL) == 0
		       ? 0
		       : -ENOMEM;
}

/* Return whether @face may have the name in @piece. */
static bool may_name(
	const struct schemas *schemas, enum spoken_face face, const struct command_piece *piece)
{
	if (piece->kind != COMMAND_VALUE)
		return false;
	if (property_is_declared(&schemas->arguments, piece->text, piece->size))
		return true;
	if (face == SPOKEN_FAILED)
		return text_is(piece->text, piece->size, "error");
	return face == SPOKEN_DONE &&
	       property_is_declared(&schemas->output, piece->text, piece->size);
}

static void refuse_name(const struct manifest_scope *scope, uint32_t token,
	const struct schemas *schemas, enum spoken_face face, const struct command_piece *piece)
{
	cleanup(buffer_deinit) struct buffer arguments = {0};
	cleanup(buffer_deinit) struct buffer output = {0};

	property_write_names(&schemas->arguments, &arguments);
	if (face == SPOKEN_DONE)
		property_write_names(&schemas->output, &output);
	if (face == SPOKEN_FAILED)
		buffer_append_string(&output, "error");
	diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, token,
		"'%s' names '%.*s', which has no value: there are the arguments %s%s%s; "
		"write {{ for a brace",
		spoken_face_name(face), (int)piece->size, piece->text,
		buffer_terminate(&arguments) && arguments.size > 0 ? arguments.data : "(none)",
		output.size > 0 ? ", and " : "",
		buffer_terminate(&output) && output.size > 0 ? output.data : "");
}

/* Check the names of the text at @token. */
static void check_face(const struct manifest_scope *scope, uint32_t token,
	const struct schemas *schemas, enum spoken_face face)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct command_piece piece;
	const char *at;

	json_string_decode(scope->tape, token, &text);
	at = buffer_terminate(&text) ? text.data : "";
	while (command_next_piece(&at, &piece)) {
		if (piece.kind == COMMAND_LITERAL || may_name(schemas, face, &piece))
			continue;
		refuse_name(scope, token, schemas, face, &piece);
		return;
	}
}

/* Check that no language before @key has its tag in other letters. */
static void check_twice(const struct manifest_scope *scope, uint32_t spoken, uint32_t key)
{
	const struct json_tape *tape = scope->tape;
	const struct text_view tag = {json_bytes(tape, key), json_at(tape, key)->length};

	json_each_key(other, tape, spoken) {
		if (other < key && language_tag_equals(tag, json_bytes(tape, other),
					   json_at(tape, other)->length))
			diagnose(scope->problems, DIAGNOSTIC_ERROR, tape, key + 1,
				"the language '%.*s' is there twice; upper and lower case are the "
				"same",
				(int)tag.size, tag.text);
	}
}

static void check_faces(
	const struct manifest_scope *scope, uint32_t spoken, const struct schemas *schemas)
{
	json_each_key(key, scope->tape, spoken) {
		check_twice(scope, spoken, key);
		for (int face = 0; face < SPOKEN_FACES; face++) {
			uint32_t text = json_find(
				scope->tape, key + 1, spoken_face_name((enum spoken_face)face));

			if (text != JSON_NONE)
				check_face(scope, text, schemas, (enum spoken_face)face);
		}
	}
}

int manifest_spoken_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	cleanup(schemas_deinit) struct schemas schemas = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t spoken = json_find(scope->tape, object, "spoken");
	int r;

	if (spoken == JSON_NONE)
		return 0;
	r = parse_schema(&schemas.arguments, tool->argument_schema);
	if (r == 0)
		r = parse_schema(&schemas.output, tool->output_schema);
	if (r < 0)
		return r;
	check_faces(scope, spoken, &schemas);
	json_write_compact(&text, scope->tape, spoken);
	tool->spoken = buffer_take(&text, NULL);
	return tool->spoken ? 0 : -ENOMEM;
}
