/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/assert.h"
#include "util/share.h"

int mcp_sessions_init(struct mcp_sessions *sessions, const char *folder)
{
	*sessions = (struct mcp_sessions){0};
	list_init(&sessions->list);
	return mcp_ended_open(&sessions->ended, folder);
}

static void drop_session(struct mcp_sessions *sessions, struct mcp_session *session)
{
	check(sessions->n > 0);
	list_remove(&session->link);
	sessions->n--;
	free(session);
}

void mcp_sessions_deinit(struct mcp_sessions *sessions)
{
	while (sessions->n > 0)
		drop_session(sessions, container_of(sessions->list.next, struct mcp_session, link));
	mcp_ended_close(&sessions->ended);
}

static void drop_expired(struct mcp_sessions *sessions, uint64_t now_ms)
{
	struct list *next;

	for (struct list *link = sessions->list.next; link != &sessions->list; link = next) {
		struct mcp_session *session = container_of(link, struct mcp_session, link);

		next = link->next;
		if (now_ms - session->used_ms < MCP_SESSION_IDLE_MS)
			return;
		if (session->n_streams == 0)
			drop_session(sessions, session);
	}
}

/* Return whether @session is one of @holder, or that is NULL. */
static bool is_of(const struct mcp_session *session, const char *holder)
{
	return !holder || strcmp(session->holder, holder) == 0;
}

/* Return the session of @holder (NULL: of any) that gives way to another one. */
static struct mcp_session *find_least(const struct mcp_sessions *sessions, const char *holder)
{
	struct mcp_session *first = NULL;

	list_each(struct mcp_session, session, &sessions->list, link) {
		if (!is_of(session, holder))
			continue;
		if (session->n_streams == 0)
			return session;
		first = first ? first : session;
	}
	return first;
}

/* Let a session give way to a new session of @holder: a session of this holder at the limit of a
 * share, else any when there are too many. */
static void make_session_room(struct mcp_sessions *sessions, const char *holder)
{
	size_t own = 0;

	list_each(struct mcp_session, session, &sessions->list, link)
		own += is_of(session, holder);
	if (own >= share_of(MCP_SESSIONS_MAX, sessions->n - own))
		drop_session(sessions, find_least(sessions, holder));
	else if (sessions->n == MCP_SESSIONS_MAX)
		drop_session(sessions, find_least(sessions, NULL));
}

static void use_session(struct mcp_sessions *sessions, struct mcp_session *session, uint64_t now_ms)
{
	session->used_ms = now_ms;
	list_remove(&session->link);
	list_append(&sessions->list, &session->link);
}

/* Take the session @id of @identity into memory. Return it, or NULL without memory. */
static struct mcp_session *take_in(struct mcp_sessions *sessions, const struct mcp_session_id *id,
	const struct http_identity *identity, uint64_t now_ms)
{
	struct mcp_session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	session->id = *id;
	snprintf(session->holder, sizeof(session->holder), "%s", identity->holder);
	make_session_room(sessions, session->holder);
	session->used_ms = now_ms;
	list_init(&session->link);
	list_append(&sessions->list, &session->link);
	sessions->n++;
	return session;
}

int mcp_sessions_add(struct mcp_sessions *sessions, const struct http_identity *identity,
	struct mcp_time now, struct mcp_session **ret_session)
{
	struct mcp_session_id id;
	int r = mcp_session_id_make(sessions->ended.key, identity, now.s, &id);

	drop_expired(sessions, now.ms);
	if (r < 0)
		return r;
	*ret_session = take_in(sessions, &id, identity, now.ms);
	return *ret_session ? 0 : -ENOMEM;
}

static struct mcp_session *find_named(struct mcp_sessions *sessions, const char *name)
{
	list_each(struct mcp_session, session, &sessions->list, link) {
		if (strcmp(session->id.name, name) == 0)
			return session;
	}
	return NULL;
}

int mcp_sessions_find(struct mcp_sessions *sessions, const char *id,
	const struct http_identity *identity, struct mcp_time now, struct mcp_session **ret_session)
{
	struct mcp_session_id read;
	struct mcp_session *session;

	drop_expired(sessions, now.ms);
	if (!mcp_session_id_read(sessions->ended.key, identity, id, &read))
		return -ENOENT;
	session = find_named(sessions, read.name);
	if (session) {
		use_session(sessions, session, now.ms);
	} else {
		if (mcp_era_is_over(read.entry.start_s, now.s) ||
			mcp_ended_has(&sessions->ended, &read.entry))
			return -ENOENT;
		session = take_in(sessions, &read, identity, now.ms);
	}
	*ret_session = session;
	return session ? 0 : -ENOMEM;
}

int mcp_sessions_end(
	struct mcp_sessions *sessions, struct mcp_session *session, struct mcp_time now)
{
	int r = mcp_ended_add(&sessions->ended, &session->id.entry, now.s);

	if (r == 0)
		drop_session(sessions, session);
	return r;
}

void mcp_sessions_open_stream(struct mcp_session *session)
{
	session->n_streams++;
}

void mcp_sessions_end_stream(struct mcp_sessions *sessions, const char *name, uint64_t now_ms)
{
	struct mcp_session *session = find_named(sessions, name);

	/* One that has left memory since then, and was taken in again, has no stream. */
	if (!session || session->n_streams == 0)
		return;
	session->n_streams--;
	use_session(sessions, session, now_ms);
}
