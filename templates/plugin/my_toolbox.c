/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The tools of my_toolbox, as a plugin: toolbox.h is the manual.
 *
 *   my_toolbox.json ──config──▶ init, once for each process
 *   a call ──arguments that satisfy the schema──▶ validate ──▶ handler ──▶ its result
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <toolbox.h>

/* How people are greeted: "greeting" of the configuration. */
static char greeting[64] = "Hello";

static int init(struct toolbox_call call, const struct toolbox_tool **tools, uint32_t *n_tools)
{
	const char *text;

	(void)tools;
	(void)n_tools;
	if (toolbox_get_string(call, "greeting", &text, NULL) != TOOLBOX_OK)
		return 0;
	if (strlen(text) >= sizeof(greeting)) {
		toolbox_fail(call, "'greeting' of the configuration is too long");
		return -1;
	}
	strcpy(greeting, text);
	return 0;
}

/* Check what a schema cannot express: a name is more than white space. */
static void check_name(struct toolbox_call call, void *data)
{
	const char *name = "";

	(void)data;
	toolbox_get_string(call, "name", &name, NULL);
	if (name[strspn(name, " \t\n")] == '\0')
		toolbox_refuse(call, "/name", "must be a name, not only white space");
}

static void greet(struct toolbox_call call, void *data)
{
	const char *name = "";
	char text[256];

	(void)data;
	toolbox_get_string(call, "name", &name, NULL);
	snprintf(text, sizeof(text), "%s, %s!", greeting, name);
	toolbox_put_string(call, "text", text);
	toolbox_reply(call);
}

/* Count the words: texts between white space. */
static void count_words(struct toolbox_call call, void *data)
{
	const char *text = "";
	bool is_inside = false;
	int64_t words = 0;

	(void)data;
	toolbox_get_string(call, "text", &text, NULL);
	for (; *text; text++) {
		bool is_space = isspace((unsigned char)*text);

		words += !is_space && !is_inside;
		is_inside = !is_space;
	}
	toolbox_put_i64(call, "words", words);
	toolbox_reply(call);
}

static const char *const count_triggers[] = {"how many words (are|does)", NULL};

static const struct toolbox_parameter greet_parameters[] = {
	{.name = "name", .type = "string", .text = "Who is greeted", .required = 1, .max = 32},
	{.name = NULL},
};

static const struct toolbox_parameter count_parameters[] = {
	{.name = "text", .type = "string", .text = "Whose words are counted", .required = 1},
	{.name = NULL},
};

static const struct toolbox_tool tools[] = {
	{
		.name = "greet",
		.description = "Greet somebody by name.",
		.parameters = greet_parameters,
		.output_schema = "{\"type\": \"object\","
				 " \"properties\": {\"text\": {\"type\": \"string\"}},"
				 " \"required\": [\"text\"]}",
		.risk = TOOLBOX_READ,
		.handler = greet,
		.validate = check_name,
	},
	{
		.name = "count_words",
		.description = "Count the words of a text.",
		.parameters = count_parameters,
		.output_schema = "{\"type\": \"object\","
				 " \"properties\": {\"words\": {\"type\": \"integer\"}},"
				 " \"required\": [\"words\"]}",
		.risk = TOOLBOX_READ,
		.triggers = count_triggers,
		.handler = count_words,
	},
};

TOOLBOX_PLUGIN(tools, init, NULL);
