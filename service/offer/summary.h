/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "loader/changes.h"
#include "util/buffer.h"
#include "util/text/text_list.h"

/*
 * The texts of a reload, for a person who reads the log:
 *
 *   box1/m1 changed, zlib added, 3 more added, box2 is loaded again, box3 fails, 5 still fail
 *
 * The name of a toolbox replaces those of its tools when all of them are new, gone or changed. A
 * line has at most SUMMARY_NAMES_MAX names; the rest is counted.
 */
#define SUMMARY_NAMES_MAX 8

/* Append what @changes, the failures and the tools that are left out in @after, in place of
 * @before, mean; nothing when nothing has changed. 0 or -ENOMEM. */
int summary_write(const struct catalogue *before, const struct catalogue *after,
	const struct changes *changes, struct buffer *out);

/* Append "N still fail", the failures of @catalogue that are not new, after ", " unless @out is
 * empty; nothing when there are none. */
void summary_write_failing(const struct catalogue *catalogue, struct buffer *out);

/* Add lines for the level debug, of bounded length: the toolboxes of @after that were read anew
 * since @before (NULL: empty), those that have failed, and the tools that are offered and that are
 * not. 0 or -ENOMEM. */
int summary_add_details(
	const struct catalogue *before, const struct catalogue *after, struct text_list *lines);
