/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json/number.h"
#include "json/reader.h"
#include "util/buffer.h"

#define HUGE_EXPONENT "1e999999999999999999999999999999"
#define TINY_EXPONENT "1e-999999999999999999999999999999"

static int to_i64(const char *text, int64_t *ret)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 0, NULL), 0, "%s", text);
	return json_number_i64(&tape, 0, ret);
}

static int to_u64(const char *text, uint64_t *ret)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 0, NULL), 0, "%s", text);
	return json_number_u64(&tape, 0, ret);
}

static int to_f64(const char *text, double *ret)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 0, NULL), 0, "%s", text);
	return json_number_f64(&tape, 0, ret);
}

static int to_f32(const char *text, float *ret)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 0, NULL), 0, "%s", text);
	return json_number_f32(&tape, 0, ret);
}

Test(json_number, reads_an_i64_exactly_from_any_spelling)
{
	static const struct {
		const char *text;
		int status;
		int64_t value;
	} cases[] = {
		{"0", 0, 0},
		{"-0", 0, 0},
		{"-0.00e5", 0, 0},
		{"0e"
		 "99999999999999999999",
			0, 0},
		{"3", 0, 3},
		{"3.0", 0, 3},
		{"1e2", 0, 100},
		{"1.5e1", 0, 15},
		{"-120e-1", 0, -12},
		{"100e-2", 0, 1},
		{"0.003e3", 0, 3},
		{"0.0120e+4", 0, 120},
		{"9007199254740993", 0, INT64_C(9007199254740993)},
		{"-999999999999999999", 0, INT64_C(-999999999999999999)},
		{"9223372036854775807", 0, INT64_MAX},
		{"-9223372036854775808", 0, INT64_MIN},
		{"9.223372036854775807e18", 0, INT64_MAX},
		{"9223372036854775807000e-3", 0, INT64_MAX},
		{"9223372036854775808", JSON_E_RANGE, 0},
		{"-9223372036854775809", JSON_E_RANGE, 0},
		{"18446744073709551616", JSON_E_RANGE, 0},
		{"1e19", JSON_E_RANGE, 0},
		{"99999999999999999999", JSON_E_RANGE, 0},
		{"1e400", JSON_E_RANGE, 0},
		{"-" HUGE_EXPONENT, JSON_E_RANGE, 0},
		{"0.5", JSON_E_NOT_INTEGER, 0},
		{"1e-1", JSON_E_NOT_INTEGER, 0},
		{"123.4", JSON_E_NOT_INTEGER, 0},
		{TINY_EXPONENT, JSON_E_NOT_INTEGER, 0},
		{"9223372036854775807.5", JSON_E_NOT_INTEGER, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t value = 0;

		cr_assert_eq(to_i64(cases[i].text, &value), cases[i].status, "%s", cases[i].text);
		cr_assert_eq(value, cases[i].value, "%s: %" PRId64, cases[i].text, value);
	}
}

Test(json_number, reads_a_u64_exactly_from_any_spelling)
{
	static const struct {
		const char *text;
		int status;
		uint64_t value;
	} cases[] = {
		{"-0", 0, 0},
		{"-0.0", 0, 0},
		{"9999999999999999999", 0, UINT64_C(9999999999999999999)},
		{"18446744073709551615", 0, UINT64_MAX},
		{"1844674407370955161.5e1", 0, UINT64_MAX},
		{"18446744073709551616", JSON_E_RANGE, 0},
		{"-1", JSON_E_RANGE, 0},
		{"1e20", JSON_E_RANGE, 0},
		{"-1.5", JSON_E_NOT_INTEGER, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t value = 0;

		cr_assert_eq(to_u64(cases[i].text, &value), cases[i].status, "%s", cases[i].text);
		cr_assert_eq(value, cases[i].value, "%s: %" PRIu64, cases[i].text, value);
	}
}

Test(json_number, reads_the_nearest_double)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{"0", 0.0},
		{"1", 1.0},
		{"-1.5", -1.5},
		{"0.1", 0.1},
		{"1e22", 1e22},
		{"1e23", 1e23},
		{"123456789012345678", 123456789012345678.0},
		{"9007199254740993", 9007199254740992.0},
		{"9007199254740993.00001", 9007199254740994.0},
		{"0.3", 0.3},
		{"2.2250738585072011e-308", 2.2250738585072011e-308},
		{"1.7976931348623157e308", 1.7976931348623157e308},
		{"4.9e-324", 5e-324},
		{"1797693134862315700000e287", 1.7976931348623157e308},
		{"2.4703282292062327e-324", 0.0},
		{"2.4703282292062328e-324", 5e-324},
		{"8.98846567431158e307", 8.98846567431158e307},
		{TINY_EXPONENT, 0.0},
		{"0.000000000000000000000000000000000000000000001e45", 1.0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double value = NAN;

		cr_assert_eq(to_f64(cases[i].text, &value), 0, "%s", cases[i].text);
		cr_assert(value == cases[i].value, "%s: %.17g", cases[i].text, value);
	}
}

Test(json_number, agrees_with_strtod_on_random_decimals)
{
	uint64_t state = 88172645463325252;

	for (int i = 0; i < 20000; i++) {
		char text[64];
		double value;
		int digits;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		digits = (int)(state % 17);
		snprintf(text, sizeof(text), "%" PRIu64 ".%0*de%d", state >> (state % 60),
			digits + 1, (int)(state % 1000000), (int)(state >> 33) % 330);
		if (isinf(strtod(text, NULL)))
			continue;
		cr_assert_eq(to_f64(text, &value), 0, "%s", text);
		cr_assert(value == strtod(text, NULL), "%s: %.17g", text, value);
	}
}

Test(json_number, looks_at_every_digit_of_a_number_halfway_between_two_doubles)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	double value;

	/* 2^53 + 1 lies halfway; ties go to even, anything above goes up. */
	buffer_append_string(&text, "9007199254740993.");
	for (int i = 0; i < 100000; i++)
		buffer_append_char(&text, '0');
	cr_assert_eq(to_f64(buffer_terminate(&text), &value), 0);
	cr_assert(value == 9007199254740992.0);
	buffer_append_char(&text, '1');
	cr_assert_eq(to_f64(buffer_terminate(&text), &value), 0);
	cr_assert(value == 9007199254740994.0);
}

