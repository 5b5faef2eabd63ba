/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A question with memory of its own: a thread of the C library may still use it after the time is
 * over. */
struct question {
	struct gaicb item;
	struct addrinfo hints;
	char host[];
};

int resolve_host(const char *host, uint64_t wait_ms, struct addrinfo **ret)
{
	struct question *question = calloc(1, sizeof(*question) + strlen(host) + 1);
	const struct timespec wait = {
		.tv_sec = (time_t)(wait_ms / 1000), .tv_nsec = (long)(wait_ms % 1000) * 1000000};
	struct gaicb *list[1];
	int r;

	if (!question)
		return EAI_MEMORY;
	memcpy(question->host, host, strlen(host) + 1);
	question->hints.ai_socktype = SOCK_STREAM;
	question->item.ar_name = question->host;
	question->item.ar_request = &question->hints;
	list[0] = &question->item;
	r = getaddrinfo_a(GAI_NOWAIT, list, 1, NULL);
	if (r == 0)
		gai_suspend((const struct gaicb *const *)list, 1, &wait);
	r = r ? r : gai_error(&question->item);
	/* A thread that goes on with the question keeps it. */
	if (r == EAI_INPROGRESS && gai_cancel(&question->item) == EAI_NOTCANCELED)
		return EAI_AGAIN;
	r = r == EAI_INPROGRESS ? gai_error(&question->item) : r;
	if (r == 0)
		*ret = question->item.ar_result;
	free(question);
	return r == EAI_CANCELED ? EAI_AGAIN : r;
}
