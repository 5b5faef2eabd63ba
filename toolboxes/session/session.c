/* SPDX-License-Identifier: Apache-2.0 */

/*
 * session: what belongs to a conversation.
 *
 *   set_variables, get_variables ◀─▶ variables.c ◀─▶ session.sqlite3 in the state folder
 *
 *   get_messages ◀─ the conversation that the call brings: the daemon has heard it
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <toolbox.h>

#include "answer.h"
#include "owner.h"
#include "stringify.h"
#include "text.h"
#include "variables.h"

/* The name of the database in the state folder. */
#define FILE_NAME "/session.sqlite3"

/* The messages of an answer, unless the caller asks for another number. */
#define MESSAGES_USUAL 50

/* The longest answers: all variables of a session, or a whole conversation. */
#define ANSWER_CHARS_MAX 1100000

static char *file; /* path of the database */
static struct variables *opened;
static bool hears; /* setting `messages` */

/* ── variables ───────────────────────────────────────────────────────────────────────────────── */

/* Open the database at the first call, and again when its file was moved away. Return NULL with
 * @why. */
static struct variables *variables_of_file(struct text *why)
{
	if (opened && variables_has_moved(opened)) {
		variables_close(opened);
		opened = NULL;
	}
	if (!opened)
		opened = variables_open(file, why);
	return opened;
}

static struct variables_session session_of(struct toolbox_call call)
{
	return (struct variables_session){.owner = session_owner(call), .id = session_id(call)};
}

/* Return whether the JSON text @json has the escape of U+0000. */
static bool has_nul(const char *json)
{
	for (const char *at = json; (at = strchr(at, '\\'));) {
		if (strncmp(at, "\\u0000", 6) == 0)
			return true;
		at += 2;
	}
	return false;
}

static void check_variables(struct toolbox_call call, void *data)
{
	const char *json;

	(void)data;
	if (toolbox_get_json(call, "variables", &json, NULL) == TOOLBOX_OK && has_nul(json))
		toolbox_refuse(call, "/variables", "must not have the character U+0000");
}

static void set_variables(struct toolbox_call call, void *data)
{
	struct variables_session session = session_of(call);
	struct text why = {0};
	const char *json;
	int n = -1;

	(void)data;
	if (toolbox_get_json(call, "variables", &json, NULL) != TOOLBOX_OK)
		text_put(&why, "out of memory");
	else if (variables_of_file(&why))
		n = variables_set(opened, &session, json, (int64_t)time(NULL), &why);
	if (n >= 0) {
		toolbox_put_string(call, "message", "Variables set successfully.");
		toolbox_put_i64(call, "count", n);
		toolbox_reply(call);
	} else {
		fail_call(call, &why);
	}
	text_free(&why);
}

static void put_variable(void *data, const char *name, const char *value, size_t size)
{
	toolbox_put_string_sized(*(struct toolbox_call *)data, name, value, size);
}

static void get_variables(struct toolbox_call call, void *data)
{
	struct variables_session session = session_of(call);
	struct text why = {0};

	(void)data;
	toolbox_open_object(call, "variables");
	if (variables_of_file(&why) &&
		variables_get(opened, &session, (int64_t)time(NULL), put_variable, &call, &why))
		toolbox_reply(call);
	else
		fail_call(call, &why);
	text_free(&why);
}

/* ── messages ────────────────────────────────────────────────────────────────────────────────── */

