/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "loader/told_cache.h"
#include "manifest/manifest.h"

/*
 * Toolboxes of the kinds whose hosts tell what their tools are.
 *
 *   told_recall ── kept from an earlier time? ──▶ its tools
 *        │ no
 *        └──▶ a short-lived host ── LOADED ──▶ told_hear ──▶ its tools; kept for the next time
 *
 * Those with parts (kind python) go the same way, text by text: loader/loader_parts.c makes them.
 */

/* Most files and folders that `depends` may name: each is looked at in every reload, and watched.
 * What names more is asked again every time. */
#define TOLD_DEPENDS_MAX 1024

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

/* What a host of @toolbox, which has parts, has told before, if it is kept and still holds: then
 * @toolbox->depends is set, too. As told_recall(). */
int told_recall_text(
	struct toolbox *toolbox, char ret_key[TOLD_KEY_BYTES], struct buffer *ret_told);

/* Call @found with each file and folder that what @toolbox->told says depends on. */
void told_each_dependency(
	const struct toolbox *toolbox, void (*found)(void *data, const char *path), void *data);

/*
 * The digest of what the object @told depends on: the interpreters of @toolbox, and the files and
 * folders that `depends` of it names, by their inodes. 0: one of them was changed since @since_ns
 * (CLOCK_REALTIME), so that what was told may be older; or it names none, or
 * more than TOLD_DEPENDS_MAX.
 */
uint64_t told_depends(
	const struct toolbox *toolbox, const struct json_tape *told, int64_t since_ns);
