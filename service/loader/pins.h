/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "manifest/diagnose.h"

/*
 * A server of others may describe a tool otherwise once it is in use. So each of its tools is pinned when
 * it is seen first, and every list is compared with the pins (mcp/client/pins.h):
 *
 *   a list ─▶ STATE/.pins/ID.DIGEST.json ─▶ the same, or new: it is offered
 *                                        ─▶ changed: warn    it is offered, and that is logged
 *                                                    block   it is not offered
 *             toolboxctl trust ID accepts the change
 *
 * DIGEST is of the command or the address: another server with the same id has pins of its own. No
 * toolbox has an id, nor a state folder, that begins with a '.'.
 */

/* The digits of DIGEST. */
#define PINS_DIGITS 16

#define PINS_FOLDER ".pins"

/* Compare the tools of @package, of kind mcp, which were read from the list in @described, with their
 * pins, and keep those of new ones. With block, nothing is offered whose pins cannot be read or kept. 0,
 * or -ENOMEM. */
int pins_compare(
	struct package *package, const struct json_tape *described, struct diagnostics *problems);

/* Return whether the pins of @package are those that it was compared with. */
bool pins_hold(const struct package *package);
