/* SPDX-License-Identifier: Apache-2.0 */
#include "host/leaving.h"

#include <stdlib.h>

struct leaver {
	struct leaver *next;
	struct leaving *leaving;
	struct host *host;
};

static void unlink_leaver(struct leaver *leaver)
{
	struct leaver **link = &leaver->leaving->first;

	while (*link != leaver)
		link = &(*link)->next;
	*link = leaver->next;
}

static void has_ended(void *data, const struct host_end *end)
{
	struct leaver *leaver = data;
	struct leaving *leaving = leaver->leaving;

	unlink_leaver(leaver);
	leaving->left(leaving->data, end);
	host_free(leaver->host);
	free(leaver);
}

void leaving_init(
	struct leaving *leaving, void (*left)(void *data, const struct host_end *end), void *data)
{
	*leaving = (struct leaving){.left = left, .data = data};
}

void leaving_deinit(struct leaving *leaving)
{
	while (leaving->first) {
		struct leaver *leaver = leaving->first;

		leaving->first = leaver->next;
		host_free(leaver->host);
		free(leaver);
	}
}

void leaving_take(struct leaving *leaving, struct host *host)
{
	struct leaver *leaver = malloc(sizeof(*leaver));

	if (!leaver) {
		host_free(host);
		return;
	}
	*leaver = (struct leaver){.next = leaving->first, .leaving = leaving, .host = host};
	leaving->first = leaver;
	host_dismiss(host, has_ended, leaver);
}
