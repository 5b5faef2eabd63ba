/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "util/cleanup.h"

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
	list_remove(&session->link);
	sessions->n--;
	free(session);
}

static void drop_expired(struct mcp_sessions *sessions, uint64_t now_ms)
{
	while (sessions->n > 0 && now_ms - first_session(sessions)->used_ms >= MCP_SESSION_IDLE_MS)
		mcp_sessions_drop(sessions, first_session(sessions));
}

struct mcp_session *mcp_sessions_add(
	struct mcp_sessions *sessions, const char *source, uint64_t now_ms)
{
	cleanup_free struct mcp_session *session = calloc(1, sizeof(*session));

	drop_expired(sessions, now_ms);
	if (!session || hex_write_id(session->id) < 0 || hex_write_id(session->name) < 0)
		return NULL;
	if (sessions->n == MCP_SESSIONS_MAX)
		mcp_sessions_drop(sessions, first_session(sessions));
	snprintf(session->source, sizeof(session->source), "%s", source);
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
		session->used_ms = now_ms;
		list_remove(&session->link);
		list_append(&sessions->list, &session->link);
		return session;
	}
	return NULL;
}
