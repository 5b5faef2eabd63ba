/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "util/buffer.h"

/* Every text is read from a block of exactly its size, so that a sanitizer sees a read outside. */
static int read_exactly(const char *text, size_t size, uint32_t depth, struct json_error *ret_error)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *copy = malloc(size ? size : 1);

	cr_assert_not_null(copy);
	memcpy(copy, text, size);
	return json_tape_read(&tape, copy, size, depth, ret_error);
}

static void expect_refusal_sized(
	const char *text, size_t size, int status, size_t offset, const char *message)
{
	struct json_error error = {0};
	int r = read_exactly(text, size, JSON_DEPTH_DEFAULT, &error);

	cr_assert_eq(r, status, "%s: got %d, not %d", text, r, status);
	cr_assert_eq(error.status, status, "%s", text);
	cr_assert_eq(error.offset, offset, "%s: at %zu, not %zu", text, error.offset, offset);
	cr_assert_not_null(strstr(error.message, message), "%s: \"%s\" lacks \"%s\"", text,
		error.message, message);
}

static void expect_refusal(const char *text, int status, size_t offset, const char *message)
{
	expect_refusal_sized(text, strlen(text), status, offset, message);
}

static void expect_accepted(const char *text)
{
	struct json_error error = {0};
	int r = read_exactly(text, strlen(text), JSON_DEPTH_DEFAULT, &error);

	cr_assert_eq(r, 0, "%s: %s at %zu", text, error.message, error.offset);
}

Test(json_reader, lays_a_document_out_as_its_header_draws_it)
{
	static const struct {
		enum json_type type;
		uint32_t next;
		uint32_t count;
		const char *bytes;
	} expected[] = {
		{JSON_OBJECT, 7, 2, "{\"a\": [1, \"x\"], \"b\": null}"},
		{JSON_STRING, 2, 0, "a"},
		{JSON_ARRAY, 5, 2, "[1, \"x\"]"},
		{JSON_NUMBER, 4, 0, "1"},
		{JSON_STRING, 5, 0, "x"},
		{JSON_STRING, 6, 0, "b"},
		{JSON_NULL, 7, 0, "null"},
	};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const char *text = expected[0].bytes;

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 2, NULL), 0);
	cr_assert_eq(tape.count, 7);
	for (uint32_t i = 0; i < tape.count; i++) {
		const struct json_token *token = json_at(&tape, i);

		cr_assert_eq(json_type_at(&tape, i), expected[i].type, "token %u", i);
		cr_assert_eq(token->next, expected[i].next, "token %u", i);
		cr_assert_eq(token->count, expected[i].count, "token %u", i);
		cr_assert_eq(token->length, strlen(expected[i].bytes), "token %u", i);
		cr_assert_eq(memcmp(json_bytes(&tape, i), expected[i].bytes, token->length), 0);
	}
}

Test(json_reader, accepts_what_rfc_8259_allows)
{
	expect_accepted("{}");
	expect_accepted("[]");
	expect_accepted(" \t\r\n[ ] \t\r\n");
	expect_accepted("null");
	expect_accepted("true");
	expect_accepted(" false ");
	expect_accepted("\"\"");
	expect_accepted("0");
	expect_accepted("-0");
	expect_accepted("-0.0e-0");
	expect_accepted("1E+2");
	expect_accepted("1e999");
	expect_accepted("[1.5,-2,3e4,0.000]");
	expect_accepted("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD834\\uDD1E\\u0000\"");
	expect_accepted("\"\x7f \xc2\x80 \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf\"");
	expect_accepted("{\"\":0,\" \":1}");
	expect_accepted("[[[]],[{}],{\"a\":[{}]}]");
}

