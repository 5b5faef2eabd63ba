/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

#include "expression.h"
#include "units.h"

/* The arithmetic of the toolbox convert, and its units. */

TestSuite(convert, .init = number_set_up, .timeout = 120);

/* Return the value of @expression as it is shown, or the reason for none. */
static const char *value_of(const char *expression)
{
	static char shown[4000];
	struct expression_mistake mistake;
	struct text text = {0};
	struct number value;
	bool is_exact;

	number_init(&value);
	if (expression_evaluate(expression, strlen(expression), &value, &mistake)) {
		number_write(&value, &text, &is_exact);
		snprintf(shown, sizeof(shown), "%s%s", is_exact ? "" : "~", text_string(&text));
	} else {
		snprintf(shown, sizeof(shown), "%zu: %s", mistake.at, mistake.words);
	}
	number_deinit(&value);
	text_free(&text);
	return shown;
}

Test(convert, evaluates_what_people_write)
{
	static const char *const rows[][2] = {
		{"0.1 + 0.2", "0.3"},
		{"1/3", "~0.33333333333333333333"},
		{"1/3*3", "1"},
		{"-2^2", "-4"},
		{"2^3^2", "512"},
		{"2**-3", "0.125"},
		{"(-1)^1000000000001", "-1"},
		{"1^-99999999999999999999", "1"},
		{"2^200", "1606938044258990275541962092341162602522202993782792835301376"},
		{"sqrt(16/9)*3", "4"},
		{"4^0.5", "2"},
		{"sqrt(2)", "~1.4142135623730950488"},
		{"cbrt(27)", "~3"},
		{"5!", "120"},
		{"50 * 20%", "10"},
		{"200 + 10%", "200.1"},
		{"17 % 5", "2"},
		{"17 mod -5", "-3"},
		{"-17 mod 5", "3"},
		{"sin(30*deg)", "~0.5"},
		{"ln(e^2)", "~2"},
		{"log(1000)", "~3"},
		{"min(3, 1/2, pi)", "0.5"},
		{"max(3; PI)", "~3.1415926535897932385"},
		{"gcd(12, 18) + lcm(4, 6)", "18"},
		{"round(2.5) + round(-2.5) + floor(-0.5) + ceil(-0.5)", "-1"},
		{"round(-7/2)", "-4"},
		{"abs(-3.50)", "3.5"},
		{"3 \u00D7 4 \u00F7 2 \u2212 1 \u00B7 1", "5"},
		{"-0.001", "-0.001"},
		{"1e-70", "~1e-70"},
		{"1.5e3", "1500"},
		{"2^100000", "~9.9900209301438450794e+30102"},
		{"--+-3", "-3"},
		{"0^0", "1"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect_str_eq(value_of(rows[i][0]), rows[i][1], "%s: %s", rows[i][0],
			value_of(rows[i][0]));
}

/* Digits that are not known are no digits of a result. */
Test(convert, refuses_periods_of_numbers_that_are_too_large)
{
	static const char *const refused[] = {"sin(10^200)", "cos(-10^200)", "tan(2^200 * pi)",
		"10^200 mod pi", "(pi * 10^100) mod 1"};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		cr_expect(strstr(value_of(refused[i]), ": a number is too large for 20 digits"),
			"%s: %s", refused[i], value_of(refused[i]));
	cr_expect_str_eq(value_of("sin(10^22)"), "~-0.85220084976718880177");
	cr_expect_str_eq(value_of("10^30 mod pi"), "~0.090239323898053028031");
	cr_expect_str_eq(value_of("10^200 mod 7"), "2");
	cr_expect_str_eq(value_of("sinh(0) + atan(10^200) * 0"), "~0");
}

Test(convert, tells_where_an_expression_has_no_value_and_why)
{
	static const char *const rows[][2] = {
		{"", "1: it ends where a number is expected"},
		{"1 +", "4: it ends where a number is expected"},
		{"1 + *", "5: a number is expected here"},
		{"(1 + 2", "7: a ) is missing"},
		{"sqrt(2", "7: a ) is missing"},
		{"1/0", "2: a division by zero"},
		{"5 mod 0", "3: a division by zero"},
		{"0^-1", "2: a division by zero"},
		{"sqrt(-1)", "1: a function has no real value there"},
		{"ln(0)", "1: a function has no real value there"},
		{"1 + log2(0)", "5: a function has no real value there"},
		{"exp(1e6)", "1: a number is too large: real numbers end at 10^39000"},
		{"(-2)^0.3", "5: a function has no real value there"},
		{"9^9^9^9", "4: a number is too large: real numbers end at 10^39000"},
		{"1001!", "5: a factorial is of a whole number from 0 to 1000"},
		{"2.5!", "4: a factorial is of a whole number from 0 to 1000"},
		{"sqr(2)", "1: 'sqr' is not known; did you mean sqrt or sin?"},
		{"sqrt 2", "1: a function needs its number in parentheses, as sqrt(2)"},
		{"sqrt(1, 2)", "1: this function is of one number"},
		{"gcd(1.5, 2)", "1: gcd and lcm are of whole numbers"},
		{"2pi", "2: an operator is expected here: + - * / ^ mod; a product needs its *, as "
			"2*pi"},
		{"\u00D7\u00D7 1", "1: a number is expected here"},
		{"3 \u00D7 \u00D7", "5: a number is expected here"},
		{"1,5", "2: a comma is only for the numbers of a function: write 1234.5 for "
			"1.234,5"},
		{"1e99999", "1: an exponent has more than 4 digits"},
		{"abcdefghijklmnopqrstuvwxyz(1)",
			"1: 'a long name' is not known. Functions are sqrt, cbrt, exp, ln, log, "
			"log2, sin, cos, tan, abs, round, min, max, gcd and the like; constants "
			"pi, e, tau, deg"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect_str_eq(value_of(rows[i][0]), rows[i][1], "%s: %s", rows[i][0],
			value_of(rows[i][0]));
}

Test(convert, bounds_length_depth_and_the_numbers_of_a_function)
{
	char text[EXPRESSION_BYTES_MAX + 2];
	char *at = text;

	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cr_expect_str_eq(value_of(text), "1: it is longer than 2000 bytes: compute it in parts");
	memset(text, '(', 150);
	strcpy(text + 150, "1");
	cr_expect(strstr(value_of(text), "it is nested too deeply"));
	strcpy(text, "min(1");
	at = text + 5;
	for (int i = 0; i < EXPRESSION_VALUES_MAX; i++)
		at = stpcpy(at, ",1");
	strcpy(at, ")");
	cr_expect(strstr(value_of(text), "a function has more than 32 numbers"));
	*(at - 2) = ')';
	*(at - 1) = '\0';
	cr_expect_str_eq(value_of(text), "1");
}

/* The largest numbers, as often as an expression has room for them. */
Test(convert, bounds_the_time_of_the_worst_expressions)
{
	static const char *const parts[] = {"2^32767*", "1000!/", "3^20000-", "1/7^9999+",
		"sin(10^38000)*", "exp(9e4)/", "gcd(1000!,999!)*", "lcm(1000!,3^9000)+",
		"1e9999 mod 7^3000+", "tan(2^131000)^0.9999+"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		char text[EXPRESSION_BYTES_MAX + 1];
		clock_t before = clock();
		size_t size = 0;

		while (size + strlen(parts[i]) + 1 < sizeof(text))
			size += (size_t)snprintf(text + size, sizeof(text) - size, "%s", parts[i]);
		strcpy(text + size, "1");
		value_of(text);
		cr_expect_lt((double)(clock() - before) / CLOCKS_PER_SEC, 20, "%s", parts[i]);
	}
}

/* Texts of tokens, and of any bytes: each has a value or a reason. */
Test(convert, has_a_value_or_a_reason_for_any_bytes)
{
	static const char *const tokens[] = {"1", "0", ".5", "1e9", "e", "pi", "(", ")", "+", "-",
		"*", "/", "^", "!", "%", ",", "sqrt(", "max(", "mod", "floor(", " ", "\u00D7",
		"\xFF", "99"};
	unsigned int seed = 1;

	for (int round = 0; round < 20000; round++) {
		char text[200] = "";
		size_t size = 0;

		for (int n = 0; n < 12; n++) {
			seed = seed * 1103515245u + 12345u;
			size += (size_t)snprintf(text + size, sizeof(text) - size, "%s",
				tokens[(seed >> 16) % (sizeof(tokens) / sizeof(*tokens))]);
		}
		cr_assert_gt(strlen(value_of(text)), 0);
	}
}

/* Return @value of @from in @to. */
static const char *converted(const char *value, const char *from, const char *to)
{
	static char shown[UNITS_WORDS_BYTES];
	struct text text = {0};
	struct number number;
	size_t used;
	bool is_exact;

	number_init(&number);
	number_read(&number, value, strlen(value), &used);
	if (units_convert(&number, from, to, shown)) {
		number_write(&number, &text, &is_exact);
		snprintf(shown, sizeof(shown), "%s%s", is_exact ? "" : "~", text_string(&text));
	}
	number_deinit(&number);
	text_free(&text);
	return shown;
}

Test(convert, converts_units_by_name_symbol_prefix_and_power)
{
	static const char *const rows[][4] = {
		{"5", "miles", "kilometers", "8.04672"},
		{"5", "Meilen", "Kilometer", "8.04672"},
		{"0.1", "inch", "mm", "2.54"},
		{"6", "inches", "ft", "0.5"},
		{"20", "\u00B0C", "\u00B0F", "68"},
		{"98.6", "fahrenheit", "degrees celsius", "37"},
		{"0", "K", "C", "-273.15"},
		{"36", "km/h", "m/s", "10"},
		{"36", "kilometres per hour", "meter pro sekunde", "10"},
		{"1", "kWh", "J", "3600000"},
		{"1", "Kilowattstunde", "MJ", "3.6"},
		{"1", "GiB", "MB", "1073.741824"},
		{"8", "bits", "bytes", "1"},
		{"3", "cups", "ml", "709.7647095"},
		{"1", "square foot", "m^2", "0.09290304"},
		{"1", "m\u00B3", "litres", "1000"},
		{"1", "cubic metre", "l", "1000"},
		{"2", "Quadratmeter", "cm2", "20000"},
		{"30", "litres per minute", "m^3/h", "1.8"},
		{"1", "min", "s", "60"},
		{"1", "mW", "W", "0.001"},
		{"1", "MW", "W", "1000000"},
		{"1", "N*m", "J", "1"},
		{"1", "kg*m/s^2", "N", "1"},
		{"180", "deg", "rad", "~3.1415926535897932385"},
		{"1", "mph", "km/h", "1.609344"},
		{"2", "tons", "kg", "1814.36948"},
		{"1", "J/\u00B0C", "J/\u00B0F", "~0.55555555555555555556"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect_str_eq(converted(rows[i][0], rows[i][1], rows[i][2]), rows[i][3],
			"%s %s %s: %s", rows[i][0], rows[i][1], rows[i][2],
			converted(rows[i][0], rows[i][1], rows[i][2]));
}

Test(convert, names_units_that_are_near_or_alike)
{
	static const char *const rows[][3] = {
		{"milles", "km", "the unit 'milles' is not known; did you mean mile"},
		{"kilometr", "m", "the unit 'kilometr' is not known; did you mean kilometre"},
		{"EUR", "m", "the unit 'EUR' is not known. Units are as km, mile"},
		{"", "m", "the unit '' is not known"},
		{"m/", "m", "the unit '' is not known"},
		{"kg", "m", "kg and m do not measure the same; like the first are g, t, lb, oz"},
		{"kg/m", "m", "kg/m and m do not measure the same"},
		{"m*m*m*m*m*m*m*m*m", "m", "a unit has more than 8 factors"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect(strstr(converted("1", rows[i][0], rows[i][1]), rows[i][2]), "%s: %s",
			rows[i][0], converted("1", rows[i][0], rows[i][1]));
}

/* Every unit of the table is read, and is 1 of itself; its factor is a good expression. */
Test(convert, reads_its_own_tables)
{
	static const char *const all[] = {"m", "in", "nmi", "au", "ly", "ha", "ac", "gal",
		"uk pint", "floz", "bbl", "stone", "carat", "mo", "century", "K", "A", "gon",
		"turn", "kn", "mach", "lbf", "kgf", "atm", "mmHg", "psi", "cal", "eV", "BTU", "hp",
		"PS", "rpm", "V", "Ah", "Ohm"};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		cr_expect_str_eq(converted("1", all[i], all[i]), "1", "%s: %s", all[i],
			converted("1", all[i], all[i]));
}