Test(json_number, keeps_the_sign_of_a_negative_zero)
{
	double wide;
	float narrow;

	cr_assert_eq(to_f64("-0", &wide), 0);
	cr_assert(wide == 0 && signbit(wide));
	cr_assert_eq(to_f64("-1e-400", &wide), 0);
	cr_assert(wide == 0 && signbit(wide));
	cr_assert_eq(to_f32("-0.0", &narrow), 0);
	cr_assert(narrow == 0 && signbit(narrow));
}

Test(json_number, refuses_an_infinite_float)
{
	double wide = 7;
	float narrow = 7;

	cr_assert_eq(to_f64("1e309", &wide), JSON_E_RANGE);
	cr_assert_eq(to_f64("-1e999", &wide), JSON_E_RANGE);
	cr_assert_eq(to_f64(HUGE_EXPONENT, &wide), JSON_E_RANGE);
	cr_assert_eq(to_f64("1.7976931348623159e308", &wide), JSON_E_RANGE);
	cr_assert_eq(to_f32("1e39", &narrow), JSON_E_RANGE);
	cr_assert_eq(to_f32("3.4028236e38", &narrow), JSON_E_RANGE);
	cr_assert_eq(to_f32("1e400", &narrow), JSON_E_RANGE);
	cr_assert(wide == 7 && narrow == 7, "written though refused");
}

Test(json_number, rounds_a_float_once)
{
	static const struct {
		const char *text;
		float value;
	} cases[] = {
		{"0.1", 0.1F},
		{"16777217", 16777216.0F},
		{"3.4028235e38", 3.4028235e38F},
		{"1e-45", 1e-45F},
		{"1e-60", 0.0F},
		{"12345678e3", 12345678e3F},
		/* As a double first, this would be a tie, and go down. */
		{"1.00000017881393432617187499", 0x1.000002p0F},
		{"1.00000017881393432617187501", 0x1.000004p0F},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		float value = NAN;

		cr_assert_eq(to_f32(cases[i].text, &value), 0, "%s", cases[i].text);
		cr_assert(value == cases[i].value, "%s: %.9g", cases[i].text, (double)value);
	}
}

static void expect_digits(const char *text, const char *digits)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 0, NULL), 0, "%s", text);
	cr_assert_eq(json_number_write_digits(&tape, 0, &out), *digits != '\0', "%s", text);
	cr_assert_str_eq(buffer_terminate(&out), digits, "%s", text);
}

