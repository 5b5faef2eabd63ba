/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/ended.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "../scratch.h"
#include "logged.h"
#include "scarce.h"
#include "util/array.h"
#include "util/buffer.h"

/* The file of ended sessions: what it may hold, and who pays when it is full. */

#define NOW_S      UINT64_C(1700000000)
#define HEAD_BYTES 48

static struct mcp_ended ended;
static struct buffer file;

static void set_up(void)
{
	scratch_set_up();
	ended = (struct mcp_ended){.fd = -1};
	file = (struct buffer){0};
}

static void tear_down(void)
{
	mcp_ended_close(&ended);
	buffer_deinit(&file);
	scratch_tear_down();
}

TestSuite(mcp_ended, .init = set_up, .fini = tear_down, .timeout = 60);

/* Begin a file with the key KKK…. */
static void write_head(void)
{
	buffer_reset(&file);
	buffer_append(&file, "toolboxd mcp 1\n", 16);
	for (int i = 0; i < MCP_SESSION_KEY_BYTES; i++)
		buffer_append_char(&file, 'K');
	cr_assert_eq(file.size, (size_t)HEAD_BYTES);
}

static void write_entry(uint64_t holder, uint64_t start_s, uint64_t tag)
{
	const struct mcp_ended_entry entry = {holder, start_s, tag};

	buffer_append(&file, &entry, sizeof(entry));
}

/* Open a file with the first @size bytes that were written. Return whether it is used. */
static bool open_bytes(size_t size)
{
	mcp_ended_close(&ended);
	scratch_write_bytes(MCP_ENDED_FILE, file.data, size);
	cr_assert_eq(mcp_ended_open(&ended, scratch_folder), 0);
	return ended.fd >= 0;
}

static bool open_written(void)
{
	return open_bytes(file.size);
}

/* Open the file that is there already. */
static void open_again(void)
{
	mcp_ended_close(&ended);
	cr_assert_eq(mcp_ended_open(&ended, scratch_folder), 0);
	cr_assert_geq(ended.fd, 0);
}

static bool has(uint64_t holder, uint64_t start_s, uint64_t tag)
{
	return mcp_ended_has(&ended, &(struct mcp_ended_entry){holder, start_s, tag});
}

static int add(uint64_t holder, uint64_t start_s, uint64_t tag)
{
	return mcp_ended_add(&ended, &(struct mcp_ended_entry){holder, start_s, tag}, NOW_S);
}

/* Return the bytes of the file on the disk. */
static size_t file_bytes(void)
{
	struct stat status;

	cr_assert_eq(stat(scratch_path(MCP_ENDED_FILE), &status), 0);
	return (size_t)status.st_size;
}

