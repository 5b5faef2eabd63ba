/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A plugin as somebody built it for version 1 of toolbox.h, with everything that version had: it is
 * compiled with the copy of the header beside it, and must do the same in every later daemon.
 */

#include "toolbox.h"

static struct toolbox_call configuration;

/* Report the results of the getters for {"flag": true, "i64": -1, "u64": 1, "number": 0.5, "text":
 * "t"}. */
static void read_all(struct toolbox_call call, void *data)
{
	bool flag = false;
	int64_t i64 = 0;
	uint64_t u64 = 0;
	double number = 0;
	const char *text = "";
	const char *json = "null";
	uint32_t count = 0;
	size_t size = 0;

	(void)data;
	if (toolbox_get_bool(call, "flag", &flag) || toolbox_get_i64(call, "i64", &i64) ||
		toolbox_get_u64(call, "u64", &u64) || toolbox_get_double(call, "number", &number) ||
		toolbox_get_string(call, "text", &text, &size) ||
		toolbox_get_json(call, "", &json, NULL) || toolbox_get_count(call, "", &count)) {
		toolbox_fail(call, "a getter has failed");
		return;
	}
	toolbox_put_bool(call, "flag", flag);
	toolbox_put_i64(call, "i64", i64);
	toolbox_put_u64(call, "u64", u64);
	toolbox_put_double(call, "number", number);
	toolbox_put_string(call, "text", text);
	toolbox_put_string_sized(call, "sized", text, size);
	toolbox_put_json(call, "json", json);
	toolbox_put_null(call, "null");
	toolbox_open_object(call, "object");
	toolbox_open_array(call, "array");
	toolbox_put_u64(call, NULL, count);
	toolbox_close(call);
	toolbox_close(call);
	toolbox_put_i64(call, "absent", toolbox_get_i64(call, "absent", &i64));
	toolbox_put_i64(call, "type", toolbox_get_type(call, "text"));
	toolbox_put_bool(call, "has", toolbox_has(call, "text"));
	toolbox_reply(call);
}

static void who(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_progress(call, 0.5, "half");
	toolbox_put_string(call, "call_id", toolbox_call_id(call));
	toolbox_put_string(call, "session", toolbox_session(call));
	toolbox_put_string(call, "lang", toolbox_lang(call));
	toolbox_put_bool(call, "is_cancelled", toolbox_is_cancelled(call));
	toolbox_put_i64(call, "keep", toolbox_keep(call));
	toolbox_reply(call);
}

static void config(struct toolbox_call call, void *data)
{
	const char *json = "null";

	(void)data;
	toolbox_get_json(configuration, "", &json, NULL);
	toolbox_reply_json(call, json);
}

static void refuse(struct toolbox_call call, void *data)
{
	toolbox_refuse(call, "/x", (const char *)data);
}

static const char *const triggers[] = {"^who is it", NULL};

static const struct toolbox_tool tools[] = {
	{"read_all", "Reads all.", "{\"type\": \"object\"}", "{\"type\": \"object\"}", TOOLBOX_READ,
		0, 0, 0, NULL, NULL, read_all, NULL},
	{"who", "Tells who calls.", NULL, NULL, TOOLBOX_WRITE, TOOLBOX_ALONE, 1000, 0, triggers,
		NULL, who, NULL},
	{"config", NULL, NULL, NULL, TOOLBOX_UNRATED, 0, 0, 0, NULL, NULL, config, NULL},
	{"refuse", NULL, "{\"type\": \"object\"}", NULL, TOOLBOX_UNRATED, 0, 0, 0, NULL,
		(void *)"by validate", read_all, refuse},
};

static int init(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	configuration = call;
	return *ret_tools == tools && *ret_n_tools == 4 ? 0 : toolbox_fail(call, "no tools");
}

TOOLBOX_PLUGIN(tools, init, NULL);
