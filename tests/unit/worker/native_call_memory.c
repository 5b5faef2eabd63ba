/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "guest.h"
#include "in_process.h"
#include "rows.h"

/* Input by pointer: every type, every direction, every length. */

#define LIMIT 300

#define EXPECT_RESULTS(rows)  rows_expect("carry", rows, sizeof(rows) / sizeof(*(rows)), false)
#define EXPECT_FAILURES(rows) rows_expect("carry", rows, sizeof(rows) / sizeof(*(rows)), true)

Test(native_call_memory, passes_numbers_by_pointer_and_takes_them_back, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"next_i8", "{\"value\":-128}", "{\"value\":-127}"},
		{"next_i16", "{\"value\":-32768}", "{\"value\":-32767}"},
		{"next_i32", "{\"value\":-2147483648}", "{\"value\":-2147483647}"},
		{"next_i64", "{\"value\":-9223372036854775808}",
			"{\"value\":-9223372036854775807}"},
		{"next_isize", "{\"value\":-9223372036854775808}",
			"{\"value\":-9223372036854775807}"},
		{"next_u8", "{\"value\":0}", "{\"value\":1}"},
		{"next_u16", "{\"value\":0}", "{\"value\":1}"},
		{"next_u32", "{\"value\":0}", "{\"value\":1}"},
		{"next_u64", "{\"value\":0}", "{\"value\":1}"},
		{"next_usize", "{\"value\":0}", "{\"value\":1}"},
		{"next_i8", "{\"value\":126}", "{\"value\":127}"},
		{"next_i16", "{\"value\":32766}", "{\"value\":32767}"},
		{"next_i32", "{\"value\":2147483646}", "{\"value\":2147483647}"},
		{"next_i64", "{\"value\":9223372036854775806}", "{\"value\":9223372036854775807}"},
		{"next_isize", "{\"value\":9223372036854775806}",
			"{\"value\":9223372036854775807}"},
		{"next_u8", "{\"value\":254}", "{\"value\":255}"},
		{"next_u16", "{\"value\":65534}", "{\"value\":65535}"},
		{"next_u32", "{\"value\":4294967294}", "{\"value\":4294967295}"},
		{"next_u64", "{\"value\":18446744073709551614}",
			"{\"value\":18446744073709551615}"},
		{"next_usize", "{\"value\":18446744073709551614}",
			"{\"value\":18446744073709551615}"},
		{"next_i8", "{\"value\":127}", "{\"value\":-128}"},
		{"next_i16", "{\"value\":32767}", "{\"value\":-32768}"},
		{"next_i32", "{\"value\":2147483647}", "{\"value\":-2147483648}"},
		{"next_i64", "{\"value\":9223372036854775807}", "{\"value\":-9223372036854775808}"},
		{"next_isize", "{\"value\":9223372036854775807}",
			"{\"value\":-9223372036854775808}"},
		{"next_u8", "{\"value\":255}", "{\"value\":0}"},
		{"next_u16", "{\"value\":65535}", "{\"value\":0}"},
		{"next_u32", "{\"value\":4294967295}", "{\"value\":0}"},
		{"next_u64", "{\"value\":18446744073709551615}", "{\"value\":0}"},
		{"next_usize", "{\"value\":18446744073709551615}", "{\"value\":0}"},
		{"next_f32", "{\"value\":0.25}", "{\"value\":1.75}"},
		{"next_f64", "{\"value\":-3}", "{\"value\":-1.5}"},
		{"next_bool", "{\"value\":true}", "{\"value\":false}"},
		{"next_bool", "{\"value\":false}", "{\"value\":true}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call_memory, sets_to_zero_what_comes_out_first, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"first_i8", "{}", "{\"value\":1}"},
		{"first_i16", "{}", "{\"value\":1}"},
		{"first_i32", "{}", "{\"value\":1}"},
		{"first_i64", "{}", "{\"value\":1}"},
		{"first_isize", "{}", "{\"value\":1}"},
		{"first_u8", "{}", "{\"value\":1}"},
		{"first_u16", "{}", "{\"value\":1}"},
		{"first_u32", "{}", "{\"value\":1}"},
		{"first_u64", "{}", "{\"value\":1}"},
		{"first_usize", "{}", "{\"value\":1}"},
		{"first_f32", "{}", "{\"value\":1.5}"},
		{"first_f64", "{}", "{\"value\":1.5}"},
		{"first_bool", "{}", "{\"value\":true}"},
		{"zeroes_bytes", "{}", "{\"out\":\"AAAA\"}"},
		{"zeroes_str", "{}", "{\"out\":\"\"}"},
		{"zeroes_array", "{}", "{\"out\":[0,0]}"},
		{"fill_4", "{\"count\":4,\"byte\":65}", "{\"out\":\"QUFBQQ==\"}"},
		{"zeroes_bytes", "{}", "{\"out\":\"AAAA\"}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call_memory, passes_null_for_a_number_that_may_be_absent, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"next_or_null", "{\"value\":4}", "{\"value\":5}"},
		{"next_or_null", "{}", "{\"value\":null}"},
		{"next_or_null", "{\"value\":null}", "{\"value\":null}"},
		{"next_or_7", "{}", "{\"value\":8}"},
		{"next_or_7", "{\"value\":1}", "{\"value\":2}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call_memory, passes_arrays_of_every_type_of_number, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"reverse_i8", "{\"items\":[-128,1,127]}", "{\"items\":[127,1,-128]}"},
		{"reverse_i16", "{\"items\":[-32768,1,32767]}", "{\"items\":[32767,1,-32768]}"},
		{"reverse_i32", "{\"items\":[-2147483648,1,2147483647]}",
			"{\"items\":[2147483647,1,-2147483648]}"},
		{"reverse_i64", "{\"items\":[-9223372036854775808,1,9223372036854775807]}",
			"{\"items\":[9223372036854775807,1,-9223372036854775808]}"},
		{"reverse_isize", "{\"items\":[-9223372036854775808,1,9223372036854775807]}",
			"{\"items\":[9223372036854775807,1,-9223372036854775808]}"},
		{"reverse_u8", "{\"items\":[0,1,255]}", "{\"items\":[255,1,0]}"},
		{"reverse_u16", "{\"items\":[0,1,65535]}", "{\"items\":[65535,1,0]}"},
		{"reverse_u32", "{\"items\":[0,1,4294967295]}", "{\"items\":[4294967295,1,0]}"},
		{"reverse_u64", "{\"items\":[0,1,18446744073709551615]}",
			"{\"items\":[18446744073709551615,1,0]}"},
		{"reverse_usize", "{\"items\":[0,1,18446744073709551615]}",
			"{\"items\":[18446744073709551615,1,0]}"},
		{"reverse_f32", "{\"items\":[0.1,-2,3e38]}", "{\"items\":[3e+38,-2.0,0.1]}"},
		{"reverse_f64", "{\"items\":[0.1,-2,1e308]}", "{\"items\":[1e+308,-2.0,0.1]}"},
		{"reverse_i8", "{\"items\":[]}", "{\"items\":[]}"},
		{"reverse_i64", "{\"items\":[1]}", "{\"items\":[1]}"},
		{"reverse_u8", "{ \"items\" : [ 3.0 , 1e2 ] }", "{\"items\":[100,3]}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call_memory, passes_bytes_decoded, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"sum_bytes", "{\"data\":\"AQL/\"}", "{\"result\":258}"},
		{"sum_bytes", "{\"data\":\"\"}", "{\"result\":0}"},
		{"sum_bytes", "{}", "{\"result\":-1}"},
		{"sum_bytes", "{\"data\":null}", "{\"result\":-1}"},
		{"sum_bytes", "{\"data\":\"\\/\\/8=\"}", "{\"result\":510}"},
		{"sum_bytes", "{\"data\":\"\\u0041QI=\"}", "{\"result\":3}"},
		{"sum_fixed", "{}", "{\"result\":10}"},
		{"sum_default", "{}", "{\"result\":510}"},
		{"sum_default", "{\"data\":\"AQ==\"}", "{\"result\":1}"},
		{"sum_floats", "{}", "{\"result\":1.5}"},
		{"sum_floats", "{\"items\":[1,2]}", "{\"result\":3.0}"},
		{"reverse_bytes", "{\"data\":\"AQID\"}", "{\"data\":\"AwIB\"}"},
		{"reverse_bytes", "{\"data\":\"\"}", "{\"data\":\"\"}"},
		{"reverse_or_null", "{}", "{\"result\":-1,\"data\":null}"},
		{"reverse_or_null", "{\"data\":\"AAA=\"}", "{\"result\":2,\"data\":\"AAA=\"}"},
		{"bytes_as_text", "{\"value\":\"aGVsbG8A\"}", "{\"result\":\"hello\"}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call_memory, fills_in_lengths, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"told_str", "{\"text\":\"café\"}", "{\"result\":5}"},
		{"told_str", "{\"text\":\"\"}", "{\"result\":0}"},
		{"told_str", "{}", "{\"result\":-1}"},
		{"told_json", "{\"value\": {\"a\": 1}}", "{\"result\":8}"},
		{"told_json", "{\"value\":\"\"}", "{\"result\":2}"},
		{"told_array", "{\"items\":[1,2,3]}", "{\"result\":3}"},
		{"told_array", "{\"items\":[]}", "{\"result\":0}"},
		{"told_array", "{}", "{\"result\":-1}"},
		{"told_pointer", "{\"text\":\"abc\"}", "{\"result\":3}"},
		{"told_capacity", "{}", "{\"result\":20,\"out\":\"\"}"},
		{"told_came", "{\"text\":\"abc\"}", "{\"result\":3,\"text\":\"abc\"}"},
		{"told_room", "{\"text\":\"abc\"}", "{\"result\":4,\"text\":\"abc\"}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call_memory, pads_what_comes_in_up_to_its_capacity, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"reverse_in_4", "{\"data\":\"AQI=\"}", "{\"data\":\"AAACAQ==\"}"},
		{"reverse_in_4", "{\"data\":\"AQIDBA==\"}", "{\"data\":\"BAMCAQ==\"}"},
		{"append_text", "{\"text\":\"abc\",\"more\":\"def\"}", "{\"text\":\"abcdef\"}"},
		{"append_text", "{\"text\":\"\",\"more\":\"123456789abc\"}",
			"{\"text\":\"123456789\"}"},
		{"append_text", "{\"text\":\"123456789\",\"more\":\"x\"}",
			"{\"text\":\"123456789\"}"},
		{"reverse_str", "{\"text\":\"abc\"}", "{\"text\":\"cba\"}"},
		{"reverse_str", "{\"text\":\"\"}", "{\"text\":\"\"}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call_memory, passes_json_as_the_text_that_came, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"same_json", "{\"value\": [1.50, \"\\u00e9\", {\"b\": 1, \"a\": null}] }",
			"{\"result\":[1.50,\"\\u00e9\",{\"b\":1,\"a\":null}]}"},
		{"same_json", "{\"value\":null}", "{\"result\":null}"},
		{"same_json", "{\"value\":12345678901234567890123}",
			"{\"result\":12345678901234567890123}"},
		{"same_json", "{\"value\":\"\\u0000\"}", "{\"result\":\"\\u0000\"}"},
		{"json_or_null", "{\"value\":null}", "{\"result\":null}"},
		{"json_or_null", "{}", "{\"result\":null}"},
		{"json_or_null", "{\"value\":false}", "{\"result\":false}"},
		{"new_json", "{}", "{\"result\":{\"a\":[1,null]}}"},
		{"new_json", "{\"value\":\"x\"}", "{\"result\":\"x\"}"},
		{"fixed_json", "{}", "{\"result\":[true]}"},
	};

	EXPECT_RESULTS(rows);
}

Test(native_call_memory, refuses_arguments_that_the_daemon_should_have, .timeout = LIMIT)
{
	static const struct row rows[] = {
		{"next_u8", "{\"value\":256}", "argument 'value' must be an integer from 0 to 255"},
		{"next_u8", "{}", "argument 'value' is missing"},
		{"next_u8", "{\"value\":null}",
			"argument 'value' must be an integer from 0 to 255"},
		{"sum_bytes", "{\"data\":\"AQ\"}",
			"argument 'data' must be a string in base64, padded and without white "
			"space, or null"},
		{"sum_bytes", "{\"data\":\"AQ==\\n\"}",
			"argument 'data' must be a string in base64, padded and without white "
			"space, or null"},
		{"reverse_i8", "{\"items\":[1,128]}",
			"argument 'items' must be an array whose element 1 must be an integer from "
			"-128 to 127"},
		{"reverse_f32", "{\"items\":[1e39]}",
			"argument 'items' must be an array whose element 0 must be a number within "
			"the range of a 32-bit float"},
		{"reverse_in_4", "{\"data\":\"AQEBAQE=\"}",
			"argument 'data' must have at most 4 bytes, not 5"},
		{"append_text", "{\"text\":\"1234567890\",\"more\":\"\"}",
			"argument 'text' must have at most 9 bytes, not 10"},
		{"sum_floats",
			"{\"items\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
			"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
			"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
			"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}",
			"argument 'items' must have at most 127 elements, not 128"},
		{"fill", "{\"count\":0,\"byte\":0}",
			"argument 'count' must be an integer from 1 to 8388608, the size of a "
			"buffer"},
		{"fill", "{\"count\":8388609,\"byte\":0}",
			"argument 'count' must be an integer from 1 to 8388608, the size of a "
			"buffer"},
	};

	EXPECT_FAILURES(rows);
}

Test(native_call_memory, has_room_for_the_largest_buffer_that_a_caller_may_ask_for,
	.timeout = LIMIT)
{
	static const struct guest_options options = {.output_max = 16u << 20};
	struct guest guest = {0};
	const char *answer;

	guest_start(&guest, "carry", &options);
	answer = guest_call(&guest, "fill_big", "{\"count\":8388608}");
	cr_expect_eq(strlen(answer), (8388608 + 2) / 3 * 4 + strlen("{\"out\":\"\"}"));
	cr_expect_str_eq(guest_call(&guest, "fill_big", "{\"count\":1}"), "{\"out\":\"AA==\"}");
	guest_stop(&guest);
}

static void leave_five_alone(void *a, void *b, void *c, void *d, void *e)
{
	(void)a, (void)b, (void)c, (void)d, (void)e;
}

#define LARGE(name)                                                                                \
	"{\"name\":\"" name "\",\"type\":\"bytes\",\"dir\":\"out\",\"capacity\":67108864}"

Test(native_call_memory, refuses_more_buffers_than_256_mebibytes_in_one_call)
{
	static const char object[] = "{\"symbol\":\"f\",\"parameters\":[" LARGE("a") "," LARGE(
		"b") "," LARGE("c") "," LARGE("d") "," LARGE("e") "]}";
	bool is_failure;
	const char *answer =
		in_process_call(object, (void *)leave_five_alone, NULL, "{}", &is_failure);

	cr_expect(is_failure);
	cr_expect_str_eq(answer, "the buffers of this call would take 335544560 bytes; at most "
				 "268435456 are allowed");
}
