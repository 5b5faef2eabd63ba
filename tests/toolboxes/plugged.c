/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A plugin that does with toolbox.h all that can be done, and what must not be done. Its
 * configuration selects the failure while it is loaded: {"trick": "abort", "fail", "return",
 * "null", "schema", "name", "twin", "trigger", "risk", "many", "none"}, and while it is ended:
 * {"end": "abort", "exit", "hang"}.
 */

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <toolbox.h>
#include <unistd.h>

#define N_TOOLS    64
#define MANY_TOOLS 10000

static struct toolbox_tool tools[N_TOOLS];
static struct toolbox_call configuration;
static struct toolbox_call stale;
static int last_status;
static int64_t n_calls;

/* ── what is given ───────────────────────────────────────────────────────────────────────────── */

/* Read each argument by the getter that it is named for, and report the status of each. */
static void tool_read(struct toolbox_call call, void *data)
{
	bool boolean = false;
	int64_t i64 = 0;
	uint64_t u64 = 0;
	double number = 0;
	const char *text = "untouched";
	const char *json = "null";
	const char *inside = "untouched";
	uint32_t count = 0;
	size_t size = 0;

	(void)data;
	toolbox_open_array(call, "status");
	toolbox_put_i64(call, NULL, toolbox_get_bool(call, "boolean", &boolean));
	toolbox_put_i64(call, NULL, toolbox_get_i64(call, "i64", &i64));
	toolbox_put_i64(call, NULL, toolbox_get_u64(call, "u64", &u64));
	toolbox_put_i64(call, NULL, toolbox_get_double(call, "number", &number));
	toolbox_put_i64(call, NULL, toolbox_get_string(call, "text", &text, &size));
	toolbox_put_i64(call, NULL, toolbox_get_json(call, "json", &json, NULL));
	toolbox_put_i64(call, NULL, toolbox_get_count(call, "list", &count));
	toolbox_put_i64(call, NULL, toolbox_get_string(call, "/list/1/name", &inside, NULL));
	toolbox_close(call);
	toolbox_put_bool(call, "boolean", boolean);
	toolbox_put_i64(call, "i64", i64);
	toolbox_put_u64(call, "u64", u64);
	toolbox_put_double(call, "number", number);
	toolbox_put_string(call, "text", text);
	toolbox_put_u64(call, "size", size);
	toolbox_put_json(call, "json", json);
	toolbox_put_u64(call, "count", count);
	toolbox_put_string(call, "inside", inside);
	toolbox_reply(call);
}

/* Reads every element of a list by its pointer. */
static void tool_join(struct toolbox_call call, void *data)
{
	uint32_t count = 0;
	size_t bytes = 0;

	(void)data;
	toolbox_get_count(call, "texts", &count);
	for (uint32_t i = 0; i < count; i++) {
		char key[32];
		const char *text = "";

		snprintf(key, sizeof(key), "/texts/%u", i);
		toolbox_get_string(call, key, &text, NULL);
		bytes += strlen(text);
	}
	toolbox_put_u64(call, "count", count);
	toolbox_put_u64(call, "bytes", bytes);
	toolbox_reply(call);
}

static void tool_who(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_put_string(call, "call_id", toolbox_call_id(call));
	toolbox_put_string(call, "session", toolbox_session(call));
	toolbox_put_string(call, "lang", toolbox_lang(call));
	toolbox_put_bool(call, "has_time", toolbox_ms_left(call) > 0);
	toolbox_put_bool(call, "is_cancelled", toolbox_is_cancelled(call));
	toolbox_reply(call);
}

static void tool_config(struct toolbox_call call, void *data)
{
	const char *json = "null";

	(void)data;
	toolbox_get_json(configuration, "", &json, NULL);
	toolbox_put_json(call, "config", json);
	toolbox_reply(call);
}

static void tool_count(struct toolbox_call call, void *data)
{
	toolbox_put_i64(call, "calls", ++n_calls);
	toolbox_put_string(call, "data", data);
	toolbox_reply(call);
}

/* ── ways to answer ──────────────────────────────────────────────────────────────────────────── */

static void *answer_later(void *data)
{
	struct toolbox_call call = *(struct toolbox_call *)data;
	int64_t steps = 0;

	free(data);
	toolbox_get_i64(call, "steps", &steps);
	for (int64_t i = 1; i <= steps; i++)
		toolbox_progress(call, (double)i / (double)steps, "stepping");
	toolbox_put_i64(call, "steps", steps);
	toolbox_reply(call);
	return NULL;
}

