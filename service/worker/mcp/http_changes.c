/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/mcp/http.h"

#include "util/clock.h"

/*
 * The stream by which a server of the legacy era notifies of changes of its list:
 *
 *   session, with listChanged ─▶ GET ─▶ text/event-stream ─▶ messages
 *                                 ▲  │         │
 *                                 │  │         └── it ends ──┐
 *                                 │  └── no response, 5xx ───┤
 *                                 └───────── a wait ─────────┘
 *
 *                                GET ─▶ 4xx, another type: not again in this session
 */

#define WAIT_LEAST_MS 1000
#define WAIT_MOST_MS  60000

int http_changes_attend(struct http *http, uint64_t *due_ms)
{
	const struct mcp_session *session = &http->session;

	/* A list always asked for is never out of date. */
	if (http->changes || !session->has_changes || !session->version ||
		!session->configuration.is_described)
		return 0;
	if (http->changes_at_ms <= clock_now_ms())
		return http_request_changes(http, &http->changes_id);
	if (http->changes_at_ms < *due_ms)
		*due_ms = http->changes_at_ms;
	return 0;
}

void http_changes_note(struct http *http)
{
	if (!http->changes_have_begun)
		return;
	http->changes_have_begun = false;
	http->changes_began_ms = clock_now_ms();
	mcp_client_set_stream(http->session.client, true);
}

/* Return the wait before the stream is opened again. */
static uint64_t next_wait_ms(struct http *http)
{
	/* A lasting stream does not count among streams that end at once, again and again. */
	bool has_lasted = http->changes_began_ms > 0 &&
			  clock_now_ms() - http->changes_began_ms >= http->changes_wait_ms;
	uint64_t wait_ms =
		has_lasted || http->changes_wait_ms == 0 ? WAIT_LEAST_MS : http->changes_wait_ms;

	http->changes_wait_ms = 2 * wait_ms < WAIT_MOST_MS ? 2 * wait_ms : WAIT_MOST_MS;
	return http->changes->events.retry_ms > wait_ms ? http->changes->events.retry_ms : wait_ms;
}

void http_changes_end(struct http *http, long status)
{
	struct http_request *request = http->changes;
	bool is_refused = (status >= 400 && status < 500) ||
			  (status == 200 && !request->is_stream &&
				  !http_request_is_type(request, HTTP_EVENT_STREAM));

	http_changes_note(http);
	mcp_client_set_stream(http->session.client, false);
	http->changes_at_ms = is_refused ? UINT64_MAX : clock_now_ms() + next_wait_ms(http);
	http->changes_began_ms = 0;
	if (request->events.id.size > 0) {
		buffer_reset(&http->changes_id);
		buffer_append_buffer(&http->changes_id, &request->events.id);
	}
	http_request_unlink(http, request);
	http_request_free(request);
}

void http_changes_stop(struct http *http)
{
	if (http->changes) {
		http_request_unlink(http, http->changes);
		http_request_free(http->changes);
	}
	http->changes_at_ms = 0;
	http->changes_wait_ms = 0;
	http->changes_began_ms = 0;
	http->changes_have_begun = false;
	buffer_reset(&http->changes_id);
}
