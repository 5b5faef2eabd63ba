/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "call/command.h"
#include "worker/command/run.h"
#include "worker/driver.h"

/*
 * The answer to the end of a program.
 *
 *   output_max exceeded        too_large
 *   a signal, or no success    tool_failed, with exit_code or signal, stderr, output
 *   success, text              {"output": "…"}, without the line ends at its end
 *   success, json              stdout itself; a value that is not an object as {"output": …}
 *   success, content           stdout itself
 *   success, json_lines        {"output": [each value of stdout]}
 *
 * Text is without the escape sequences of terminals (util/sequences.h).
 */

/* Append the answer for the ended @run, whose buffers may be changed. @tape is scratch. Return 0,
 * DRIVER_E_ERROR, or -ENOMEM. */
int command_answer(const struct command *command, struct command_run *run, struct json_tape *tape,
	struct buffer *out);

/* Append the error of a program that could not be started: @error, a negative errno. Return
 * DRIVER_E_ERROR. */
int command_answer_not_started(
	const struct command *command, const char *program, int error, struct buffer *out);

/* Append the error of a program that is not the one seen by the daemon. Return DRIVER_E_ERROR. */
int command_answer_changed(struct buffer *out);

/* Append the error of an argument that cannot be passed: @key is its key. Return DRIVER_E_ERROR. */
int command_answer_refused(
	const struct json_tape *tape, uint32_t key, const char *message, struct buffer *out);
