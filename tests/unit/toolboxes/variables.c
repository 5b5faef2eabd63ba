/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "../scratch.h"
#include "variables.h"

#define NOW ((int64_t)1800000000)

static const struct variables_session mine = {"", "a"};
static struct variables *variables;
static struct text listed;

static void open_file(void)
{
	struct text why = {0};

	variables = variables_open(scratch_path("session.sqlite3"), &why);
	cr_assert(variables, "%s", text_string(&why));
}

static void set_up(void)
{
	scratch_set_up();
	open_file();
}

static void tear_down(void)
{
	variables_close(variables);
	text_free(&listed);
	scratch_tear_down();
}

TestSuite(variables, .init = set_up, .fini = tear_down, .timeout = 120);

static int set_of(
	const struct variables_session *session, const char *json, int64_t now_s, const char *words)
{
	struct text why = {0};
	int n = variables_set(variables, session, json, now_s, &why);

	cr_expect(strstr(text_string(&why), words), "%s", text_string(&why));
	cr_expect_eq(why.size == 0, n >= 0);
	text_free(&why);
	return n;
}

static void list_one(void *data, const char *name, const char *value, size_t size)
{
	text_printf(data, "%s=%.*s;", name, (int)size, value);
}

static void expect_of(const struct variables_session *session, int64_t now_s, const char *all)
{
	struct text why = {0};

	text_free(&listed);
	cr_expect(variables_get(variables, session, now_s, list_one, &listed, &why), "%s",
		text_string(&why));
	cr_expect_str_eq(text_string(&listed), all);
	text_free(&why);
}

Test(variables, are_kept_for_each_session_of_each_owner)
{
	static const struct variables_session other = {"", "b"};
	static const struct variables_session theirs = {"http:x", "a"};

	expect_of(&mine, NOW, "");
	cr_expect_eq(set_of(&mine, "{\"b\":\"1\",\"a\":\"2\"}", NOW, ""), 2);
	cr_expect_eq(set_of(&other, "{\"b\":\"3\"}", NOW, ""), 1);
	cr_expect_eq(set_of(&theirs, "{\"b\":\"4\"}", NOW, ""), 1);
	cr_expect_eq(set_of(&mine, "{\"b\":\"5\",\"c\":\"\"}", NOW, ""), 3);
	expect_of(&mine, NOW, "a=2;b=5;c=;");
	expect_of(&other, NOW, "b=3;");
	expect_of(&theirs, NOW, "b=4;");
	variables_close(variables);
	open_file();
	expect_of(&mine, NOW, "a=2;b=5;c=;");
}

Test(variables, are_the_strings_that_the_json_means)
{
	cr_expect_eq(set_of(&mine, "{\"\\u00e9\\\"\":\"\\ud83d\\ude00\\n'; DROP\"}", NOW, ""), 1);
	expect_of(&mine, NOW, "é\"=\U0001F600\n'; DROP;");
}

Test(variables, have_bounds_and_beyond_them_nothing_changes)
{
	struct text json = {0};
	char value[4200];

	cr_expect_eq(set_of(&mine, "{\"a\":\"1\"}", NOW, ""), 1);
	memset(value, 'v', sizeof(value));
	text_printf(&json, "{\"b\":\"2\",\"long\":\"%.*s\"}", 4097, value);
	set_of(&mine, text_string(&json), NOW, "'long' has a name of 4 and a value of 4097 bytes");
	text_free(&json);
	text_printf(&json, "{\"%.*s\":\"\"}", 257, value);
	set_of(&mine, text_string(&json), NOW, "a name of 257");
	set_of(&mine, "{\"\":\"x\"}", NOW, "a name of 0");
	text_free(&json);
	text_printf(&json, "{\"%.*s\":\"%.*s\"", 256, value, 4096, value);
	for (int i = 0; i < 254; i++)
		text_printf(&json, ",\"n%d\":\"\"", i);
	text_put(&json, "}");
	cr_expect_eq(set_of(&mine, text_string(&json), NOW, ""), 256);
	set_of(&mine, "{\"more\":\"\"}", NOW, "would have 257 variables; at most 256 are kept");
	cr_expect_eq(set_of(&mine, "{\"a\":\"3\"}", NOW, ""), 256);
	text_free(&json);
}

Test(variables, are_gone_thirty_days_after_the_last_change)
{
	static const struct variables_session other = {"", "b"};

	set_of(&mine, "{\"a\":\"1\"}", NOW, "");
	set_of(&mine, "{\"b\":\"2\"}", NOW + 1000, "");
	expect_of(&mine, NOW + 999 + VARIABLES_KEPT_S, "a=1;b=2;");
	expect_of(&mine, NOW + 1000 + VARIABLES_KEPT_S, "");
	set_of(&other, "{\"a\":\"1\"}", NOW + 1000 + VARIABLES_KEPT_S, "");
	expect_of(&mine, NOW, "");
}

/* A device without a battery for its clock starts in 1970. */
Test(variables, of_a_clock_that_was_not_set_are_as_new)
{
	set_of(&mine, "{\"a\":\"1\"}", 1000, "");
	expect_of(&mine, 2000, "a=1;");
	expect_of(&mine, NOW, "a=1;");
	set_of(&mine, "{\"b\":\"1\"}", NOW, "");
	expect_of(&mine, NOW, "a=1;b=1;");
}

static void run_sql(const char *sql)
{
	sqlite3 *database;

	cr_assert_eq(sqlite3_open(scratch_path("session.sqlite3"), &database), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK, "%s",
		sqlite3_errmsg(database));
	sqlite3_close(database);
}

