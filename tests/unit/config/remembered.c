/* SPDX-License-Identifier: Apache-2.0 */

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config/config.h"
#include "config_fixture.h"

TestSuite(remembered, .init = config_set_up, .fini = config_tear_down, .timeout = 20);

#define FOLDER "home/.config/toolboxd/"

Test(remembered, has_the_folders_of_the_system_and_of_the_user)
{
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_assert_eq(config.folders.n_items, 2);
	cr_expect_str_eq(config.folders.items[0], "/etc/toolboxd");
	cr_expect(strstr(config.folders.items[1], "home/.config/toolboxd"));
}

Test(remembered, leaves_out_the_user_that_the_system_disables)
{
	write_file("system.conf", "{\"system\": {\"disable_user_config\": true}}");
	write_file(FOLDER "allow.json", "[{\"name\": \"add\"}]");
	write_file(FOLDER "disabled.json", "{");
	cr_assert_eq(read_all(), 0);
	cr_expect_eq(config.folders.n_items, 1);
	cr_expect_eq(config.allowed.names.n_items, 0);
	cr_expect_null(config.closed);
}

Test(remembered, allows_and_disables)
{
	write_user_file("{\"toolboxd\": {\"approval\": {\"allow\": [\"sub\"]}}}");
	write_file(FOLDER "allow.json",
		"[{\"name\": \"a/add\", \"since\": \"2026-01-01T00:00:00Z\", \"by\": \"ann\"}]");
	write_file(FOLDER "disabled.json",
		"[{\"name\": \"b/*\"}, {\"name\": \"c\", \"by\": \"bob\"}]");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_assert_eq(config.approval_allow.n_items, 2);
	cr_expect_str_eq(config.approval_allow.items[0], "sub");
	cr_expect_str_eq(config.approval_allow.items[1], "a/add");
	cr_expect_str_eq(config.allowed.since.items[0], "2026-01-01T00:00:00Z");
	cr_expect_str_eq(config.allowed.by.items[0], "ann");
	cr_assert_eq(config.disabled.names.n_items, 2);
	cr_expect_str_eq(config.disabled.by.items[0], "");
	cr_expect_str_eq(config.disabled.by.items[1], "bob");
}

Test(remembered, drops_entries_that_have_ended)
{
	setenv("TZ", "CET-1", 1);
	tzset();
	write_file(FOLDER "disabled.json",
		"[{\"name\": \"a\", \"until\": \"2001-01-01T00:00:00Z\"},"
		" {\"name\": \"b\", \"until\": \"9999-12-31T23:59:59Z\"},"
		" {\"name\": \"c\"},"
		" {\"name\": \"d\", \"until\": \"2999-01-01T00:00:00Z\"}]");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_assert_eq(config.disabled.names.n_items, 3);
	cr_expect_str_eq(config.disabled.names.items[0], "b");
	cr_expect_str_eq(config.disabled.until.items[1], "");
	cr_expect_str_eq(config.disabled_why.items[2],
		"disabled in disabled.json until 2999-01-01 01:00:00 +0100 "
		"(`toolboxctl enable 'd'` enables it)");
	cr_expect_str_eq(config.disabled_why.items[1],
		"disabled in disabled.json (`toolboxctl enable 'c'` enables it)");
	cr_expect_eq(remembered_next_end(&config.disabled), 32472144000);
	remembered_remove(&config.disabled, 2);
	remembered_remove(&config.disabled, 0);
	cr_expect_str_eq(config.disabled.names.items[0], "c");
	cr_expect_eq(remembered_next_end(&config.disabled), 0);
}

/* The lists of names have one length, whichever member of an entry is a mistake. */
Test(remembered, adds_nothing_of_an_entry_with_a_mistake)
{
	write_file(FOLDER "disabled.json",
		"[{\"name\": \"a\", \"by\": \"c\"}, {\"name\": \"b\", \"until\": \"2999\"}]");
	cr_assert_eq(read_all(), 0);
	cr_expect(config.closed);
	cr_expect_eq(config.disabled.names.n_items, config.disabled.until.n_items);
	cr_expect_eq(config.disabled.since.n_items, config.disabled.until.n_items);
	cr_expect_str_eq(config.disabled.by.items[0], "c");
}

