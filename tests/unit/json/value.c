/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "util/buffer.h"

static void read_tape(struct json_tape *tape, const char *text)
{
	cr_assert_eq(
		json_tape_read(tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0, "%s", text);
}

Test(json_value, finds_a_member_by_its_decoded_key)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	read_tape(&tape, "{\"a\":1,\"\\u0062\\n\":[{\"a\":2}],\"\":3,\"n\":null,\"A\":4}");
	cr_assert_eq(*json_bytes(&tape, json_find(&tape, 0, "a")), '1');
	cr_assert_eq(json_type_at(&tape, json_find(&tape, 0, "b\n")), JSON_ARRAY);
	cr_assert_eq(*json_bytes(&tape, json_find(&tape, 0, "")), '3');
	cr_assert_eq(*json_bytes(&tape, json_find(&tape, 0, "A")), '4');
	cr_assert_eq(json_find(&tape, 0, "c"), JSON_NONE);
	cr_assert_eq(json_find(&tape, 0, "\\u0062\\n"), JSON_NONE);
	cr_assert_eq(json_find(&tape, json_find(&tape, 0, "n"), "a"), JSON_NONE);
	cr_assert_eq(json_find_sized(&tape, 0, "aA", 1), 2);
}

/* A root without a key is often known to lack it, whatever its values have. */
Test(json_value, finds_members_before_and_after_objects)
{
	static const char *const texts[] = {"{\"x\":{\"y\":{}},\"key\":1}",
		"{\"key\":1,\"x\":{\"y\":2}}", "{\"x\":[{\"y\":2}],\"key\":1}",
		"{\"x\":{\"\\u0079\":2},\"key\":1}", "{\"k\\u0065y\":1}",
		"{\"\\u0000\":2,\"key\":1}", "{\"key\":1,\"key\":2}"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};

		cr_assert_eq(json_tape_read_lax(
				     &tape, texts[i], strlen(texts[i]), JSON_DEPTH_DEFAULT, NULL),
			0, "%s", texts[i]);
		cr_expect_eq(*json_bytes(&tape, json_find(&tape, 0, "key")), '1', "%s", texts[i]);
		cr_expect_eq(json_find(&tape, 0, "y"), JSON_NONE, "%s", texts[i]);
		cr_assert_eq(json_tape_set_empty(&tape), 0);
		cr_expect_eq(json_find(&tape, 0, "key"), JSON_NONE);
	}
}

/* Each of more keys than the reader compares, and none beside them. */
Test(json_value, finds_each_of_many_members)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	char key[8];

	for (int i = 0; i < 100; i++)
		buffer_printf(&text, "%s\"%d\":%d", i ? "," : "{", i, i);
	buffer_append_char(&text, '}');
	read_tape(&tape, buffer_terminate(&text));
	for (int i = 0; i < 200; i++) {
		uint32_t value;

		snprintf(key, sizeof(key), "%d", i);
		value = json_find(&tape, 0, key);
		if (i < 100)
			cr_expect_eq(atoi(json_bytes(&tape, value)), i);
		cr_expect_eq(value != JSON_NONE, i < 100, "%d", i);
	}
}

/* An array of strings is not an object, though its elements look like keys to a walk. */
Test(json_value, finds_no_member_of_what_is_no_object)
{
	static const char *const texts[] = {"[\"a\",1]", "[\"a\"]", "[[\"a\"]]", "\"a\"", "1",
		"true", "null", "{}", "[]", "[{\"a\":1}]", "{\"b\":{\"a\":1}}"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};

		read_tape(&tape, texts[i]);
		cr_expect_eq(json_find(&tape, 0, "a"), JSON_NONE, "%s", texts[i]);
	}
}

Test(json_value, walks_arrays_and_objects)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t n = 0;

	read_tape(&tape, "{\"x\":[[],[1,[2]],{}],\"y\":0}");
	for (uint32_t i = json_first(&tape, 0); i < json_end(&tape, 0); i = json_next_key(&tape, i))
		n++;
	cr_assert_eq(n, 2);
	for (uint32_t i = json_first(&tape, 2); i < json_end(&tape, 2); i = json_next(&tape, i))
		n++;
	cr_assert_eq(n, 5);
	cr_assert_eq(json_count(&tape, 0), 2);
	cr_assert_eq(json_count(&tape, 2), 3);
}

