/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/audit_file.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "../scratch.h"
#include "util/cleanup.h"

#define NAME "audit.log"

static struct audit_file file;

static char *text_of(const char *name)
{
	static char text[8192];
	FILE *stream = fopen(scratch_path(name), "r");
	size_t size = stream ? fread(text, 1, sizeof(text) - 1, stream) : 0;

	cr_assert(stream, "%s", name);
	fclose(stream);
	text[size] = '\0';
	return text;
}

/* Append {"time":"TIME","prev":…}. */
static int append(const char *time)
{
	char line[64];

	snprintf(line, sizeof(line), AUDIT_LINE_START "%s\",", time);
	return audit_file_append(&file, line, strlen(line), false);
}

/* The line of append(), after one with the text @before. */
static const char *chained(const char *time, const char *before)
{
	static char lines[4][256];
	static unsigned int used;
	char *line = lines[used++ % 4];
	struct audit_hash hash = {0};

	if (before)
		audit_hash_line(before, strcspn(before, "\n"), &hash);
	snprintf(line, sizeof(lines[0]), AUDIT_LINE_START "%s\",\"prev\":\"%s\"}\n", time,
		hash.text);
	return line;
}

static void expect_lines(const char *name, const char *first, const char *second)
{
	char expected[1024];

	snprintf(expected, sizeof(expected), "%s%s", first, second);
	cr_expect_str_eq(text_of(name), expected);
}

static void use(uint64_t max_bytes)
{
	audit_file_set(&file, strdup(scratch_path(NAME)), max_bytes);
}

static void set_up(void)
{
	scratch_set_up();
	file = (struct audit_file){.fd = -1};
	use(1 << 20);
}

static void tear_down(void)
{
	audit_file_deinit(&file);
	scratch_tear_down();
}

TestSuite(audit_file, .init = set_up, .fini = tear_down);

