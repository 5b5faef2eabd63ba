/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/advice.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "registry/manifest.h"
#include "util/buffer.h"
#include "util/cleanup.h"

#define POINTER_BYTES 64

/* A text that no utterance has in it: a trigger that is found there is found anywhere. */
static const char no_utterance[] = "\001";

struct giving {
	const struct toolbox *toolbox;
	advice_function advise;
	void *data;
	struct regex_scratch *scratch;
};

__attribute__((format(printf, 3, 4))) static void advise(
	const struct giving *giving, const char *pointer, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	const char *file = giving->toolbox->file;
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	giving->advise(giving->data, file, manifest_line(file, pointer), pointer,
		buffer_terminate(&text) ? text.data : format);
}

static void advise_of_triggers(
	const struct giving *giving, const struct tool *tool, const char *pointer)
{
	char place[2 * POINTER_BYTES] = "";

	for (size_t i = 0; i < tool->triggers.n_items; i++) {
		if (regex_match(&tool->triggers.items[i], giving->scratch, no_utterance,
			    strlen(no_utterance)) != REGEX_MATCHES)
			continue;
		if (*pointer)
			snprintf(place, sizeof(place), "%s/triggers/%zu", pointer, i);
		advise(giving, place,
			"trigger %zu of the tool '%s' is found in every utterance, so no later "
			"tool is ever matched; is there an empty alternative, or is all optional?",
			i, tool->name);
	}
}

static void advise_of_tool(const struct giving *giving, const struct tool *tool)
{
	char pointer[POINTER_BYTES] = "";

	/* What a library or an interpreter tells has no place in the manifest. */
	if (!kind_facts(giving->toolbox->kind)->tells_tools)
		snprintf(pointer, sizeof(pointer), "/tools/%u", tool->index);
	/* Who does not know what a call may do has to be asked before it. */
	if (tool->risk == TOOL_UNRATED)
		advise(giving, pointer,
			"the tool '%s' does not declare its \"risk\": say \"read\", \"write\" or "
			"\"execute\", for the tool or once for the toolbox",
			tool->name);
	if (!*tool->description)
		advise(giving, pointer,
			"the tool '%s' has no \"description\": a model cannot know when to call it",
			tool->name);
	advise_of_triggers(giving, tool, pointer);
}

/* Only what was found by its path is sealed; what the linker finds by a name is the system's. */
static void advise_of_seal(const struct giving *giving)
{
	const struct toolbox *toolbox = giving->toolbox;
	const char *path = toolbox->library.path;

	if (path && strchr(path, '/') && toolbox->is_checked && !toolbox->is_sealed)
		advise(giving, "/library",
			"not sealed: a copy of %s cannot find what it is linked to ($ORIGIN), so "
			"the file itself is loaded; stop toolboxd before you replace it",
			path);
}

int advice_give(const struct toolbox *toolbox, advice_function advise_function, void *data)
{
	cleanup(regex_scratch_cleanup) struct regex_scratch *scratch = regex_scratch_new();
	const struct giving giving = {toolbox, advise_function, data, scratch};

	if (!scratch)
		return -ENOMEM;
	for (size_t i = 0; i < toolbox->n_tools; i++)
		advise_of_tool(&giving, &toolbox->tools[i]);
	advise_of_seal(&giving);
	return 0;
}
