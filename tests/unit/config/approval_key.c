/* SPDX-License-Identifier: Apache-2.0 */
#include "config/approval_key.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_fixture.h"

#define DIGITS "000102030405060708090a0b0c0d0e0fF0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

/* Return the status of reading a file with @text and @mode. */
static int read_file(const char *text, mode_t mode, struct approval_key *ret_key)
{
	char path[] = "/tmp/unit-key-XXXXXX";
	int fd = mkstemp(path);
	int r;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	cr_assert_eq(fchmod(fd, mode), 0);
	r = approval_key_read(path, ret_key);
	close(fd);
	unlink(path);
	return r;
}

Test(approval_key, is_the_bytes_that_the_digits_are_written_for)
{
	struct approval_key key = {0};

	cr_assert_eq(read_file(DIGITS "\n", 0600, &key), 0);
	cr_assert_eq(key.state, APPROVAL_KEY_READY);
	cr_assert_null(key.problem);
	cr_assert_eq(memcmp(key.bytes, "\x00\x01\x02\x03", 4), 0);
	cr_assert_eq(memcmp(key.bytes + 15, "\x0f\xf0\xf1", 3), 0);
	cr_assert_eq(read_file(DIGITS, 0400, &key), 0);
}

Test(approval_key, is_unusable_when_it_is_open_to_the_group_or_others)
{
	static const mode_t modes[] = {0640, 0604, 0660, 0620, 0601};
	struct approval_key key = {0};

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		cr_expect_eq(read_file(DIGITS, modes[i], &key), -EPERM, "%o", modes[i]);
		cr_expect_eq(key.state, APPROVAL_KEY_UNUSABLE);
		cr_expect(strstr(key.problem, "0600"));
	}
}

Test(approval_key, is_unusable_with_another_text_or_without_a_file)
{
	static const char *const texts[] = {
		"", "\n", "00", DIGITS "0", DIGITS "\n\n", " " DIGITS, "x" DIGITS};
	struct approval_key key = {0};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		cr_expect_eq(read_file(texts[i], 0600, &key), -EINVAL, "%zu", i);
	cr_expect_eq(approval_key_read("/nowhere/key", &key), -ENOENT);
	cr_expect_eq(key.state, APPROVAL_KEY_UNUSABLE);
	cr_expect_eq(approval_key_read("/tmp", &key), -EINVAL);
}

Test(approval_key, may_be_a_credential_that_the_group_can_read)
{
	struct approval_key key = {0};

	setenv("CREDENTIALS_DIRECTORY", "/tmp", 1);
	cr_expect_eq(read_file(DIGITS, 0440, &key), 0);
	cr_expect_eq(read_file(DIGITS, 0460, &key), -EPERM);
	cr_expect_eq(read_file(DIGITS, 0444, &key), -EPERM);
	setenv("CREDENTIALS_DIRECTORY", "/tmp/unit", 1);
	cr_expect_eq(read_file(DIGITS, 0440, &key), -EPERM);
}

Test(config_approval_key, that_is_unusable_is_an_error_and_closes_nothing, .init = config_set_up,
	.fini = config_tear_down)
{
	write_user_file("{\"toolboxd\": {\"approval\": {\"key_file\": \"/nowhere/key\","
			" \"answer_sources\": []}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_null(config.closed);
	cr_expect_eq(config.approval_key.state, APPROVAL_KEY_UNUSABLE);
	cr_expect(config.has_answer_sources);
	expect_told(
		"error mycroft.conf:1 /toolboxd/approval/key_file: must name a file that can be "
		"read, not \"/nowhere/key\"; nobody can answer");
}