static void get_messages(struct toolbox_call call, void *data)
{
	struct toolbox_call given = toolbox_given(call);
	uint64_t limit = MESSAGES_USUAL;
	uint32_t n = 0;

	(void)data;
	if (!hears) {
		toolbox_fail(call, "the messages of sessions are not kept: toolboxes.session."
				   "messages is false");
		return;
	}
	toolbox_get_u64(call, "limit", &limit);
	toolbox_get_count(given, "messages", &n);
	toolbox_open_array(call, "messages");
	for (uint32_t i = n > limit ? n - (uint32_t)limit : 0; i < n; i++) {
		const char *json = NULL;
		char path[32];

		snprintf(path, sizeof(path), "/messages/%u", i);
		if (toolbox_get_json(given, path, &json, NULL) != TOOLBOX_OK) {
			toolbox_fail(call, "out of memory");
			return;
		}
		toolbox_put_json(call, NULL, json);
	}
	toolbox_reply(call);
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

#define RUN_LLM                                                                                    \
	"\"run_llm\":{\"type\":\"boolean\",\"default\":false,"                                     \
	"\"description\":\"Whether to speak after the call.\"}"
#define OBJECT_OF(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"

#define LIMIT                                                                                      \
	"\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":200,\"default\":" STRINGIFY(    \
		MESSAGES_USUAL) ","                                                                \
				"\"description\":\"The most messages: the last ones.\"}"

static const char messages_output[] =
	"{\"type\":\"object\",\"required\":[\"messages\"],\"properties\":{\"messages\":{"
	"\"type\":\"array\",\"items\":{\"type\":\"object\","
	"\"required\":[\"role\",\"text\",\"time\"],\"properties\":{"
	"\"role\":{\"enum\":[\"user\",\"assistant\"]},\"text\":{\"type\":\"string\"},"
	"\"time\":{\"type\":\"string\",\"format\":\"date-time\"}}}}}}";

static struct toolbox_tool tools[] = {
	{
		.name = "set_variables",
		.title = "Set variables",
		.description =
			"Keep facts of this conversation as named texts, for later turns.\n"
			"WHEN TO USE: the user gives a value that is needed again, such as a name, "
			"an order number or a choice.\n"
			"WHEN NOT TO USE: for what is to be remembered beyond this conversation.\n"
			"EXAMPLES:\n\"My order is 4711\" -> {\"variables\": {\"order\": "
			"\"4711\"}}\n"
			"run_llm: Set true to answer afterwards, false to go on silently.",
		.argument_schema =
			"{\"type\":\"object\",\"required\":[\"variables\"],\"properties\":{"
			"\"variables\":{\"type\":\"object\",\"minProperties\":1,"
			"\"additionalProperties\":{\"type\":\"string\"},"
			"\"description\":\"Names and texts. Others stay as they are.\"}," RUN_LLM
			"}}",
		.output_schema = "{\"type\":\"object\",\"required\":[\"message\",\"count\"],"
				 "\"properties\":{\"message\":{\"type\":\"string\"},"
				 "\"count\":{\"type\":\"integer\","
				 "\"description\":\"All variables of the session.\"}}}",
		.risk = TOOLBOX_WRITE,
		.flags = TOOLBOX_IDEMPOTENT,
		.timeout_ms = 10000,
		.examples = "[{\"args\":{\"variables\":{\"order\":\"4711\"}}}]",
		.handler = set_variables,
		.validate = check_variables,
	},
	{
		.name = "get_variables",
		.title = "Get variables",
		.description =
			"Get all variables of this conversation.\n"
			"WHEN TO USE: a value that was set earlier is needed.\n"
			"WHEN NOT TO USE: the value is in the conversation in front of you.\n"
			"EXAMPLES:\n\"What was my order number?\" -> {}\n"
			"run_llm: Set true to answer with the values, false to go on silently.",
		.argument_schema = OBJECT_OF(RUN_LLM),
		.output_schema = "{\"type\":\"object\",\"required\":[\"variables\"],"
				 "\"properties\":{\"variables\":{\"type\":\"object\","
				 "\"additionalProperties\":{\"type\":\"string\"}}}}",
		.risk = TOOLBOX_READ,
		.timeout_ms = 10000,
		.result_max_chars = ANSWER_CHARS_MAX,
		.handler = get_variables,
	},
	{
		.name = "get_messages",
		.title = "Get messages",
		.description = "Get the last messages of this conversation, the oldest first: what "
			       "the user has said and what was spoken, each with its time.",
		.argument_schema = OBJECT_OF(LIMIT "," RUN_LLM),
		.output_schema = messages_output,
		.risk = TOOLBOX_READ,
		.result_max_chars = ANSWER_CHARS_MAX,
		.handler = get_messages,
		.given = "conversation",
	},
	{
		.name = "get_aicall_messages",
		.title = "Get messages of the call",
		.description = "The same as get_messages, for prompts that know it by this name. "
			       "aicall_id is ignored: it is always this conversation.",
		.argument_schema = OBJECT_OF("\"aicall_id\":{\"type\":\"string\","
					     "\"description\":\"Ignored.\"}," LIMIT "," RUN_LLM),
		.output_schema = messages_output,
		.risk = TOOLBOX_READ,
		.result_max_chars = ANSWER_CHARS_MAX,
		.handler = get_messages,
		.given = "conversation",
	},
};

static int init(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	const char *folder;

	(void)ret_tools;
	(void)ret_n_tools;
	if (toolbox_get_bool(call, "messages", &hears) == TOOLBOX_E_TYPE) {
		toolbox_fail(call, "toolboxes.session.messages must be true or false");
		return -1;
	}
	/* Nothing is heard for tools that do not ask. */
	for (size_t i = 0; !hears && i < sizeof(tools) / sizeof(tools[0]); i++)
		tools[i].given = NULL;
	if (toolbox_get_string(call, "state_folder", &folder, NULL) == TOOLBOX_OK &&
		asprintf(&file, "%s" FILE_NAME, folder) >= 0)
		return 0;
	file = NULL;
	toolbox_fail(call, "out of memory");
	return -1;
}

static void close_all(void)
{
	variables_close(opened);
	free(file);
}

TOOLBOX_PLUGIN(tools, init, close_all);
