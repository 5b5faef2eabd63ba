/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "loader/describe_cache.h"
#include "manifest/manifest.h"

/*
 * Toolboxes of the kinds whose hosts tell what their tools are.
 *
 *   described_load_cached ── kept from an earlier time? ──▶ its tools
 *        │ no
 *        └──▶ a short-lived host ── LOADED ──▶ described_accept ──▶ its tools; kept for the next time
 *
 * Those with members (kind python) go the same way, text by text: loader/members.c makes them.
 */

/* Most files and folders that `depends` may name: each is looked at in every reload, and watched.
 * What names more is asked again every time. */
#define DESCRIBED_DEPENDS_MAX 1024

/* Whether the tools of @toolbox are still to be told. */
bool described_is_awaited(const struct toolbox *toolbox);

/* Take the tools that were told before, if they are kept. 0, -ENOENT, or -ENOMEM; @ret_key: what
 * they are kept by, "" when that cannot be said. */
int described_load_cached(struct manifest_reader *reader, struct package *package,
	char ret_key[DESCRIBE_CACHE_KEY_BYTES]);

/* Take the tools that a host of @package has just told: @described is the payload of its LOADED. They
 * are kept by @key, unless the library was changed meanwhile. 0, MANIFEST_E_REFUSED, or -ENOMEM. */
int described_accept(struct manifest_reader *reader, struct package *package, const char *described,
	size_t size, const char *key, struct diagnostics *problems);

/* What a host of @package, which has members, has told before, if it is kept and still holds: then
 * @package->fingerprint is set, too. As described_load_cached(). */
int described_load_cached_text(struct package *package, char ret_key[DESCRIBE_CACHE_KEY_BYTES],
	struct buffer *ret_described);

/* Call @found with each file and folder that what @package->described says depends on. */
void described_each_dependency(
	const struct package *package, void (*found)(void *data, const char *path), void *data);

/*
 * The digest of what the object @described depends on: the interpreters of @package, and the files and
 * folders that `depends` of it names, by their inodes. 0: one of them was changed since @since_ns
 * (CLOCK_REALTIME), so that what was told may be older; or it names none, or
 * more than DESCRIBED_DEPENDS_MAX.
 */
uint64_t described_fingerprint(
	const struct package *package, const struct json_tape *described, int64_t since_ns);
