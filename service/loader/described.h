/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "loader/describe_cache.h"
#include "manifest/manifest.h"

/*
 * Packages of the kinds whose hosts describe their tools.
 *
 *   described_load_cached ── cached by an earlier load? ──▶ its tools
 *        │ no
 *        └──▶ a short-lived host ── LOADED ──▶ described_accept ──▶ its tools; cached
 *
 * For a package with members (kind python) the text goes the same way, and loader/members.h makes
 * the members from it.
 */

/* Most files and folders in the list `depends`: every reload looks at each, and each is watched. A
 * description with a longer list is never cached. */
#define DESCRIBED_DEPENDS_MAX 1024

/* Return whether a host has yet to describe the tools of @toolbox. */
bool described_is_awaited(const struct toolbox *toolbox);

/* Give @package the tools of its cached description. 0, -ENOENT without a description, or -ENOMEM.
 * @ret_key is its key in the cache, "" for an unreadable library. */
int described_load_cached(struct manifest_reader *reader, struct package *package,
	char ret_key[DESCRIBE_CACHE_KEY_BYTES]);

/* Return whether the server with the cached description @key was of the legacy era
 * (mcp/version.h). */
bool described_was_legacy(const char *key);

/* Give @package the tools described by its host: @described is the payload of LOADED, @size bytes.
 * Cache them with @key, unless the library was changed meanwhile. 0, MANIFEST_E_REFUSED with the
 * problems, or -ENOMEM. *@ret_cache_error: 0, or the error of caching. */
int described_accept(struct manifest_reader *reader, struct package *package, const char *described,
	size_t size, const char *key, struct diagnostics *problems, int *ret_cache_error);

/* Append the cached description of @package, a package with members, to @ret_described if still
 * valid, and set @package->fingerprint. Results as of described_load_cached(). */
int described_load_cached_text(struct package *package, char ret_key[DESCRIBE_CACHE_KEY_BYTES],
	struct buffer *ret_described);

/* Call @found for every path in the `depends` list of the description of @package. Return 0 or
 * -ENOMEM. */
int described_each_dependency(
	const struct package *package, void (*found)(void *data, const char *path), void *data);

/*
 * Return the fingerprint of the description @described, an object: a digest of the inodes under it:
 * the interpreters of @package and the paths of its `depends` list. A missing file is part of it,
 * because creating it later changes the description.
 *
 * 0 when it is not valid: an inode was changed since @since_ns (CLOCK_REALTIME), so the description
 * may be older, or there is no list, or the list is longer than DESCRIBED_DEPENDS_MAX.
 */
uint64_t described_fingerprint(
	const struct package *package, const struct json_tape *described, int64_t since_ns);
