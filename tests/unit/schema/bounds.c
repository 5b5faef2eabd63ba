/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "util/clock.h"

/*
 * No schema and no instance hangs or exhausts the process: each of these ends in time with the
 * right verdict or a typed error. The time is what the thread computes, and wide, for sanitizers;
 * tests/bench/worst measures it.
 */
#define CPU_MS 1000

static void append_times(struct buffer *out, const char *text, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		buffer_append_string(out, text);
}

/* The report for @value holds @words ("": any report, or none), and it did not take long. */
static void expect_bounded(const char *schema, const char *value, const char *words)
{
	uint64_t start = clock_thread_ns();
	cleanup_free char *report = judge_report(schema, value);
	uint64_t spent_ms = (clock_thread_ns() - start) / 1000000;

	cr_expect_not_null(strstr(report, words), "%.200s: %.200s", schema, report);
	cr_expect_lt(spent_ms, CPU_MS, "%.200s took %llu ms", schema, (unsigned long long)spent_ms);
}

Test(schema_bounds, ends_a_schema_that_is_only_itself, .timeout = 60)
{
	expect_report("{\"$ref\":\"#\"}", "1", "cannot be checked");
	expect_report(
		"{\"not\":{\"$ref\":\"#/$defs/a\"},\"$defs\":{\"a\":{\"$ref\":\"#/$defs/a\"}}}",
		"1", "cannot be checked");
}

Test(schema_bounds, ends_recursion_that_branches, .timeout = 60)
{
	static const char schema[] =
		"{\"$defs\":{\"a\":{\"anyOf\":[{\"items\":{\"$ref\":\"#/$defs/a\"},\"maxItems\":0},"
		"{\"items\":{\"$ref\":\"#/$defs/a\"},\"minItems\":2},"
		"{\"items\":{\"$ref\":\"#/$defs/a\"},\"minItems\":3}]}},\"$ref\":\"#/$defs/a\"}";
	static const char deep[] =
		"{\"$defs\":{\"a\":{\"oneOf\":[{\"items\":{\"$ref\":\"#/$defs/a\"}},"
		"{\"items\":{\"$ref\":\"#/$defs/a\"}}]}},\"$ref\":\"#/$defs/a\"}";
	cleanup(buffer_deinit) struct buffer value = {0};

	cr_assert_not(judge(schema, "[[[[[[[[[[[[1]]]]]]]]]]]]"));
	append_times(&value, "[", 100);
	append_times(&value, "]", 100);
	expect_report(deep, buffer_terminate(&value), "cannot be checked: it takes too");
}

Test(schema_bounds, gives_up_on_a_costly_pattern_also_inside_of_not, .timeout = 60)
{
	static const char value[] = "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"";

	expect_bounded("{\"pattern\":\"^(a+)+$\"}", value, "matching a pattern takes too long");
	expect_bounded("{\"not\":{\"pattern\":\"^(a+)+$\"}}", value, "takes too long");
	expect_bounded("{\"patternProperties\":{\"^(a+)+$\":false}}",
		"{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}", "takes too long");
}

/* A string of @times @part between @before and @after. */
static const char *repeat(struct buffer *out, const char *before, const char *part,
	unsigned int times, const char *after)
{
	buffer_reset(out);
	buffer_append_string(out, before);
	append_times(out, part, times);
	buffer_append_string(out, after);
	return buffer_terminate(out);
}

/* Each of these reads the whole text again and again: at every place where a match could begin, for
 * every back reference, in every look-ahead, and for a repeat that is never long enough. */
Test(schema_bounds, gives_up_on_patterns_that_are_slow_only_on_long_texts, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	expect_bounded("{\"pattern\":\"(\\\\w+)\\\\s\\\\1\"}",
		repeat(&text, "\"", "a", 50000, "\""), "takes too long");
	expect_bounded("{\"pattern\":\"<(\\\\w+)>.*</\\\\1>\"}",
		repeat(&text, "\"", "<a>", 27000, "\""), "takes too long");
	expect_bounded("{\"pattern\":\"^(?:a(?!a*x))*$\"}", repeat(&text, "\"", "a", 50000, "\""),
		"takes too long");
	expect_bounded("{\"pattern\":\"a{60000}b\"}", repeat(&text, "\"", "a", 1000000, "c\""), "");
	expect_bounded(
		"{\"pattern\":\"(?=a{60000}b)a\"}", repeat(&text, "\"", "a", 1000000, "b\""), "");
}

