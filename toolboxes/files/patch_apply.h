/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_PATCH_APPLY_H
#define FILES_PATCH_APPLY_H

#include "patch_parse.h"

/*
 * The hunks of an update, made in a text.
 *
 *   text     ──headers──▶ line after the last header ──search──▶ lines of the hunk
 *              from the end of the hunk before           context stays as it is in the text,
 *                                                        - goes, + comes
 *
 * The search has four passes over the rest of the text: equal; without white space at the end;
 * without white space at both ends; the same with dashes, quotes and spaces of Unicode as ASCII. A
 * hunk of only + lines goes after its last header, without one to the end.
 */

/* Make the hunks of @operation, an update of the file called @name, in @before. Return whether
 * @ret_after, empty before, has the result; else @why has what was looked for, and the nearest
 * place. */
bool patch_apply(const struct patch *patch, const struct patch_operation *operation,
	const char *name, const struct text *before, struct text *ret_after, struct text *why);

#endif
