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
 * The name of a toolbox replaces the names of its tools when all tools are new, gone or changed. A
 * line has at most SUMMARY_NAMES_MAX names; the rest is counted.
 */
#define SUMMARY_NAMES_MAX 8

/* Append the text for @changes, the failures and the tools left out in @after, in place of @before;
 * nothing without a change. 0 or -ENOMEM. */
int summary_write(const struct catalogue *before, const struct catalogue *after,
	const struct changes *changes, struct buffer *out);

/* Append "N still fail", the old failures of @catalogue, after ", " unless @out is empty; nothing
 * without any. */
void summary_write_failing(const struct catalogue *catalogue, struct buffer *out);

/* Add lines for the level debug, of bounded length: the toolboxes of @after read anew since @before
 * (NULL: empty), the failed toolboxes, and the tools offered and not offered. 0 or -ENOMEM. */
int summary_add_details(
	const struct catalogue *before, const struct catalogue *after, struct text_list *lines);
