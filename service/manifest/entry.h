/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "manifest/manifest.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/* One tool described by a host, read alone, so a mistake costs only this tool. */

/* Read the object @entry as the only tool of a manifest, and append it to the tools of @toolbox.
 * Its schemas lose their mistakes (mend.h), with a warning in @notes about each place; with @notes
 * NULL, a wrong output schema is dropped. 0, MANIFEST_E_REFUSED with the reason as a string in
 * @ret_reason, or a negative errno. */
int manifest_add_entry(struct manifest_reader *reader, struct text_view entry,
	struct toolbox *toolbox, struct diagnostics *notes, struct buffer *ret_reason);

/* Return whether the tools of one toolbox take longer than the reader may take. *end_ns is 0 before
 * the first. */
bool manifest_entries_are_late(const struct manifest_reader *reader, uint64_t *end_ns);
