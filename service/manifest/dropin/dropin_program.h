/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "util/buffer.h"

/*
 * Whether a drop-in can be run at all, from the first bytes of its file:
 *
 *   #!/bin/sh        a script, if its interpreter is there and the line has no CR
 *   \x7fELF          a program, but not with a name such as libz.so or libz.so.1, nor a shared
 *                    object that names no interpreter
 *   other bytes      a program of some other format, which the kernel may know
 *   other text       nothing that the kernel can run
 *
 * A program against this check would fail with every call.
 */

/* Append to @reason the reason why the file at @path, which begins with @head, cannot be run;
 * nothing when it can, or when nothing is known: an unreadable file has an empty @head. */
void dropin_program_check(const char *path, const struct buffer *head, struct buffer *reason);