Test(audit_chain, has_the_sha256_of_a_line)
{
	struct audit_hash hash;

	audit_hash_line("abc", 3, &hash);
	cr_expect_str_eq(
		hash.text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

Test(audit_file, has_the_hash_of_the_line_before_in_each_line)
{
	const char *first = chained("1", NULL);
	struct stat status;

	cr_assert_eq(append("1"), 0);
	cr_assert_eq(append("2"), 0);
	expect_lines(NAME, first, chained("2", first));
	cr_assert_eq(stat(scratch_path(NAME), &status), 0);
	cr_expect_eq(status.st_mode & 0777, 0600u);
}

Test(audit_file, goes_on_with_the_chain_of_an_earlier_daemon)
{
	const char *first = chained("1", NULL);

	cr_assert_eq(append("1"), 0);
	audit_file_deinit(&file);
	use(1 << 20);
	cr_assert_eq(append("2"), 0);
	expect_lines(NAME, first, chained("2", first));
}

Test(audit_file, becomes_the_old_one_when_it_is_large)
{
	const char *first = chained("1", NULL);
	const char *second = chained("2", first);

	use(strlen(first) + strlen(second) - 1);
	cr_assert_eq(append("1"), 0);
	cr_assert_eq(append("2"), 0);
	expect_lines(NAME ".1", first, "");
	expect_lines(NAME, second, "");
}

Test(audit_file, takes_a_line_that_is_longer_than_a_file_may_be)
{
	const char *first = chained("1", NULL);
	const char *second = chained("2", first);

	use(10);
	cr_assert_eq(append("1"), 0);
	cr_assert_eq(append("2"), 0);
	expect_lines(NAME, second, "");
	expect_lines(NAME ".1", first, "");
}

Test(audit_file, that_cannot_be_renamed_grows)
{
	const char *first = chained("1", NULL);

	cr_assert_eq(mkdir(scratch_path(NAME ".1"), 0700), 0);
	use(10);
	cr_assert_eq(append("1"), 0);
	cr_assert_eq(append("2"), 0);
	cr_expect_eq(file.rotation_error, -EISDIR);
	expect_lines(NAME, first, chained("2", first));
}

/* A daemon that ends after the rename has no file. */
Test(audit_file, goes_on_with_the_chain_of_the_old_file)
{
	const char *first = chained("1", NULL);

	cr_assert_eq(append("1"), 0);
	audit_file_deinit(&file);
	rename(scratch_path(NAME), scratch_path(NAME ".1"));
	use(1 << 20);
	cr_assert_eq(append("2"), 0);
	expect_lines(NAME, chained("2", first), "");
}

Test(audit_file, that_was_moved_away_is_followed_by_a_new_one)
{
	const char *first = chained("1", NULL);
	const char *second = chained("2", first);

	cr_assert_eq(append("1"), 0);
	rename(scratch_path(NAME), scratch_path("moved"));
	cr_assert_eq(append("2"), 0);
	audit_file_close(&file);
	cr_assert_eq(append("3"), 0);
	expect_lines("moved", first, second);
	expect_lines(NAME, chained("3", second), "");
}

Test(audit_file, loses_a_torn_line_and_goes_on_before_it)
{
	static const char torn[] = "{\"time\":\"2\",\"pre";
	const char *first = chained("1", NULL);
	char text[512];

	snprintf(text, sizeof(text), "%s%s", first, torn);
	scratch_write(NAME, text);
	cr_assert_eq(append("3"), 0);
	cr_expect_eq(file.torn_bytes, strlen(torn));
	expect_lines(NAME, first, chained("3", first));
}

Test(audit_file, that_has_only_a_torn_line_begins)
{
	scratch_write(NAME, "{\"ti");
	cr_assert_eq(append("1"), 0);
	expect_lines(NAME, chained("1", NULL), "");
}

/* The hash is made of parts where a line is longer than one. */
Test(audit_file, finds_the_last_line_however_long_it_is)
{
	struct audit_hash expected;
	cleanup_free char *text = malloc(300000);

	memset(text, 'x', 300000);
	memcpy(text, "{\"time\":\"1\"\n", 12);
	text[199999] = '\n';
	scratch_write_bytes(NAME, text, 200000);
	cr_assert_eq(audit_file_open(&file), 0);
	audit_hash_line(text + 12, 200000 - 13, &expected);
	cr_expect_str_eq(file.last.text, expected.text);
}

/* A mistaken path must not cost a photo its last bytes. */
Test(audit_file, that_is_no_audit_log_stays_as_it_is)
{
	scratch_write(NAME, "a letter\nand its end");
	cr_expect_eq(append("1"), -EINVAL);
	cr_expect_str_eq(text_of(NAME), "a letter\nand its end");
}

Test(audit_file, keeps_nothing_of_a_line_that_the_disk_does_not_take)
{
	struct rlimit limit = {.rlim_cur = 10, .rlim_max = RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_expect_eq(append("1"), -EFBIG);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	cr_expect_str_eq(text_of(NAME), "");
	cr_expect_eq(append("2"), 0);
	expect_lines(NAME, chained("2", NULL), "");
}

Test(audit_file, may_be_a_device)
{
	audit_file_set(&file, strdup("/dev/full"), 10);
	cr_expect_eq(append("1"), -ENOSPC);
	audit_file_set(&file, strdup("/dev/null"), 10);
	cr_expect_eq(append("1"), 0);
	cr_expect_eq(append("2"), 0);
	cr_expect_eq(audit_file_sync(&file), 0);
}

Test(audit_file, that_cannot_be_opened_is_tried_again)
{
	audit_file_set(&file, strdup(scratch_path("none/" NAME)), 1 << 20);
	cr_expect_eq(append("1"), -ENOENT);
	mkdir(scratch_path("none"), 0700);
	cr_expect_eq(append("2"), 0);
	expect_lines("none/" NAME, chained("2", NULL), "");
}

/* Append a line for which a caller waits. */
static int append_required(const char *time)
{
	char line[64];

	snprintf(line, sizeof(line), AUDIT_LINE_START "%s\",", time);
	return audit_file_append(&file, line, strlen(line), true);
}

Test(audit_file, that_is_removed_is_begun_anew_and_goes_on_with_the_chain)
{
	const char *first = chained("1", NULL);

	cr_assert_eq(append("1"), 0);
	unlink(scratch_path(NAME));
	cr_expect_eq(append("2"), 0);
	cr_expect(file.is_replaced);
	expect_lines(NAME, chained("2", first), "");
}

Test(audit_file, that_is_removed_or_changed_refuses_a_required_line)
{
	cr_assert_eq(append("1"), 0);
	unlink(scratch_path(NAME));
	cr_expect_eq(append_required("2"), -ESTALE);
	cr_expect_eq(append_required("3"), 0);
	cr_assert_eq(truncate(scratch_path(NAME), 5), 0);
	cr_expect_eq(append_required("4"), -ESTALE);
	cr_expect_eq(append_required("5"), 0);
	cr_expect_not(file.is_replaced);
}

Test(audit_file, that_is_no_regular_file_refuses_a_required_line)
{
	audit_file_set(&file, strdup("/dev/null"), 10);
	cr_expect_eq(append_required("1"), -ENOTSUP);
	cr_expect_eq(append("1"), 0);
}
