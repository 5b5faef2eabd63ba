/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "guest.h"
#include "rows.h"

/* Every type and every rule of failure, through a real host: each row is one call and its
 * result. */

#define LIMIT 300

#define EXPECT_RESULTS(rows)  rows_expect("behave", rows, sizeof(rows) / sizeof(*(rows)), false)
#define EXPECT_FAILURES(rows) rows_expect("behave", rows, sizeof(rows) / sizeof(*(rows)), true)

Test(native_call, passes_every_integer_type_to_its_edges, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"same_bool", "{\"value\":true}", "{\"result\":true}"},
		{"same_bool", "{\"value\":false}", "{\"result\":false}"},
		{"same_i8", "{\"value\":-128}", "{\"result\":-128}"},
		{"same_i8", "{\"value\":127}", "{\"result\":127}"},
		{"same_i8", "{\"value\":-1}", "{\"result\":-1}"},
		{"same_i16", "{\"value\":-32768}", "{\"result\":-32768}"},
		{"same_i16", "{\"value\":32767}", "{\"result\":32767}"},
		{"same_i32", "{\"value\":-2147483648}", "{\"result\":-2147483648}"},
		{"same_i32", "{\"value\":2147483647}", "{\"result\":2147483647}"},
		{"same_i64", "{\"value\":-9223372036854775808}",
			"{\"result\":-9223372036854775808}"},
		{"same_i64", "{\"value\":9223372036854775807}", "{\"result\":9223372036854775807}"},
		{"same_i64", "{\"value\":9007199254740993}", "{\"result\":9007199254740993}"},
		{"same_u8", "{\"value\":255}", "{\"result\":255}"},
		{"same_u8", "{\"value\":0}", "{\"result\":0}"},
		{"same_u16", "{\"value\":65535}", "{\"result\":65535}"},
		{"same_u32", "{\"value\":4294967295}", "{\"result\":4294967295}"},
		{"same_u64", "{\"value\":18446744073709551615}",
			"{\"result\":18446744073709551615}"},
		{"same_isize", "{\"value\":-9223372036854775808}",
			"{\"result\":-9223372036854775808}"},
		{"same_usize", "{\"value\":18446744073709551615}",
			"{\"result\":18446744073709551615}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call, takes_whole_numbers_however_they_are_written, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"same_i8", "{\"value\":3.0}", "{\"result\":3}"},
		{"same_u8", "{\"value\":1e2}", "{\"result\":100}"},
		{"same_u64", "{\"value\":184467440737095516.15e2}",
			"{\"result\":18446744073709551615}"},
		{"same_i64", "{ \"value\" : -0 }", "{\"result\":0}"},
		{"same_f64", "{\"value\":1}", "{\"result\":1.0}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call, passes_floats_by_their_shortest_text, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"same_f32", "{\"value\":0.1}", "{\"result\":0.1}"},
		{"same_f32", "{\"value\":16777217}", "{\"result\":16777216.0}"},
		{"same_f32", "{\"value\":-0.0}", "{\"result\":-0.0}"},
		{"same_f64", "{\"value\":0.1}", "{\"result\":0.1}"},
		{"same_f64", "{\"value\":0.30000000000000004}", "{\"result\":0.30000000000000004}"},
		{"same_f64", "{\"value\":5e-324}", "{\"result\":5e-324}"},
		{"same_f64", "{\"value\":1.7976931348623157e308}",
			"{\"result\":1.7976931348623157e+308}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call, passes_text_decoded_and_gives_it_back_encoded, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"same_str", "{\"value\":\"\"}", "{\"result\":\"\"}"},
		{"same_str", "{\"value\":\"caf\xc3\xa9\"}", "{\"result\":\"caf\xc3\xa9\"}"},
		{"same_str", "{\"value\":\"\\u00e9\\ud83d\\ude00\"}",
			"{\"result\":\"\xc3\xa9\xf0\x9f\x98\x80\"}"},
		{"same_str", "{\"value\":\"a\\\"b\\\\c\\n\"}", "{\"result\":\"a\\\"b\\\\c\\n\"}"},
		{"doubled", "{\"text\":\"xy\"}", "{\"result\":\"xyxy\"}"},
		{"doubled", "{}", "{\"result\":\"abab\"}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call, mixes_types_beyond_what_registers_hold, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"mix",
			"{\"a\":true,\"b\":-2,\"c\":3,\"d\":4.5,\"e\":-5,\"f\":6.25,\"g\":7,"
			"\"h\":\"eight\",\"i\":9,\"j\":10.5,\"k\":-11,\"l\":12.75}",
			"{\"text\":\"1 -2 3 4.5 -5 6.25 7 eight 9 10.5 -11 12.75\"}"},
		{"mix",
			"{\"l\":1,\"k\":2,\"j\":3,\"i\":4,\"h\":\"h\",\"g\":5,\"f\":6,\"e\":7,"
			"\"d\":8,\"c\":9,\"b\":10,\"a\":false}",
			"{\"text\":\"0 10 9 8 7 6 5 h 4 3 2 1\"}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call, cuts_what_is_returned_to_its_type, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"cut_to_i8", "{\"value\":255}", "{\"result\":-1}"},
		{"cut_to_i16", "{\"value\":65536}", "{\"result\":0}"},
		{"cut_to_i32", "{\"value\":4294967295}", "{\"result\":-1}"},
		{"cut_to_u8", "{\"value\":-1}", "{\"result\":255}"},
		{"cut_to_u16", "{\"value\":-1}", "{\"result\":65535}"},
		{"cut_to_u32", "{\"value\":-1}", "{\"result\":4294967295}"},
		{"cut_to_bool", "{\"value\":256}", "{\"result\":false}"},
		{"cut_to_bool", "{\"value\":2}", "{\"result\":true}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call, fills_in_defaults_and_fixed_values, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"with_default", "{}", "{\"result\":-5}"},
		{"with_default", "{\"value\":7}", "{\"result\":7}"},
		{"with_value", "{\"value\":7,\"error\":5}", "{\"result\":7}"},
		{"length", "{}", "{\"result\":-1}"},
		{"length", "{\"text\":null}", "{\"result\":-1}"},
		{"length", "{\"text\":\"abc\"}", "{\"result\":3}"},
		{"length_or_default", "{}", "{\"result\":4}"},
		{"length_or_default", "{\"text\":null}", "{\"result\":-1}"},
		{"length_of_null", "{\"text\":\"abc\"}", "{\"result\":-1}"},
		{"named", "{\"value\":42}", "{\"the-answer_1\":42}"},
		{"void", "{\"error\":5}", "{}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call, keeps_a_default_that_a_function_writes_to, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"scribble", "{}", "{\"result\":\"Xbc\"}"},
		{"scribble", "{\"text\":\"123\"}", "{\"result\":\"X23\"}"},
		{"scribble", "{}", "{\"result\":\"Xbc\"}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call, lets_pass_what_no_error_rule_hits, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"negative_fails", "{\"value\":0,\"error\":5}", "{\"result\":0}"},
		{"nonzero_fails", "{\"value\":0,\"error\":5}", "{\"result\":0}"},
		{"zero_fails", "{\"value\":-1,\"error\":5}", "{\"result\":-1}"},
		{"errno_fails", "{\"value\":-1}", "{\"result\":-1}"},
		{"nothing_fails", "{\"value\":-1,\"error\":5}", "{\"result\":-1}"},
		{"negative_float_fails", "{\"value\":-0.0}", "{\"result\":-0.0}"},
		{"null_fails", "{\"text\":\"a\",\"error\":5}", "{\"result\":\"a\"}"},
		{"null_is_null", "{}", "{\"result\":null}"},
		{"null_is_null", "{\"text\":\"a\"}", "{\"result\":\"a\"}"},
		{"text_errno_fails", "{}", "{\"result\":null}"},
		{"void_errno_fails", "{\"error\":0}", "{}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call, tells_a_failure_by_its_rule_and_errno, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"negative_fails", "{\"value\":-1,\"error\":33}",
			"return_i64 returned -1: EDOM (Numerical argument out of domain)"},
		{"negative_fails", "{\"value\":-7}", "return_i64 returned -7"},
		{"negative_u8_cut_fails", "{\"value\":255}", "same_i64 returned -1"},
		{"nonzero_fails", "{\"value\":4}", "return_i64 returned 4"},
		{"zero_fails", "{\"value\":0,\"error\":34}",
			"return_i64 returned 0: ERANGE (Numerical result out of range)"},
		{"zero_u8_cut_fails", "{\"value\":256}", "same_i64 returned 0"},
		{"false_fails", "{\"value\":false}", "same_bool returned false"},
		{"errno_fails", "{\"value\":3,\"error\":2}",
			"return_i64 returned 3: ENOENT (No such file or directory)"},
		{"errno_fails", "{\"value\":3,\"error\":9999}",
			"return_i64 returned 3: errno 9999"},
		{"errno_fails", "{\"value\":3,\"error\":-1}", "return_i64 returned 3: errno -1"},
		{"negative_float_fails", "{\"value\":-0.5}", "return_f64 returned -0.5"},
		{"zero_float_fails", "{\"value\":0}", "return_f64 returned 0.0"},
		{"void_errno_fails", "{\"error\":1}",
			"return_void failed: EPERM (Operation not permitted)"},
		{"null_fails", "{\"error\":12}",
			"return_str returned NULL: ENOMEM (Cannot allocate memory; "
			"limits.memory_mb of its manifest bounds it)"},
		{"null_is_wrong", "{}", "return_str returned NULL"},
		{"text_errno_fails", "{\"text\":\"a\",\"error\":5}",
			"return_str returned a text: EIO (Input/output error)"},
	};

	EXPECT_FAILURES(rows);
}

Test(native_call, tells_numbers_that_json_does_not_have, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"quotient", "{\"a\":0,\"b\":0}", "quotient returned NaN"},
		{"quotient", "{\"a\":1,\"b\":0}", "quotient returned infinity"},
		{"quotient", "{\"a\":-1,\"b\":0}", "quotient returned -infinity"},
		{"float_overflow", "{\"value\":10}", "float_overflow returned infinity"},
	};

	EXPECT_FAILURES(rows);
}

Test(native_call, refuses_arguments_again_that_the_daemon_should_have, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"same_i8", "{\"value\":128}",
			"argument 'value' must be an integer from -128 to 127"},
		{"same_u8", "{\"value\":-1}", "argument 'value' must be an integer from 0 to 255"},
		{"same_i64", "{\"value\":9223372036854775808}",
			"argument 'value' must be an integer from -9223372036854775808 to "
			"9223372036854775807"},
		{"same_u64", "{\"value\":18446744073709551616}",
			"argument 'value' must be an integer from 0 to 18446744073709551615"},
		{"same_i32", "{\"value\":1.5}",
			"argument 'value' must be an integer from -2147483648 to 2147483647"},
		{"same_i32", "{\"value\":\"1\"}",
			"argument 'value' must be an integer from -2147483648 to 2147483647"},
		{"same_f32", "{\"value\":1e39}",
			"argument 'value' must be a number within the range of a 32-bit float"},
		{"same_f64", "{\"value\":1e309}",
			"argument 'value' must be a number within the range of a 64-bit float"},
		{"same_bool", "{\"value\":1}", "argument 'value' must be true or false"},
		{"same_str", "{\"value\":\"a\\u0000b\"}",
			"argument 'value' must be a string without U+0000"},
		{"same_str", "{\"value\":null}", "argument 'value' must be a string"},
		{"same_i8", "{}", "argument 'value' is missing"},
		{"same_i8", "[]",
			"arguments must be a JSON object: this is a value of another type"},
	};

	EXPECT_FAILURES(rows);
}

Test(native_call, gives_every_text_back_to_the_library_that_lent_it, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "behave", NULL);
	cr_expect_str_eq(
		guest_call(&guest, "lend_upper", "{\"text\":\"abc\"}"), "{\"result\":\"ABC\"}");
	cr_expect_str_eq(guest_call(&guest, "outstanding", "{}"), "{\"result\":0}");
	cr_expect_str_eq(guest_call(&guest, "lend_and_fail", "{\"text\":\"abc\"}"),
		"lend_and_fail returned a text: EIO (Input/output error)");
	cr_expect_str_eq(guest_call(&guest, "outstanding", "{}"), "{\"result\":0}");
	guest_stop(&guest);
}

Test(native_call, keeps_the_locale_of_numbers_whatever_a_toolbox_chooses, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "behave", NULL);
	guest_call(&guest, "choose_locale", "{\"name\":\"de_DE.UTF-8\"}");
	cr_expect_str_eq(guest_call(&guest, "printed", "{\"value\":1.5}"), "{\"result\":\"1.5\"}");
	cr_expect_str_eq(guest_call(&guest, "same_f64", "{\"value\":2.5}"), "{\"result\":2.5}");
	guest_stop(&guest);
}

