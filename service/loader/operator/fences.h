/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/toolbox_sandbox.h"
#include "config/config.h"
#include "util/text/text_list.h"

/*
 * Fences: paths that stay closed inside the paths that an operator opens for a toolbox
 * (contract.md, Paths of the operator).
 *
 *   hidden   not read, listed or written: keys, passwords, browsers' profiles, our own secrets
 *   kept     read, but not written: files that programs of this user obey, and our own folders
 *
 * An entry is an absolute path, with everything below it, or the end of one (".ssh", "a/b"), which
 * counts at any depth.
 */
struct fences {
	struct text_list hidden;
	struct text_list kept;
};

/* Find the fences of this user and of the service. 0 or -ENOMEM; the caller deinits @ret_fences,
 * zeroed before, in any case. */
int fences_find(const struct config *config, struct fences *ret_fences);

/* Append the absolute paths of @fences for the kernel to @paths: the ends are taken below @home,
 * where their programs keep them. Paths in @exceptions (NULL: none) are left out. 0 or -ENOMEM. */
int fences_paths(const struct text_list *fences, const char *home,
	const struct text_list *exceptions, struct sandbox_paths *paths);

/* Return the digest of @fences, other than 0. */
uint64_t fences_digest(const struct fences *fences);

void fences_deinit(struct fences *fences);
