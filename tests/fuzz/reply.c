/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The answer of a model: the input is the data of events, a line each, as they come in a stream.
 * Whatever they are, the text is bounded, and so is each call; and the plain text and the sentences
 * of it are the same however the text is cut into parts. A part has whole letters, as a string of
 * JSON has.
 */
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/model/reply.h"
#include "agent/words/plain.h"
#include "agent/words/sentences.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool claim)
{
	if (!claim)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	require(setlocale(LC_CTYPE, "C.UTF-8"));
	return 0;
}

static void check_reply(const struct reply *reply)
{
	require(reply->text.size <= REPLY_TEXT_BYTES && reply->n_calls <= REPLY_CALLS_MAX);
	for (size_t i = 0; i < reply->n_calls; i++) {
		const struct reply_call *call = &reply->calls[i];

		require(call->arguments.size <= REPLY_ARGUMENTS_BYTES);
		require(call->id.size <= REPLY_ID_BYTES && call->name.size <= REPLY_NAME_BYTES);
	}
	require(memchr(reply->reason, '\0', sizeof(reply->reason)));
}

/* Take the events, up to one that cannot be used. */
static void take_stream(struct reply *reply, const char *text, size_t size)
{
	const char *end = text + size;
	int r = 0;

	while (r == 0 && text < end) {
		const char *line = memchr(text, '\n', (size_t)(end - text));
		const char *last = line ? line : end;

		r = reply_take_event(reply, text, (size_t)(last - text));
		require(r == 0 || (r == REPLY_E_WRONG && reply->reason[0]));
		text = last + 1;
	}
	check_reply(reply);
}

static void take_whole(const char *text, size_t size)
{
	struct reply reply = {0};
	char reason[MODEL_REASON_BYTES];
	int r = reply_take_whole(&reply, text, size);

	require(r == 0 || (r == REPLY_E_WRONG && reply.reason[0]));
	check_reply(&reply);
	reply_deinit(&reply);
	reply_describe_error("secret", 400, text, size, reason);
	require(!strstr(reason, "secret"));
}

/* A sentence_function. */
static void receive(void *data, const char *text, size_t size)
{
	require(size > 0 && size <= SENTENCE_BYTES);
	buffer_append(data, text, size);
	buffer_append_char(data, '\n');
}

/* Write the sentences of the plain text of @text, which comes in parts of @points letters. */
static void speak(const struct buffer *text, size_t points, struct buffer *out)
{
	const char *bytes = text->data ? text->data : "";
	size_t size;

	cleanup(buffer_deinit) struct buffer held = {0};
	cleanup(plain_deinit) struct plain plain = {0};

	for (size_t at = 0; at == 0 || at < text->size; at += size) {
		cleanup(buffer_deinit) struct buffer part = {0};
		bool is_end;

		size = utf8_prefix(bytes + at, text->size - at, points);
		is_end = at + size == text->size;
		plain_take(&plain, bytes + at, size, is_end, &part);
		sentences_take(&held, part.data ? part.data : "", part.size, is_end, receive, out);
		if (is_end)
			break;
	}
	require(buffer_status(&held) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(buffer_deinit) struct buffer at_once = {0};
	cleanup(buffer_deinit) struct buffer in_parts = {0};
	struct reply reply = {.key = "secret"};
	size_t points = size > 0 ? 1 + data[size - 1] % 7u : 1;

	take_whole((const char *)data, size);
	take_stream(&reply, (const char *)data, size);
	speak(&reply.text, reply.text.size + 1, &at_once);
	speak(&reply.text, points, &in_parts);
	require(at_once.size == in_parts.size &&
		(at_once.size == 0 || memcmp(at_once.data, in_parts.data, at_once.size) == 0));
	reply_deinit(&reply);
	return 0;
}
