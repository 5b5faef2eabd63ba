/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "loop/aside.h"
#include "loop/loop.h"
#include "util/log.h"

/*
 * Brings the file of ended sessions (http/mcp/ended.h) to the disk, in a thread: a disk may hang.
 *
 *   DELETE ─ written ─▶ mcp_sync_ask ─┬─ no thread ────▶ a thread: fdatasync
 *                                     └─ one is there ─▶ another one after it
 */
struct mcp_sync {
	struct loop *loop;
	int fd; /* borrowed; -1: there is no file */
	struct aside *aside;
	bool is_asked; /* again, since the thread began */
	int error;     /* the end of the last thread: 0 or a positive errno */
	struct log_rate rate;
};

/* Begin to bring to the disk what the file has by now. */
void mcp_sync_ask(struct mcp_sync *sync);

/* Wait for the thread. Takes a zeroed struct. */
void mcp_sync_deinit(struct mcp_sync *sync);
