/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "util/diagnostic.h"

/*
 * The manifest in a registered folder (contract.md, Registration folders). A folder with one is not
 * a folder of programs:
 *
 *   words/words.json     with "kind", "library" or "tools", an array file, or no JSON at all,
 *                        unless it belongs to a program words/words.sh
 *   words/libwords.so    relative paths are relative to words/
 *   words/other.json     the manifest if no other file looks like a manifest, nor words.json
 */

/* Positive results. */
enum folder_manifest_status {
	FOLDER_MANIFEST_E_SEVERAL = 1, /* several files are manifests */
};

/* Find the manifest in @folder. 0 with *ret_path the caller's, or NULL without a manifest;
 * FOLDER_MANIFEST_E_SEVERAL with the reason in @problems; or a negative errno when memory or
 * descriptors are short. A closed folder has no manifest. */
int folder_manifest_find(const char *folder, char **ret_path, struct diagnostics *problems);
