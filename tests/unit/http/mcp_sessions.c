/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/sessions.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../scratch.h"
#include "scarce.h"

static struct mcp_sessions sessions;

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(mcp_sessions_init(&sessions, scratch_folder), 0);
}

static void tear_down(void)
{
	mcp_sessions_deinit(&sessions);
	scratch_tear_down();
}

TestSuite(mcp_sessions, .init = set_up, .fini = tear_down);

#define START_S UINT64_C(1700000000)

static struct http_identity identity_of(const char *source, const struct http_token *token)
{
	static char holders[4][32];
	static unsigned int used;
	struct http_identity identity = {.holder = holders[used % 4], .token = token};

	snprintf(holders[used++ % 4], sizeof(holders[0]), "%s", source);
	snprintf(identity.source, sizeof(identity.source), "%s", source);
	return identity;
}

/* The moment @ms after the start, by both clocks. */
static struct mcp_time at(uint64_t ms)
{
	return (struct mcp_time){.ms = ms, .s = START_S + ms / 1000};
}

static struct mcp_session *add(const char *source, uint64_t ms)
{
	struct http_identity identity = identity_of(source, NULL);
	struct mcp_session *session = NULL;

	cr_assert_eq(mcp_sessions_add(&sessions, &identity, at(ms), &session), 0);
	return session;
}

static struct mcp_session *find_of(
	const char *id, const char *source, const struct http_token *token, uint64_t ms)
{
	struct http_identity identity = identity_of(source, token);
	struct mcp_session *session = NULL;
	int r = mcp_sessions_find(&sessions, id, &identity, at(ms), &session);

	cr_expect_eq(r, session ? 0 : -ENOENT);
	return session;
}

static struct mcp_session *find(const char *id, const char *source, uint64_t ms)
{
	return find_of(id, source, NULL, ms);
}

/* Copy the id of @session, which may be freed later. */
static const char *id_of(const struct mcp_session *session)
{
	static char ids[8][MCP_SESSION_ID_CHARS + 1];
	static unsigned int used;

	return strcpy(ids[used++ % 8], session->id.text);
}

/* Return whether @session is in memory. */
static bool is_kept(const struct mcp_session *session)
{
	list_for_each(link, &sessions.list)
		if (link == &session->link)
			return true;
	return false;
}

static void restart(void)
{
	mcp_sessions_deinit(&sessions);
	cr_assert_eq(mcp_sessions_init(&sessions, scratch_folder), 0);
}

Test(mcp_sessions, is_only_found_by_its_id_and_its_caller)
{
	struct mcp_session *session = add("http:a", 0);
	char other[MCP_SESSION_ID_CHARS + 1];

	cr_expect_eq(find(session->id.text, "http:a", 1), session);
	cr_expect_null(find(session->id.text, "http:b", 1));
	cr_expect_null(find("", "http:a", 1));
	for (size_t i = 0; i < MCP_SESSION_ID_CHARS; i++) {
		strcpy(other, session->id.text);
		other[i] = other[i] == '0' ? '1' : '0';
		cr_expect_null(find(other, "http:a", 1), "%s", other);
		other[i] = 'x';
		cr_expect_null(find(other, "http:a", 1), "%s", other);
	}
	cr_expect_null(strstr(session->id.text, session->id.name));
	cr_expect_neq(strcmp(add("http:a", 1)->id.text, session->id.text), 0);
}

Test(mcp_sessions, belongs_to_its_token)
{
	struct http_token token = {.digest = {1}};
	struct http_token other = {.digest = {2}};
	struct http_identity identity = identity_of("http:a", &token);
	struct mcp_session *session;

	cr_assert_eq(mcp_sessions_add(&sessions, &identity, at(0), &session), 0);
	cr_expect_eq(find_of(session->id.text, "http:a", &token, 1), session);
	cr_expect_null(find_of(session->id.text, "http:a", &other, 1));
	cr_expect_null(find_of(session->id.text, "http:a", NULL, 1));
}

Test(mcp_sessions, outlives_the_service)
{
	struct mcp_session *session = add("a", 0);
	const char *id = id_of(session);
	char name[HEX_ID_CHARS + 1];

	strcpy(name, session->id.name);
	restart();
	cr_expect_eq(sessions.n, 0);
	session = find(id, "a", 1000);
	cr_assert_not_null(session);
	cr_expect_str_eq(session->id.name, name);
	cr_expect_eq(session->n_streams, 0);
	cr_expect_null(find(id, "b", 1000));
	cr_expect_eq(find(id, "a", 2000), session);
	cr_expect_eq(sessions.n, 1);
}

Test(mcp_sessions, is_unknown_after_a_restart_beyond_its_era)
{
	const char *id = id_of(add("a", 0));

	restart();
	cr_expect_not_null(find(id, "a", MCP_ERA_S * 1000 - 1000));
	restart();
	cr_expect_null(find(id, "a", MCP_ERA_S * 1000));
}

