/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/toolbox.h"
#include "json/tape.h"
#include "util/buffer.h"

/*
 * The sentence that asks a person about a call:
 *
 *   May 'exec_command' of 'shell' run? Runs a shell command. cmd: "echo hi", workdir: "sub"
 *
 * It has the first sentence of the tool's description and the arguments, each as canonical JSON,
 * all in QUESTION_POINTS code points and without a character that a terminal obeys or that misleads
 * a reader (util/visible.h). The caller of the tool decides nothing about their order:
 *
 *   required by the schema ─ declared by it, in its order ─ others  and 81 more
 *
 * A long argument is shortened before another one is left out, and undeclared ones have only the
 * room that the declared ones leave. A name that is no identifier is a JSON string, so no name
 * looks like a value; and in a value the sign of a cut is an escape, so a value does not look like
 * a shortened one.
 */

#define QUESTION_POINTS 300

/* Append the question about a call of @tool with the @arguments, an object (or a string that hides
 * it), which are shown: values that are hidden are masked already. Return false when the question
 * does not have all of them whole. */
bool question_write(struct buffer *out, const struct tool *tool, const struct json_tape *arguments);
