/* SPDX-License-Identifier: Apache-2.0 */
#include "config/token.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Return the status of reading a file with @text and @mode. */
static int read_file(const char *text, mode_t mode, char *ret_token)
{
	char path[] = "/tmp/unit-token-XXXXXX";
	int fd = mkstemp(path);
	int r;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	cr_assert_eq(fchmod(fd, mode), 0);
	r = config_token_read(path, ret_token);
	close(fd);
	unlink(path);
	return r;
}

Test(config_token, is_the_one_line_of_a_file_that_others_cannot_read)
{
	char token[BUS_TOKEN_BYTES];

	cr_assert_eq(read_file("0123456789abc-._~\n", 0600, token), 0);
	cr_assert_str_eq(token, "0123456789abc-._~");
	cr_assert_eq(read_file("0123456789ABCDEF", 0440, token), 0);
	cr_assert_str_eq(token, "0123456789ABCDEF");
}

Test(config_token, is_none_of_a_file_that_is_open_to_others)
{
	char token[BUS_TOKEN_BYTES];

	cr_assert_eq(read_file("0123456789abcdef", 0644, token), -EPERM);
	cr_assert_eq(read_file("0123456789abcdef", 0601, token), -EPERM);
	cr_assert_eq(read_file("0123456789abcdef", 0620, token), -EPERM);
}

Test(config_token, is_none_of_another_text)
{
	static const char *const texts[] = {"", "\n", "0123456789abcde", "0123456789abcdef\n\n",
		"0123456789abcdef ", "0123456789/abcdef", "0123456789abcde\xC3\xA9"};
	char token[BUS_TOKEN_BYTES];
	char text[BUS_TOKEN_BYTES + 8];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		cr_expect_eq(read_file(texts[i], 0600, token), -EINVAL, "%zu", i);
	memset(text, 'x', sizeof(text));
	text[BUS_TOKEN_BYTES - 1] = '\0';
	cr_expect_eq(read_file(text, 0600, token), 0, "256 bytes");
	text[BUS_TOKEN_BYTES - 1] = 'x';
	text[BUS_TOKEN_BYTES] = '\0';
	cr_expect_eq(read_file(text, 0600, token), -EINVAL, "257 bytes");
	cr_expect_eq(config_token_read("/nonexistent/token", token), -ENOENT);
	cr_expect_eq(config_token_read("/dev/null", token), -EINVAL);
	cr_expect_eq(config_token_read("/tmp", token), -EINVAL);
}
