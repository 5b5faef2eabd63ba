/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "catalogue/package.h"
#include "config/config.h"

/*
 * The widest sandbox allowed by the configuration (toolboxd.sandbox_max).
 *
 *   class   none wider; unix sockets are wider than "net"
 *   paths   unless it is "none", "compute" and "net" read and write only in
 *             the toolbox's own folder: the real folder of the manifest, or of drop-in programs;
 *               a manifest in a registration folder, shared with others, only reads there
 *             its state folder: $STATE_DIRECTORY/ID, else $XDG_STATE_HOME/toolboxd/ID
 *
 * Paths are compared with all links resolved. One inside of a path in `write` is refused, because
 * the toolbox could replace it by a link. In "command" the lists only narrow, so they are not
 * bounded.
 */

struct sandbox_refusal {
	char pointer[32]; /* the place in the manifest */
	char text[PATH_MAX + 256];
};

/* Return whether the sandbox of @package is wider than allowed, or memory is too short to find that
 * out, with the reason in @ret_refusal. */
bool sandbox_max_refuses(const struct config *config, const struct package *package,
	struct sandbox_refusal *ret_refusal);