Test(json_reader, refuses_what_is_no_value)
{
	expect_refusal("", JSON_E_SYNTAX, 0, "empty text");
	expect_refusal("  ", JSON_E_SYNTAX, 0, "empty text");
	expect_refusal("[", JSON_E_SYNTAX, 1, "text ends");
	expect_refusal("[1,", JSON_E_SYNTAX, 3, "text ends");
	expect_refusal("nul", JSON_E_SYNTAX, 0, "another word");
	expect_refusal("[tru]", JSON_E_SYNTAX, 1, "another word");
	expect_refusal("NaN", JSON_E_SYNTAX, 0, "bare word");
	expect_refusal("[None]", JSON_E_SYNTAX, 1, "bare word");
	expect_refusal("[,1]", JSON_E_SYNTAX, 1, "','");
	expect_refusal("[:]", JSON_E_SYNTAX, 1, "':'");
	expect_refusal("[1,]", JSON_E_SYNTAX, 3, "comma too many");
	expect_refusal("]", JSON_E_SYNTAX, 0, "closing bracket");
	expect_refusal("['x']", JSON_E_SYNTAX, 1, "single quote");
	expect_refusal("[/* x */1]", JSON_E_SYNTAX, 1, "comment");
	expect_refusal("[+1]", JSON_E_SYNTAX, 1, "plus");
	expect_refusal("[.5]", JSON_E_SYNTAX, 1, "'.'");
	expect_refusal("[x]", JSON_E_SYNTAX, 1, "cannot begin one");
	expect_refusal("[xyz]", JSON_E_SYNTAX, 1, "cannot begin one");
	expect_refusal("\xEF\xBB\xBF[]", JSON_E_SYNTAX, 0, "byte order mark");
	expect_refusal("\xEF\xBB\xBF", JSON_E_SYNTAX, 0, "byte order mark");
	expect_refusal_sized("[\0]", 3, JSON_E_SYNTAX, 1, "NUL byte");
	expect_refusal_sized("\0", 1, JSON_E_SYNTAX, 0, "NUL byte");
}

Test(json_reader, refuses_broken_containers)
{
	expect_refusal("{\"a\":1,}", JSON_E_SYNTAX, 7, "comma too many");
	expect_refusal("{a:1}", JSON_E_SYNTAX, 1, "key in double quotes");
	expect_refusal("{'a':1}", JSON_E_SYNTAX, 1, "single quote");
	expect_refusal("{//x\n}", JSON_E_SYNTAX, 1, "comment");
	expect_refusal("{1:1}", JSON_E_SYNTAX, 1, "key in double quotes");
	expect_refusal("{", JSON_E_SYNTAX, 1, "text ends");
	expect_refusal("{\"a\"", JSON_E_SYNTAX, 4, "text ends");
	expect_refusal("{\"a\"}", JSON_E_SYNTAX, 4, "':'");
	expect_refusal("{\"a\" 1}", JSON_E_SYNTAX, 5, "':'");
	expect_refusal("{\"a\":}", JSON_E_SYNTAX, 5, "closing bracket");
	expect_refusal("{\"a\":1", JSON_E_SYNTAX, 6, "text ends");
	expect_refusal("{\"a\":1]", JSON_E_SYNTAX, 6, "found ']'");
	expect_refusal("{\"a\":1 \"b\":2}", JSON_E_SYNTAX, 7, "',' or '}'");
	expect_refusal("{\"a\":[1]", JSON_E_SYNTAX, 8, "text ends");
	expect_refusal("[1", JSON_E_SYNTAX, 2, "text ends");
	expect_refusal("[1 2]", JSON_E_SYNTAX, 3, "',' or ']'");
	expect_refusal("[1}", JSON_E_SYNTAX, 2, "found '}'");
	expect_refusal("[{}", JSON_E_SYNTAX, 3, "text ends");
	expect_refusal_sized("[1\0]", 4, JSON_E_SYNTAX, 2, "',' or ']'");
}

Test(json_reader, refuses_anything_behind_the_value)
{
	expect_refusal("1 2", JSON_E_SYNTAX, 2, "after the value");
	expect_refusal("[1]]", JSON_E_SYNTAX, 3, "after the value");
	expect_refusal("{} {}", JSON_E_SYNTAX, 3, "after the value");
	expect_refusal("truex", JSON_E_SYNTAX, 4, "after the value");
	expect_refusal_sized("{}\0", 3, JSON_E_SYNTAX, 2, "after the value");
}

