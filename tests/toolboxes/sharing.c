/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A plugin that has several calls at a time in one process (`concurrent` of its manifest), and what
 * goes with that: a process in use, calls that must not run, what a person reads of a call.
 */

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <toolbox.h>
#include <unistd.h>

#define N_KEPT 64

/* The kept calls, by their keys. */
static struct {
	struct toolbox_call call;
	char key[32];
} kept[N_KEPT];

static const char *text_of(struct toolbox_call call, const char *key)
{
	const char *text = "";

	toolbox_get_string(call, key, &text, NULL);
	return text;
}

static void tool_keep(struct toolbox_call call, void *data)
{
	int at = 0;

	(void)data;
	while (at < N_KEPT && kept[at].key[0])
		at++;
	if (at == N_KEPT) {
		toolbox_fail(call, "no room");
		return;
	}
	snprintf(kept[at].key, sizeof(kept[at].key), "%s", text_of(call, "key"));
	kept[at].call = call;
	toolbox_keep(call);
}

/* An answer that is no handler's, from a thread that is no handler's. */
struct late {
	struct toolbox_call call;
	char text[64];
	int status;
};

static void *answer_late(void *data)
{
	struct late *late = data;

	toolbox_put_string(late->call, "key", text_of(late->call, "key"));
	toolbox_put_string(late->call, "text", late->text);
	late->status = toolbox_reply(late->call);
	return NULL;
}

/* Answer the call that is kept with the key; the result has the status of the answer. */
static void tool_answer(struct toolbox_call call, void *data)
{
	struct late late = {.status = -1};
	pthread_t thread;

	(void)data;
	for (int i = 0; i < N_KEPT; i++) {
		if (!kept[i].key[0] || strcmp(kept[i].key, text_of(call, "key")) != 0)
			continue;
		late.call = kept[i].call;
		snprintf(late.text, sizeof(late.text), "%s", text_of(call, "text"));
		if (pthread_create(&thread, NULL, answer_late, &late) == 0)
			pthread_join(thread, NULL);
		kept[i].key[0] = '\0';
		break;
	}
	toolbox_put_i64(call, "status", late.status);
	toolbox_reply(call);
}

static void tool_who(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_put_string(call, "identity", toolbox_identity(call));
	toolbox_put_string(call, "session", toolbox_session(call));
	toolbox_put_i64(call, "pid", getpid());
	toolbox_reply(call);
}

static void tool_use(struct toolbox_call call, void *data)
{
	bool is_in_use = false;

	(void)data;
	toolbox_get_bool(call, "on", &is_in_use);
	toolbox_put_i64(call, "status", toolbox_use(call, is_in_use));
	toolbox_put_i64(call, "pid", getpid());
	toolbox_reply(call);
}

/* A handler that does not return. */
static void tool_stay(struct toolbox_call call, void *data)
{
	(void)call;
	(void)data;
	for (;;)
		pause();
}

static void validate_word(struct toolbox_call call, void *data)
{
	char about[64];

	(void)data;
	snprintf(about, sizeof(about), "the word is %s", text_of(call, "word"));
	toolbox_describe(call, about);
	if (strcmp(text_of(call, "word"), "never") == 0)
		toolbox_fail(call, "this word is never said");
	if (strcmp(text_of(call, "word"), "odd") == 0)
		toolbox_refuse(call, "/word", "must not be odd");
}

static void tool_say(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_put_string(call, "said", text_of(call, "chars"));
	toolbox_reply(call);
}

/* Answer all kept calls: further calls go to another process. */
static void replaced(void)
{
	for (int i = 0; i < N_KEPT; i++) {
		if (!kept[i].key[0])
			continue;
		kept[i].key[0] = '\0';
		toolbox_put_bool(kept[i].call, "replaced", true);
		toolbox_reply(kept[i].call);
	}
}

#define TEXT(name) "\"" name "\": {\"type\": \"string\"}"

static const struct toolbox_tool tools[] = {
	{
		.name = "keep",
		.argument_schema = "{\"type\": \"object\", \"properties\": {" TEXT("key") "}}",
		.risk = TOOLBOX_READ,
		.timeout_ms = 60000,
		.handler = tool_keep,
	},
	{
		.name = "answer",
		.argument_schema = "{\"type\": \"object\", \"properties\": {" TEXT("key") ", " TEXT(
			"text") "}}",
		.risk = TOOLBOX_READ,
		.timeout_ms = 60000,
		.handler = tool_answer,
	},
	{.name = "who", .risk = TOOLBOX_READ, .timeout_ms = 60000, .handler = tool_who},
	{
		.name = "use",
		.argument_schema = "{\"type\": \"object\", \"properties\":"
				   " {\"on\": {\"type\": \"boolean\"}}}",
		.risk = TOOLBOX_READ,
		.timeout_ms = 60000,
		.handler = tool_use,
	},
	{.name = "stay", .risk = TOOLBOX_READ, .timeout_ms = 200, .handler = tool_stay},
	{
		.name = "say",
		.argument_schema = "{\"type\": \"object\", \"properties\": {" TEXT(
			"word") ", " TEXT("chars") "}}",
		.risk = TOOLBOX_EXECUTE,
		.timeout_ms = 60000,
		.handler = tool_say,
		.validate = validate_word,
		.grant_key = "word",
		.asked_key = "chars",
	},
};

const struct toolbox_plugin toolbox_plugin = {
	.api_version = TOOLBOX_API_VERSION,
	.size = sizeof(struct toolbox_plugin),
	.tool_size = sizeof(struct toolbox_tool),
	.n_tools = sizeof(tools) / sizeof(tools[0]),
	.tools = tools,
	.replaced = replaced,
};
