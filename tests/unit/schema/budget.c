/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"
#include "util/clock.h"

/*
 * One check has one budget of time, whatever follows from it. The times are the thread's, and wide,
 * for sanitizers.
 */
#define LIMIT_MS 50
#define SLACK_MS 25

struct subject {
	struct buffer schema_text;
	struct buffer text;
	struct json_tape schema_tape;
	struct json_tape tape;
	struct schema_options options;
	struct schema *schema;
	struct schema_context *context;
};

static void subject_deinit(struct subject *subject)
{
	buffer_deinit(&subject->schema_text);
	buffer_deinit(&subject->text);
	json_tape_deinit(&subject->schema_tape);
	json_tape_deinit(&subject->tape);
	schema_free(subject->schema);
	schema_context_free(subject->context);
}

/* Compile the schema and read the instance, whose texts are there. */
static void make_ready(struct subject *subject)
{
	cleanup(schema_error_deinit) struct schema_error error = {0};

	cr_assert_eq(json_tape_read(&subject->schema_tape, subject->schema_text.data,
			     subject->schema_text.size, JSON_DEPTH_DEFAULT, NULL),
		0);
	cr_assert_eq(json_tape_read(&subject->tape, subject->text.data, subject->text.size,
			     JSON_DEPTH_DEFAULT, NULL),
		0);
	cr_assert_eq(schema_compile(
			     &subject->schema_tape, 0, &subject->options, &subject->schema, &error),
		0, "%s", error.message.data);
	subject->context = schema_context_new();
	cr_assert_not_null(subject->context);
	schema_context_limit_time(subject->context, LIMIT_MS);
}

static int check(struct subject *subject)
{
	return schema_validate(subject->schema, subject->context, &subject->tape, 0);
}

static int explain(struct subject *subject)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};

	return schema_explain(subject->schema, subject->context, &subject->tape, 0, &report);
}

static uint64_t ms_since(uint64_t start_ns)
{
	return (clock_thread_ns() - start_ns) / NS_PER_MS;
}

/* Write a schema and an instance of which every element is compared with all of an enum. */
static void write_slow(struct subject *subject, int n_elements, const char *last)
{
	buffer_append_string(&subject->schema_text, "{\"items\":{\"enum\":[[0,1]");
	for (int i = 0; i < 1000; i++)
		buffer_printf(&subject->schema_text, ",[%d,0]", i);
	buffer_append_string(&subject->schema_text, "]}}");
	buffer_append_string(&subject->text, "[[0,1]");
	for (int i = 0; i < n_elements; i++)
		buffer_append_string(&subject->text, ",[999,0]");
	buffer_append_string(&subject->text, last);
	buffer_append_char(&subject->text, ']');
}

Test(schema_budget, ends_a_check_in_time, .timeout = 60)
{
	cleanup(subject_deinit) struct subject subject = {0};
	uint64_t start_ns;

	write_slow(&subject, 300000, "");
	make_ready(&subject);
	schema_context_limit_time(subject.context, 10);
	start_ns = clock_thread_ns();
	cr_expect_eq(check(&subject), SCHEMA_E_UNCHECKED);
	cr_expect_str_eq(schema_stop_text(subject.context), "cannot be checked: it takes too long");
	cr_expect_lt(ms_since(start_ns), 10 + 4 * SLACK_MS);
	cr_expect_geq(schema_spent_ns(subject.context), 10 * NS_PER_MS);
}

/* A check and all of its explanations take as long as one check may. */
Test(schema_budget, is_shared_by_all_that_follows, .timeout = 60)
{
	cleanup(subject_deinit) struct subject subject = {0};
	uint64_t start_ns;
	int r = SCHEMA_E_INVALID;

	write_slow(&subject, 250, ",0");
	make_ready(&subject);
	start_ns = clock_thread_ns();
	cr_expect_eq(check(&subject), SCHEMA_E_INVALID);
	for (int i = 0; i < 200 && r != SCHEMA_E_UNCHECKED; i++)
		r = explain(&subject);
	cr_expect_eq(r, SCHEMA_E_UNCHECKED);
	cr_expect_lt(ms_since(start_ns), LIMIT_MS + SLACK_MS);
	cr_expect_eq(explain(&subject), SCHEMA_E_UNCHECKED, "a stopped check stays so");
	cr_expect_eq(check(&subject), SCHEMA_E_INVALID, "the next one has its own budget");
}

