/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_DIFF_H
#define FILES_DIFF_H

#include "text.h"

/* Append the difference of two texts in the unified format of diff(1), with three lines of context.
 * Nothing is appended for equal texts. */
void diff_write(
	struct text *out, const char *name, const struct text *before, const struct text *after);

#endif