Test(schema_bounds, gives_up_on_many_searches_that_are_not_long_alone, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	repeat(&text, "[", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\",",
		20000, "1]");
	expect_bounded("{\"items\":{\"pattern\":\"a*a*a*b|!\"}}", text.data,
		"cannot be checked: it takes too long");
}

Test(schema_bounds, matches_long_texts_with_what_is_linear, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	expect_bounded("{\"pattern\":\"^([^,;]+[,;])*$\"}",
		repeat(&text, "\"", "abc,def;", 5000, "\""), "");
	expect_bounded("{\"pattern\":\"^(?:[A-Za-z0-9+/]{4})*$\"}",
		repeat(&text, "\"", "QUJD", 20000, "\""), "");
}

Test(schema_bounds, takes_a_long_string_and_a_long_number, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer string = {0};
	cleanup(buffer_deinit) struct buffer number = {0};

	buffer_append_char(&string, '"');
	append_times(&string, "0123456789012345678901234567890123456789012345678\xc3\xa9", 100000);
	buffer_append_char(&string, '"');
	cr_assert(judge("{\"type\":\"string\",\"minLength\":5000000,\"maxLength\":5000000}",
		buffer_terminate(&string)));
	append_times(&number, "1234567890", 1000);
	cr_assert(judge("{\"type\":\"integer\",\"minimum\":1,\"multipleOf\":10}",
		buffer_terminate(&number)));
	cr_assert_not(judge("{\"multipleOf\":7}", number.data));
}

Test(schema_bounds, compiles_a_hundred_thousand_subschemas_and_refuses_more, .timeout = 120)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup_free char *refusal = NULL;

	buffer_append_string(&schema, "{\"allOf\":[true");
	append_times(&schema, ",{\"type\":\"integer\"}", 100000);
	buffer_append_string(&schema, "]}");
	cr_assert(judge(buffer_terminate(&schema), "1"));
	schema.size -= 2;
	append_times(&schema, ",{\"type\":\"integer\"}", 40000);
	buffer_append_string(&schema, "]}");
	refusal = judge_refusal(NULL, buffer_terminate(&schema));
	cr_assert_not_null(strstr(refusal, "at most 131072 subschemas"), "%s", refusal);
}

Test(schema_bounds, refuses_schemas_nested_too_deep, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct schema *schema = NULL;

	append_times(&text, "{\"not\":", 5000);
	buffer_append_string(&text, "true");
	append_times(&text, "}", 5000);
	cr_assert_eq(json_tape_read(&tape, text.data, text.size, 6000, NULL), 0);
	cr_assert_eq(schema_compile(&tape, 0, NULL, &schema, &error), SCHEMA_E_REFUSED);
	cr_assert_not_null(strstr(error.message.data, "nested more than 256 deep"));
}

Test(schema_bounds, compares_many_elements_in_less_than_square_time, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer value = {0};

	buffer_append_string(&value, "[0");
	for (int i = 1; i < 5000; i++)
		buffer_printf(&value, ",%d", i);
	buffer_append_string(&value, "]");
	cr_assert(judge("{\"uniqueItems\":true}", buffer_terminate(&value)));
}

Test(schema_bounds, finds_its_way_in_objects_of_many_members, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer value = {0};

	buffer_append_string(&schema, "{\"additionalProperties\":false,\"properties\":{\"x\":true");
	buffer_append_string(&value, "{\"x\":0");
	for (int i = 0; i < 20000; i++) {
		buffer_printf(&schema, ",\"property_%d\":{\"type\":\"integer\"}", i);
		buffer_printf(&value, ",\"property_%d\":%d", 19999 - i, i);
	}
	buffer_append_string(&schema, "}}");
	buffer_append_string(&value, "}");
	cr_assert(judge(buffer_terminate(&schema), buffer_terminate(&value)));
}

