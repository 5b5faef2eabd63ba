/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"
#include "json/tape.h"
#include "util/buffer.h"

/*
 * The sentence that asks a person about a call:
 *
 *   May 'exec_command' of 'shell' run? Runs a shell command. cmd: "echo hi", workdir: "sub"
 *
 * It has the first sentence of the tool's description and the arguments, each as JSON, all in
 * QUESTION_POINTS code points and without a character that a terminal obeys or that misleads a
 * reader (util/visible.h). A long argument is shortened before a later one is left out: text at the
 * front of a call hides nothing after it.
 */

#define QUESTION_POINTS 300

/* Append the question about a call of @tool with the @arguments, an object (or a string that hides
 * it), which are shown: values that are hidden are masked already. */
void question_write(struct buffer *out, const struct tool *tool, const struct json_tape *arguments);
