/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/skipped.h"
#include "manifest/manifest.h"

/*
 * A folder of drop-in programs as a toolbox (contract.md, Drop-in programs): the equivalent
 * manifest is written, and read like any other.
 *
 *   home/lights.sh     ┐                {"toolbox_id": "home", "kind": "command",
 *   home/lights.json   ├─ scan, define ─▶  "limits": …, "cwd": "…/home",
 *   home/music/next    │                   "tools": [{"name": "lights", …}, …]}
 *   home.json (limits) ┘
 *
 * A program with a wrong definition costs its own tool: when the whole is refused, each tool is
 * read alone, and a refused tool is skipped with the reason.
 */

/* Return 1 if the file at @path is a manifest of kind command without tools: it gives limits, risk
 * and the like to the folder of drop-in programs of its name. Return 0 for another file, or a
 * negative errno when memory or descriptors are short. */
int dropins_is_overlay(const char *path);

/* A file of Python in such a folder: a toolbox of its own (manifest/dropin/dropin_scan.h). */
struct dropin_toolbox {
	char *path;
	char *manifest; /* its equivalent, for manifest_read_text() */
};

/* Zeroed before use. */
struct dropin_toolboxes {
	struct dropin_toolbox *items;
	size_t n_items;
};

void dropin_toolboxes_deinit(struct dropin_toolboxes *toolboxes);

/*
 * Read the folder @path, with the members of the manifest at @overlay (NULL: none). 0 with
 * *ret_package the caller's, or NULL when nothing is to be offered; MANIFEST_E_REFUSED with the
 * problems; or a negative errno when memory or descriptors are short. @skipped, and @toolboxes with
 * the toolboxes beside the programs, are the caller's to deinit in any case.
 */
int dropins_read(struct manifest_reader *reader, const char *path, const char *overlay,
	struct package **ret_package, struct dropin_toolboxes *toolboxes,
	struct skipped_list *skipped, struct diagnostics *problems);

/* Functions for the finds in a folder of programs; each gets @data. */
struct dropins_visitor {
	/* it, and every folder of a service in it; before its entries are read */
	void (*folder)(void *data, const char *path);
	void (*link)(void *data, const char *path); /* a link in one of the folders */
	void *data;
};

/* Call @visitor with what is in @folder; names with '.' at their start are left out. Return 0 or
 * -ENOMEM. */
int dropins_visit(const char *folder, const struct dropins_visitor *visitor);