Test(json_value, makes_the_tape_of_an_empty_object_as_the_reader_does)
{
	cleanup(json_tape_cleanup) struct json_tape read = {0};
	cleanup(json_tape_cleanup) struct json_tape made = {0};

	read_tape(&read, "{}");
	for (int round = 0; round < 2; round++) {
		cr_assert_eq(json_tape_set_empty(&made), 0);
		cr_assert_eq(made.count, read.count);
		cr_assert_eq(made.size, read.size);
		cr_assert_eq(memcmp(made.text, read.text, read.size), 0);
		cr_assert_eq(memcmp(made.tokens, read.tokens, sizeof(*read.tokens)), 0);
		read_tape(&made, "[1,{\"a\":2}]");
	}
}

Test(json_value, gives_the_text_of_a_value_a_string_with_its_quotes)
{
	static const char *const expected[] = {"[ \"a\" , 1.50 ,{ } ]", "\"a\"", "1.50", "{ }"};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	read_tape(&tape, " [ \"a\" , 1.50 ,{ } ] ");
	for (uint32_t i = 0; i < tape.count; i++) {
		size_t size;
		const char *text = json_value_text(&tape, i, &size);

		cr_assert_eq(size, strlen(expected[i]));
		cr_assert_eq(memcmp(text, expected[i], size), 0);
	}
}

Test(json_value, decodes_every_escape)
{
	static const char expected[] = "\"\\/\b\f\n\r\t\xc3\xa9|\xe2\x82\xac|\xf0\x9d\x84\x9e|\0|x";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer decoded = {0};
	cleanup_free char *copy = NULL;
	size_t size;

	read_tape(&tape, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9|\\u20ac|\\uD834\\uDd1e|\\u0000|x\"");
	json_string_decode(&tape, 0, &decoded);
	cr_assert_eq(buffer_status(&decoded), 0);
	cr_assert_eq(decoded.size, sizeof(expected) - 1);
	cr_assert_eq(memcmp(decoded.data, expected, decoded.size), 0);
	copy = json_string_dup(&tape, 0, &size);
	cr_assert_eq(size, sizeof(expected) - 1);
	cr_assert_eq(memcmp(copy, expected, sizeof(expected)), 0);
	cr_assert(json_string_equals(&tape, 0, expected, sizeof(expected) - 1));
	cr_assert_not(json_string_equals(&tape, 0, expected, sizeof(expected) - 2));
}

Test(json_value, duplicates_an_empty_string)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *copy = NULL;

	read_tape(&tape, "\"\"");
	copy = json_string_dup(&tape, 0, NULL);
	cr_assert_str_eq(copy, "");
}

Test(json_value, compares_strings_decoded_across_tapes)
{
	static const struct {
		const char *a, *b;
		bool is_equal;
	} cases[] = {
		{"\"abc\"", "\"abc\"", true},
		{"\"abc\"", "\"abd\"", false},
		{"\"abc\"", "\"ab\"", false},
		{"\"a\\u0062c\"", "\"abc\"", true},
		{"\"\\u0061bc\"", "\"ab\\u0063\"", true},
		{"\"\\ud834\\udd1e\"", "\"\xf0\x9d\x84\x9e\"", true},
		{"\"\\n\"", "\"\\u000a\"", true},
		{"\"\\n\"", "\"n\"", false},
		{"\"a\\nb\"", "\"a\\n\"", false},
		{"\"\"", "\"\\u0000\"", false},
		{"\"\\u00e9\"", "\"\\u00e8\"", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape a = {0};
		cleanup(json_tape_cleanup) struct json_tape b = {0};

		read_tape(&a, cases[i].a);
		read_tape(&b, cases[i].b);
		cr_assert_eq(json_strings_equal(&a, 0, &b, 0), cases[i].is_equal, "%s", cases[i].a);
		cr_assert_eq(json_strings_equal(&b, 0, &a, 0), cases[i].is_equal, "%s", cases[i].a);
	}
}

Test(json_value, compares_an_escaped_string_with_plain_text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	read_tape(&tape, "\"a\\nb\"");
	cr_assert(json_string_equals(&tape, 0, "a\nb", 3));
	cr_assert_not(json_string_equals(&tape, 0, "a\nc", 3));
	cr_assert_not(json_string_equals(&tape, 0, "a\n", 2));
	cr_assert_not(json_string_equals(&tape, 0, "a\nbc", 4));
	cr_assert_not(json_string_equals(&tape, 0, "a\\nb", 4));
	cr_assert_not(json_string_equals(&tape, 0, "", 0));
}

Test(json_value, counts_code_points_not_bytes)
{
	static const struct {
		const char *text;
		size_t points;
	} cases[] = {
		{"\"\"", 0},
		{"\"abc\"", 3},
		{"\"caf\xc3\xa9\"", 4},
		{"\"caf\\u00e9\"", 4},
		{"\"\\ud834\\udd1e\xf0\x9d\x84\x9e\\n\"", 3},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};

		read_tape(&tape, cases[i].text);
		cr_assert_eq(json_string_points(&tape, 0), cases[i].points, "%s", cases[i].text);
	}
}

