/* SPDX-License-Identifier: Apache-2.0 */

/*
 * convert: units, expressions and statistics. toolbox.h is the manual of plugins.
 *
 *   unit_convert          units.c ─┐
 *   evaluate_expression   expression.c ─▶ number.c: GMP for exact numbers, MPFR for real ones
 *   statistics_summary    here
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <toolbox.h>

#include "expression.h"
#include "stringify.h"
#include "text.h"
#include "units.h"

/* The bits that hold every sum of doubles exactly. */
#define SUM_PRECISION 2300

static void fail_with(struct toolbox_call call, const char *before, const char *words)
{
	struct text text = {0};

	text_put(&text, before);
	text_add_lossy(&text, words, strlen(words));
	toolbox_fail(call, text.has_failed ? "out of memory" : text_string(&text));
	text_free(&text);
}

/* Put @number as the members of both tools. */
static void put_number(struct toolbox_call call, const struct number *number)
{
	struct text result = {0};
	struct text fraction = {0};
	double value = number_double(number);
	bool is_exact;

	number_write(number, &result, &is_exact);
	toolbox_put_string(call, "result", text_string(&result));
	toolbox_put_bool(call, "is_exact", is_exact);
	if (!is_exact && number_write_fraction(number, &fraction))
		toolbox_put_string(call, "fraction", text_string(&fraction));
	if (isfinite(value))
		toolbox_put_double(call, "value", value);
	if (result.has_failed || fraction.has_failed)
		toolbox_fail(call, "out of memory");
	text_free(&result);
	text_free(&fraction);
}

static void evaluate_expression(struct toolbox_call call, void *data)
{
	struct expression_mistake mistake;
	const char *expression = "";
	char before[64];
	struct number value;
	size_t size = 0;

	(void)data;
	toolbox_get_string(call, "expression", &expression, &size);
	number_init(&value);
	if (expression_evaluate(expression, size, &value, &mistake)) {
		put_number(call, &value);
		toolbox_reply(call);
	} else {
		snprintf(before, sizeof(before), "at character %zu: ", mistake.at);
		fail_with(call, before, mistake.words);
	}
	number_deinit(&value);
}

/* ── unit_convert ────────────────────────────────────────────────────────────────────────────── */

/* Read `value` as it was written: 0.1 is a tenth. */
static const char *read_value(struct toolbox_call call, struct number *value)
{
	const char *json = "0";
	struct number zero;
	size_t used = 0;
	size_t size = 1;
	bool is_negative;
	const char *why;

	if (toolbox_get_json(call, "value", &json, &size) != TOOLBOX_OK)
		return "out of memory";
	is_negative = *json == '-';
	why = number_read(value, json + is_negative, size - is_negative, &used);
	if (why || !is_negative)
		return why;
	number_init(&zero);
	why = number_subtract(&zero, value);
	number_set(value, &zero);
	number_deinit(&zero);
	return why;
}

/* Refuse units with the character U+0000, after which nothing would be read. */
static void check_units(struct toolbox_call call, void *data)
{
	static const char *const paths[] = {"/from", "/to"};

	(void)data;
	for (size_t i = 0; i < 2; i++) {
		const char *unit;
		size_t size;

		if (toolbox_get_string(call, paths[i], &unit, &size) == TOOLBOX_OK &&
			strlen(unit) != size)
			toolbox_refuse(call, paths[i], "must not have the character U+0000");
	}
}

static void unit_convert(struct toolbox_call call, void *data)
{
	char words[UNITS_WORDS_BYTES] = "";
	const char *from = "";
	const char *to = "";
	struct number value;
	const char *why;

	(void)data;
	toolbox_get_string(call, "from", &from, NULL);
	toolbox_get_string(call, "to", &to, NULL);
	number_init(&value);
	why = read_value(call, &value);
	if (why) {
		fail_with(call, "", why);
	} else if (!units_convert(&value, from, to, words)) {
		fail_with(call, "", words);
	} else {
		put_number(call, &value);
		toolbox_reply(call);
	}
	number_deinit(&value);
}