Test(json_reader, refuses_numbers_that_json_does_not_have)
{
	expect_refusal("01", JSON_E_SYNTAX, 1, "leading zero");
	expect_refusal("[-01]", JSON_E_SYNTAX, 3, "leading zero");
	expect_refusal("1.", JSON_E_SYNTAX, 2, "text ends");
	expect_refusal("[1.]", JSON_E_SYNTAX, 3, "after the point");
	expect_refusal("[1.e5]", JSON_E_SYNTAX, 3, "after the point");
	expect_refusal("-", JSON_E_SYNTAX, 1, "text ends");
	expect_refusal("[-]", JSON_E_SYNTAX, 2, "after '-'");
	expect_refusal("[-a]", JSON_E_SYNTAX, 2, "after '-'");
	expect_refusal("[1e]", JSON_E_SYNTAX, 3, "exponent");
	expect_refusal("[1e+]", JSON_E_SYNTAX, 4, "exponent");
	expect_refusal("[1e5.5]", JSON_E_SYNTAX, 4, "',' or ']'");
	expect_refusal("[0x10]", JSON_E_SYNTAX, 2, "',' or ']'");
}

Test(json_reader, refuses_broken_strings)
{
	expect_refusal("\"abc", JSON_E_SYNTAX, 4, "closing quote");
	expect_refusal("\"abc  ", JSON_E_SYNTAX, 4, "closing quote");
	expect_refusal("[\"abc]", JSON_E_SYNTAX, 6, "closing quote");
	expect_refusal("[\"0123456789abcdef0123456789abcdef]", JSON_E_SYNTAX, 35, "closing quote");
	expect_refusal("[\"\t\"]", JSON_E_SYNTAX, 2, "control character");
	expect_refusal("[\"0123456789abcdef\n\"]", JSON_E_SYNTAX, 18, "control character");
	expect_refusal_sized("[\"\0\"]", 5, JSON_E_SYNTAX, 2, "control character");
	expect_refusal("\"\\", JSON_E_SYNTAX, 1, "text ends");
	expect_refusal("[\"\\x\"]", JSON_E_SYNTAX, 2, "after a backslash");
	expect_refusal("\"\\u12\"", JSON_E_SYNTAX, 1, "four hexadecimal digits");
	expect_refusal("[\"\\u12g4 \"]", JSON_E_SYNTAX, 2, "four hexadecimal digits");
	expect_refusal_sized("[\"\\\0\"]", 6, JSON_E_SYNTAX, 2, "after a backslash");
}

Test(json_reader, refuses_half_a_surrogate_pair)
{
	expect_refusal("[\"\\ud800\"]", JSON_E_SURROGATE, 2, "surrogate");
	expect_refusal("[\"\\udc00\"]", JSON_E_SURROGATE, 2, "surrogate");
	expect_refusal("[\"\\udfff\"]", JSON_E_SURROGATE, 2, "surrogate");
	expect_refusal("[\"\\udc00\\ud800\"]", JSON_E_SURROGATE, 2, "surrogate");
	expect_refusal("[\"\\ud800\\ud800\"]", JSON_E_SURROGATE, 2, "surrogate");
	expect_refusal("[\"\\ud800\\u0041\"]", JSON_E_SURROGATE, 2, "surrogate");
	expect_refusal("[\"\\ud800\\n\\n\\n\\n\"]", JSON_E_SURROGATE, 2, "surrogate");
	expect_refusal("[\"\\ud800\\udcxx\"]", JSON_E_SURROGATE, 2, "surrogate");
	expect_refusal("\"\\ud800\\udc0", JSON_E_SURROGATE, 1, "surrogate");
	expect_refusal("\"\\ud800\\udc00", JSON_E_SYNTAX, 13, "");
}

