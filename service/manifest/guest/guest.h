/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/manifest.h"
#include "util/text/text_view.h"

/*
 * The toolbox of a guest: its manifest comes in a message (contract.md, Guests), and is checked
 * like a file.
 *
 *   {"toolbox_id", "description"?, "tools": [tool entry without `native` and `command`, …]}
 */
struct guest_manifest {
	struct text_view text; /* the JSON object above, without any other key */
	const char *source;    /* context.source of the guest */
	enum tool_risk risk;   /* the risk of a tool that declares none (guests.risk) */
};

/* Read @manifest. The places of the problems are in its text, and their lines mean nothing. Results
 * as of manifest_read(). */
int manifest_read_guest(struct manifest_reader *reader, const struct guest_manifest *manifest,
	struct package **ret_package, struct diagnostics *problems);
