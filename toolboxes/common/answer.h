/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMON_ANSWER_H
#define COMMON_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include <toolbox.h>

#include "text.h"

/* Arguments and answers of tools, most of which return one text. */

/* Return the argument @key, at most @max; @fallback: it is absent. */
uint64_t read_number(struct toolbox_call call, const char *key, uint64_t fallback, uint64_t max);

/* Return whether the call should end by itself, since its time is nearly over. */
bool is_late(struct toolbox_call call);

/* Fail the call with @why. */
void fail_call(struct toolbox_call call, const struct text *why);

/* Answer with the text @out or, unless @is_good, fail with `TOOL failed: ` and @why. */
void answer(struct toolbox_call call, const char *tool, bool is_good, const struct text *out,
	const struct text *why);

#endif