/* Numbers whose power of ten no machine word holds have hashes of their own. */
Test(schema_bounds, compares_numbers_with_long_exponents_in_less_than_square_time, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer value = {0};

	buffer_append_string(&value, "[0");
	for (unsigned long long i = 0; i < 60000; i++)
		buffer_printf(&value, ",1e%llu", 2199023255552 + i);
	buffer_append_string(&value, "]");
	expect_bounded("{\"uniqueItems\":true}", buffer_terminate(&value), "");

	buffer_reset(&value);
	buffer_append_string(&value, "[0");
	for (unsigned long long i = 0; i < 600; i++)
		buffer_printf(&value, ",1e%llu", (i % 2 ? 2199023255552 : 0) + i);
	for (int i = 1; i < 400; i++)
		buffer_printf(&value, ",1e-%d00000000000000000000", i);
	buffer_append_string(&value, "]");
	cr_expect(judge("{\"uniqueItems\":true}", buffer_terminate(&value)));
	value.size--;
	buffer_append_string(&value, ",10e2199023255554]");
	expect_bounded(
		"{\"uniqueItems\":true}", buffer_terminate(&value), "number 4 and 1000 are equal");
}

/* Values that are compared for equality when there is too much of them: the loops end with the
 * steps. */
Test(schema_bounds, ends_comparing_elements_when_the_steps_are_spent, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer value = {0};

	buffer_append_string(&value, "[");
	for (int i = 0; i < 12; i++) {
		buffer_append_string(&value, i > 0 ? ",[" : "[");
		append_times(&value, "0,", 100000);
		buffer_printf(&value, "%d]", i);
	}
	buffer_append_string(&value, "]");
	expect_bounded("{\"uniqueItems\":true}", buffer_terminate(&value), "cannot be checked");
}

/* Members beside what recurses bring tokens, but no steps without end. */
Test(schema_bounds, gives_no_time_for_padding, .timeout = 60)
{
	static const char schema[] =
		"{\"properties\":{\"v\":{\"$ref\":\"#/$defs/n\"}},\"$defs\":{\"n\":{\"anyOf\":["
		"{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/"
		"n\"}},\"required\":[\"a\"]},"
		"{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}}},"
		"{\"type\":\"string\"}]}}}";
	cleanup(buffer_deinit) struct buffer value = {0};

	buffer_append_string(&value, "{\"v\":");
	append_times(&value, "{\"a\":", 100);
	buffer_append_string(&value, "0");
	append_times(&value, "}", 100);
	buffer_append_string(&value, ",\"pad\":[0");
	append_times(&value, ",0", 1500000);
	buffer_append_string(&value, "]}");
	expect_bounded(schema, buffer_terminate(&value), "cannot be checked: it takes too");
}

