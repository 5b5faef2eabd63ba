/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "guest.h"
#include "rows.h"

/* Output by pointer and its length, and values that are not results. */

#define LIMIT 300

#define EXPECT_RESULTS(rows)  rows_expect("carry", rows, sizeof(rows) / sizeof(*(rows)), false)
#define EXPECT_FAILURES(rows) rows_expect("carry", rows, sizeof(rows) / sizeof(*(rows)), true)

Test(native_result, gives_what_is_returned_and_then_what_comes_out, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"split", "{\"value\":-2.5}",
			"{\"fraction\":-0.5,\"whole\":-2,\"is_negative\":true}"},
		{"leave_and_fail", "{\"status\":0}", "{\"status\":0,\"out\":7}"},
		{"double_of", "{\"value\":0.1}", "{\"out\":0.1}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_result, gives_a_buffer_whole_when_nobody_tells_how_much_is_used, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"fill", "{\"byte\":1}", "{\"out\":\"AQEB\"}"},
		{"fill", "{\"byte\":255,\"count\":5}", "{\"out\":\"//////8=\"}"},
		{"fill_4", "{\"count\":2,\"byte\":9}", "{\"out\":\"CQkAAA==\"}"},
		{"fill_array_4", "{\"count\":3,\"byte\":1}", "{\"out\":[257,1]}"},
		{"fill_f32", "{\"value\":0.1}", "{\"out\":[0.1,0.1]}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_result, gives_as_much_as_a_length_tells, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"fill_some", "{\"count\":3,\"byte\":1}", "{\"room\":8,\"out\":\"AQEB\"}"},
		{"fill_some", "{\"count\":0,\"byte\":1}", "{\"room\":8,\"out\":\"\"}"},
		{"fill_some", "{\"count\":8,\"byte\":1}", "{\"room\":8,\"out\":\"AQEBAQEBAQE=\"}"},
		{"fill_out_size", "{\"count\":0,\"byte\":1}", "{\"room\":0,\"out\":\"\"}"},
		{"fill_some_text", "{\"count\":3,\"byte\":65}", "{\"room\":8,\"out\":\"AAA\"}"},
		{"fill_some_text", "{\"count\":8,\"byte\":65}",
			"{\"room\":8,\"out\":\"AAAAAAAA\"}"},
		{"fill_some_text", "{\"count\":100,\"byte\":0}", "{\"room\":8,\"out\":\"\"}"},
		{"count_up", "{\"last\":3}", "{\"out\":[1,2,3]}"},
		{"count_up", "{\"last\":9}", "{\"out\":[1,2,3,4,5]}"},
		{"count_up", "{\"last\":9,\"room\":7}", "{\"out\":[1,2,3,4,5,6,7]}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_result, gives_as_much_as_is_returned, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"read", "{\"count\":3}", "{\"count\":3,\"out\":\"AQEB\"}"},
		{"read", "{\"count\":0}", "{\"count\":0,\"out\":\"\"}"},
		{"read", "{\"count\":8}", "{\"count\":8,\"out\":\"AQEBAQEBAQE=\"}"},
		{"put_text", "{\"text\":\"abc\"}", "{\"result\":3,\"out\":\"abc\"}"},
		{"put_text", "{\"text\":\"1234567890\"}", "{\"result\":10,\"out\":\"1234567\"}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_result, ends_a_text_at_its_nul, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"fill_text_4", "{\"count\":3,\"byte\":65}", "{\"out\":\"AAA\"}"},
		{"fill_text_4", "{\"count\":0,\"byte\":65}", "{\"out\":\"\"}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_result, gives_json_that_comes_out_without_its_white_space, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"put_json", "{\"text\":{\"a\" : [1, 2]}}",
			"{\"result\":14,\"out\":{\"a\":[1,2]}}"},
		{"put_as_json", "{\"text\":\" true \"}", "{\"result\":6,\"out\":true}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_result, tells_what_is_no_result, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"fill_text_4", "{\"count\":4,\"byte\":65}",
			"fill left no NUL within its capacity of 4 bytes in 'out'"},
		{"fill_text_4", "{\"count\":3,\"byte\":255}",
			"fill left text that is not UTF-8 in 'out'"},
		{"put_as_json", "{\"text\":\"{\"}",
			"put_text left text that is not JSON (byte 1: expected a key in double "
			"quotes, but the text ends) in 'out'"},
		{"zeroes_json", "{}",
			"leave_alone left text that is not JSON (byte 0: expected a value, found "
			"an empty text) in 'out'"},
		{"text_as_json", "{\"value\":\"nope\"}",
			"same_text returned text that is not JSON (byte 0: expected 'true', "
			"'false' or 'null', found another word)"},
		{"new_text_as_json", "{\"value\":\"[1,]\"}",
			"new_text returned text that is not JSON (byte 3: expected a value, found "
			"a closing bracket; is there a comma too many?)"},
		{"json_null_is_wrong", "{}", "same_text returned NULL"},
		{"json_null_fails", "{}", "same_text returned NULL"},
		{"bytes_as_text", "{\"value\":\"/wA=\"}",
			"same_text returned text that is not UTF-8"},
		{"fill_some", "{\"count\":9,\"byte\":1}",
			"fill_some reported a length of 9 for 'out', which has room for 8"},
		{"read", "{\"count\":9}",
			"fill_and_return reported a length of 9 for 'out', which has room for 8"},
		{"read", "{\"count\":-1}", "fill_and_return returned -1: EIO (Input/output error)"},
		{"read_anyhow", "{\"count\":-2}",
			"fill_and_return reported a length below 0 for 'out'"},
		{"leave_and_fail", "{\"status\":3}",
			"leave_and_fail returned 3: EACCES (Permission denied)"},
	};

	EXPECT_FAILURES(rows);
}

Test(native_result, notices_what_is_written_past_a_buffer, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"fill_4", "{\"count\":5,\"byte\":1}",
			"fill wrote past the end of 'out', which has room for 4"},
		{"fill_array_4", "{\"count\":8,\"byte\":1}",
			"fill wrote past the end of 'out', which has room for 2"},
	};

	EXPECT_FAILURES(rows);
}