Test(json_reader, refuses_bytes_that_are_not_utf8)
{
	static const char *const bad[] = {
		"\x80",
		"\xff",
		"\xc0\xaf",
		"\xc1\xbf",
		"\xe0\x80\xaf",
		"\xe0\x9f\xbf",
		"\xed\xa0\x80",
		"\xed\xbf\xbf",
		"\xf0\x80\x80\xaf",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xc3",
		"\xe2\x82",
		"\xf0\x9f\x98",
		"\xe2\x28\xa1",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char text[64];

		snprintf(text, sizeof(text), "[\"%s\"]", bad[i]);
		expect_refusal(text, JSON_E_UTF8, 2, "UTF-8");
		snprintf(text, sizeof(text), "{\"0123456789abcdef\xc3\xa9%s\":0}", bad[i]);
		expect_refusal(text, JSON_E_UTF8, 20, "UTF-8");
		snprintf(text, sizeof(text), "\"%s", bad[i]);
		expect_refusal(text, JSON_E_UTF8, 1, "UTF-8");
	}
}

Test(json_reader, refuses_a_duplicate_key)
{
	expect_refusal("{\"a\":1,\"a\":2}", JSON_E_DUPLICATE_KEY, 7, "once");
	expect_refusal("{\"\":1,\"\":2}", JSON_E_DUPLICATE_KEY, 6, "once");
	expect_refusal(
		"{\"a\":1,\"b\":{\"a\":1,\"b\":2},\"a\":3}", JSON_E_DUPLICATE_KEY, 25, "once");
	expect_refusal("[{\"b\":[{\"x\":1,\"x\":2}]}]", JSON_E_DUPLICATE_KEY, 14, "once");
	expect_accepted("{\"a\":{\"a\":{\"a\":[{\"a\":1},{\"a\":1}]}}}");
}

Test(json_reader, compares_keys_decoded)
{
	expect_refusal("{\"a\":1,\"\\u0061\":2}", JSON_E_DUPLICATE_KEY, 7, "once");
	expect_refusal("{\"\\u0061\":1,\"b\":0,\"a\":2}", JSON_E_DUPLICATE_KEY, 18, "once");
	expect_refusal("{\"\\/\":1,\"/\":2}", JSON_E_DUPLICATE_KEY, 8, "once");
	expect_refusal("{\"\xc3\xa9\":1,\"\\u00E9\":2}", JSON_E_DUPLICATE_KEY, 8, "once");
	expect_refusal(
		"{\"\\uD834\\uDD1E\":1,\"\xf0\x9d\x84\x9e\":2}", JSON_E_DUPLICATE_KEY, 18, "once");
	expect_accepted("{\"\\n\":1,\"n\":2,\"\\\\n\":3}");
	expect_accepted("{\"e\xcc\x81\":1,\"\xc3\xa9\":2}");
	expect_accepted("{\"a\":1,\"A\":2}");
}

/* Write an object at depth two with @n keys, the last of which is @last. */
static void write_object(struct buffer *out, unsigned int n, const char *last)
{
	buffer_append_string(out, "{\"outer\":{");
	for (unsigned int i = 0; i < n; i++)
		buffer_printf(out, "\"key-%u\":[{\"key-%u\":%u}],", i, i, i);
	buffer_printf(out, "\"%s\":0},\"other\":1}", last);
}

Test(json_reader, finds_a_duplicate_among_any_number_of_keys)
{
	static const unsigned int counts[] = {1, 31, 32, 33, 34, 64, 1000, 100000};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		struct json_error error;

		write_object(&text, counts[i], "key");
		cr_assert_eq(read_exactly(text.data, text.size, 9, &error), 0, "%u", counts[i]);
		buffer_reset(&text);
		write_object(&text, counts[i], "key-0");
		cr_assert_eq(read_exactly(text.data, text.size, 9, &error), JSON_E_DUPLICATE_KEY,
			"%u", counts[i]);
		cr_assert_eq(memcmp(text.data + error.offset, "\"key-0\":0}", 10), 0);
		buffer_reset(&text);
		write_object(&text, counts[i], "\\u006bey-0");
		cr_assert_eq(read_exactly(text.data, text.size, 9, &error), JSON_E_DUPLICATE_KEY,
			"%u", counts[i]);
	}
}

