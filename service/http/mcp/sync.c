/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/sync.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

static void sync_file(void *data)
{
	struct mcp_sync *sync = data;

	sync->error = fdatasync(sync->fd) < 0 ? errno : 0;
}

static void report_failure(struct mcp_sync *sync)
{
	if (sync->error)
		log_limited(&sync->rate, LOG_LEVEL_WARNING,
			"A session of MCP that has ended may count again after a power cut: %s",
			strerror(sync->error));
	sync->error = 0;
}

static void finish_sync(void *data)
{
	struct mcp_sync *sync = data;

	sync->aside = NULL;
	report_failure(sync);
	if (sync->is_asked)
		mcp_sync_ask(sync);
}

void mcp_sync_ask(struct mcp_sync *sync)
{
	sync->is_asked = sync->aside;
	if (sync->aside || sync->fd < 0)
		return;
	/* Without a thread the loop waits: an end is worth that. */
	if (aside_start(sync->loop, sync_file, finish_sync, sync, &sync->aside) < 0) {
		sync_file(sync);
		report_failure(sync);
	}
}

void mcp_sync_deinit(struct mcp_sync *sync)
{
	bool is_asked = sync->is_asked;

	aside_free(take_ptr(sync->aside));
	if (is_asked)
		sync_file(sync);
	report_failure(sync);
	sync->is_asked = false;
}
