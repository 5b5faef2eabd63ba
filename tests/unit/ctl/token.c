/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../scratch.h"
#include "answering.h"
#include "config/http_tokens.h"
#include "util/text/text.h"

static void set_up(void)
{
	scratch_set_up();
	setenv("TZ", "UTC", 1);
}

static void tear_down(void)
{
	answering_stop();
	scratch_tear_down();
}

TestSuite(ctl_token, .init = set_up, .fini = tear_down, .timeout = 60);

#define FILE_NAME "toolboxd/tokens.json"

static void start(const char *tools)
{
	static struct prepared messages[4];
	static char status[256];
	static char list[256];

	snprintf(status, sizeof(status), "{'folders':['%s']}", scratch_path("toolboxd"));
	snprintf(list, sizeof(list), "{'tools':%s}", tools);
	messages[0] = (struct prepared){"ovos.tools.status", status, NULL};
	messages[1] = (struct prepared){"ovos.tools.reload", "{}", NULL};
	messages[2] = (struct prepared){"ovos.tools.list", list, NULL};
	answering_start(messages);
}

static const char *text_of_file(void)
{
	static char text[4096];
	FILE *stream = fopen(scratch_path(FILE_NAME), "r");
	size_t size = stream ? fread(text, 1, sizeof(text) - 1, stream) : 0;

	if (stream)
		fclose(stream);
	text[size] = '\0';
	return text;
}

/* Make the token @line, and return the digest of its secret as the file has it. */
static const char *make(const char *line)
{
	static char digits[2 * HTTP_TOKEN_DIGEST_BYTES + 1];
	unsigned char digest[HTTP_TOKEN_DIGEST_BYTES];
	size_t size;

	cr_assert_eq(command_run(ctl_token, line), CTL_DONE, "%s", command_complaints);
	size = strcspn(command_output, "\n");
	cr_expect_eq(size, 64);
	http_token_digest(command_output, size, digest);
	text_write_hex(digest, sizeof(digest), digits);
	return digits;
}

Test(ctl_token, is_printed_once_and_kept_as_its_digest)
{
	struct stat status;
	const char *digest;
	char part[256];

	start("[{'toolbox_id':'a','name':'b'}]");
	digest = make("token new kitchen --profile kids");
	snprintf(part, sizeof(part),
		"[\n  "
		"{\"name\":\"kitchen\",\"token_sha256\":\"%s\",\"profile\":\"kids\",\"since\":\"2",
		digest);
	cr_expect_not_null(strstr(text_of_file(), part), "%s", text_of_file());
	cr_expect_null(strstr(text_of_file(), "admin"));
	cr_assert_eq(stat(scratch_path(FILE_NAME), &status), 0);
	cr_expect_eq(status.st_mode & 0777, 0600, "%o", status.st_mode);
	digest = make("token new me --admin");
	snprintf(part, sizeof(part),
		",\n  {\"name\":\"me\",\"token_sha256\":\"%s\",\"admin\":true,", digest);
	cr_expect_not_null(strstr(text_of_file(), part), "%s", text_of_file());
	cr_expect_str_empty(command_complaints);
}

Test(ctl_token, is_another_one_each_time)
{
	char first[65] = "";

	start("[]");
	make("token new a");
	memcpy(first, command_output, 64);
	make("token new b");
	cr_expect_neq(memcmp(command_output, first, 64), 0);
}

Test(ctl_token, warns_of_a_profile_that_offers_nothing)
{
	start("[]");
	make("token new a --profile kids");
	expect_complaint("there is no profile 'kids', or it has no tool that is offered: until "
			 "there is, the token may use nothing");
}

Test(ctl_token, is_listed_without_its_secret)
{
	start("[]");
	expect_command(ctl_token, "token list --json", CTL_DONE, "[]\n", "");
	cr_expect_eq(command_run(ctl_token, "token list"), CTL_DONE);
	expect_complaint("no token is in ");
	scratch_write_json(FILE_NAME,
		"[{'name':'a','token_sha256':'"
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',"
		"'profile':'kids','since':'2020-03-01T10:00:00Z'},"
		"{'name':'b','token_sha256':'"
		"ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff','admin':true}]");
	expect_command(ctl_token, "token list", CTL_DONE,
		"TOKEN  PROFILE  ADMIN  SINCE\n"
		"a      kids     no     2020-03-01 10:00\n"
		"b               yes\n",
		"");
	expect_command(ctl_token, "token list --json", CTL_DONE,
		"[{\"name\":\"a\",\"profile\":\"kids\",\"admin\":false,"
		"\"since\":\"2020-03-01T10:00:00Z\"},"
		"{\"name\":\"b\",\"profile\":null,\"admin\":true,\"since\":null}]\n",
		"");
}

Test(ctl_token, is_revoked_and_others_stay)
{
	start("[]");
	make("token new a");
	make("token new b");
	make("token new c");
	expect_command(ctl_token, "token revoke b", CTL_DONE, "", "");
	cr_expect_not_null(strstr(text_of_file(), "\"name\":\"a\""));
	cr_expect_null(strstr(text_of_file(), "\"name\":\"b\""));
	cr_expect_not_null(strstr(text_of_file(), "\"name\":\"c\""));
	cr_expect_eq(command_run(ctl_token, "token revoke b"), CTL_ERROR);
	expect_complaint("no token b is in ");
	cr_expect_eq(command_run(ctl_token, "token new a"), CTL_ERROR);
	expect_complaint("there is a token a; type: toolboxctl token revoke a");
}

Test(ctl_token, replaces_no_file_that_it_cannot_read)
{
	static const char *const wrong[] = {
		"{", "{}", "5", "[5]", "[{'name':'a'}]", "[{'name':'a b','token_sha256':'00'}]"};

	start("[]");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cleanup_free char *json = quoted(wrong[i]);

		scratch_write(FILE_NAME, json);
		cr_expect_eq(command_run(ctl_token, "token new x"), CTL_ERROR, "%s", wrong[i]);
		cr_expect_str_empty(command_output, "a secret that is not kept");
		expect_complaint("tokens.json cannot be used: ");
		cr_expect_str_eq(text_of_file(), json);
	}
}

Test(ctl_token, refuses_words_that_it_does_not_know)
{
	static const char usage[] = "expected: token new NAME | list | revoke NAME\n";
	static const char for_new[] = "--profile and --admin are for token new\n";
	static const struct {
		const char *line;
		const char *complaint;
	} cases[] = {
		{"token make x", usage},
		{"token list x", usage},
		{"token new", usage},
		{"token new a b", usage},
		{"token revoke", usage},
		{"token list --admin", for_new},
		{"token revoke a --profile x", for_new},
		{"token new a/b",
			"'a/b' is no name of a token: 1 to 64 letters, digits, '_' and '-'\n"},
		{"token new ", "'' is no name of a token: 1 to 64 letters, digits, '_' and '-'\n"},
	};

	start("[]");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_command(ctl_token, cases[i].line, CTL_USAGE, "", cases[i].complaint);
	cr_expect_str_empty(answering_requests());
}
