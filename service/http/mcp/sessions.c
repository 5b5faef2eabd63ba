/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "util/assert.h"
#include "util/cleanup.h"
#include "util/share.h"

static struct mcp_session *first_session(const struct mcp_sessions *sessions)
{
	return container_of(sessions->list.next, struct mcp_session, link);
}

void mcp_sessions_init(struct mcp_sessions *sessions)
{
	*sessions = (struct mcp_sessions){0};
	list_init(&sessions->list);
}

void mcp_sessions_deinit(struct mcp_sessions *sessions)
{
	while (sessions->n > 0)
		mcp_sessions_drop(sessions, first_session(sessions));
}

void mcp_sessions_drop(struct mcp_sessions *sessions, struct mcp_session *session)
{
	check(sessions->n > 0);
	list_remove(&session->link);
	sessions->n--;
	free(session);
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
			mcp_sessions_drop(sessions, session);
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

	list_for_each(link, &sessions->list) {
		struct mcp_session *session = container_of(link, struct mcp_session, link);

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

	list_for_each(link, &sessions->list)
		own += is_of(container_of(link, struct mcp_session, link), holder);
	if (own >= share_of(MCP_SESSIONS_MAX, sessions->n - own))
		mcp_sessions_drop(sessions, find_least(sessions, holder));
	else if (sessions->n == MCP_SESSIONS_MAX)
		mcp_sessions_drop(sessions, find_least(sessions, NULL));
}

static void use_session(struct mcp_sessions *sessions, struct mcp_session *session, uint64_t now_ms)
{
	session->used_ms = now_ms;
	list_remove(&session->link);
	list_append(&sessions->list, &session->link);
}

struct mcp_session *mcp_sessions_add(
	struct mcp_sessions *sessions, const char *source, const char *holder, uint64_t now_ms)
{
	cleanup_free struct mcp_session *session = calloc(1, sizeof(*session));

	drop_expired(sessions, now_ms);
	if (!session || hex_write_id(session->id) < 0 || hex_write_id(session->name) < 0)
		return NULL;
	snprintf(session->source, sizeof(session->source), "%s", source);
	snprintf(session->holder, sizeof(session->holder), "%s", holder);
	make_session_room(sessions, session->holder);
	session->used_ms = now_ms;
	list_init(&session->link);
	list_append(&sessions->list, &session->link);
	sessions->n++;
	return take_ptr(session);
}

struct mcp_session *mcp_sessions_find(
	struct mcp_sessions *sessions, const char *id, const char *source, uint64_t now_ms)
{
	drop_expired(sessions, now_ms);
	if (strlen(id) != HEX_ID_CHARS)
		return NULL;
	list_for_each(link, &sessions->list) {
		struct mcp_session *session = container_of(link, struct mcp_session, link);

		if (CRYPTO_memcmp(session->id, id, HEX_ID_CHARS) != 0 ||
			strncmp(session->source, source, MCP_SOURCE_BYTES - 1) != 0)
			continue;
		use_session(sessions, session, now_ms);
		return session;
	}
	return NULL;
}

void mcp_sessions_open_stream(struct mcp_session *session)
{
	session->n_streams++;
}

void mcp_sessions_end_stream(struct mcp_sessions *sessions, const char *name, uint64_t now_ms)
{
	list_for_each(link, &sessions->list) {
		struct mcp_session *session = container_of(link, struct mcp_session, link);

		if (strcmp(session->name, name) != 0)
			continue;
		check(session->n_streams > 0);
		session->n_streams--;
		use_session(sessions, session, now_ms);
		return;
	}
}
