/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHELL_GUARD_H
#define SHELL_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/*
 * The seat belt: commands that destroy a machine, as a model may write them by mistake. It is no
 * wall: a script, a variable or another language says the same in other words. The sandbox is the
 * wall.
 *
 *   cmd ─ segments at ; & | ( ) { } and newlines ─ words ─ wrappers skipped ─▶ the rules
 *            ▲                                                                   │
 *            └──── sh -c WORD, eval WORD…, $(…), `…` ◀──────────────────────────┘
 */

/* The character that gives a program an unfinished line; without such a line, it ends the input. */
#define END_OF_INPUT '\x04'

/* Return the name of the rule that @command breaks, or NULL. */
const char *guard_judge(const char *command, size_t size);

/* Judge @chars, typed after the unfinished line @line: each line that is complete, and the last one
 * if END_OF_INPUT follows. @ret_line, of @room bytes, has the new unfinished line, its last bytes.
 * Return as above. */
const char *guard_type(
	const char *line, const char *chars, size_t size, char *ret_line, size_t room);

/* Write the text for the model. @session_id: 0 for none. */
void guard_explain(const char *tool, const char *rule, long long session_id, const char *command,
	size_t size, struct text *out);

#endif