static void tool_later(struct toolbox_call call, void *data)
{
	struct toolbox_call *copy = malloc(sizeof(*copy));
	pthread_t thread;

	(void)data;
	*copy = call;
	toolbox_keep(call);
	if (pthread_create(&thread, NULL, answer_later, copy) != 0)
		toolbox_fail(call, "no thread");
	else
		pthread_detach(thread);
}

static void tool_json(struct toolbox_call call, void *data)
{
	const char *text = "";

	(void)data;
	toolbox_get_string(call, "text", &text, NULL);
	toolbox_reply_json(call, text);
}

static void tool_fail(struct toolbox_call call, void *data)
{
	const char *words = NULL;

	(void)data;
	toolbox_get_string(call, "words", &words, NULL);
	toolbox_fail(call, words);
}

static void tool_large(struct toolbox_call call, void *data)
{
	int64_t size = 0;
	char *text;

	(void)data;
	toolbox_get_i64(call, "size", &size);
	text = malloc((size_t)size + 1);
	memset(text, 'x', (size_t)size);
	toolbox_put_string_sized(call, "text", text, (size_t)size);
	free(text);
	toolbox_reply(call);
}

/* Two even numbers that validate_even() does not survive. */
#define NUMBER_THAT_CRASHES 1000
#define NUMBER_THAT_HANGS   2000

static void validate_even(struct toolbox_call call, void *data)
{
	int64_t number = 0;

	(void)data;
	toolbox_get_i64(call, "number", &number);
	last_status = toolbox_keep(call);
	if (number == NUMBER_THAT_CRASHES)
		abort();
	while (number == NUMBER_THAT_HANGS)
		pause();
	if (number % 2)
		toolbox_refuse(call, "/number", "must be even");
}

static void tool_even(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_put_i64(call, "keep_in_validate", last_status);
	toolbox_reply(call);
}

/* ── what must not be done ───────────────────────────────────────────────────────────────────── */

static void tool_silent(struct toolbox_call call, void *data)
{
	(void)call;
	(void)data;
}

static void tool_hang(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_keep(call);
}

static void tool_twice(struct toolbox_call call, void *data)
{
	(void)data;
	stale = call;
	toolbox_put_bool(call, "first", true);
	toolbox_reply(call);
	toolbox_put_bool(call, "second", true);
	last_status = toolbox_reply(call);
}

/* Uses the call that was answered twice. */
static void tool_stale(struct toolbox_call call, void *data)
{
	int64_t number = -1;

	(void)data;
	toolbox_put_i64(call, "second", last_status);
	toolbox_put_i64(call, "reply", toolbox_reply(stale));
	toolbox_put_i64(call, "fail", toolbox_fail(stale, "too late"));
	toolbox_put_i64(call, "keep", toolbox_keep(stale));
	toolbox_put_i64(call, "get", toolbox_get_i64(stale, "number", &number));
	toolbox_put_i64(call, "progress", toolbox_progress(stale, 1, NULL));
	toolbox_put_bool(call, "has", toolbox_has(stale, "number"));
	toolbox_put_string(call, "session", toolbox_session(stale));
	toolbox_put_bool(call, "is_cancelled", toolbox_is_cancelled(stale));
	toolbox_put_i64(call, "init_reply", toolbox_reply(configuration));
	toolbox_put_i64(call, "init_fail", toolbox_fail(configuration, "too late"));
	toolbox_reply(call);
}

static void tool_mistake(struct toolbox_call call, void *data)
{
	const char *kind = "";

	(void)data;
	toolbox_get_string(call, "kind", &kind, NULL);
	if (strcmp(kind, "nan") == 0)
		toolbox_put_double(call, "x", (double)NAN);
	else if (strcmp(kind, "no key") == 0)
		toolbox_put_i64(call, NULL, 1);
	else if (strcmp(kind, "key in array") == 0)
		toolbox_open_array(call, "a"), toolbox_put_i64(call, "b", 1);
	else if (strcmp(kind, "closed") == 0)
		toolbox_open_object(call, NULL), toolbox_close(call), toolbox_put_i64(call, "b", 1);
	else if (strcmp(kind, "close") == 0)
		toolbox_close(call);
	else if (strcmp(kind, "twice") == 0)
		toolbox_put_i64(call, "a", 1), toolbox_put_i64(call, "a", 1);
	else if (strcmp(kind, "utf8") == 0)
		toolbox_put_string(call, "a", "\xff");
	else if (strcmp(kind, "deep") == 0)
		for (int i = 0; i < 200; i++)
			toolbox_open_array(call, i == 0 ? "a" : NULL);
	toolbox_reply(call);
}

