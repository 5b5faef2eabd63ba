/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sessions.h"

#include <stdlib.h>
#include <string.h>

void sessions_init(struct sessions *sessions)
{
	*sessions = (struct sessions){0};
	list_init(&sessions->items);
}

static void free_session(struct sessions *sessions, struct session *session)
{
	list_remove(&session->link);
	sessions->n_items--;
	buffer_deinit(&session->source);
	buffer_deinit(&session->id);
	history_deinit(&session->history);
	free(session);
}

static bool is_same_text(const struct buffer *buffer, struct text_view view)
{
	return buffer->size == view.size &&
	       (view.size == 0 || memcmp(buffer->data, view.text, view.size) == 0);
}

struct session *sessions_find(
	struct sessions *sessions, struct text_view source, struct text_view id)
{
	list_each(struct session, session, &sessions->items, link) {
		if (!is_same_text(&session->source, source) || !is_same_text(&session->id, id))
			continue;
		list_remove(&session->link);
		list_append(&sessions->items, &session->link);
		return session;
	}
	return NULL;
}

/* Make room for one more. Return false when all conversations have a turn. */
static bool make_session_room(struct sessions *sessions)
{
	if (sessions->n_items < SESSIONS_MAX)
		return true;
	list_each(struct session, session, &sessions->items, link) {
		if (session->chat)
			continue;
		free_session(sessions, session);
		return true;
	}
	return false;
}

struct session *sessions_take(
	struct sessions *sessions, struct text_view source, struct text_view id)
{
	struct session *session = sessions_find(sessions, source, id);

	if (session || !make_session_room(sessions))
		return session;
	session = calloc(1, sizeof(*session));
	if (!session)
		return NULL;
	buffer_append(&session->source, source.text, source.size);
	buffer_append(&session->id, id.text, id.size);
	list_append(&sessions->items, &session->link);
	sessions->n_items++;
	if (buffer_status(&session->source) == 0 && buffer_status(&session->id) == 0)
		return session;
	free_session(sessions, session);
	return NULL;
}

void sessions_trim(struct sessions *sessions)
{
	size_t n_bytes = 0;

	list_each(struct session, session, &sessions->items, link)
		n_bytes += session->history.n_bytes;
	list_each(struct session, session, &sessions->items, link) {
		if (n_bytes <= SESSIONS_BYTES)
			return;
		if (session->chat)
			continue;
		n_bytes -= session->history.n_bytes;
		free_session(sessions, session);
	}
}

void sessions_deinit(struct sessions *sessions)
{
	if (!sessions->items.next)
		return;
	list_each(struct session, session, &sessions->items, link)
		free_session(sessions, session);
}