Test(mcp_ended, an_era_is_over_a_week_after_its_start_and_never_before_it)
{
	static const struct {
		uint64_t start_s;
		uint64_t now_s;
		bool is_over;
	} cases[] = {
		{0, 0, false},
		{0, MCP_ERA_S - 1, false},
		{0, MCP_ERA_S, true},
		{NOW_S, NOW_S + MCP_ERA_S - 1, false},
		{NOW_S, NOW_S + MCP_ERA_S, true},
		{NOW_S, NOW_S - 1, false},
		{NOW_S, 0, false},
		{UINT64_MAX, 0, false},
		{UINT64_MAX, UINT64_MAX, false},
		{1, UINT64_MAX, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		cr_expect_eq(mcp_era_is_over(cases[i].start_s, cases[i].now_s), cases[i].is_over,
			"case %zu", i);
}

Test(mcp_ended, reads_the_key_and_the_sessions_of_its_file)
{
	write_head();
	write_entry(1, 100, 7);
	write_entry(2, 200, 9);
	cr_assert(open_written());
	cr_expect_eq(memcmp(ended.key, file.data + 16, sizeof(ended.key)), 0);
	cr_expect_eq(ended.n_items, 2);
	cr_expect(has(1, 100, 7));
	cr_expect(has(2, 200, 9));
	cr_expect_not(has(1, 100, 9), "the session of another holder");
	cr_expect_not(has(2, 200, 7));
	cr_expect_not(has(3, 100, 7));
}

Test(mcp_ended, a_cut_ends_what_its_holder_began_by_then)
{
	write_head();
	write_entry(1, 100, 0);
	cr_assert(open_written());
	cr_expect(has(1, 99, 5));
	cr_expect(has(1, 100, 5));
	cr_expect_not(has(1, 101, 5));
	cr_expect_not(has(2, 99, 5));
}

/* ── files that are no such file ─────────────────────────────────────────────────────────────── */

/* A file that is torn is neither used nor changed: it may hold sessions that have ended. */
Test(mcp_ended, leaves_a_torn_file_as_it_is)
{
	write_head();
	write_entry(1, 100, 7);
	write_entry(1, 200, 9);
	for (size_t size = 1; size < file.size; size++) {
		bool is_whole = size >= HEAD_BYTES &&
				(size - HEAD_BYTES) % sizeof(struct mcp_ended_entry) == 0;

		logged_begin();
		cr_expect_eq(open_bytes(size), is_whole, "%zu bytes", size);
		cr_expect_eq(strstr(logged_end(), "its content is another one: remove it") == NULL,
			is_whole, "%zu bytes", size);
		cr_expect_eq(file_bytes(), size);
		if (is_whole)
			continue;
		cr_expect_eq(ended.n_items, 0);
		cr_expect_neq(memcmp(ended.key, file.data + 16, sizeof(ended.key)), 0,
			"a key for this run");
	}
}

Test(mcp_ended, refuses_the_head_of_another_program)
{
	for (size_t i = 0; i < 16; i++) {
		write_head();
		write_entry(1, 100, 7);
		file.data[i] ^= 1;
		logged_begin();
		cr_expect_not(open_written(), "byte %zu", i);
		cr_expect(strstr(logged_end(), "remove it"), "byte %zu", i);
		cr_expect_not(has(1, 100, 7));
	}
}

Test(mcp_ended, reads_as_many_sessions_as_it_keeps_and_no_more)
{
	write_head();
	for (uint64_t i = 0; i < MCP_ENDED_MAX; i++)
		write_entry(i, NOW_S, 1);
	cr_expect(open_written());
	cr_expect_eq(ended.n_items, (size_t)MCP_ENDED_MAX);
	write_entry(MCP_ENDED_MAX, NOW_S, 1);
	logged_begin();
	cr_expect_not(open_written());
	cr_expect(strstr(logged_end(), "Sessions of MCP end with this service: "));
	cr_expect_eq(ended.n_items, 0);
}

static void put_folder(const char *path)
{
	cr_assert_eq(mkdir(path, 0700), 0);
}

/* A reader of a pipe without a writer would wait for ever. */
static void put_fifo(const char *path)
{
	cr_assert_eq(mkfifo(path, 0600), 0);
}

static void put_link(const char *path)
{
	scratch_write("elsewhere", "");
	cr_assert_eq(symlink(scratch_path("elsewhere"), path), 0);
}

static void put_open_file(const char *path)
{
	scratch_write(MCP_ENDED_FILE, "");
	cr_assert_eq(chmod(path, 0604), 0);
}

static void put_locked_file(const char *path)
{
	int fd;

	scratch_write(MCP_ENDED_FILE, "");
	fd = open(path, O_RDWR | O_CLOEXEC);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
}

Test(mcp_ended, says_why_it_cannot_use_what_is_in_the_place_of_its_file)
{
	static const struct {
		void (*put)(const char *path);
		const char *reason;
	} cases[] = {
		{put_folder, "Is a directory"},
		{put_fifo, "set its mode to 0600, or remove it"},
		{put_link, "Too many levels of symbolic links"},
		{put_open_file, "set its mode to 0600, or remove it"},
		{put_locked_file, "another service has it"},
	};
	const char *path = scratch_path(MCP_ENDED_FILE);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *log;

		cases[i].put(path);
		logged_begin();
		cr_assert_eq(mcp_ended_open(&ended, scratch_folder), 0);
		log = logged_end();
		cr_expect_eq(ended.fd, -1, "case %zu", i);
		cr_expect(strstr(log, path) && strstr(log, cases[i].reason), "%s", log);
		cr_assert_eq(remove(path), 0);
	}
	logged_begin();
	cr_assert_eq(mcp_ended_open(&ended, NULL), 0);
	cr_expect(strstr(logged_end(), "there is no state folder"));
}

/* ── sessions that end ───────────────────────────────────────────────────────────────────────── */

Test(mcp_ended, keeps_a_session_once_however_often_it_ends)
{
	cr_assert_eq(mcp_ended_open(&ended, scratch_folder), 0);
	for (int i = 0; i < 5; i++)
		cr_expect_eq(add(1, NOW_S, 7), 0);
	cr_expect_eq(ended.n_items, 1);
	cr_expect_eq(file_bytes(), HEAD_BYTES + sizeof(struct mcp_ended_entry));
	open_again();
	cr_expect_eq(ended.n_items, 1);
	cr_expect(has(1, NOW_S, 7));
}

Test(mcp_ended, keeps_no_session_whose_era_is_over)
{
	cr_assert_eq(mcp_ended_open(&ended, scratch_folder), 0);
	cr_expect_eq(add(1, NOW_S - MCP_ERA_S, 7), 0);
	cr_expect_eq(ended.n_items, 0);
	cr_expect_eq(add(1, NOW_S - MCP_ERA_S + 1, 7), 0);
	cr_expect_eq(ended.n_items, 1);
}

Test(mcp_ended, puts_a_session_in_the_place_of_one_whose_era_is_over)
{
	write_head();
	write_entry(1, NOW_S, 3);
	write_entry(2, NOW_S - MCP_ERA_S, 5);
	cr_assert(open_written());
	cr_expect_eq(add(4, NOW_S, 9), 0);
	cr_expect_eq(ended.n_items, 2);
	cr_expect_eq(file_bytes(), file.size);
	open_again();
	cr_expect(has(1, NOW_S, 3));
	cr_expect(has(4, NOW_S, 9));
	cr_expect_not(has(2, NOW_S - MCP_ERA_S, 5));
}

/* Write a full file: three sessions of holder 1, two of holder 2, and one of each other holder. */
static void write_full(void)
{
	write_head();
	write_entry(1, NOW_S + 30, 3);
	write_entry(2, NOW_S + 1, 5);
	write_entry(1, NOW_S + 10, 1);
	write_entry(2, NOW_S + 2, 7);
	write_entry(1, NOW_S + 20, 5);
	for (uint64_t i = 5; i < MCP_ENDED_MAX; i++)
		write_entry(1000 + i, NOW_S, 1);
}

Test(mcp_ended, makes_room_by_a_cut_of_the_two_oldest_of_the_holder_with_the_most)
{
	write_full();
	cr_assert(open_written());
	cr_expect_eq(add(9, NOW_S, 1), 0);
	for (int i = 0; i < 2; i++) {
		cr_expect_eq(ended.n_items, (size_t)MCP_ENDED_MAX);
		cr_expect(has(9, NOW_S, 1));
		cr_expect(has(1, NOW_S + 10, 1));
		cr_expect(has(1, NOW_S + 20, 5));
		cr_expect(has(1, NOW_S + 15, 99), "the cut has each session begun by then");
		cr_expect_not(has(1, NOW_S + 25, 99));
		cr_expect(has(1, NOW_S + 30, 3));
		cr_expect_not(has(1, NOW_S + 30, 99));
		cr_expect(has(2, NOW_S + 1, 5));
		cr_expect_not(has(2, NOW_S + 1, 99), "another holder pays nothing");
		/* The file has the same. */
		open_again();
	}
}

/* A cut is the oldest of its holder, and moves on with the next session that has to give way. */
Test(mcp_ended, moves_a_cut_on_until_no_holder_has_two)
{
	write_full();
	cr_assert(open_written());
	cr_expect_eq(add(9, NOW_S, 1), 0);
	cr_expect_eq(add(10, NOW_S, 1), 0);
	cr_expect_eq(add(11, NOW_S, 1), 0);
	open_again();
	cr_expect(has(1, NOW_S + 25, 99));
	cr_expect_not(has(1, NOW_S + 31, 99));
	cr_expect(has(2, NOW_S + 1, 99));
	cr_expect_not(has(2, NOW_S + 3, 99));
	cr_expect_eq(add(12, NOW_S, 1), -ENOSPC);
	cr_expect_not(has(12, NOW_S, 1));
	for (uint64_t holder = 9; holder <= 11; holder++)
		cr_expect(has(holder, NOW_S, 1));
	cr_expect_eq(ended.n_items, (size_t)MCP_ENDED_MAX);
}

/* A client that ends many sessions does not fill the log, too. */
Test(mcp_ended, says_a_few_times_that_the_disk_is_full)
{
	unsigned int n_lines = 0;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	cr_assert_eq(mcp_ended_open(&ended, scratch_folder), 0);
	cr_assert(full >= 0 && dup2(full, ended.fd) >= 0);
	close(full);
	logged_begin();
	for (uint64_t i = 0; i < 100; i++)
		cr_expect_eq(add(i, NOW_S, 1), 0);
	for (const char *log = logged_end(); (log = strstr(log, "counts again after a restart"));
		log++)
		n_lines++;
	cr_expect(n_lines > 0 && n_lines < 10, "%u", n_lines);
	cr_expect(has(99, NOW_S, 1));
}

/* Without memory a session has either ended or not: in memory and in the file alike. */
Test(mcp_ended, is_the_same_in_the_file_when_memory_is_short)
{
	write_head();
	write_entry(1, NOW_S, 3);
	scratch_write_bytes(MCP_ENDED_FILE, file.data, file.size);
	for (size_t n = 0; scarce_once_after(n); n++) {
		int r = mcp_ended_open(&ended, scratch_folder);

		for (uint64_t i = 0; r == 0 && i < 40; i++)
			r = add(2, NOW_S, 2 * i + 1);
		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "after %zu: %d", n, r);
		if (ended.n_items > 0)
			cr_expect_leq(HEAD_BYTES + ended.n_items * sizeof(*ended.items),
				file_bytes(), "after %zu", n);
		mcp_ended_close(&ended);
	}
	open_again();
	cr_expect_eq(ended.n_items, 41);
}