static void tool_crash(struct toolbox_call call, void *data)
{
	(void)call;
	(void)data;
	abort();
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

static const char *const triggers[] = {"^who (calls|am i)", NULL};

#define PROPERTY(name, schema) "{\"type\": \"object\", \"properties\": {\"" name "\": " schema "}}"
#define ANYTHING               "{\"type\": \"object\"}"

static uint32_t add(const char *name, const char *schema, toolbox_handler handler)
{
	static uint32_t n_tools;

	tools[n_tools] = (struct toolbox_tool){
		.name = name,
		.description = "For tests.",
		.argument_schema = schema,
		.risk = TOOLBOX_READ,
		.handler = handler,
		.data = "its own",
	};
	return n_tools++;
}

static uint32_t fill(void)
{
	uint32_t who;

	add("read", ANYTHING, tool_read);
	who = add("who", NULL, tool_who);
	tools[who].triggers = triggers;
	tools[who].output_schema = "{\"type\": \"object\", \"required\": [\"session\"]}";
	tools[who].timeout_ms = 5000;
	tools[who].flags = TOOLBOX_ALONE;
	add("config", NULL, tool_config);
	add("count", NULL, tool_count);
	tools[add("join", ANYTHING, tool_join)].timeout_ms = 60000;
	add("later", PROPERTY("steps", "{\"type\": \"integer\", \"default\": 0}"), tool_later);
	add("json", PROPERTY("text", "{\"type\": \"string\"}"), tool_json);
	add("fail", PROPERTY("words", "{\"type\": \"string\"}"), tool_fail);
	add("large", PROPERTY("size", "{\"type\": \"integer\"}"), tool_large);
	tools[add("even", PROPERTY("number", "{\"type\": \"integer\"}"), tool_even)].validate =
		validate_even;
	add("silent", NULL, tool_silent);
	tools[add("hang", NULL, tool_hang)].timeout_ms = 300;
	add("twice", NULL, tool_twice);
	add("stale", NULL, tool_stale);
	add("mistake", PROPERTY("kind", "{\"type\": \"string\"}"), tool_mistake);
	return add("crash", NULL, tool_crash) + 1;
}

static int fill_many(const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	static char names[MANY_TOOLS][16];
	struct toolbox_tool *many = calloc(MANY_TOOLS, sizeof(*many));

	for (int i = 0; i < MANY_TOOLS; i++) {
		snprintf(names[i], sizeof(names[i]), "many_%d", i);
		many[i] = (struct toolbox_tool){.name = names[i], .handler = tool_count};
		many[i].data = names[i];
	}
	*ret_tools = many;
	*ret_n_tools = MANY_TOOLS;
	return 0;
}

static const char *const bad_triggers[] = {"(", NULL};

/* Fail in the way that the configuration selects. */
static int trick(const char *what, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	if (strcmp(what, "abort") == 0)
		abort();
	if (strcmp(what, "fail") == 0)
		return toolbox_fail(configuration, "there is no antenna");
	if (strcmp(what, "return") == 0)
		return 3;
	if (strcmp(what, "many") == 0)
		return fill_many(ret_tools, ret_n_tools);
	if (strcmp(what, "none") == 0)
		*ret_n_tools = 0;
	if (strcmp(what, "null") == 0)
		tools[1].handler = NULL;
	if (strcmp(what, "schema") == 0)
		tools[1].argument_schema = "{\"type\": object}";
	if (strcmp(what, "type") == 0)
		tools[1].argument_schema = "{\"type\": \"objekt\"}";
	if (strcmp(what, "name") == 0)
		tools[1].name = "no name";
	if (strcmp(what, "twin") == 0)
		tools[1].name = "read";
	if (strcmp(what, "trigger") == 0)
		tools[1].triggers = bad_triggers;
	if (strcmp(what, "risk") == 0)
		tools[1].risk = 7;
	return 0;
}

static int init(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	const char *what = "";

	fprintf(stderr, "plugged: initialised\n");
	configuration = call;
	*ret_tools = tools;
	*ret_n_tools = fill();
	toolbox_get_string(call, "trick", &what, NULL);
	return trick(what, ret_tools, ret_n_tools);
}

/* The last that is run of it. */
static void deinit(void)
{
	const char *how = "";

	/* No newline follows: no output may be lost. */
	printf("plugged: deinitialised");
	toolbox_get_string(configuration, "end", &how, NULL);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "exit") == 0)
		exit(7);
	while (strcmp(how, "hang") == 0)
		sleep(1);
}

TOOLBOX_PLUGIN(tools, init, deinit);