/* A search that is long alone ends with the check, not only with its own bound. */
Test(schema_budget, bounds_searches_too, .timeout = 60)
{
	cleanup(subject_deinit) struct subject subject = {0};
	uint64_t start_ns;

	buffer_append_string(&subject.schema_text, "{\"pattern\":\"(\\\\w+)\\\\s\\\\1\"}");
	buffer_append_char(&subject.text, '"');
	for (int i = 0; i < 50000; i++)
		buffer_append_char(&subject.text, 'a');
	buffer_append_char(&subject.text, '"');
	make_ready(&subject);
	schema_context_limit_time(subject.context, 2);
	start_ns = clock_thread_ns();
	cr_expect_eq(check(&subject), SCHEMA_E_UNCHECKED);
	cr_expect_str_eq(schema_stop_text(subject.context), "cannot be checked: it takes too long");
	cr_expect_lt(ms_since(start_ns), 2 + SLACK_MS);
}

/* Append regular expressions of @size bytes with ever new names, which PCRE2 compares with each
 * other. */
static void append_names(struct buffer *out, size_t size)
{
	size_t start = out->size;

	buffer_append_char(out, '"');
	for (int i = 0; out->size - start < size; i++)
		buffer_printf(out, "(?<n%d>)", i);
	buffer_append_char(out, '"');
}

/* Check @n_texts regular expressions of @size bytes each. Return the result; @ret_ms is its
 * time. */
static int check_expressions(int n_texts, size_t size, uint64_t *ret_ms)
{
	cleanup(subject_deinit) struct subject subject = {.options = {.assert_formats = true}};
	uint64_t start_ns;
	int r;

	buffer_append_string(&subject.schema_text, "{\"items\":{\"format\":\"regex\"}}");
	for (int i = 0; i < n_texts; i++) {
		buffer_append_char(&subject.text, i == 0 ? '[' : ',');
		append_names(&subject.text, size);
	}
	buffer_append_char(&subject.text, ']');
	make_ready(&subject);
	start_ns = clock_thread_ns();
	r = check(&subject);
	*ret_ms = ms_since(start_ns);
	if (r == SCHEMA_E_UNCHECKED)
		cr_expect(strstr(schema_stop_text(subject.context),
				  n_texts == 1
					  ? "cannot be checked: a text is too long for its format"
					  : "cannot be checked: it takes too "),
			"%s", schema_stop_text(subject.context));
	return r;
}

/* One text has a bound of its own, and many share the bound of the check: its time, or on a fast
 * machine its steps ("too long", "too many steps"). */
Test(schema_budget, bounds_formats_too, .timeout = 60)
{
	uint64_t ms;

	cr_expect_eq(check_expressions(1, 16000, &ms), 0);
	cr_expect_eq(check_expressions(1, 3u << 20, &ms), SCHEMA_E_UNCHECKED);
	cr_expect_lt(ms, SLACK_MS);
	cr_expect_eq(check_expressions(100, 16000, &ms), SCHEMA_E_UNCHECKED);
	cr_expect_lt(ms, LIMIT_MS + SLACK_MS);
}

/* The path of a change is found only for those that are reported. */
Test(schema_budget, coerces_many_strings_in_linear_time, .timeout = 60)
{
	cleanup(schema_report_deinit) struct schema_report changes = {0};
	cleanup(buffer_deinit) struct buffer coerced = {0};
	cleanup(subject_deinit) struct subject subject = {0};
	uint64_t start_ns;

	buffer_append_string(&subject.schema_text, "{\"items\":{\"type\":\"integer\"}}");
	buffer_append_string(&subject.text, "[0");
	for (int i = 0; i < 60000; i++)
		buffer_append_string(&subject.text, ",\"1\"");
	buffer_append_char(&subject.text, ']');
	make_ready(&subject);
	schema_context_limit_time(subject.context, 0);
	start_ns = clock_thread_ns();
	cr_expect_eq(schema_coerce(subject.schema, subject.context, &subject.tape, 0, NULL,
			     &coerced, &changes),
		0);
	cr_expect_lt(ms_since(start_ns), 1000);
	cr_expect(changes.is_cut);
	cr_expect_eq(coerced.size, 2 + 60000 * 2 + 1);
}