/* Sixty schemas, each of which asks the next one twice. */
static const char *doubled(struct buffer *out, const char *last)
{
	buffer_reset(out);
	buffer_append_string(out, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
	for (int i = 0; i < 60; i++)
		buffer_printf(out,
			"\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/"
			"d%d\"}]},",
			i, i + 1, i + 1);
	buffer_printf(out, "\"d60\":%s}}", last);
	return buffer_terminate(out);
}

Test(schema_bounds, ends_what_doubles_in_both_passes, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer schema = {0};

	expect_bounded(doubled(&schema, "false"), "1", "cannot be checked: it takes too");
	expect_bounded(doubled(&schema, "{\"not\":{\"const\":2}}"), "1",
		"cannot be checked: it takes too");
	expect_bounded(doubled(&schema, "{\"minimum\":2}"), "1", "must be");
}

Test(schema_bounds, explains_objects_of_many_names_in_time, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer value = {0};

	buffer_append_string(&schema, "{\"required\":[\"x\"");
	buffer_append_string(&value, "{\"y\":0");
	for (int i = 0; i < 30000; i++) {
		buffer_printf(&schema, ",\"required_%d\"", i);
		buffer_printf(&value, ",\"member_%d\":0", i);
	}
	buffer_append_string(&schema, "]}");
	buffer_append_string(&value, "}");
	expect_bounded(buffer_terminate(&schema), buffer_terminate(&value),
		"cannot be checked: it takes too");
}

Test(schema_bounds, divides_no_number_for_longer_than_it_may, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer value = {0};

	expect_bounded("{\"multipleOf\":123456789012345678}", repeat(&value, "", "8", 4000000, ""),
		"cannot be checked: it takes too");
}

/* `#/$defs/dN` is found without a search, and a chain of nothing but references has an end. */
Test(schema_bounds, compiles_many_references_into_one_object_in_linear_time, .timeout = 120)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup_free char *refusal = NULL;

	buffer_append_string(&schema, "{\"allOf\":[{\"$ref\":\"#/$defs/d\\u0030\"}");
	for (int i = 1; i < 30000; i++)
		buffer_printf(&schema, ",{\"$ref\":\"#/$defs/d%d\"}", i);
	buffer_append_string(
		&schema, "],\"$defs\":{\"d0\":true,\"d\\u0031\":{\"type\":\"integer\"}");
	for (int i = 2; i < 30000; i++)
		buffer_printf(&schema, ",\"d%d\":{\"$ref\":\"#/allOf/%d\"}", i, i - 1);
	buffer_append_string(&schema, "}}");
	cr_expect(judge(buffer_terminate(&schema), "1"));
	cr_expect_not(judge(schema.data, "\"1\""));

	buffer_reset(&schema);
	buffer_append_string(&schema, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
	for (int i = 0; i < 100000; i++)
		buffer_printf(&schema, "\"d%d\":{\"$ref\":\"#/$defs/d%d\"},", i, i + 1);
	buffer_append_string(&schema, "\"d100000\":true}}");
	refusal = judge_refusal(NULL, buffer_terminate(&schema));
	cr_assert_not_null(refusal);
	cr_expect_not_null(strstr(refusal, "/$defs/d255/$ref: more than 256 '$ref' in a row lead "
					   "to nothing but another '$ref'"),
		"%s", refusal);
}

Test(schema_bounds, holds_a_long_schema_against_its_metaschema_to_the_end, .timeout = 120)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup_free char *refusal = NULL;

	buffer_append_string(&schema, "{\"properties\":{\"x\":true");
	for (int i = 0; i < 40000; i++)
		buffer_printf(&schema, ",\"p%d\":{\"type\":\"string\",\"title\":\"p\"}", i);
	buffer_append_string(&schema, "}}");
	cr_expect(judge(buffer_terminate(&schema), "{\"p1\":\"\"}"));
	schema.size -= 2;
	buffer_append_string(&schema, ",\"last\":{\"title\":1}}}");
	refusal = judge_refusal(NULL, buffer_terminate(&schema));
	cr_assert_not_null(refusal);
	cr_expect_not_null(
		strstr(refusal, "/properties/last/title: must be a string"), "%s", refusal);
}

/* Keys that an author chose to have one hash, if the hash has no secret: the same first and last
 * bytes, and the same length. */
Test(schema_bounds, tells_names_apart_that_differ_only_in_the_middle, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer value = {0};

	buffer_append_string(&schema, "{\"additionalProperties\":false,\"properties\":{\"x\":true");
	buffer_append_string(&value, "{\"x\":0");
	for (int i = 0; i < 30000; i++) {
		buffer_printf(&schema, ",\"aaaaaaaa%08dbbbbbbbb\":{\"type\":\"integer\"}", i);
		buffer_printf(&value, ",\"aaaaaaaa%08dbbbbbbbb\":%d", 29999 - i, i);
	}
	buffer_append_string(&schema, "}}");
	buffer_append_string(&value, "}");
	expect_bounded(buffer_terminate(&schema), buffer_terminate(&value), "");
}

#define FNV_BLOCKS 16
#define FNV_BITS   18

