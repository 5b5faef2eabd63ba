/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The agent's own sentences for a person, by language: `agent.words` of the configuration, else
 * built-in sentences in English and German.
 *
 *   de-AT ─▶ words of de-AT, of de, else of en (util/text/language_tag.h)
 */
enum words_kind {
	WORDS_NO_SERVER, /* the model's server is away */
	WORDS_ERROR,     /* the model has failed, or its answer cannot be used */
	WORDS_LIMIT,     /* too many rounds, or too much time */
	WORDS_CANCELLED,
};

/* Append the sentence @kind in the language @tag (absent: unknown). @configured is the text of
 * `agent.words`, or NULL. */
void words_write(
	const char *configured, enum words_kind kind, struct text_view tag, struct buffer *out);
