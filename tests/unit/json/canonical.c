/* SPDX-License-Identifier: Apache-2.0 */
#include "json/canonical.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "json/reader.h"
#include "scarce.h"

static void expect_canonical(const char *text, const char *wanted)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	json_write_canonical(&out, &tape, 0);
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_str_eq(out.data, wanted);
}

Test(json_canonical, has_no_white_space_and_sorts_keys_at_every_level)
{
	expect_canonical(" { \"b\" : [ 1 , { \"z\" : null , \"a\" : true } ] , \"a\" : \"x y\" } ",
		"{\"a\":\"x y\",\"b\":[1,{\"a\":true,\"z\":null}]}");
	expect_canonical("[]", "[]");
	expect_canonical("{}", "{}");
}

Test(json_canonical, sorts_keys_by_their_decoded_bytes_of_utf_8)
{
	/* U+1F600 is above U+FB33 in UTF-8 and below it in UTF-16. */
	expect_canonical(
		"{\"\\ud83d\\ude00\":1,\"\\ufb33\":2,\"\\u0061b\":3,\"a\":4,\"\":5,\"B\":6}",
		"{\"\":5,\"B\":6,\"a\":4,\"ab\":3,\"\xEF\xAC\xB3\":2,\"\xF0\x9F\x98\x80\":1}");
}

Test(json_canonical, writes_strings_with_the_fewest_escapes_and_numbers_as_they_came)
{
	expect_canonical(
		"[\"\\u00e9\\/\\u0041\\u000a\\u001f\\\"\\\\\", 1.10, 1e2, -0, 9007199254740993]",
		"[\"\xC3\xA9/A\\n\\u001f\\\"\\\\\",1.10,1e2,-0,9007199254740993]");
}

Test(json_canonical, reports_that_memory_is_short)
{
	static const char text[] = "{\"\\u0062\":{\"\\u0061\":[\"\\u0063\"]},\"a\":1}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup(buffer_deinit) struct buffer out = {0};

		json_write_canonical(&out, &tape, 0);
		cr_expect_eq(buffer_status(&out), scarce_has_failed() ? -ENOMEM : 0);
	}
}
