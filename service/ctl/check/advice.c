/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/check/advice.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "catalogue/anthropic.h"
#include "ctl/check/arguments.h"
#include "json/member.h"
#include "json/pointer.h"
#include "json/reader.h"
#include "manifest/manifest.h"
#include "util/buffer.h"
#include "util/file/file.h"
#include "util/stringify.h"
#include "util/text/utf8.h"

#define POINTER_BYTES 64

/* A text contained in no utterance: a trigger matching this text matches every utterance. */
static const char no_utterance[] = "\001";

struct giving {
	const struct toolbox *toolbox;
	const struct diagnostic_sink *sink;
	struct regex_scratch *scratch;
	struct buffer bytes; /* the file's text; empty for a folder of programs */
	struct json_tape tape;
};

/* A file that was loaded can be read. */
static void read_checked_file(struct giving *giving)
{
	if (file_read(giving->toolbox->package->file, MANIFEST_BYTES_MAX, &giving->bytes) < 0 ||
		json_tape_read(&giving->tape, giving->bytes.data, giving->bytes.size,
			JSON_DEPTH_DEFAULT, NULL) != 0)
		json_tape_deinit(&giving->tape);
}

static bool is_list(const struct giving *giving)
{
	return giving->tape.count > 0 && json_type_at(&giving->tape, 0) == JSON_ARRAY;
}

/* Advise about the value at @pointer, without a place when the file has no such value. */
__attribute__((format(printf, 3, 4))) static void advise(
	const struct giving *giving, const char *pointer, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	unsigned int line = 0;
	unsigned int column;
	va_list arguments;
	uint32_t token;

	if (giving->tape.count > 0 && json_pointer_find(&giving->tape, pointer, NULL, &token))
		json_locate(
			giving->bytes.data, json_at(&giving->tape, token)->offset, &line, &column);
	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	diagnostic_report(giving->sink, DIAGNOSTIC_WARNING, giving->toolbox->package->file, line,
		line ? pointer : "", "%s", buffer_terminate(&text) ? text.data : format);
}

static void advise_of_triggers(
	const struct giving *giving, const struct tool *tool, const char *pointer)
{
	char place[2 * POINTER_BYTES];

	for (size_t i = 0; i < tool->triggers.n_items; i++) {
		if (regex_match(&tool->triggers.items[i], giving->scratch, no_utterance,
			    strlen(no_utterance)) != REGEX_MATCHES)
			continue;
		snprintf(place, sizeof(place), "%s/triggers/%zu", pointer, i);
		advise(giving, place,
			"trigger %zu of the tool '%s' matches every utterance, so no later tool is "
			"ever matched; is there an empty alternative, or is all of it optional?",
			i, tool->name);
	}
}

/* An unrated tool needs approval for every call in some modes. A list of shell lines has no key for
 * the risk; for ToolBoxes of OVOS, their manifest has one. */
static void advise_of_risk(
	const struct giving *giving, const struct tool *tool, const char *pointer)
{
	if (tool->risk == TOOL_UNRATED && !is_list(giving) &&
		!kind_facts(giving->toolbox->package->kind)->has_members)
		advise(giving, pointer,
			"the tool '%s' does not declare its \"risk\": add \"read\", \"write\" or "
			"\"execute\", for the tool or once for the toolbox",
			tool->name);
}

/* Arguments impossible in a format for models. */
static void advise_of_arguments(
	const struct giving *giving, const struct tool *tool, const char *pointer)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer refused = {0};
	bool is_listed = anthropic_write_schema(tool->argument_schema, &schema, &refused);

	if (refused.size > 0)
		advise(giving, pointer,
			"the tool '%s' %s %.*s: Anthropic's API takes names of at most " STRINGIFY(
				ANTHROPIC_NAME_BYTES) " letters, digits, '_', '.' and '-', so the "
						      "format \"anthropic\" leaves out %s",
			tool->name, is_listed ? "has the argument" : "requires the argument",
			(int)utf8_prefix(refused.data, refused.size, ANTHROPIC_REFUSED_CHARS),
			refused.data, is_listed ? "such an argument" : "the tool");
}

/* A tool whose server calls it otherwise. */
static void advise_of_name(const struct giving *giving, const struct tool *tool)
{
	if (giving->toolbox->package->kind == KIND_MCP &&
		strcmp(tool->server_name, tool->name) != 0)
		advise(giving, "", "the tool '%s' of the server is called '%s' here",
			tool->server_name, tool->name);
}

