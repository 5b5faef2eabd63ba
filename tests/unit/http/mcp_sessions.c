/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/sessions.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct mcp_sessions sessions;

static void set_up(void)
{
	mcp_sessions_init(&sessions);
}

static void tear_down(void)
{
	mcp_sessions_deinit(&sessions);
}

TestSuite(mcp_sessions, .init = set_up, .fini = tear_down);

Test(mcp_sessions, is_only_found_by_its_id_and_its_caller)
{
	struct mcp_session *session = mcp_sessions_add(&sessions, "http:a", "http:a", 0);
	char other[HEX_ID_CHARS + 1];

	cr_assert_not_null(session);
	strcpy(other, session->id);
	other[HEX_ID_CHARS - 1] ^= 1;
	cr_expect_eq(mcp_sessions_find(&sessions, session->id, "http:a", 1), session);
	cr_expect_null(mcp_sessions_find(&sessions, session->id, "http:b", 1));
	cr_expect_null(mcp_sessions_find(&sessions, other, "http:a", 1));
	cr_expect_null(mcp_sessions_find(&sessions, "", "http:a", 1));
	cr_expect_neq(strcmp(session->name, session->id), 0);
}

Test(mcp_sessions, ends_an_hour_after_its_last_use)
{
	struct mcp_session *session = mcp_sessions_add(&sessions, "a", "a", 0);
	char id[HEX_ID_CHARS + 1];

	strcpy(id, session->id);
	cr_expect_not_null(mcp_sessions_find(&sessions, id, "a", MCP_SESSION_IDLE_MS - 1));
	cr_expect_not_null(mcp_sessions_find(&sessions, id, "a", 2 * (MCP_SESSION_IDLE_MS - 1)));
	cr_expect_null(mcp_sessions_find(&sessions, id, "a", 3 * MCP_SESSION_IDLE_MS));
	cr_expect_eq(sessions.n, 0);
}

Test(mcp_sessions, stays_while_it_has_a_stream)
{
	struct mcp_session *session = mcp_sessions_add(&sessions, "a", "a", 0);
	struct mcp_session *other = mcp_sessions_add(&sessions, "a", "a", 1);
	char id[HEX_ID_CHARS + 1];
	char gone[HEX_ID_CHARS + 1];
	char name[HEX_ID_CHARS + 1];

	strcpy(id, session->id);
	strcpy(name, session->name);
	strcpy(gone, other->id);
	mcp_sessions_open_stream(session);
	cr_expect_null(mcp_sessions_find(&sessions, gone, "a", 5 * MCP_SESSION_IDLE_MS));
	cr_expect_eq(sessions.n, 1);
	mcp_sessions_end_stream(&sessions, name, 7 * MCP_SESSION_IDLE_MS);
	mcp_sessions_end_stream(&sessions, "another", 7 * MCP_SESSION_IDLE_MS);
	cr_expect_not_null(mcp_sessions_find(&sessions, id, "a", 8 * MCP_SESSION_IDLE_MS - 1));
	cr_expect_null(mcp_sessions_find(&sessions, id, "a", 9 * MCP_SESSION_IDLE_MS));
}

Test(mcp_sessions, gives_way_with_a_stream_only_to_its_like)
{
	struct mcp_session *session = mcp_sessions_add(&sessions, "a", "a", 0);
	char id[HEX_ID_CHARS + 1];

	strcpy(id, session->id);
	mcp_sessions_open_stream(session);
	for (unsigned int i = 0; i < MCP_SESSIONS_MAX / 2; i++)
		cr_assert_not_null(session = mcp_sessions_add(&sessions, "a", "a", 2));
	cr_expect_not_null(mcp_sessions_find(&sessions, id, "a", 3));
	list_for_each(link, &sessions.list)
		mcp_sessions_open_stream(container_of(link, struct mcp_session, link));
	cr_assert_not_null(mcp_sessions_add(&sessions, "a", "a", 4));
	cr_expect_eq(sessions.n, MCP_SESSIONS_MAX / 2);
}

Test(mcp_sessions, gives_way_when_there_are_too_many)
{
	char first[HEX_ID_CHARS + 1];
	char second[HEX_ID_CHARS + 1];

	strcpy(first, mcp_sessions_add(&sessions, "a", "a", 0)->id);
	strcpy(second, mcp_sessions_add(&sessions, "a", "a", 0)->id);
	cr_assert_not_null(mcp_sessions_find(&sessions, first, "a", 1));
	for (unsigned int i = 1; i < MCP_SESSIONS_MAX / 2; i++)
		cr_assert_not_null(mcp_sessions_add(&sessions, "a", "a", 2));
	cr_expect_eq(sessions.n, MCP_SESSIONS_MAX / 2);
	cr_expect_null(mcp_sessions_find(&sessions, second, "a", 3));
	cr_expect_not_null(mcp_sessions_find(&sessions, first, "a", 3));
}

Test(mcp_sessions, gives_way_only_to_others_of_its_holder)
{
	char id[HEX_ID_CHARS + 1];
	char holder[32];

	strcpy(id, mcp_sessions_add(&sessions, "http:victim", "http:victim", 0)->id);
	for (unsigned int i = 0; i < 2 * MCP_SESSIONS_MAX; i++)
		cr_assert_not_null(mcp_sessions_add(&sessions, "http:flood", "http:flood", 1));
	cr_expect_not_null(mcp_sessions_find(&sessions, id, "http:victim", 2));
	cr_expect_eq(sessions.n, MCP_SESSIONS_MAX / 2);
	for (unsigned int i = 0; i < 2 * MCP_SESSIONS_MAX; i++) {
		snprintf(holder, sizeof(holder), "%u", i);
		cr_assert_not_null(mcp_sessions_add(&sessions, holder, holder, 2));
	}
	cr_expect_eq(sessions.n, MCP_SESSIONS_MAX);
}

Test(mcp_sessions, ends_when_its_client_says_so)
{
	struct mcp_session *session = mcp_sessions_add(&sessions, "a", "a", 0);
	char id[HEX_ID_CHARS + 1];

	strcpy(id, session->id);
	mcp_sessions_drop(&sessions, session);
	cr_expect_null(mcp_sessions_find(&sessions, id, "a", 0));
}
