/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/mcp/lines.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

static struct lines lines;
static struct buffer seen; /* the lines that were taken, each with '|' after it; '?': too long */

static void take_line(void *data, const char *text, size_t size)
{
	(void)data;
	if (text)
		buffer_append(&seen, text, size < 8 ? size : 8);
	buffer_append_char(&seen, text ? '|' : '?');
}

static void feed(int fd, int in, const char *text, size_t size)
{
	while (size > 0) {
		size_t piece = size < 4096 ? size : 4096;

		cr_assert_eq(write(in, text, piece), (ssize_t)piece);
		cr_assert(lines_read(&lines, fd, take_line, NULL));
		text += piece;
		size -= piece;
	}
}

static void expect_seen(const char *wanted)
{
	cr_assert_not_null(buffer_terminate(&seen));
	cr_expect_str_eq(seen.data, wanted);
	buffer_deinit(&seen);
	buffer_deinit(&lines.bytes);
}

Test(mcp_lines, are_taken_whole_however_they_come)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	feed(ends[0], ends[1], "{\"a\"", 4);
	feed(ends[0], ends[1], ":1}\n{}\n \r\n\n[", 12);
	feed(ends[0], ends[1], "]\n{\"b\"}", 7);
	close(ends[1]);
	cr_expect_not(lines_read(&lines, ends[0], take_line, NULL));
	close(ends[0]);
	expect_seen("{\"a\":1}|{}|[]|{\"b\"}|");
}

Test(mcp_lines, that_are_too_long_are_skipped_and_take_no_memory)
{
	const size_t size = LINES_BYTES_MAX + 100;
	cleanup_free char *long_line = malloc(size);
	int ends[2];

	cr_assert_not_null(long_line);
	memset(long_line, 'x', size);
	cr_assert_eq(pipe(ends), 0);
	feed(ends[0], ends[1], long_line, LINES_BYTES_MAX);
	feed(ends[0], ends[1], "\na\n", 3);
	feed(ends[0], ends[1], long_line, size);
	cr_expect_eq(lines.bytes.capacity, 0);
	feed(ends[0], ends[1], long_line, size);
	feed(ends[0], ends[1], "\nb\n", 3);
	close(ends[0]);
	close(ends[1]);
	expect_seen("xxxxxxxx|a|?b|");
}

/* Return a file that has @text, open for reading from its beginning. */
static int open_text(const char *text, size_t size)
{
	char path[] = "/tmp/unit-ctl-XXXXXX";
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	unlink(path);
	cr_assert_eq(write(fd, text, size), (ssize_t)size);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

Test(mcp_lines, of_a_file_are_taken_one_by_one_and_the_last_may_have_no_end)
{
	int fd = open_text("{\"a\":1}\n\n{}\n[]", 14);

	cr_expect_eq(lines_next(&lines, fd, take_line, NULL), 1);
	cr_expect_str_eq(buffer_terminate(&seen), "{\"a\":1}|");
	for (int i = 0; i < 3; i++)
		cr_expect_eq(lines_next(&lines, fd, take_line, NULL), 1);
	cr_expect_eq(lines_next(&lines, fd, take_line, NULL), 0);
	close(fd);
	expect_seen("{\"a\":1}|{}|[]|");
}

Test(mcp_lines, of_a_file_that_are_too_long_are_skipped)
{
	const size_t size = LINES_BYTES_MAX + 100;
	cleanup_free char *text = malloc(2 * size);
	int fd;

	cr_assert_not_null(text);
	memset(text, 'x', 2 * size);
	memcpy(text + size, "\nb\n", 3);
	fd = open_text(text, 2 * size);
	while (lines_next(&lines, fd, take_line, NULL) == 1)
		continue;
	cr_expect_eq(lines.bytes.capacity, 0);
	close(fd);
	expect_seen("?b|?");
}

Test(mcp_lines, of_what_cannot_be_read_are_an_error)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY);

	cr_expect_eq(lines_next(&lines, fd, take_line, NULL), -EISDIR);
	close(fd);
	expect_seen("");
}

Test(mcp_lines, are_written_with_their_end)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	char text[8] = "";
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	buffer_append_string(&line, "{}");
	cr_expect_eq(lines_write(ends[1], &line), 0);
	cr_expect_eq(line.size, 0);
	cr_expect_eq(read(ends[0], text, sizeof(text)), 3);
	cr_expect_str_eq(text, "{}\n");
	close(ends[0]);
	close(ends[1]);
}
