/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/new/given.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../scratch.h"
#include "answering.h"
#include "util/array.h"
#include "util/cleanup.h"

static void set_up(void)
{
	scratch_set_up();
	setenv("XDG_CONFIG_HOME", scratch_folder, 1);
}

TestSuite(ctl_given, .init = set_up, .fini = scratch_tear_down, .timeout = 20);

/* Options with @variable for a program, or with @header for a server of HTTP. */
static struct ctl_options given(const char **variable, const char **header)
{
	return (struct ctl_options){.variables = variable,
		.n_variables = variable ? 1 : 0,
		.headers = header,
		.n_headers = header ? 1 : 0,
		.url = (char *)(header ? "http://host" : NULL)};
}

/* Expect what the manifest has for @text, a variable or a header, with ' in place of ". */
static void expect_written(const char *text, bool is_header, bool is_trial, const char *expected)
{
	const char *items[] = {text};
	struct ctl_options options = given(is_header ? NULL : items, is_header ? items : NULL);
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer wanted = {0};

	new_given_write("id", &options, is_trial, &out);
	cr_assert(buffer_terminate(&out));
	for (char *at = out.data; (at = strchr(at, '"'));)
		*at = '\'';
	buffer_printf(&wanted, ",\n    '%s': {%s}", is_header ? "headers" : "env", expected);
	cr_expect_str_eq(out.data, buffer_terminate(&wanted), "%s: %s", text, out.data);
}

Test(ctl_given, is_in_the_manifest_unless_it_is_a_secret)
{
	static const struct {
		const char *text;
		bool is_header;
		const char *expected;
	} cases[] = {
		{"NAME", false, "'NAME': '${env:NAME}'"},
		{"NAME=", false, "'NAME': ''"},
		{"LOG_LEVEL=debug", false, "'LOG_LEVEL': 'debug'"},
		{"A=b=c", false, "'A': 'b=c'"},
		{"API_KEY=${file:/k}", false, "'API_KEY': '${file:/k}'"},
		{"API_KEY=", false, "'API_KEY': ''"},
		{"A=two words 1", false, "'A': 'two words 1'"},
		/* A word of letters and digits is a key from 16 characters on. */
		{"A=abcdefghijklmn1", false, "'A': 'abcdefghijklmn1'"},
		{"A=abcdefghijklmnopqrst", false, "'A': 'abcdefghijklmnopqrst'"},
		{"A=12345678901234567890", false, "'A': '12345678901234567890'"},
		{"A=abcdefghijklmn1/", false, "'A': 'abcdefghijklmn1/'"},
		{"A=http://host/@b?c@d", false, "'A': 'http://host/@b?c@d'"},
		{"A=user@host", false, "'A': 'user@host'"},
		{"Accept:  text/html", true, "'Accept': 'text/html'"},
		{"Accept:text", true, "'Accept': 'text'"},
		{"X-A: b:c", true, "'X-A': 'b:c'"},
	};
	static const char *const secrets[] = {"API_KEY=x", "DB_PASS=x", "db_pwd=x", "PASS=x",
		"A=abcdefghijklmno1", "A=abc-def_ghi+j=.1", "A=http://user@host/",
		"A=pg://u:p@host"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_written(cases[i].text, cases[i].is_header, i % 2, cases[i].expected);
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
		int size = (int)strcspn(secrets[i], "=");
		char expected[256];

		snprintf(expected, sizeof(expected),
			"'%.*s': '${file:%s/toolboxd/secrets/id.%.*s}'", size, secrets[i],
			scratch_folder, size, secrets[i]);
		expect_written(secrets[i], false, false, expected);
		snprintf(expected, sizeof(expected), "'%.*s': '${env:TOOLBOXCTL_NEW_0}'", size,
			secrets[i]);
		expect_written(secrets[i], false, true, expected);
	}
}

Test(ctl_given, has_all_of_it_in_order)
{
	const char *variables[] = {"A=1", "TOKEN=s", "B"};
	struct ctl_options options = {.variables = variables, .n_variables = 3};
	struct ctl_options none = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	new_given_write("id", &none, false, &out);
	cr_expect_eq(out.size, 0);
	new_given_write("id", &options, true, &out);
	cr_expect_str_eq(buffer_terminate(&out),
		",\n    \"env\": {\"A\": \"1\", \"TOKEN\": \"${env:TOOLBOXCTL_NEW_1}\", "
		"\"B\": \"${env:B}\"}");
	cr_expect_eq(new_given_lend(&options), 0);
	cr_expect_str_eq(getenv("TOOLBOXCTL_NEW_1"), "s");
	cr_expect_null(getenv("TOOLBOXCTL_NEW_0"), "no secret");
	cr_expect_null(getenv("TOOLBOXCTL_NEW_2"));
}

