/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/toolbox.h"
#include "config/config.h"
#include "core/request/request_scope.h"
#include "core/voice/number_words.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The arguments in an utterance: the named groups of the trigger that matched it.
 *
 *   what is (?<a>.+) plus (?<b>.+) ─▶ {"a": "three", "b": "4"}
 *                                     ─ as the schema wants it ─▶ {"a": 3, "b": 4}
 *
 * They are checked as arguments of a call are, so a caller can invoke a complete match.
 */

/* Put the groups of the trigger @trigger of @tool, which matches @text, into @ret_args (reset) as
 * an object, as far as they can be taken as the schema wants them; numbers are words of @language
 * (NULL: of none). Return whether they are good arguments. Without memory @ret_args fails. */
bool match_arguments_fit(struct request_scope *scope, const struct config_limits *limits,
	const struct tool *tool, size_t trigger, const struct text_view *text,
	const struct number_language *language, struct buffer *ret_args);

/* Append to @out the array of the names that the schema of @tool requires, and that the object
 * @args does not have. */
void match_arguments_write_missing(
	const struct tool *tool, const struct buffer *args, struct buffer *out);
