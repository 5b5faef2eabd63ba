/* SPDX-License-Identifier: Apache-2.0 */

/*
 * plan: the steps of what an assistant is doing, one plan for each session. A plan is kept as the
 * text of its answer, so that it is written once, and found as it was written.
 *
 *   update_plan {plan, explanation} ─▶ {"message", "explanation", "plan"} ─▶ plans.c
 *   update_plan {}                  ◀─────────────────────────────────────────┘
 *
 * Plans are in the memory of this process. So the manifest has one process, and lets it go on for
 * as long as a plan is kept.
 */

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <toolbox.h>

#include "owner.h"
#include "plans.h"
#include "reply.h"
#include "text.h"

/* The longest plan, as the JSON text of its answer, and the longest answer: it is never cut. */
#define PLAN_BYTES_MAX   (64u << 10)
#define ANSWER_CHARS_MAX 70000

static struct plans plans;

/* Seconds since the device was started, in sleep, too. */
static uint64_t now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec;
}

/* Append the member @key with the string at @path of the arguments, after the text @before. */
static void add_member(struct toolbox_call call, struct text *text, const char *before,
	const char *key, const char *path)
{
	const char *string;
	size_t size;

	if (toolbox_get_string(call, path, &string, &size) != TOOLBOX_OK) {
		text->has_failed = true;
		return;
	}
	text_printf(text, "%s\"%s\": ", before, key);
	text_add_json(text, string, size);
}

/* Write the members of the answer after `message`. */
static void write_plan(struct toolbox_call call, struct text *text)
{
	uint32_t n = 0;

	if (toolbox_has(call, "explanation"))
		add_member(call, text, ",\n  ", "explanation", "explanation");
	text_put(text, ",\n  \"plan\": [");
	toolbox_get_count(call, "plan", &n);
	for (uint32_t i = 0; i < n && !text->has_failed; i++) {
		char path[40];

		text_put(text, i > 0 ? ",\n    {" : "\n    {");
		snprintf(path, sizeof(path), "/plan/%u/step", i);
		add_member(call, text, "\n      ", "step", path);
		snprintf(path, sizeof(path), "/plan/%u/status", i);
		add_member(call, text, ",\n      ", "status", path);
		text_put(text, "\n    }");
	}
	text_put(text, "\n  ]\n}");
}

static void answer_plan(struct toolbox_call call, const char *message, const char *members)
{
	struct text text = {0};

	text_printf(&text, "{\n  \"message\": \"%s\"%s", message, members);
	reply_content(call, &text, text_string(&text));
	text_free(&text);
}

static void show_plan(struct toolbox_call call)
{
	const char *members =
		plans_find(&plans, session_owner(call), session_id(call), now_seconds());

	if (members)
		answer_plan(call, "The plan of this session", members);
	else
		answer_plan(call, "No plan yet: call update_plan with one", ",\n  \"plan\": []\n}");
}

static void keep_plan(struct toolbox_call call, const struct text *members)
{
	char reason[160];

	if (members->size > PLAN_BYTES_MAX) {
		snprintf(reason, sizeof(reason),
			"must have at most %u bytes as JSON; it has %zu: use fewer or shorter "
			"steps",
			PLAN_BYTES_MAX, members->size);
		toolbox_refuse(call, "/plan", reason);
	} else if (members->has_failed ||
		   !plans_keep(&plans, session_owner(call), session_id(call), text_string(members),
			   members->size, now_seconds())) {
		toolbox_fail(call, "out of memory; the plan is as it was");
	} else {
		answer_plan(call, "Plan updated", text_string(members));
	}
}

static void update_plan(struct toolbox_call call, void *data)
{
	struct text members = {0};

	(void)data;
	if (!toolbox_has(call, "plan")) {
		show_plan(call);
		return;
	}
	write_plan(call, &members);
	keep_plan(call, &members);
	text_free(&members);
}

/* Refuse a plan with two steps in progress, and an explanation of nothing. */
static void check_plan(struct toolbox_call call, void *data)
{
	uint32_t n = 0;
	uint32_t n_active = 0;

	(void)data;
	toolbox_get_count(call, "plan", &n);
	for (uint32_t i = 0; i < n; i++) {
		const char *status = "";
		char path[40];

		snprintf(path, sizeof(path), "/plan/%u/status", i);
		toolbox_get_string(call, path, &status, NULL);
		n_active += strcmp(status, "in_progress") == 0;
	}
	if (n_active > 1)
		toolbox_refuse(call, "/plan", "At most one step can be in_progress at a time");
	else if (n == 0 && toolbox_has(call, "explanation"))
		toolbox_refuse(call, "/explanation", "needs a plan: pass plan, too");
}

#define STEPS                                                                                      \
	"{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":false,"       \
	"\"required\":[\"step\",\"status\"],\"properties\":{"                                      \
	"\"step\":{\"type\":\"string\",\"minLength\":1},"                                          \
	"\"status\":{\"enum\":[\"pending\",\"in_progress\",\"completed\"]}}}"

static const struct toolbox_tool tools[] = {{
	.name = "update_plan",
	.title = "Plan",
	.description =
		"Keep the plan of this conversation: its steps, each pending, in_progress or "
		"completed, at most one in_progress. Pass all steps each time, also those that did "
		"not change. Without plan, the present plan is returned.",
	.argument_schema =
		"{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
		"\"explanation\":{\"type\":\"string\",\"description\":\"Why the plan changes.\"},"
		"\"plan\":" STEPS ",\"minItems\":1,\"description\":\"All steps, in order.\"}}}",
	.output_schema = "{\"type\":\"object\",\"required\":[\"message\",\"plan\"],\"properties\":{"
			 "\"message\":{\"type\":\"string\"},\"explanation\":{\"type\":\"string\"},"
			 "\"plan\":" STEPS "}}}",
	.risk = TOOLBOX_READ,
	.flags = TOOLBOX_IDEMPOTENT,
	.result_max_chars = ANSWER_CHARS_MAX,
	.examples = "[{\"args\":{\"plan\":[{\"step\":\"Find the "
		    "fault\",\"status\":\"completed\"},{\"step\":\"Mend "
		    "it\",\"status\":\"in_progress\"}]}}]",
	.handler = update_plan,
	.validate = check_plan,
}};

static void forget_plans(void)
{
	plans_forget(&plans);
}

TOOLBOX_PLUGIN(tools, NULL, forget_plans);