Test(json_reader, reads_a_hundred_thousand_keys_of_one_length_and_one_end, .timeout = 20)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	/* All fall on one bit of the filter: first, middle and last byte and length are the same.
	 */
	buffer_append_char(&text, '{');
	for (unsigned int i = 0; i < 100000; i++)
		buffer_printf(&text, "%s\"a%05uaaaaaaa\":0", i ? "," : "", i);
	buffer_append_char(&text, '}');
	cr_assert_eq(read_exactly(text.data, text.size, 1, NULL), 0);
}

Test(json_reader, counts_a_container_that_is_longer_than_a_token_can_say, .timeout = 60)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const size_t n = JSON_COUNT_MAX + 2;
	cleanup_free char *text = malloc(2 * n + 2);

	cr_assert_not_null(text);
	/* The inner array puts the count aside and takes it up again. */
	for (size_t i = 0; i < n; i++)
		memcpy(text + 1 + 2 * i, "1,", 2);
	text[0] = '[';
	memcpy(text + 2 * n - 1, "[]]", 3);
	cr_assert_eq(json_tape_read(&tape, text, 2 * n + 2, 2, NULL), 0);
	cr_assert_eq(json_at(&tape, 0)->count, JSON_COUNT_MAX);
	cr_assert_eq(json_count(&tape, 0), n);
}

Test(json_reader, refuses_a_nul_in_a_key_only)
{
	expect_refusal("{\"a\\u0000b\":1}", JSON_E_NUL_IN_KEY, 1, "U+0000");
	expect_accepted("{\"a\\\\u0000b\":\"\\u0000\"}");
}

Test(json_reader, holds_nesting_to_the_depth_asked_for)
{
	struct json_error error;

	cr_assert_eq(read_exactly("1", 1, 0, NULL), 0);
	cr_assert_eq(read_exactly("[]", 2, 0, &error), JSON_E_DEPTH);
	cr_assert_eq(error.offset, 0);
	cr_assert_eq(read_exactly("[[],{\"a\":{}}]", 13, 3, NULL), 0);
	cr_assert_eq(read_exactly("[[],{\"a\":{}}]", 13, 2, &error), JSON_E_DEPTH);
	cr_assert_eq(error.offset, 9);
	cr_assert_eq(read_exactly("[[],[],[],[]]", 13, 2, NULL), 0);
}

Test(json_reader, refuses_the_token_for_which_there_is_no_room)
{
	static const char text[] = "[0,{\"a\":1},[2,3,[]]]"; /* nine tokens */
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error = {0};

	for (uint32_t max = 1; max < 9; max++) {
		tape.tokens_max = max;
		cr_expect_eq(json_tape_read(&tape, text, strlen(text), 8, &error), JSON_E_TOKENS);
		cr_expect_not_null(strstr(error.message, "fewer values"));
	}
	cr_expect_eq(error.offset, strlen(text) - 4, "the empty array is the one too many");
	tape.tokens_max = 9;
	cr_expect_eq(json_tape_read(&tape, text, strlen(text), 8, &error), 0);
	cr_expect_eq(tape.count, 9);
	tape.tokens_max = 8;
	cr_expect_eq(json_tape_read(&tape, text, strlen(text), 8, &error), JSON_E_TOKENS,
		"although the memory of the reading before has room");
}

Test(json_reader, takes_no_more_memory_than_its_bound)
{
	const size_t size = 400001;
	const uint32_t max = 100000;
	cleanup(json_tape_cleanup) struct json_tape tape = {.tokens_max = max};
	cleanup_free char *text = malloc(size);

	cr_assert_not_null(text);
	for (size_t i = 0; i < size; i++)
		text[i] = "[],0"[i == 0 ? 0 : i + 1 == size ? 1 : 2 + i % 2];
	cr_expect_eq(json_tape_read(&tape, text, size, 8, NULL), JSON_E_TOKENS);
	cr_expect_eq(tape.capacity, max);
	text[2 * (size_t)max - 2] = ']';
	cr_expect_eq(json_tape_read(&tape, text, 2 * (size_t)max - 1, 8, NULL), 0);
	cr_expect_eq(tape.count, max);
}

