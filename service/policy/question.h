/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/toolbox.h"
#include "json/tape.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The sentence of a question to a person about a call:
 *
 *   May 'exec_command' of 'shell' run? Runs a shell command. cmd: "echo hi", workdir: "sub"
 *
 * It has the first sentence of the tool's description and the arguments, each as canonical JSON,
 * all in QUESTION_POINTS code points and without characters obeyed by a terminal or misleading a
 * reader (util/text/visible.h). The caller of the tool decides nothing about their order:
 *
 *   required by the schema ─ declared by it, in its order ─ others  and 81 more
 *
 * A long argument is shortened before another one is left out, and undeclared arguments have only
 * the room left by the declared ones. A name other than an identifier is a JSON string, so no name
 * looks like a value; and in a value the sign of a cut is an escape, so a value does not look like
 * a shortened one.
 */

#define QUESTION_POINTS 300

/* Append the question about a call of @tool with the @arguments, an object (or a string that hides
 * it), for display: hidden values are masked already. It is the face `confirm` of the tool in
 * @language, a tag, if there is one (catalogue/voice/spoken.h). Return false if some argument is
 * not whole in the question. */
bool question_write(struct buffer *out, const struct tool *tool, const struct json_tape *arguments,
	struct text_view language);