Test(native_call, passes_megabytes_both_ways, .timeout = LIMIT)
{
	const size_t size = 3u << 20;
	struct guest guest = {0};
	cleanup(buffer_deinit) struct buffer arguments = {0};
	const char *answer;
	char *place;

	buffer_append_string(&arguments, "{\"value\":\"");
	place = buffer_reserve(&arguments, size);
	cr_assert(place);
	memset(place, 'x', size);
	arguments.size += size;
	buffer_append_string(&arguments, "\"}");
	guest_start(&guest, "behave", NULL);
	answer = guest_call(&guest, "same_str", buffer_terminate(&arguments));
	cr_assert_eq(strlen(answer), size + strlen("{\"result\":\"\"}"));
	cr_expect_eq(memcmp(answer + strlen("{\"result\":\""), arguments.data + 10, size), 0);
	cr_expect_str_eq(guest_call(&guest, "same_i8", "{\"value\":1}"), "{\"result\":1}");
	guest_stop(&guest);
}

Test(native_call, sees_no_environment_but_what_is_meant_for_it, .timeout = LIMIT)
{
	struct guest guest = {0};

	setenv("TZ", "Europe/Berlin", 1);
	setenv("TOOLBOXD_SECRET", "secret", 1);
	setenv("LD_LIBRARY_PATH", "/nowhere", 1);
	guest_start(&guest, "behave", NULL);
	cr_expect_str_eq(guest_call(&guest, "variable", "{\"name\":\"TZ\"}"),
		"{\"result\":\"Europe/Berlin\"}");
	cr_expect_str_eq(guest_call(&guest, "variable", "{\"name\":\"TOOLBOXD_SECRET\"}"),
		"{\"result\":null}");
	cr_expect_str_eq(guest_call(&guest, "variable", "{\"name\":\"LD_LIBRARY_PATH\"}"),
		"{\"result\":null}");
	guest_stop(&guest);
}
