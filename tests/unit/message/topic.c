/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message/envelope.h"

static int scan(const char *text, size_t size, char *ret_topic)
{
	/* A copy of its own size, so that the sanitizer detects a read past its end. */
	char *copy = malloc(size + 1);
	size_t topic_size = 0;
	int status;

	memcpy(copy, text, size);
	copy = realloc(copy, size ? size : 1);
	status = bus_topic_scan(copy, size, ret_topic, &topic_size);
	ret_topic[status == 0 ? topic_size : 0] = '\0';
	free(copy);
	return status;
}

static void expect_topic(const char *text, const char *expected)
{
	char topic[BUS_TOPIC_BYTES];

	cr_assert_eq(scan(text, strlen(text), topic), 0, "%s", text);
	cr_assert_str_eq(topic, expected);
}

static void expect_status(const char *text, int expected)
{
	char topic[BUS_TOPIC_BYTES];

	cr_assert_eq(scan(text, strlen(text), topic), expected, "%s", text);
}

Test(bus_topic, stands_anywhere_among_the_keys)
{
	expect_topic("{\"type\": \"a.b\"}", "a.b");
	expect_topic(" {\"type\":\"a\",\"data\":{}}", "a");
	expect_topic(
		"{\"data\": {\"type\": \"no\"}, \"n\": -1.5e3, \"t\": true, \"type\" : \"yes\"",
		"yes");
	expect_topic(
		"{\"context\": [\"}\", \"\\\"type\\\": \", {\"type\": 1}], \"type\": \"x\"}", "x");
	expect_topic("{\"types\": 1, \"typ\": 2, \"Type\": 3, \"type\": \"x\"}", "x");
}

Test(bus_topic, and_its_key_may_be_escaped)
{
	expect_topic("{\"\\u0074ype\": \"ovos\\u002etools\\/\\ud83d\\ude00\"}",
		"ovos.tools/\xF0\x9F\x98\x80");
	expect_topic("{\"\\u0054ype\": \"no\", \"typ\\u0065\": \"yes\"}", "yes");
}

Test(bus_topic, the_first_of_two_decides)
{
	expect_topic("{\"type\": \"a\", \"type\": \"b\"}", "a");
	expect_topic("{\"\\u0074ype\": \"a\", \"type\": \"b\"}", "a");
}

Test(bus_topic, is_found_though_the_rest_is_broken_or_missing)
{
	expect_topic("{\"type\": \"a\"", "a");
	expect_topic("{\"type\": \"a\" nonsense", "a");
}

Test(bus_topic, is_none_where_it_is_no_usable_string)
{
	expect_status("{\"type\": 5}", BUS_E_NO_TOPIC);
	expect_status("{\"type\": null, \"type\": \"x\"}", BUS_E_NO_TOPIC);
	expect_status("{\"type\": \"\"}", BUS_E_NO_TOPIC);
	expect_status("{\"type\": \"\\ud800\"}", BUS_E_NO_TOPIC);
	expect_status("{\"type\": \"\\u12\"}", BUS_E_NO_TOPIC);
	expect_status("{\"type\": \"\\\"}", BUS_E_INCOMPLETE);
	expect_status("{\"msg_type\": \"connected\"}", BUS_E_NO_TOPIC);
	expect_status("{}", BUS_E_NO_TOPIC);
}

Test(bus_topic, is_none_in_what_is_no_object)
{
	expect_status("42", BUS_E_NO_TOPIC);
	expect_status("[1]", BUS_E_NO_TOPIC);
	expect_status("null", BUS_E_NO_TOPIC);
	expect_status("\"type\"", BUS_E_NO_TOPIC);
	expect_status("\xEF\xBB\xBF{\"type\": \"a\"}", BUS_E_NO_TOPIC);
	expect_status("{type: 1}", BUS_E_NO_TOPIC);
	expect_status("{\"a\" 1}", BUS_E_NO_TOPIC);
	expect_status("{\"a\": 1 \"type\": \"x\"}", BUS_E_NO_TOPIC);
	expect_status("{, \"type\": \"x\"}", BUS_E_NO_TOPIC);
}

Test(bus_topic, is_at_most_255_bytes)
{
	char text[2048];
	char topic[BUS_TOPIC_BYTES];

	snprintf(text, sizeof(text), "{\"type\": \"%0255d\"}", 0);
	cr_assert_eq(scan(text, strlen(text), topic), 0);
	cr_assert_eq(strlen(topic), 255);
	snprintf(text, sizeof(text), "{\"type\": \"%0256d\"}", 0);
	expect_status(text, BUS_E_NO_TOPIC);
	snprintf(text, sizeof(text), "{\"type\": \"%0254d\\u0030\"}", 0);
	cr_assert_eq(scan(text, strlen(text), topic), 0);
	cr_assert_eq(strlen(topic), 255);
	snprintf(text, sizeof(text), "{\"type\": \"%0255d\\u0030\"}", 0);
	expect_status(text, BUS_E_NO_TOPIC);
}

Test(bus_topic, of_a_part_of_a_frame_is_the_same_or_not_yet_known)
{
	static const char text[] = "{\"data\": {\"a\": [1, \"x\\\"\"]}, \"\\u0074ype\": \"abc\"}";
	char topic[BUS_TOPIC_BYTES];

	for (size_t size = 0; size < sizeof(text) - 2; size++)
		cr_assert_eq(scan(text, size, topic), BUS_E_INCOMPLETE, "%zu bytes", size);
	cr_assert_eq(scan(text, sizeof(text) - 2, topic), 0);
	cr_assert_str_eq(topic, "abc");
}

/* The usual beginning of a message has a way of its own, which finds the same. */
Test(bus_topic, is_found_alike_after_any_space)
{
	static const char *const values[] = {"\"a.b\"}", "\"\\u0061\"}", "\"\"}", "\"a", "\"\\\"",
		"\"\\x\"}", "\"a\", \"type\": \"b\"}"};
	char usual_topic[BUS_TOPIC_BYTES];
	char other_topic[BUS_TOPIC_BYTES];

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		char usual[64];
		char other[64];

		snprintf(usual, sizeof(usual), "{\"type\": %s", values[i]);
		snprintf(other, sizeof(other), "{ \"type\": %s", values[i]);
		cr_expect_eq(scan(usual, strlen(usual), usual_topic),
			scan(other, strlen(other), other_topic), "%s", usual);
		cr_expect_str_eq(usual_topic, other_topic);
	}
}
