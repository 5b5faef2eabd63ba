/* SPDX-License-Identifier: Apache-2.0 */
#include "host/reaper.h"

#include <stdlib.h>

struct reaped {
	struct reaped *next;
	struct reaper *reaper;
	struct host *host;
};

static void unlink_reaped(struct reaped *reaped)
{
	struct reaped **link = &reaped->reaper->first;

	while (*link != reaped)
		link = &(*link)->next;
	*link = reaped->next;
}

static void has_ended(void *data, const struct host_exit *exit)
{
	struct reaped *reaped = data;
	struct reaper *reaper = reaped->reaper;

	unlink_reaped(reaped);
	reaper->exited(reaper->data, exit);
	host_free(reaped->host);
	free(reaped);
}

void reaper_init(
	struct reaper *reaper, void (*exited)(void *data, const struct host_exit *exit), void *data)
{
	*reaper = (struct reaper){.exited = exited, .data = data};
}

void reaper_deinit(struct reaper *reaper)
{
	while (reaper->first) {
		struct reaped *reaped = reaper->first;

		reaper->first = reaped->next;
		host_free(reaped->host);
		free(reaped);
	}
}

void reaper_take(struct reaper *reaper, struct host *host)
{
	struct reaped *reaped = malloc(sizeof(*reaped));

	if (!reaped) {
		host_free(host);
		return;
	}
	*reaped = (struct reaped){.next = reaper->first, .reaper = reaper, .host = host};
	reaper->first = reaped;
	host_dismiss(host, has_ended, reaped);
}