/* ── statistics_summary ──────────────────────────────────────────────────────────────────────── */

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* Return the quantile of sorted numbers, between its neighbours (R's type 7, as spreadsheets). */
static double quantile(const double *sorted, uint32_t n, double part)
{
	double at = part * (n - 1);
	uint32_t below = (uint32_t)at;
	double rest = at - below;
	double between;

	if (below + 1 >= n)
		return sorted[n - 1];
	/* Parts, so that no difference overflows; rounding may leave the neighbours. */
	between = sorted[below] * (1 - rest) + sorted[below + 1] * rest;
	return fmax(sorted[below], fmin(between, sorted[below + 1]));
}

/* Figures of numbers, each the double that is nearest to the exact one. */
struct figures {
	double sum;
	double mean;
	double variance; /* of the sample */
	double deviation;
};

static void add_up(const double *numbers, uint32_t n, struct figures *ret_figures)
{
	mpfr_t sum;
	mpfr_t mean;
	mpfr_t square;

	mpfr_inits2(SUM_PRECISION, sum, mean, square, (mpfr_ptr)0);
	mpfr_set_zero(sum, 1);
	for (uint32_t i = 0; i < n; i++)
		mpfr_add_d(sum, sum, numbers[i], MPFR_RNDN);
	ret_figures->sum = mpfr_get_d(sum, MPFR_RNDN);
	mpfr_div_ui(mean, sum, n, MPFR_RNDN);
	ret_figures->mean = mpfr_get_d(mean, MPFR_RNDN);
	mpfr_prec_round(mean, NUMBER_PRECISION, MPFR_RNDN);
	mpfr_set_prec(sum, NUMBER_PRECISION);
	mpfr_set_prec(square, NUMBER_PRECISION);
	mpfr_set_zero(sum, 1);
	for (uint32_t i = 0; i < n; i++) {
		mpfr_sub_d(square, mean, numbers[i], MPFR_RNDN);
		mpfr_sqr(square, square, MPFR_RNDN);
		mpfr_add(sum, sum, square, MPFR_RNDN);
	}
	if (n > 1)
		mpfr_div_ui(sum, sum, n - 1, MPFR_RNDN);
	ret_figures->variance = mpfr_get_d(sum, MPFR_RNDN);
	/* The variance itself may be beyond the doubles, or below them. */
	mpfr_sqrt(sum, sum, MPFR_RNDN);
	ret_figures->deviation = mpfr_get_d(sum, MPFR_RNDN);
	mpfr_clears(sum, mean, square, (mpfr_ptr)0);
}

/* Put @value; nothing if it is beyond the doubles. */
static void put_finite(struct toolbox_call call, const char *key, double value)
{
	if (isfinite(value))
		toolbox_put_double(call, key, value);
}

static void put_summary(struct toolbox_call call, double *numbers, uint32_t n)
{
	struct figures figures;

	add_up(numbers, n, &figures);
	qsort(numbers, n, sizeof(*numbers), compare_doubles);
	toolbox_put_u64(call, "count", n);
	put_finite(call, "sum", figures.sum);
	put_finite(call, "mean", figures.mean);
	toolbox_put_double(call, "min", numbers[0]);
	toolbox_put_double(call, "q1", quantile(numbers, n, 0.25));
	toolbox_put_double(call, "median", quantile(numbers, n, 0.5));
	toolbox_put_double(call, "q3", quantile(numbers, n, 0.75));
	toolbox_put_double(call, "max", numbers[n - 1]);
	if (n > 1) {
		put_finite(call, "variance", figures.variance);
		put_finite(call, "standard_deviation", figures.deviation);
	}
	toolbox_reply(call);
}

static void statistics_summary(struct toolbox_call call, void *data)
{
	double *numbers = NULL;
	uint32_t n = 0;
	int r = toolbox_get_count(call, "data", &n);

	(void)data;
	if (r == TOOLBOX_OK && n > 0)
		numbers = calloc(n, sizeof(*numbers));
	if (!numbers) {
		toolbox_fail(call, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		char path[24];

		snprintf(path, sizeof(path), "/data/%u", i);
		if (toolbox_get_double(call, path, &numbers[i]) == TOOLBOX_OK &&
			isfinite(numbers[i]))
			continue;
		toolbox_refuse(call, path, "must be a number of less than 1.8e308");
		free(numbers);
		return;
	}
	put_summary(call, numbers, n);
	free(numbers);
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

#define CLOSED(required, properties)                                                               \
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required              \
	"],\"properties\":{" properties "}}"
#define NUMBER "{\"type\":\"number\"}"

/* clang-format off */
static const char expression_schema[] = CLOSED("\"expression\"",
	"\"expression\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":"
	STRINGIFY(EXPRESSION_BYTES_MAX) ",\"description\":"
	"\"Arithmetic with + - * / ^ mod ! %, parentheses, functions as sqrt, ln, log, sin (of "
	"radians; 30*deg for degrees), round, min, max, gcd, and pi, e. Example: "
	"(2 + 3)^2 / 7\"}");

static const char unit_schema[] = CLOSED("\"value\",\"from\",\"to\"",
	"\"value\":{\"type\":\"number\",\"description\":\"How many.\"},"
	"\"from\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":"
	STRINGIFY(UNIT_TEXT_MAX) ",\"description\":"
	"\"The unit of value: a name or a symbol, as mile, km/h, kWh, °F, MiB.\"},"
	"\"to\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":"
	STRINGIFY(UNIT_TEXT_MAX) ",\"description\":"
	"\"The unit of the result.\"}");

static const char data_schema[] = CLOSED("\"data\"",
	"\"data\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":100000,\"items\":" NUMBER ","
	"\"description\":\"The numbers.\"}");

static const char number_result[] =
	"{\"type\":\"object\",\"required\":[\"result\",\"is_exact\"],\"properties\":{"
	"\"result\":{\"type\":\"string\"},\"is_exact\":{\"type\":\"boolean\"},"
	"\"fraction\":{\"type\":\"string\"},\"value\":" NUMBER "}}";

static const char summary_result[] =
	"{\"type\":\"object\",\"required\":[\"count\",\"min\",\"median\",\"max\"],\"properties\":{"
	"\"count\":{\"type\":\"integer\"},\"sum\":" NUMBER ",\"mean\":" NUMBER ",\"min\":" NUMBER
	",\"q1\":" NUMBER ",\"median\":" NUMBER ",\"q3\":" NUMBER ",\"max\":" NUMBER
	",\"variance\":" NUMBER ",\"standard_deviation\":" NUMBER "}}";
/* clang-format on */

static const char *const unit_triggers[] = {
	("\\b(?:convert|what(?: is|'s|s)) (?<value>[^ ]+(?: hundred| thousand)?) (?<from>[^ ].*?) "
	 "(?:to|in|into) (?<to>.+?)\\W*$"),
	"\\bhow many (?<to>.+?) (?:are|is) (?<value>[^ ]+) (?<from>.+?)\\W*$",
	"\\b(?:rechne|wandle) (?<value>[^ ]+) (?<from>.+?) in (?<to>.+?)(?: um)?\\W*$",
	"\\bwie ?viele? (?<to>.+?) (?:sind|ist) (?<value>[^ ]+) (?<from>.+?)\\W*$",
	"\\b(?:was|wie ?viel) (?:sind|ist) (?<value>[^ ]+) (?<from>.+?) in (?<to>.+?)\\W*$",
	NULL,
};

static const struct toolbox_tool tools[] = {
	{
		.name = "unit_convert",
		.title = "Convert a unit",
		.description = "Convert a value from one unit of measure to another: length, area, "
			       "volume, mass, time, temperature, speed, energy, power, pressure, "
			       "data and others. Exact where the units are. No currencies.",
		.argument_schema = unit_schema,
		.output_schema = number_result,
		.triggers = unit_triggers,
		.spoken = "{\"en\":{\"done\":\"That is {value} {to}.\","
			  "\"failed\":\"I cannot convert that: {error}.\"},"
			  "\"de\":{\"done\":\"Das sind {value} {to}.\","
			  "\"failed\":\"Das kann ich nicht umrechnen: {error}.\"}}",
		.examples = "[{\"args\":{\"value\":5,\"from\":\"miles\",\"to\":\"km\"},\"result\":{"
			    "\"result\":\"8.04672\",\"is_exact\":true,\"value\":8.04672}}]",
		.handler = unit_convert,
		.validate = check_units,
	},
	{
		.name = "evaluate_expression",
		.title = "Calculate",
		.description =
			"Evaluate an arithmetic expression, exactly where that is possible: "
			"0.1 + 0.2 is 0.3, 2^200 has all its digits, 1/3 comes as a fraction, "
			"too.",
		.argument_schema = expression_schema,
		.output_schema = number_result,
		.examples = "[{\"args\":{\"expression\":\"(0.1 + "
			    "0.2)^2\"},\"result\":{\"result\":\"0.09\",\"is_exact\":true,\"value\":"
			    "0.09}}]",
		.handler = evaluate_expression,
	},
	{
		.name = "statistics_summary",
		.title = "Summary of numbers",
		.description =
			"Return count, sum, mean, minimum, quartiles, median, maximum, sample "
			"variance and standard deviation of numbers.",
		.argument_schema = data_schema,
		.output_schema = summary_result,
		.examples = "[{\"args\":{\"data\":[3,1,2.5]}}]",
		.handler = statistics_summary,
	},
};

static int init(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	(void)call;
	(void)ret_tools;
	(void)ret_n_tools;
	number_set_up();
	return 0;
}

TOOLBOX_PLUGIN(tools, init, NULL);