Test(json_value, flags_what_a_reader_of_its_bytes_has_to_know)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	read_tape(&tape, "[\"a\",\"\\u00e9\",\"\xc3\xa9\",\"\xc3\xa9\\n\",1,1.0,1e0,true]");
	cr_assert_eq(json_at(&tape, 1)->flags, 0);
	cr_assert_eq(json_at(&tape, 2)->flags, JSON_ESCAPED);
	cr_assert_eq(json_at(&tape, 3)->flags, JSON_NON_ASCII);
	cr_assert_eq(json_at(&tape, 4)->flags, JSON_ESCAPED | JSON_NON_ASCII);
	cr_assert_eq(json_at(&tape, 5)->flags, 0);
	cr_assert_eq(json_at(&tape, 6)->flags, JSON_FRACTION);
	cr_assert_eq(json_at(&tape, 7)->flags, JSON_FRACTION);
	cr_assert(json_is_true(&tape, 8));
}

Test(json_value, names_types_as_json_schema_does)
{
	cr_assert_str_eq(json_type_name(JSON_NULL), "null");
	cr_assert_str_eq(json_type_name(JSON_FALSE), "boolean");
	cr_assert_str_eq(json_type_name(JSON_TRUE), "boolean");
	cr_assert_str_eq(json_type_name(JSON_NUMBER), "number");
	cr_assert_str_eq(json_type_name(JSON_STRING), "string");
	cr_assert_str_eq(json_type_name(JSON_ARRAY), "array");
	cr_assert_str_eq(json_type_name(JSON_OBJECT), "object");
}

Test(json_value, tells_how_deep_it_is)
{
	static const struct {
		const char *text;
		uint32_t depth;
	} rows[] = {{"1", 0}, {"\"[[\"", 0}, {"[]", 1}, {"{}", 1}, {"[1,[2],3]", 2},
		{"{\"a\":1,\"b\":{}}", 2}, {"[[],[[]],[]]", 3}, {"{\"a\":[{\"b\":1}]}", 3}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};

		cr_assert_eq(json_tape_read(&tape, rows[i].text, strlen(rows[i].text), 8, NULL), 0);
		cr_expect_not(json_is_deeper(&tape, 0, rows[i].depth), "%s", rows[i].text);
		cr_expect_not(json_is_deeper(&tape, 0, rows[i].depth + 1), "%s", rows[i].text);
		if (rows[i].depth > 0)
			cr_expect(json_is_deeper(&tape, 0, rows[i].depth - 1), "%s", rows[i].text);
	}
}

Test(json_value, memory_is_kept_up_to_a_bound)
{
	static const char text[] = "[1,2,3]";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t capacity;

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 8, NULL), 0);
	capacity = tape.capacity;
	json_tape_recycle(&tape, capacity);
	cr_expect_eq(tape.capacity, capacity);
	cr_expect_eq(tape.count, 0);
	json_tape_recycle(&tape, capacity - 1);
	cr_expect_eq(tape.capacity, 0);
}