Test(json_number, writes_the_digits_of_a_whole_number)
{
	expect_digits("0", "0");
	expect_digits("-0.0", "0");
	expect_digits("2.0", "2");
	expect_digits("-1.50e3", "-1500");
	expect_digits("1200e-2", "12");
	expect_digits("12345678901234567890123.000", "12345678901234567890123");
	expect_digits("0.5", "");
	expect_digits("1e400", "");
	expect_digits(HUGE_EXPONENT, "");
}

static bool is_whole(const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 0, NULL), 0, "%s", text);
	return json_number_is_integer(&tape, 0);
}

Test(json_number, knows_a_whole_number_of_any_size)
{
	static const char *const whole[] = {"0", "-0.0", "3", "3.0", "1e2", "1.5e1", "-10e-1",
		"1e400", HUGE_EXPONENT, "0e-999999999999999999999", "12345678901234567890123.000"};
	static const char *const fractions[] = {
		"0.5", "1e-1", "15e-1", "1.05e1", TINY_EXPONENT, "12345678901234567890123.001"};

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		cr_assert(is_whole(whole[i]), "%s", whole[i]);
	for (size_t i = 0; i < sizeof(fractions) / sizeof(*fractions); i++)
		cr_assert_not(is_whole(fractions[i]), "%s", fractions[i]);
}

static void expect_order(const char *a, const char *b, int order)
{
	int forth = json_number_compare(a, strlen(a), b, strlen(b));
	int back = json_number_compare(b, strlen(b), a, strlen(a));

	cr_assert_eq(forth, order, "%s, %s: %d", a, b, forth);
	cr_assert_eq(back, -order, "%s, %s: %d", b, a, back);
}

Test(json_number, compares_by_value_not_by_spelling)
{
	expect_order("0", "-0.0e5", 0);
	expect_order("1", "1.0", 0);
	expect_order("100", "1e2", 0);
	expect_order("0.001", "1e-3", 0);
	expect_order("12.5", "0.125e2", 0);
	expect_order("1", "2", -1);
	expect_order("-1", "-2", 1);
	expect_order("-1", "1", -1);
	expect_order("0", "1e-999", -1);
	expect_order("-1e-999", "0", -1);
	expect_order("10", "9", 1);
	expect_order("0.1", "0.09", 1);
	expect_order("1.25", "1.2", 1);
	expect_order("-1.25", "-1.2", -1);
	expect_order("9007199254740993", "9007199254740992", 1);
	expect_order("9007199254740993", "9007199254740992.9999999999", 1);
	expect_order("0.1", "0.1000000000000000055511151231257827", -1);
}

Test(json_number, compares_exponents_of_any_size)
{
	expect_order("1e400", "1e401", -1);
	expect_order("-1e400", "-1e401", 1);
	expect_order("1e-400", "1e-401", 1);
	expect_order("10e400", "1e401", 0);
	expect_order("0.1e401", "1e400", 0);
	expect_order("1e999999999999999999999", "1e1000000000000000000000", -1);
	expect_order("10e999999999999999999999", "1e1000000000000000000000", 0);
	expect_order("100e999999999999999999999", "1e1000000000000000000000", 1);
	expect_order("1e-999999999999999999999", "10e-1000000000000000000000", 0);
	expect_order("1e-999999999999999999999", "1e999999999999999999999", -1);
	expect_order("1e0000000000000000000000000000002", "100", 0);
}

static void expect_multiple(const char *value, const char *divisor, bool expected)
{
	cr_assert_eq(json_number_is_multiple(value, strlen(value), divisor, strlen(divisor)),
		expected, "%s, %s", value, divisor);
}

Test(json_number, divides_as_decimals_not_as_doubles)
{
	expect_multiple("0", "7", true);
	expect_multiple("-0.0", "0.1", true);
	expect_multiple("6", "3", true);
	expect_multiple("-6", "3", true);
	expect_multiple("7", "3", false);
	expect_multiple("0.3", "0.1", true);
	expect_multiple("19.99", "0.01", true);
	expect_multiple("19.995", "0.01", false);
	expect_multiple("4.5", "1.5", true);
	expect_multiple("1", "10", false);
	expect_multiple("0.0075", "0.0001", true);
	expect_multiple("9007199254740993", "2", false);
	expect_multiple("9007199254740993", "3", true);
	expect_multiple("1e308", "0.123456789", false);
	expect_multiple("1e308", "0.5", true);
	expect_multiple("999999999999999999", "999999999999999999", true);
	expect_multiple("7", "0", false);
}