/* Check @text, and expect the status and the complaint. */
static void expect_checked(const char *text, bool is_header, int status, const char *complaint)
{
	const char *items[] = {text};
	struct ctl_options options = given(is_header ? NULL : items, is_header ? items : NULL);

	capture_begin();
	cr_expect_eq(new_given_check("id", &options), status, "%s", text);
	capture_end();
	cr_expect_str_eq(command_complaints, complaint, "%s", text);
}

Test(ctl_given, has_a_name_of_letters_and_digits)
{
#define ENV(name)                                                                                  \
	"toolboxctl: --env must be NAME=VALUE, or NAME for a variable of toolboxd, with letters, " \
	"digits, '_' "                                                                             \
	"and '-' in NAME, not '" name "'\n"
#define HEADER(name)                                                                               \
	"toolboxctl: --header must be 'NAME: VALUE', with letters, digits, '_' and '-' in NAME, "  \
	"not '" name "'\n"
	expect_checked("A-b_1=x y", false, CTL_DONE, "");
	expect_checked("A", false, CTL_DONE, "");
	expect_checked("=secret", false, CTL_USAGE, ENV(""));
	expect_checked("", false, CTL_USAGE, ENV(""));
	expect_checked("A B=secret", false, CTL_USAGE, ENV("A B"));
	expect_checked("A.B=secret", false, CTL_USAGE, ENV("A.B"));
	expect_checked(".A=secret", false, CTL_USAGE, ENV(".A"));
	expect_checked("A-b_1: x", true, CTL_DONE, "");
	expect_checked("A", true, CTL_USAGE, HEADER("A"));
	expect_checked(": secret", true, CTL_USAGE, HEADER(""));
	expect_checked("A b: secret", true, CTL_USAGE, HEADER("A b"));
}

Test(ctl_given, goes_with_its_kind_of_server)
{
	const char *items[] = {"A: b"};
	struct ctl_options options = given(NULL, items);

	options.url = NULL;
	capture_begin();
	cr_expect_eq(new_given_check("id", &options), CTL_USAGE);
	capture_end();
	cr_expect_str_eq(
		command_complaints, "toolboxctl: --env is for --command, and --header for --url\n");
	options = given(items, NULL);
	options.url = (char *)"http://host";
	capture_begin();
	cr_expect_eq(new_given_check("id", &options), CTL_USAGE);
	capture_end();
	cr_expect_str_eq(
		command_complaints, "toolboxctl: --env is for --command, and --header for --url\n");
}

Test(ctl_given, keeps_secrets_for_their_owner_alone)
{
	const char *variables[] = {"A=1", "TOKEN=one", "KEY=two"};
	struct ctl_options options = {.variables = variables, .n_variables = 3};
	cleanup_free char *folder = NULL;
	cleanup_free char *none = NULL;
	char complaint[512];
	struct stat status;
	char text[8] = "";
	FILE *file;

	cr_assert_eq(new_given_keep("id", &options, &folder), 0);
	cr_expect_str_eq(folder, scratch_path("toolboxd/secrets"));
	cr_assert_eq(stat(folder, &status), 0);
	cr_expect_eq(status.st_mode & 0777, 0700);
	cr_assert_eq(stat(scratch_path("toolboxd/secrets/id.TOKEN"), &status), 0);
	cr_expect_eq(status.st_mode & 0777, 0600);
	file = fopen(scratch_path("toolboxd/secrets/id.KEY"), "r");
	cr_assert(file);
	cr_expect_eq(fread(text, 1, sizeof(text), file), 3);
	fclose(file);
	cr_expect_eq(memcmp(text, "two", 3), 0);
	cr_expect_eq(access(scratch_path("toolboxd/secrets/id.A"), F_OK), -1);
	/* The same value may be there, and no other. */
	expect_checked("TOKEN=one", false, CTL_DONE, "");
	snprintf(complaint, sizeof(complaint),
		"toolboxctl: '%s' is there already, with another value: remove it, or choose "
		"another id\n",
		scratch_path("toolboxd/secrets/id.TOKEN"));
	expect_checked("TOKEN=other", false, CTL_ERROR, complaint);
	expect_checked("TOKEN=", false, CTL_DONE, "");
	options.n_variables = 1;
	cr_expect_eq(new_given_keep("id", &options, &none), 0);
	cr_expect_null(none, "there is no secret");
}

Test(ctl_given, keeps_no_secret_where_no_folder_can_be)
{
	const char *variables[] = {"TOKEN=one"};
	struct ctl_options options = {.variables = variables, .n_variables = 1};
	cleanup_free char *folder = NULL;

	scratch_write("toolboxd", "a file");
	cr_expect_eq(new_given_keep("id", &options, &folder), -ENOTDIR);
	expect_checked("TOKEN=one", false, CTL_DONE, "");
}