Test(json_reader, goes_a_million_levels_deep_without_a_stack)
{
	const size_t depth = 1000000;
	cleanup_free char *text = malloc(2 * depth);

	cr_assert_not_null(text);
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	cr_assert_eq(read_exactly(text, 2 * depth, (uint32_t)depth, NULL), 0);
	cr_assert_eq(read_exactly(text, 2 * depth, (uint32_t)depth - 1, NULL), JSON_E_DEPTH);
	cr_assert_eq(read_exactly(text, 2 * depth - 1, (uint32_t)depth, NULL), JSON_E_SYNTAX);
}

Test(json_reader, refuses_more_bytes_than_offsets_can_tell)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;

	/* The size is looked at before the text. */
	cr_assert_eq(json_tape_read(&tape, "", (size_t)JSON_SIZE_MAX + 1, 1, &error), JSON_E_SIZE);
	cr_assert_eq(error.status, JSON_E_SIZE);
}

Test(json_reader, leaves_nothing_on_the_tape_when_it_refuses)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, "[1,2]", 5, 1, NULL), 0);
	cr_assert_eq(json_tape_read(&tape, "[1,2", 4, 1, NULL), JSON_E_SYNTAX);
	cr_assert_eq(tape.count, 0);
	cr_assert_eq(json_tape_read(&tape, "[3]", 3, 1, NULL), 0);
	cr_assert_eq(tape.count, 2);
}

Test(json_reader, needs_no_memory_on_a_tape_that_was_large_enough)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	const struct json_token *tokens;

	write_object(&text, 1000, "last");
	cr_assert_eq(json_tape_read(&tape, text.data, text.size, 9, NULL), 0);
	tokens = tape.tokens;
	cr_assert_eq(json_tape_read(&tape, text.data, text.size, 9, NULL), 0);
	cr_assert_eq(tape.tokens, tokens);
}

Test(json_reader, locates_an_offset_by_line_and_column)
{
	unsigned int line;
	unsigned int column;

	json_locate("ab\ncd\n", 0, &line, &column);
	cr_assert(line == 1 && column == 1);
	json_locate("ab\ncd\n", 2, &line, &column);
	cr_assert(line == 1 && column == 3);
	json_locate("ab\ncd\n", 4, &line, &column);
	cr_assert(line == 2 && column == 2);
	json_locate("ab\ncd\n", 6, &line, &column);
	cr_assert(line == 3 && column == 1);
}

static int read_object(struct json_tape *tape, const char *text, bool is_lax)
{
	return json_tape_read_object(tape, text, strlen(text), 3, is_lax, NULL);
}

Test(json_reader, reads_an_object_before_other_bytes)
{
	static const char *const ends[] = {"", "}", ",", " x", "]]]", "\"", "{", "\\", "\n\n"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		char text[64];

		snprintf(text, sizeof(text), "{\"a\": [1, {\"b\": 2}], \"c\":\"}\"}%s", ends[i]);
		cr_assert_eq(read_object(&tape, text, false), 0, "%s", text);
		cr_expect_eq(tape.size, 29, "%s: %zu", text, tape.size);
		cr_expect_eq(tape.count, 9);
		cr_expect_eq(json_at(&tape, 0)->length, 29);
		cr_expect_eq(*json_bytes(&tape, json_find(&tape, 0, "c")), '}');
	}
}

Test(json_reader, refuses_an_object_that_is_broken_or_does_not_end)
{
	static const char *const texts[] = {"{", "{\"a\"", "{\"a\":1", "{\"a\":{}", "{\"a\":[}]",
		"{\"a\":[1}", "{\"a\":01}}", "{\"a\":1,}}", "{\"a\":\"}", "{\"a\":[[[]]]}}", "{a}}",
		"{\"a\":1,\"a\":2}}"};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		cr_expect_gt(read_object(&tape, texts[i], false), 0, "%s", texts[i]);
	cr_expect_eq(read_object(&tape, "{\"a\":1,\"a\":NaN}}", true), 0);
	cr_expect_eq(tape.size, 15);
	tape.tokens_max = 2;
	cr_expect_eq(read_object(&tape, "{\"a\":1}}", false), JSON_E_TOKENS);
}