Test(mcp_sessions, goes_on_beyond_its_era_while_it_is_used)
{
	struct mcp_session *session = add("a", 0);

	for (uint64_t ms = 0; ms < 2 * MCP_ERA_S * 1000; ms += MCP_SESSION_IDLE_MS / 2)
		cr_assert_eq(find(session->id.text, "a", ms), session);
}

Test(mcp_sessions, is_unknown_with_another_key)
{
	const char *id = id_of(add("a", 0));

	cr_assert_eq(unlink(scratch_path(MCP_ENDED_FILE)), 0);
	restart();
	cr_expect_null(find(id, "a", 1));
}

Test(mcp_sessions, leaves_memory_an_hour_after_its_last_use)
{
	struct mcp_session *session = add("a", 0);
	const char *id = id_of(session);

	cr_expect_not_null(find(id, "a", MCP_SESSION_IDLE_MS - 1));
	cr_expect_not_null(find(id, "a", 2 * (MCP_SESSION_IDLE_MS - 1)));
	add("b", 3 * MCP_SESSION_IDLE_MS);
	cr_expect_eq(sessions.n, 1);
	cr_expect_not_null(find(id, "a", 3 * MCP_SESSION_IDLE_MS));
}

Test(mcp_sessions, stays_while_it_has_a_stream)
{
	struct mcp_session *session = add("a", 0);
	struct mcp_session *other = add("a", 1);
	char name[HEX_ID_CHARS + 1];

	strcpy(name, session->id.name);
	mcp_sessions_open_stream(session);
	add("b", 5 * MCP_SESSION_IDLE_MS);
	cr_expect(is_kept(session));
	cr_expect_not(is_kept(other));
	mcp_sessions_end_stream(&sessions, name, 7 * MCP_SESSION_IDLE_MS);
	mcp_sessions_end_stream(&sessions, name, 7 * MCP_SESSION_IDLE_MS);
	mcp_sessions_end_stream(&sessions, "another", 7 * MCP_SESSION_IDLE_MS);
	add("b", 8 * MCP_SESSION_IDLE_MS - 1);
	cr_expect(is_kept(session));
	add("b", 9 * MCP_SESSION_IDLE_MS);
	cr_expect_not(is_kept(session));
}

Test(mcp_sessions, gives_way_with_a_stream_only_to_its_like)
{
	struct mcp_session *session = add("a", 0);

	mcp_sessions_open_stream(session);
	for (unsigned int i = 0; i < MCP_SESSIONS_MAX / 2; i++)
		add("a", 2);
	cr_expect(is_kept(session));
	list_for_each(link, &sessions.list)
		mcp_sessions_open_stream(container_of(link, struct mcp_session, link));
	add("a", 4);
	cr_expect_eq(sessions.n, MCP_SESSIONS_MAX / 2);
}

Test(mcp_sessions, gives_way_when_there_are_too_many)
{
	struct mcp_session *first = add("a", 0);
	struct mcp_session *second = add("a", 0);
	const char *id = id_of(second);

	cr_assert_not_null(find(first->id.text, "a", 1));
	for (unsigned int i = 1; i < MCP_SESSIONS_MAX / 2; i++)
		add("a", 2);
	cr_expect_eq(sessions.n, MCP_SESSIONS_MAX / 2);
	cr_expect(is_kept(first));
	cr_expect_not(is_kept(second));
	cr_expect_not_null(find(id, "a", 3));
	cr_expect_eq(sessions.n, MCP_SESSIONS_MAX / 2);
}

Test(mcp_sessions, gives_way_only_to_others_of_its_holder)
{
	struct mcp_session *victim = add("http:victim", 0);
	char holder[32];

	for (unsigned int i = 0; i < 2 * MCP_SESSIONS_MAX; i++)
		add("http:flood", 1);
	cr_expect(is_kept(victim));
	cr_expect_eq(sessions.n, MCP_SESSIONS_MAX / 2);
	for (unsigned int i = 0; i < 2 * MCP_SESSIONS_MAX; i++) {
		snprintf(holder, sizeof(holder), "%u", i);
		add(holder, 2);
	}
	cr_expect_eq(sessions.n, MCP_SESSIONS_MAX);
}

Test(mcp_sessions, ends_when_its_client_says_so_for_good)
{
	struct mcp_session *other = add("a", 0);
	struct mcp_session *session = add("a", 0);
	const char *id = id_of(session);
	const char *kept = id_of(other);

	cr_expect_eq(mcp_sessions_end(&sessions, session, at(1)), 0);
	cr_expect_null(find(id, "a", 2));
	restart();
	cr_expect_null(find(id, "a", MCP_ERA_S * 1000 - 1000));
	cr_expect_not_null(find(kept, "a", MCP_ERA_S * 1000 - 1000));
}

/* Begin and end @n sessions of @source at @ms. */
static void end_many(const char *source, size_t n, uint64_t ms)
{
	for (size_t i = 0; i < n; i++)
		cr_assert_eq(mcp_sessions_end(&sessions, add(source, ms), at(ms)), 0);
}

