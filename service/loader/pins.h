/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "manifest/diagnose.h"
#include "mcp/client/tools/pins.h"

/*
 * A server of others may describe a tool otherwise once it is in use. So each of its tools is
 * pinned when it is seen first, and every list is compared with the pins (mcp/client/tools/pins.h):
 *
 *   a list ─▶ STATE/.pins/ID.DIGEST.json ─▶ the same, or new: offered
 *                                        ─▶ changed: warn    offered, with no less risk, and logged
 *                                                    block   not offered
 *             toolboxctl trust ID accepts the change
 *
 * A load has the lock of STATE (util/file/file.h) from reading the file until it has replaced it,
 * as toolboxctl trust has: no change is lost. Without the lock in PINS_LOCK_MS no file is written,
 * as after a failed write: with block nothing is offered, with warn the failure is logged, and the
 * next load tries again.
 *
 * DIGEST is of the command or the address: another server with the same id has pins of its own. No
 * toolbox has an id, nor a state folder, with a '.' at the start.
 */

/* The digits of DIGEST. */
#define PINS_DIGITS 16

#define PINS_FOLDER ".pins"

/* The longest wait of a load for another writer of the state folder. */
#define PINS_LOCK_MS 1000

/* The pins of a package while its list is read. Zero the struct before use, but for @lock, which is
 * -1; free with pins_deinit(). */
struct pins {
	struct mcp_pins kept;
	struct buffer text; /* the file, of which kept.tape is */
	char *folder;
	char *path;       /* NULL: there is no place for them */
	const char *name; /* in @folder */
	char server[2 * MCP_PIN_BYTES + 1];
	/* reason for unreadable pins: MCP_PINS_E_WRONG or a negative errno; 0: none */
	int error;
	int lock; /* the descriptor of the lock; a negative errno: why this load does not have it */
};

/* Read the pins of @package, of kind mcp, and keep others from changing them until pins_deinit();
 * none if pins are off. 0 or -ENOMEM. */
int pins_read(struct package *package, struct pins *ret_pins);

/* Compare the tools of @package, read from the list in @described, with their @pins, and keep the
 * pins of new tools. With block, nothing is offered without readable, stored pins. 0, or
 * -ENOMEM. */
int pins_compare(struct pins *pins, struct package *package, const struct json_tape *described,
	struct diagnostics *problems);

void pins_deinit(struct pins *pins);

/* Return whether the pins of @package are the compared ones, and stored. */
bool pins_hold(const struct package *package);
