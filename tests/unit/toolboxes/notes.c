/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../scratch.h"
#include "notes.h"
#include "scarce.h"
#include "util/cleanup.h"

static char *file;

static void set_up(void)
{
	scratch_set_up();
	file = strdup(scratch_path("memory.md"));
}

static void tear_down(void)
{
	free(file);
	scratch_tear_down();
}

TestSuite(notes, .init = set_up, .fini = tear_down, .timeout = 60);

/* ── a line ──────────────────────────────────────────────────────────────────────────────────── */

static void expect_line(const char *source, const char *note, size_t size, const char *line)
{
	struct text text = {0};

	note_write(&text, 1764168721, source, note, size);
	cr_expect_str_eq(text_string(&text), line);
	text_free(&text);
}

Test(notes, have_a_date_and_a_source)
{
	expect_line("me", "Ada", 3, "- 2025-11-26T14:52:01Z [me] Ada\n");
	expect_line("", "a [b] é", 8, "- 2025-11-26T14:52:01Z [] a [b] é\n");
}

Test(notes, are_one_line)
{
	expect_line("me", "a\nb\r\nc\rd\te\vf\0g\x7f", 15,
		"- 2025-11-26T14:52:01Z [me] a b c d e f g \n");
	expect_line("me", "a\u2028b\u2029c\xC2\x85\x64\u00a0e", 15,
		"- 2025-11-26T14:52:01Z [me] a b c d\u00a0e\n");
}

Test(notes, take_no_source_for_more_than_it_is)
{
	char line[256];
	char many[100];

	expect_line("a] [b\nc", "x", 1, "- 2025-11-26T14:52:01Z [a   b c] x\n");
	memset(many, 's', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	snprintf(line, sizeof(line), "- 2025-11-26T14:52:01Z [%.64s…] x\n", many);
	expect_line(many, "x", 1, line);
}

/* ── the file ────────────────────────────────────────────────────────────────────────────────── */

static bool append(const char *line, const char *words)
{
	struct text text = {0};
	struct text why = {0};
	bool is_good;

	text_put(&text, line);
	is_good = notes_append(file, &text, 20, &why);
	cr_expect(strstr(text_string(&why), words), "%s", text_string(&why));
	text_free(&text);
	text_free(&why);
	return is_good;
}

static void expect_file(const char *contents)
{
	struct text text = {0};
	struct text why = {0};
	uint64_t size = 0;

	cr_expect_eq(notes_read(file, &text, &size, &why), NOTES_OK, "%s", text_string(&why));
	cr_expect_str_eq(text_string(&text), contents);
	cr_expect_eq(size, strlen(contents));
	text_free(&text);
	text_free(&why);
}

static enum notes_status read_status(const char *words)
{
	struct text text = {0};
	struct text why = {0};
	uint64_t size = 0;
	enum notes_status status = notes_read(file, &text, &size, &why);

	cr_expect(strstr(text_string(&why), words), "%s", text_string(&why));
	text_free(&text);
	text_free(&why);
	return status;
}

Test(notes, are_added_at_the_end)
{
	struct stat status;

	cr_expect_eq(read_status("No such file"), NOTES_ABSENT);
	cr_assert(append("a\n", ""));
	cr_assert(append("b\n", ""));
	expect_file("a\nb\n");
	cr_assert_eq(stat(file, &status), 0);
	cr_expect_eq(status.st_mode & 07777, 0600);
}

Test(notes, begin_a_line_after_half_a_one)
{
	scratch_write("memory.md", "half");
	cr_assert(append("a\n", ""));
	expect_file("half\na\n");
	scratch_write("memory.md", "");
	cr_expect_eq(read_status(""), NOTES_ABSENT);
	cr_assert(append("a\n", ""));
	expect_file("a\n");
}

Test(notes, are_refused_when_the_file_is_full)
{
	cleanup_free char *many = malloc(NOTES_BYTES_MAX + 1);

	cr_assert(many);
	memset(many, 'x', NOTES_BYTES_MAX);
	many[NOTES_BYTES_MAX - 4] = '\n';
	many[NOTES_BYTES_MAX - 3] = '\0';
	scratch_write("memory.md", many);
	cr_expect_not(append("abc\n", "is full"));
	cr_expect(append("a\n", ""));
	cr_expect_not(append("b\n", "Ask the user which notes to delete"));
}

Test(notes, of_a_longer_file_are_read_from_its_beginning)
{
	struct text text = {0};
	struct text why = {0};
	uint64_t size = 0;

	scratch_write("memory.md", "first\n");
	cr_assert_eq(truncate(file, NOTES_BYTES_MAX + 100), 0);
	cr_assert_eq(notes_read(file, &text, &size, &why), NOTES_OK);
	cr_expect_eq(text.size, NOTES_BYTES_MAX);
	cr_expect_eq(size, NOTES_BYTES_MAX + 100);
	text_free(&text);
	text_free(&why);
}

/* A file may have a limit as a disk has one. */
Test(notes, that_do_not_fit_on_the_disk_leave_the_file_as_it_was)
{
	const struct rlimit limit = {10, 10};

	signal(SIGXFSZ, SIG_IGN);
	cr_assert(append("abcd\n", ""));
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_expect_not(append("0123456789\n", "the note was not written: File too large"));
	expect_file("abcd\n");
	cr_expect(append("1234\n", ""));
	expect_file("abcd\n1234\n");
}

Test(notes, wait_for_another_writer_and_not_for_ever)
{
	int fd;

	cr_assert(append("a\n", ""));
	fd = open(file, O_RDONLY);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_expect_not(append("b\n", "it is locked by another process"));
	close(fd);
	cr_expect(append("b\n", ""));
	expect_file("a\nb\n");
}

Test(notes, are_in_a_regular_file)
{
	cr_assert_eq(mkfifo(file, 0600), 0);
	cr_expect_not(append("a\n", "is no regular file"));
	cr_expect_eq(read_status("is no regular file"), NOTES_FAILED);
	unlink(file);
	cr_assert_eq(mkdir(file, 0700), 0);
	cr_expect_not(append("a\n", "Is a directory"));
	cr_expect_eq(read_status("is no regular file"), NOTES_FAILED);
}

Test(notes, are_whole_or_fail_without_memory)
{
	size_t n = 0;

	for (; scarce_once_after(n); n++) {
		struct text line = {0};
		struct text why = {0};
		bool is_good;

		unlink(file);
		note_write(&line, 0, "me", "note", 4);
		is_good = notes_append(file, &line, 0, &why);
		cr_expect(is_good || scarce_has_failed(), "%zu: %s", n, text_string(&why));
		scarce_has_failed();
		if (is_good)
			expect_file("- 1970-01-01T00:00:00Z [me] note\n");
		else
			cr_expect_eq(read_status(""), NOTES_ABSENT);
		text_free(&line);
		text_free(&why);
	}
	cr_expect_gt(n, 1);
}