/* Defaults cost what it takes to copy them: few bytes of a request are not many of memory. */
Test(schema_budget, fills_in_no_more_than_it_may_cost, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer filled = {0};
	cleanup(subject_deinit) struct subject subject = {0};

	buffer_append_string(
		&subject.schema_text, "{\"items\":{\"properties\":{\"a\":{\"default\":\"");
	for (int i = 0; i < 20000; i++)
		buffer_append_char(&subject.schema_text, 'x');
	buffer_append_string(&subject.schema_text, "\"}}}}");
	buffer_append_string(&subject.text, "[{}");
	for (int i = 0; i < 20000; i++)
		buffer_append_string(&subject.text, ",{}");
	buffer_append_char(&subject.text, ']');
	make_ready(&subject);
	cr_expect_eq(schema_fill(subject.schema, subject.context, &subject.tape, 0, &filled, NULL),
		SCHEMA_E_UNCHECKED);
	cr_expect_lt(filled.size, 100u << 20);
}

/* A pattern for each of many names, and many members: after a stop they are not all gone
 * through. */
Test(schema_budget, ends_loops_over_members_with_the_check, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer filled = {0};
	cleanup(subject_deinit) struct subject subject = {0};
	uint64_t start_ns;

	buffer_append_string(&subject.schema_text,
		"{\"properties\":{\"a\":{\"default\":1}},\"patternProperties\":{\"x\":{}");
	for (int i = 0; i < 5000; i++)
		buffer_printf(&subject.schema_text, ",\"y%dz\":{}", i);
	buffer_append_string(&subject.schema_text, "}}");
	buffer_append_string(&subject.text, "{\"b\":0");
	for (int i = 0; i < 100000; i++)
		buffer_printf(&subject.text, ",\"k%d\":0", i);
	buffer_append_char(&subject.text, '}');
	make_ready(&subject);
	start_ns = clock_thread_ns();
	cr_expect_eq(schema_fill(subject.schema, subject.context, &subject.tape, 0, &filled, NULL),
		SCHEMA_E_UNCHECKED);
	cr_expect_lt(ms_since(start_ns), 1000);
}

#define PLAIN_BYTES (4u << 20)

/* Check a flat instance of PLAIN_BYTES, made of @part again and again, with the fifth of the usual
 * time, as a machine five times slower would have it. A '#' in @part becomes a number. */
static void expect_plain(const char *schema, const char *start, const char *part, const char *end)
{
	cleanup(subject_deinit) struct subject subject = {0};
	size_t before = strcspn(part, "#");

	buffer_append_string(&subject.schema_text, schema);
	buffer_append_string(&subject.text, start);
	for (int i = 0; subject.text.size < PLAIN_BYTES - 64; i++) {
		buffer_append(&subject.text, part, before);
		if (part[before] == '#')
			buffer_printf(&subject.text, "%d%s", i, part + before + 1);
	}
	buffer_append_string(&subject.text, end);
	make_ready(&subject);
	schema_context_limit_time(subject.context, SCHEMA_CHECK_MS / 5);
	cr_expect_eq(check(&subject), 0, "%s: %s", schema, schema_stop_text(subject.context));
}

Test(schema_budget, lets_plain_large_instances_pass_on_a_slow_machine, .timeout = 120)
{
	expect_plain("{\"items\":{\"type\":\"integer\",\"minimum\":0}}", "[0", ",1", "]");
	expect_plain("{\"properties\":{\"a\":{\"items\":{\"type\":\"integer\"}},"
		     "\"b\":{\"items\":{\"type\":\"integer\"}}}}",
		"{\"b\":[1,2,3],\"a\":[0", ",1", "]}");
	expect_plain("{\"items\":{\"type\":\"string\",\"maxLength\":9}}", "[\"\"", ",\"ab\"", "]");
	expect_plain("{\"additionalProperties\":{\"type\":\"integer\",\"minimum\":0}}", "{\"x\":0",
		",\"k#\":7", "}");
	expect_plain("{\"type\":\"string\",\"minLength\":1,\"maxLength\":9000000}", "\"",
		"plain text \\u00e9", "\"");
}
