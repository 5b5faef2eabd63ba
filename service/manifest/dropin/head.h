/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/dropin/dropin_scan.h"
#include "util/buffer.h"
#include "util/diagnostic.h"

/*
 * The comments at the top of a drop-in program that define its tool.
 *
 *   #!/bin/sh
 *   # title: Bell                                 ┐
 *   # description: Rings the bell.                │
 *   # param times integer? = 2 How often          │
 *   # risk: execute                               ├─▶  the members of a tool's entry,
 *   # timeout: 5                                  │    and of its command
 *   # cooldown: 60                                │
 *   # trigger ring the bell                       │
 *   # output: json                                │
 *   # returns rung integer How often it has rung  │
 *   # example {"times": 3} -> {"rung": 3}         ┘
 *
 * `description`, `param`, `risk` and `timeout` count in all of the searched lines; the others only
 * before the first line of code, since their words begin comments about code, too. In place of the
 * # there may be the mark of a comment in another language: // or -- or ; or ;; with a blank after
 * it.
 */

/* The part of a program searched for comments. */
#define DROPIN_LINES_MAX      64
#define DROPIN_HEAD_BYTES_MAX 65536u

/* Read the comments in @bytes, the beginning of the program at @path. Append to @entry the members
 * of the tool, and to @command further members of its command, JSON text with a comma before each.
 * Return 0; DROPIN_E_REFUSED with the place and the reason in @reason; or -ENOMEM. Comments without
 * effect that seem meant as definitions are added to @problems as warnings. */
int dropin_head_read(const char *path, const struct buffer *bytes, struct buffer *entry,
	struct buffer *command, struct buffer *reason, struct diagnostics *problems);