/* Make all sessions but the last one, in one transaction: each waits for the disk. */
static void fill_file(void)
{
	char sql[320];

	snprintf(sql, sizeof(sql),
		"WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers"
		" WHERE i + 1 < %d) INSERT INTO sessions (owner, session, set_s)"
		" SELECT '', 's' || i, %lld + i FROM numbers;"
		"INSERT INTO variables SELECT id, 'a', '1' FROM sessions",
		SESSIONS_MAX, (long long)NOW);
	run_sql(sql);
}

Test(variables, give_way_to_more_sessions_the_oldest_first)
{
	static const struct variables_session more = {"", "more"};
	static const struct variables_session oldest = {"", "s0"};
	static const struct variables_session next = {"", "s1"};

	fill_file();
	expect_of(&oldest, NOW, "a=1;");
	cr_expect_eq(set_of(&oldest, "{\"b\":\"2\"}", NOW, ""), 2, "none gives way");
	cr_assert_eq(set_of(&more, "{\"a\":\"1\"}", NOW + SESSIONS_MAX, ""), 1);
	expect_of(&oldest, NOW, "");
	expect_of(&next, NOW, "a=1;");
	expect_of(&more, NOW, "a=1;");
}

/* A caller of HTTP names as many sessions as it likes. */
Test(variables, of_an_owner_with_many_sessions_give_way_before_all_others)
{
	static const struct variables_session more = {"http:x", "more"};
	static const struct variables_session first = {"http:x", "s767"};
	static const struct variables_session theirs = {"", "s0"};
	static const struct variables_session next = {"http:y", "a"};
	char sql[128];

	fill_file();
	snprintf(sql, sizeof(sql), "UPDATE sessions SET owner = 'http:x' WHERE set_s >= %lld",
		(long long)NOW + SESSIONS_MAX - 257);
	run_sql(sql);
	cr_assert_eq(set_of(&more, "{\"a\":\"1\"}", NOW + SESSIONS_MAX, ""), 1);
	expect_of(&theirs, NOW, "a=1;");
	expect_of(&first, NOW, "");
	cr_assert_eq(set_of(&next, "{\"a\":\"1\"}", NOW + SESSIONS_MAX, ""), 1);
	expect_of(&theirs, NOW, "");
}

Test(variables, of_an_owner_with_many_bytes_give_way_before_all_others)
{
	static const struct variables_session more = {"http:x", "more"};
	static const struct variables_session first = {"http:x", "x0"};
	static const struct variables_session theirs = {"", "a"};
	char sql[512];

	set_of(&theirs, "{\"a\":\"1\"}", NOW, "");
	snprintf(sql, sizeof(sql),
		"PRAGMA synchronous = OFF; BEGIN;"
		"INSERT INTO sessions VALUES (100, 'http:x', 'x0', %1$lld),"
		" (101, 'http:x', 'x1', %1$lld), (102, '', 'b', %1$lld);"
		"INSERT INTO variables VALUES (100, 'a', zeroblob(20000000)),"
		" (101, 'a', zeroblob(20000000)), (102, 'a', zeroblob(30000000)); COMMIT",
		(long long)NOW + 1);
	run_sql(sql);
	cr_assert_eq(set_of(&more, "{\"a\":\"1\"}", NOW + 2, ""), 1);
	expect_of(&theirs, NOW, "a=1;");
	expect_of(&first, NOW, "");
}

Test(variables, wait_for_another_process_and_not_for_ever)
{
	struct text why = {0};
	struct variables *other = variables_open(scratch_path("session.sqlite3"), &why);

	cr_assert(other, "%s", text_string(&why));
	cr_expect_eq(variables_set(other, &mine, "{\"a\":\"1\"}", NOW, &why), 1);
	expect_of(&mine, NOW, "a=1;");
	cr_expect_eq(set_of(&mine, "{\"b\":\"2\"}", NOW, ""), 2);
	variables_close(other);
}

Test(variables, that_do_not_fit_on_the_disk_change_nothing)
{
	const struct rlimit limit = {80 << 10, 80 << 10};
	struct text json = {0};
	char value[4096];

	signal(SIGXFSZ, SIG_IGN);
	memset(value, 'v', sizeof(value));
	cr_expect_eq(set_of(&mine, "{\"a\":\"1\"}", NOW, ""), 1);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	text_put(&json, "{\"a\":\"2\"");
	for (int i = 0; i < 40; i++)
		text_printf(&json, ",\"n%d\":\"%.*s\"", i, (int)sizeof(value), value);
	text_put(&json, "}");
	cr_expect_eq(set_of(&mine, text_string(&json), NOW, "session.sqlite3: "), -1);
	expect_of(&mine, NOW, "a=1;");
	cr_expect_eq(set_of(&mine, "{\"b\":\"3\"}", NOW, ""), 2);
	expect_of(&mine, NOW, "a=1;b=3;");
	text_free(&json);
}

Test(variables, of_a_damaged_file_are_refused_with_words)
{
	struct text why = {0};

	scratch_write("bad.sqlite3", "this is no database, but a text that somebody has put here");
	cr_expect_null(variables_open(scratch_path("bad.sqlite3"), &why));
	cr_expect(strstr(text_string(&why), "move the file away"), "%s", text_string(&why));
	text_free(&why);
	cr_expect_null(variables_open(scratch_path("none/session.sqlite3"), &why));
	cr_expect(strstr(text_string(&why), "none/session.sqlite3: unable to open"), "%s",
		text_string(&why));
	text_free(&why);
}
