/* SPDX-License-Identifier: Apache-2.0 */
#include "host/reaper.h"

#include "util/assert.h"

#include <stdlib.h>

struct dismissed {
	struct list link;
	struct reaper *reaper;
	struct host *host;
};

static void free_dismissed(struct dismissed *dismissed)
{
	list_remove(&dismissed->link);
	host_free(dismissed->host);
	free(dismissed);
}

static void host_has_ended(void *data, const struct host_exit *exit)
{
	struct dismissed *dismissed = data;
	struct reaper *reaper = dismissed->reaper;

	list_remove(&dismissed->link);
	reaper->exited(reaper->data, exit);
	free_dismissed(dismissed);
}

void reaper_init(
	struct reaper *reaper, void (*exited)(void *data, const struct host_exit *exit), void *data)
{
	check(exited);
	*reaper = (struct reaper){.exited = exited, .data = data};
	list_init(&reaper->hosts);
}

void reaper_deinit(struct reaper *reaper)
{
	list_for_each(link, &reaper->hosts)
		free_dismissed(container_of(link, struct dismissed, link));
}

void reaper_take(struct reaper *reaper, struct host *host)
{
	struct dismissed *dismissed = malloc(sizeof(*dismissed));

	if (!dismissed) {
		host_free(host);
		return;
	}
	*dismissed = (struct dismissed){.reaper = reaper, .host = host};
	list_append(&reaper->hosts, &dismissed->link);
	host_dismiss(host, host_has_ended, dismissed);
}
