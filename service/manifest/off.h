/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "manifest/reader.h"
#include "util/text/text_view.h"

/*
 * A toolbox that is off, from a manifest that is not read:
 *
 *   bytes ─scan▶ toolbox_id, kind, enabled ─leaves_out()▶ off: a package with id, kind and reason
 *                                                    └──▶ on, or not known: the manifest is read
 *
 * Most of the toolboxes that ship are off, and a start pays for each of them. The mistakes in such
 * a manifest are found once the toolbox is on, and by a check (manifest_reader_check_off()).
 */

/* Make a package without tools of the manifest @text if its toolbox is left out. It is made from
 * the file @path, or, with @folder, from the programs of the folder @path, and @text is the overlay
 * of the folder or empty. *ret_package is NULL if the manifest has to be read. 0 or -ENOMEM. */
int manifest_off_read(const struct manifest_reader *reader, const char *path, bool is_folder,
	struct text_view text, struct package **ret_package);