Test(mcp_sessions, that_ended_cost_only_the_holder_with_the_most)
{
	const char *victim = id_of(add("victim", 0));
	struct mcp_session *ended = add("victim", 0);
	const char *gone = id_of(ended);
	const char *flood = id_of(add("flood", 0));
	const char *later;

	cr_assert_eq(mcp_sessions_end(&sessions, ended, at(0)), 0);
	end_many("flood", MCP_ENDED_MAX, 1000);
	later = id_of(add("flood", 2000));
	end_many("flood", MCP_ENDED_MAX / 2, 3000);
	cr_expect_eq(sessions.ended.n_items, MCP_ENDED_MAX);
	/* A session in memory goes on. */
	cr_expect_not_null(find(flood, "flood", 4000));
	restart();
	cr_expect_eq(sessions.ended.n_items, MCP_ENDED_MAX);
	cr_expect_not_null(find(victim, "victim", 4000));
	cr_expect_null(find(gone, "victim", 4000));
	cr_expect_null(find(flood, "flood", 4000));
	cr_expect_not_null(find(later, "flood", 4000));
}

Test(mcp_sessions, cannot_be_ended_when_there_are_too_many_holders)
{
	struct mcp_session *session;
	char holder[32];

	for (unsigned int i = 0; i < MCP_ENDED_MAX; i++) {
		snprintf(holder, sizeof(holder), "%u", i);
		end_many(holder, 1, 0);
	}
	session = add("another", 1);
	cr_expect_eq(mcp_sessions_end(&sessions, session, at(1)), -ENOSPC);
	cr_expect(is_kept(session));
	/* The entries of an era that is over have made room. */
	cr_expect_eq(mcp_sessions_end(&sessions, session, at(MCP_ERA_S * 1000)), 0);
}

/* ── the file ────────────────────────────────────────────────────────────────────────────────── */

Test(mcp_sessions, has_a_file_that_nobody_else_may_read)
{
	struct stat status;

	cr_assert_eq(stat(scratch_path(MCP_ENDED_FILE), &status), 0);
	cr_expect_eq(status.st_mode & 0777, 0600);
}

Test(mcp_sessions, ends_with_the_service_without_a_usable_file)
{
	static const char *const contents[] = {"", "x",
		("toolboxd mcp 2\n and so on, long enough for "
		 "a head of this file, which it is not")};
	const char *path = scratch_path(MCP_ENDED_FILE);
	const char *id = id_of(add("a", 0));
	struct mcp_sessions second;

	cr_assert_eq(mcp_sessions_init(&second, scratch_folder), 0);
	cr_expect_eq(second.ended.fd, -1, "another service has the file");
	mcp_sessions_deinit(&second);

	chmod(path, 0640);
	restart();
	cr_expect_eq(sessions.ended.fd, -1);
	cr_expect_null(find(id, "a", 1));
	cr_expect_not_null(find(id_of(add("a", 1)), "a", 2));
	for (size_t i = 0; i < 3; i++) {
		unlink(path);
		scratch_write(MCP_ENDED_FILE, contents[i]);
		restart();
		cr_expect_eq(sessions.ended.fd == -1, i > 0, "%s", contents[i]);
	}
	unlink(path);
	cr_assert_eq(symlink("elsewhere", path), 0);
	restart();
	cr_expect_eq(sessions.ended.fd, -1);
	mcp_sessions_deinit(&sessions);
	cr_assert_eq(mcp_sessions_init(&sessions, NULL), 0);
	cr_expect_not_null(find(id_of(add("a", 1)), "a", 2));
}

Test(mcp_sessions, makes_the_state_folder)
{
	struct mcp_sessions one;

	cr_assert_eq(mcp_sessions_init(&one, scratch_path("not/there")), 0);
	cr_expect_geq(one.ended.fd, 0);
	mcp_sessions_deinit(&one);
}

Test(mcp_sessions, that_ended_are_unknown_though_the_disk_is_full)
{
	struct mcp_session *session = add("a", 0);
	const char *id = id_of(session);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	cr_assert(full >= 0 && dup2(full, sessions.ended.fd) >= 0);
	close(full);
	cr_expect_eq(mcp_sessions_end(&sessions, session, at(1)), 0);
	cr_expect_null(find(id, "a", 2));
}

Test(mcp_sessions, need_memory)
{
	struct http_identity identity = identity_of("a", NULL);
	const char *id = id_of(add("a", 0));
	size_t n = 0;

	mcp_sessions_deinit(&sessions);
	for (; scarce_once_after(n); n++) {
		struct mcp_session *session;
		int r = mcp_sessions_init(&sessions, scratch_folder);

		r = r ? r : mcp_sessions_find(&sessions, id, &identity, at(1), &session);
		r = r ? r : mcp_sessions_add(&sessions, &identity, at(1), &session);
		r = r ? r : mcp_sessions_end(&sessions, session, at(1));
		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "after %zu: %d", n, r);
		mcp_sessions_deinit(&sessions);
	}
	cr_expect_gt(n, 3);
	cr_assert_eq(mcp_sessions_init(&sessions, scratch_folder), 0);
}
