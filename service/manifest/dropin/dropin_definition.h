/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/dropin/dropin_scan.h"
#include "util/buffer.h"
#include "util/diagnostic.h"

/*
 * The definition of a drop-in program: a tool entry in the JSON file beside it, else comments at
 * its top. The program is never run for this.
 *
 *   #!/bin/sh
 *   # description: Rings the bell.
 *   # param times integer? = 2 How often
 *   # risk: execute
 *   # timeout: 5
 *
 * In place of the # there may be the mark of a comment in another language: // or -- or ; with a
 * blank after it.
 */

/* The part of a program searched for comments. */
#define DROPIN_LINES_MAX      64
#define DROPIN_HEAD_BYTES_MAX 65536u

enum dropin_status {
	DROPIN_E_REFUSED = 1, /* its definition cannot be read */
};

/* Return the path of the file beside @dropin for its definition; the caller frees it. NULL without
 * memory. */
char *dropin_definition_path(const struct dropin *dropin);

/* Append to @entry the tool entry of a manifest for @dropin, JSON text. 0, DROPIN_E_REFUSED with
 * the place and the reason in @reason, or -ENOMEM. Comments without effect that seem meant as
 * definitions are added to @problems as warnings. */
int dropin_define(const struct dropin *dropin, struct buffer *entry, struct buffer *reason,
	struct diagnostics *problems);