Test(json_number, divides_numbers_with_any_exponent_at_once)
{
	expect_multiple("1e400", "3", false);
	expect_multiple("9e400", "0.0003", true);
	expect_multiple(HUGE_EXPONENT, "3", false);
	expect_multiple(HUGE_EXPONENT, "1024", true);
	expect_multiple(HUGE_EXPONENT, "1953125", true);
	expect_multiple(TINY_EXPONENT, "1", false);
	expect_multiple("1", HUGE_EXPONENT, false);
	expect_multiple("1", TINY_EXPONENT, true);
}

Test(json_number, divides_long_numbers)
{
	/* 2^67 - 1 = 193707721 × 761838257287. */
	expect_multiple("147573952589676412927", "193707721", true);
	expect_multiple("147573952589676412928", "193707721", false);
	expect_multiple("999999999999999999999999999999999999", "999999999999999999", true);
	expect_multiple("999999999999999999999999999999999998", "999999999999999999", false);
}

static bool is_divisor(const char *text)
{
	return json_number_is_divisor(text, strlen(text));
}

Test(json_number, divides_by_a_word_of_digits)
{
	cr_expect(is_divisor("999999999999999999"));
	cr_expect(is_divisor("-0.00999999999999999999e-1000"));
	cr_expect(is_divisor("1000000000000000000000000000"));
	cr_expect_not(is_divisor("1000000000000000001"));
	cr_expect_not(is_divisor("1.000000000000000001"));
}

/* ── products ────────────────────────────────────────────────────────────────────────────────── */

static void expect_product(const char *a, const char *b, const char *product)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_expect_eq(json_number_write_product(a, strlen(a), b, strlen(b), &out), 0);
	cr_expect_str_eq(buffer_terminate(&out), product, "%s times %s is not %s", a, b, out.data);
}

Test(json_number, multiplies_exactly_and_writes_the_shortest_decimal)
{
	expect_product("29", "0.01", "0.29");
	expect_product("0.29", "100", "29");
	expect_product("100", "0.01", "1");
	expect_product("12.50", "0.01", "0.125");
	expect_product("0.07", "100", "7");
	expect_product("-3", "0.5", "-1.5");
	expect_product("-3", "-5", "15");
	expect_product("0", "0.01", "0");
	expect_product("-0.0", "7", "0");
	expect_product("1e2", "0.01", "1");
	expect_product("1E-3", "1e+5", "100");
	expect_product("123456789012345678901234567890", "2", "246913578024691357802469135780");
	expect_product("999999999999999999999999", "999999999999999999",
		"999999999999999998999999000000000000000001");
	expect_product("0.1", "3", "0.3");
	expect_product("25", "4e-2", "1");
	expect_product("5", "0.00000000000000002", "0.0000000000000001");
}

Test(json_number, agrees_with_whole_products_of_the_machine)
{
	uint64_t state = 7;

	for (int i = 0; i < 2000; i++) {
		char a[32];
		char b[32];
		char product[32];
		uint32_t left = (uint32_t)((state = state * 6364136223846793005u + 1442695u) >> 33);
		uint32_t right =
			(uint32_t)((state = state * 6364136223846793005u + 1442695u) >> 33);

		snprintf(a, sizeof(a), "%" PRIu32, left);
		snprintf(b, sizeof(b), "%" PRIu32, right);
		snprintf(product, sizeof(product), "%" PRIu64, (uint64_t)left * right);
		expect_product(a, b, product);
	}
}

Test(json_number, refuses_products_of_too_many_digits)
{
	static const char *const refused[] = {"1e999", "1e-999", HUGE_EXPONENT, TINY_EXPONENT};
	cleanup(buffer_deinit) struct buffer digits = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		cr_expect_eq(
			json_number_write_product(refused[i], strlen(refused[i]), "0.01", 4, &out),
			JSON_E_RANGE, "%s", refused[i]);
	for (int i = 0; i <= JSON_DIGITS_MAX; i++)
		buffer_append_char(&digits, '7');
	cr_expect_eq(
		json_number_write_product(digits.data, digits.size, "2", 1, &out), JSON_E_RANGE);
	cr_expect_eq(out.size, 0);
	expect_product("0e999", "0.01", "0");
}
