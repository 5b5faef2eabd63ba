/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/fingerprint.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"

static void write_fingerprint(
	const char *name, const char *text, const unsigned char *key, char *ret)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(fingerprint_write(name, &tape, 0, key, ret), 0);
}

static void expect_fingerprint(const char *name, const char *text, const char *wanted)
{
	char fingerprint[FINGERPRINT_CHARS + 1];

	write_fingerprint(name, text, NULL, fingerprint);
	cr_expect_str_eq(fingerprint, wanted, "%s", text);
}

Test(fingerprint, is_the_one_that_others_compute)
{
	expect_fingerprint("exec_command", "{\"cmd\":\"echo hi\"}", "fd236d8d1459d687");
	expect_fingerprint(
		"exec_command", "{\"cmd\":\"echo hi\",\"workdir\":\"sub\"}", "618f44fd80a61daa");
	expect_fingerprint("t", "{}", "14b5e6951226399e");
}

Test(fingerprint, does_not_depend_on_how_the_arguments_are_written)
{
	expect_fingerprint("exec_command",
		"{ \"workdir\" : \"s\\u0075b\", \"c\\u006dd\" :\"echo hi\" }", "618f44fd80a61daa");
}

Test(fingerprint, with_a_key_is_another_one)
{
	unsigned char key[FINGERPRINT_KEY_BYTES] = {1};
	char first[FINGERPRINT_CHARS + 1];
	char second[FINGERPRINT_CHARS + 1];

	write_fingerprint("t", "{}", key, first);
	cr_expect_str_neq(first, "14b5e6951226399e");
	key[31] = 1;
	write_fingerprint("t", "{}", key, second);
	cr_expect_str_neq(first, second);
}
