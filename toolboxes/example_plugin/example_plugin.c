/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A toolbox to copy: a counter that several tools share, a list that is worked through in a thread
 * of its own, and configuration. toolbox.h is the manual.
 */

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <toolbox.h>

/* ── a tool that answers at once ─────────────────────────────────────────────────────────────── */

static int64_t word_max = 100; /* configured: "word_max" */

/* Words in a text, and the longest of them. */
static void count_words(struct toolbox_call call, void *data)
{
	const char *text = "";
	const char *longest = "";
	size_t longest_size = 0;
	int64_t n_words = 0;

	(void)data;
	toolbox_get_string(call, "text", &text, NULL);
	while (*text) {
		size_t size = strcspn(text, " \t\n");

		if (size > longest_size) {
			longest = text;
			longest_size = size;
		}
		n_words += size > 0;
		text += size + strspn(text + size, " \t\n");
	}
	if (n_words > word_max) {
		toolbox_fail(call, "more words than this toolbox is configured to count");
		return;
	}
	toolbox_put_i64(call, "words", n_words);
	toolbox_put_string_sized(call, "longest", longest, longest_size);
	toolbox_reply(call);
}

/* ── a tool that answers later, from a thread of its own ─────────────────────────────────────── */

/* Add the numbers up, and report progress. */
static void *add_up(void *data)
{
	struct toolbox_call call = *(struct toolbox_call *)data;
	uint32_t count = 0;
	double sum = 0;

	free(data);
	toolbox_get_count(call, "numbers", &count);
	for (uint32_t i = 0; i < count && !toolbox_is_cancelled(call); i++) {
		char key[32];
		double number = 0;

		snprintf(key, sizeof(key), "/numbers/%u", (unsigned int)i);
		toolbox_get_double(call, key, &number);
		sum += number;
		toolbox_progress(call, (double)(i + 1) / count, "adding");
	}
	toolbox_put_double(call, "sum", sum);
	toolbox_reply(call);
	return NULL;
}

static void sum(struct toolbox_call call, void *data)
{
	struct toolbox_call *copy = malloc(sizeof(*copy));
	pthread_t thread;

	(void)data;
	if (!copy) {
		toolbox_fail(call, "out of memory");
		return;
	}
	*copy = call;
	toolbox_keep(call);
	if (pthread_create(&thread, NULL, add_up, copy) == 0) {
		pthread_detach(thread);
		return;
	}
	free(copy);
	toolbox_fail(call, "no thread can be started");
}

/* ── a tool that refuses what a schema cannot ────────────────────────────────────────────────── */

static const char *text_argument(struct toolbox_call call)
{
	const char *text = "";

	toolbox_get_string(call, "text", &text, NULL);
	return text;
}

static void validate_shout(struct toolbox_call call, void *data)
{
	const char *text = text_argument(call);

	(void)data;
	while (*text && !isalpha((unsigned char)*text))
		text++;
	if (!*text)
		toolbox_refuse(call, "/text", "must hold a letter: there is nothing to shout");
}

static void shout(struct toolbox_call call, void *data)
{
	const char *text = text_argument(call);
	size_t size = strlen(text);
	char *loud = malloc(size + 1);

	(void)data;
	if (!loud) {
		toolbox_fail(call, "out of memory");
		return;
	}
	for (size_t i = 0; i <= size; i++)
		loud[i] = (char)toupper((unsigned char)text[i]);
	toolbox_put_string(call, "text", loud);
	free(loud);
	toolbox_reply(call);
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

#define TEXT                                                                                       \
	"{\"type\": \"object\", \"required\": [\"text\"], \"additionalProperties\": false,"        \
	" \"properties\": {\"text\": {\"type\": \"string\"}}}"

static const char *const shout_triggers[] = {"^shout ", NULL};

static const struct toolbox_tool tools[] = {
	{
		.name = "count_words",
		.description = "Count the words of a text, and tell the longest.",
		.argument_schema = TEXT,
		.output_schema = "{\"type\": \"object\", \"required\": [\"words\", \"longest\"]}",
		.risk = TOOLBOX_READ,
		.examples = "[{\"args\":{\"text\":\"a longer "
			    "text\"},\"result\":{\"words\":3,\"longest\":\"longer\"}}]",
		.handler = count_words,
	},
	{
		.name = "sum",
		.description = "Add numbers up.",
		.argument_schema = "{\"type\": \"object\", \"additionalProperties\": false,"
				   " \"required\": [\"numbers\"], \"properties\": {\"numbers\":"
				   " {\"type\": \"array\", \"items\": {\"type\": \"number\"}}}}",
		.risk = TOOLBOX_READ,
		.examples = "[{\"args\":{\"numbers\":[1,2.5]}}]",
		.handler = sum,
	},
	{
		.name = "shout",
		.description = "Say a text in capitals.",
		.argument_schema = TEXT,
		.risk = TOOLBOX_READ,
		.triggers = shout_triggers,
		.examples = "[{\"args\":{\"text\":\"hello\"},\"result\":{\"text\":\"HELLO\"}}]",
		.handler = shout,
		.validate = validate_shout,
	},
};

/* The manifest's `config`, overridden by `toolboxd.toolboxes.example_plugin`. */
static int init(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	(void)ret_tools;
	(void)ret_n_tools;
	if (toolbox_get_i64(call, "word_max", &word_max) > TOOLBOX_E_ABSENT)
		return toolbox_fail(call, "'word_max' must be a whole number");
	return 0;
}

TOOLBOX_PLUGIN(tools, init, NULL);