static uint32_t fnv(uint32_t state, const char *block)
{
	for (; *block; block++)
		state = (state ^ (unsigned char)*block) * 0x1B3u;
	return state & ((1u << FNV_BITS) - 1);
}

/* Find two blocks of three letters that lead FNV-1a from @state to one state, in the low bits, and
 * return this state. */
static uint32_t find_pair(uint32_t state, char pair[2][4])
{
	char *seen = calloc(1 << FNV_BITS, 4);
	uint32_t end = 0;

	for (unsigned int i = 0; i < 26 * 26 * 26; i++) {
		char block[4] = {
			(char)('a' + i / 676), (char)('a' + i / 26 % 26), (char)('a' + i % 26)};

		end = fnv(state, block);
		if (seen[(size_t)end * 4]) {
			memcpy(pair[0], seen + (size_t)end * 4, 4);
			memcpy(pair[1], block, 4);
			break;
		}
		memcpy(seen + (size_t)end * 4, block, 4);
	}
	free(seen);
	return end;
}

/* Names that all have one FNV-1a hash, in the bits that place them in a table. */
Test(schema_bounds, compiles_names_that_collide_in_a_known_hash, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	char pairs[FNV_BLOCKS][2][4] = {0};
	uint32_t state = 0x22325;

	for (int i = 0; i < FNV_BLOCKS; i++)
		state = find_pair(state, pairs[i]);
	buffer_append_string(&schema, "{\"properties\":{\"x\":true");
	for (unsigned int n = 0; n < 1 << FNV_BLOCKS; n++) {
		buffer_append_string(&schema, ",\"");
		for (int i = 0; i < FNV_BLOCKS; i++)
			buffer_append_string(&schema, pairs[i][n >> i & 1]);
		buffer_append_string(&schema, "\":true");
	}
	buffer_append_string(&schema, "}}");
	expect_bounded(buffer_terminate(&schema), "1", "");
}

/* @n resources with a dynamic anchor each, and @n_refs references to it. */
static const char *dynamic(struct buffer *out, int n, int n_refs)
{
	buffer_reset(out);
	buffer_append_string(out, "{\"$id\":\"http://x/\",\"$dynamicAnchor\":\"a\",\"$defs\":{");
	for (int i = 0; i < n; i++)
		buffer_printf(out,
			"\"r%d\":{\"$id\":\"r%d\",\"$dynamicAnchor\":\"a\",\"type\":\"integer\"},",
			i, i);
	buffer_append_string(out, "\"x\":true},\"allOf\":[true");
	for (int i = 0; i < n; i++)
		buffer_printf(out, ",{\"not\":{\"not\":{\"$ref\":\"r%d\"}}}", i);
	for (int i = 0; i < n_refs; i++)
		buffer_append_string(out, ",{\"properties\":{\"p\":{\"$dynamicRef\":\"#a\"}}}");
	buffer_append_string(out, "]}");
	return buffer_terminate(out);
}

Test(schema_bounds, compiles_many_dynamic_references_into_many_resources, .timeout = 120)
{
	cleanup(buffer_deinit) struct buffer schema = {0};

	expect_bounded(dynamic(&schema, 1000, 10000), "1", "");
	expect_refusal(dynamic(&schema, 1024, 1), "at most 1024 '$dynamicAnchor'");
}

/* The names of anchors and resources do not repeat a long URI. */
Test(schema_bounds, refuses_long_uris_and_many_resources, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer uri = {0};

	repeat(&uri, "http://x/", "a", 3000, "");
	buffer_printf(&schema, "{\"$id\":\"%s\"}", uri.data);
	expect_refusal(buffer_terminate(&schema), "at most 2048 bytes");
	buffer_reset(&schema);
	buffer_append_string(&schema, "{\"$defs\":{\"x\":true");
	for (int i = 0; i < 5000; i++)
		buffer_printf(&schema, ",\"r%d\":{\"$id\":\"http://x/%d\"}", i, i);
	buffer_append_string(&schema, "}}");
	expect_refusal(buffer_terminate(&schema), "at most 4096 with an '$id' of their own");
}
