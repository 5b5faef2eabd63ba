/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/dropin/dropin_scan.h"
#include "manifest/dropin/head.h"
#include "util/buffer.h"
#include "util/diagnostic.h"

/*
 * The definition of a drop-in program: a tool entry in the JSON file beside it, else comments at
 * its top (manifest/dropin/head.h). The program is never run for this.
 */

/* Return the path of the file beside @dropin for its definition; the caller frees it. NULL without
 * memory. */
char *dropin_definition_path(const struct dropin *dropin);

/* Append to @entry the tool entry of a manifest for @dropin, JSON text. 0, DROPIN_E_REFUSED with
 * the place and the reason in @reason, or -ENOMEM. Comments without effect that seem meant as
 * definitions are added to @problems as warnings. */
int dropin_define(const struct dropin *dropin, struct buffer *entry, struct buffer *reason,
	struct diagnostics *problems);