Test(remembered, has_profiles_over_those_of_the_configuration)
{
	write_user_file("{\"toolboxd\": {\"profiles\": {\"kids\": {\"tool_names\": [\"all\"]},"
			" \"guest\": {}}}}");
	write_file(FOLDER "profiles.d/kids.json", "{\"tool_names\": [\"add\"]}");
	write_file(FOLDER "profiles.d/new-1.json", "{\"tool_names\": null}");
	write_file(FOLDER "profiles.d/.kids.json.123", "{");
	write_file(FOLDER "profiles.d/README", "{");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_assert_eq(config.profiles.n_items, 3);
	for (size_t i = 0; i < 3; i++)
		if (strcmp(config.profiles.items[i].name, "kids") == 0) {
			cr_expect_not(config.profiles.items[i].has_all);
			cr_assert_eq(config.profiles.items[i].tool_names.n_items, 1);
		}
}

static void expect_closed(const char *name, const char *text, const char *told_text)
{
	write_file(name, text);
	cr_assert_eq(read_all(), 0);
	cr_expect(config.closed, "%s: %s", name, text);
	expect_told(told_text);
	cr_assert_eq(unlink(in_folder(name)), 0);
}

Test(remembered, closes_for_what_it_cannot_read)
{
	expect_closed(FOLDER "allow.json", "[{\"name\": \"a\"},\n {]", "allow.json:2");
	expect_closed(FOLDER "allow.json", "{}",
		"allow.json:1 : must be an array, each an object with 'name', not an empty object");
	expect_closed(FOLDER "allow.json", "[\"add\"]",
		"allow.json:1 /0: must be an object with 'name', not the string");
	expect_closed(FOLDER "allow.json", "[{\"name\": \"\"}]",
		"/0/name: must be a string of at least 1 character");
	expect_closed(FOLDER "allow.json", "[{\"name\": 1}]", "must be a string");
	expect_closed(FOLDER "allow.json", "[{\"name\": \"a\", \"who\": 1}]",
		"unexpected property 'who'");
	expect_closed(FOLDER "allow.json",
		"[{\"name\": \"a\", \"until\": \"2999-01-01T00:00:00Z\"}]",
		"unexpected property 'until'; the object takes 'name', 'since', 'by'");
	expect_closed(FOLDER "disabled.json", "[{\"name\": \"a\", \"who\": 1}]",
		"the object takes 'name', 'since', 'by', 'until'");
	expect_closed(FOLDER "disabled.json", "[{\"name\": \"a\", \"until\": \"2999-01-01\"}]",
		"disabled.json:1 /0/until: must be a time in UTC");
	expect_closed(FOLDER "disabled.json",
		"[{\"name\": \"a\", \"until\": \"2999-02-30T00:00:00Z\"}]",
		"must be a time in UTC");
	expect_closed(
		FOLDER "disabled.json", "[{\"name\": \"a\", \"until\": null}]", "must be a string");
	expect_closed(FOLDER "disabled.json", "", "disabled.json:1");
	expect_closed(FOLDER "profiles.d/a.json", "{\"tools\": []}", "unexpected property 'tools'");
	expect_closed(FOLDER "profiles.d/a.json", "[]",
		"a.json:1 : must be an object, not an empty array");
	expect_closed(FOLDER "profiles.d/a b.json", "{}", "the name of a profile has letters");
	cr_assert_eq(mkdir(in_folder(FOLDER "disabled.json"), 0700), 0);
	cr_assert_eq(read_all(), 0);
	cr_expect(config.closed);
	expect_told("cannot be read: Is a directory");
}
