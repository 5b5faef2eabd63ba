/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_EDIT_H
#define FILES_EDIT_H

#include <stdbool.h>

#include "text.h"

/* Replace @old, which has to be in @text once, by @new. When it is not there as it is, lines that
 * differ only in the white space at their ends count, too; the new lines are indented as these are.
 * The line ends of @text stay. Return whether it is done; else @why has the words. */
bool edit_replace(struct text *text, const char *old, const char *new, struct text *why);

#endif