/* A doubt left by the writer of a manifest for its author. */
static void advise_of_questions(
	const struct giving *giving, const struct tool *tool, uint32_t value)
{
	const struct json_tape *tape = &giving->tape;

	if (json_type_at(tape, value) == JSON_ARRAY)
		json_each(at, tape, value)
			advise_of_questions(giving, tool, at);
	if (json_type_at(tape, value) != JSON_OBJECT)
		return;
	json_each_key(key, tape, value) {
		cleanup(buffer_deinit) struct buffer place = {0};
		cleanup(buffer_deinit) struct buffer text = {0};

		if (!json_is_text(tape, key, "question") ||
			json_type_at(tape, key + 1) != JSON_STRING) {
			advise_of_questions(giving, tool, key + 1);
			continue;
		}
		json_pointer_write(tape, key, &place);
		json_string_decode(tape, key + 1, &text);
		if (buffer_terminate(&place) && buffer_terminate(&text))
			advise(giving, place.data, "the tool '%s' has a question: %s", tool->name,
				text.data);
	}
}

/* Advise about the questions below the entry of a native tool at @pointer. */
static void advise_of_native(
	const struct giving *giving, const struct tool *tool, const char *pointer)
{
	char place[2 * POINTER_BYTES];
	uint32_t token;

	snprintf(place, sizeof(place), "%s/native", pointer);
	if (giving->tape.count > 0 && json_pointer_find(&giving->tape, place, NULL, &token))
		advise_of_questions(giving, tool, token);
}

/* The tool entry that advice is about. */
struct entry {
	const struct giving *giving;
	const struct tool *tool;
	const char *pointer;
};

static void advise_in_entry(void *data, const char *pointer, const char *text)
{
	const struct entry *entry = data;
	char place[2 * POINTER_BYTES];

	snprintf(place, sizeof(place), "%s%s", entry->pointer, pointer);
	advise(entry->giving, place, "the tool '%s': %s", entry->tool->name, text);
}

static void advise_of_tool(const struct giving *giving, const struct tool *tool)
{
	char pointer[POINTER_BYTES];

	snprintf(pointer, sizeof(pointer), "%s/%u", is_list(giving) ? "" : "/tools", tool->index);
	advise_of_risk(giving, tool, pointer);
	advise_of_name(giving, tool);
	advise_of_arguments(giving, tool, pointer);
	if (!*tool->description)
		advise(giving, pointer,
			"the tool '%s' has no \"description\": a model cannot know when to call it",
			tool->name);
	advise_of_triggers(giving, tool, pointer);
	if (giving->toolbox->package->kind == KIND_NATIVE)
		advise_of_native(giving, tool, pointer);
	if (giving->toolbox->package->kind == KIND_COMMAND)
		arguments_advise(tool, advise_in_entry, &(struct entry){giving, tool, pointer});
}

static bool has_unrated(const struct package *package)
{
	for (size_t i = 0; i < package->n_tools; i++)
		if (package->tools[i]->risk == TOOL_UNRATED)
			return true;
	return false;
}

/* Advise once, with the first tool. */
static void advise_of_parts(const struct giving *giving)
{
	if (kind_facts(giving->toolbox->package->kind)->has_members &&
		giving->toolbox->index == 0 && has_unrated(giving->toolbox->package))
		advise(giving, "",
			"no \"risk\" is declared, and a ToolBox cannot declare one: add \"read\", "
			"\"write\" or \"execute\" here for all of them, or give ToolBoxes that "
			"differ a manifest of their own (\"plugins\")");
}

/* Only a library found by path is sealed; a library found by the linker by name is the system's. */
static void advise_of_seal(const struct giving *giving)
{
	const struct package *package = giving->toolbox->package;
	const struct toolbox_library *library = package->is_checked ? &package->library : NULL;

	for (; library; library = library->next) {
		if (!toolbox_library_is_path(library) || library->copy)
			continue;
		advise(giving, package_library_place(package),
			"not sealed: a copy of %s cannot find what it is linked to ($ORIGIN), is "
			"too large or not possible here, so the file itself is loaded; replace it "
			"by renaming",
			library->path);
	}
}

int advice_give(const struct toolbox *toolbox, const struct diagnostic_sink *sink)
{
	cleanup(regex_scratch_cleanup) struct regex_scratch *scratch = regex_scratch_new();
	struct giving giving = {
		.toolbox = toolbox,
		.sink = sink,
		.scratch = scratch,
	};

	if (!scratch)
		return -ENOMEM;
	read_checked_file(&giving);
	for (size_t i = 0; i < toolbox->n_tools; i++)
		advise_of_tool(&giving, &toolbox->tools[i]);
	advise_of_parts(&giving);
	advise_of_seal(&giving);
	json_tape_deinit(&giving.tape);
	buffer_deinit(&giving.bytes);
	return 0;
}
