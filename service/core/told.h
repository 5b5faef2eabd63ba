/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/told_cache.h"
#include "registry/manifest.h"

/*
 * Toolboxes of the kinds whose hosts tell what their tools are.
 *
 *   told_recall ── kept from an earlier time? ──▶ its tools
 *        │ no
 *        └──▶ a short-lived host ── LOADED ──▶ told_hear ──▶ its tools; kept for the next time
 */

/* Whether the tools of @toolbox are still to be told. */
bool told_is_awaited(const struct toolbox *toolbox);

/* Take the tools that were told before, if they are kept. 0, -ENOENT, or -ENOMEM; @ret_key: what
 * they are kept by, "" when that cannot be said. */
int told_recall(
	struct manifest_reader *reader, struct toolbox *toolbox, char ret_key[TOLD_KEY_BYTES]);

/* Take the tools that a host of @toolbox has just told: @told is the payload of its LOADED. They
 * are kept by @key, unless the library was changed meanwhile. 0, MANIFEST_E_REFUSED, or -ENOMEM. */
int told_hear(struct manifest_reader *reader, struct toolbox *toolbox, const char *told,
	size_t size, const char *key, struct problems *problems);
