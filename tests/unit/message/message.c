/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "message/envelope.h"
#include "util/cleanup.h"

#define DEPTH_MAX 128

/* Return the text of a message, NUL-terminated; the caller frees it. */
static char *text_of(struct buffer *message)
{
	size_t size;
	const char *text = bus_message_text(message, &size);
	char *copy = strndup(text, size);

	cr_assert_eq(buffer_status(message), 0);
	buffer_deinit(message);
	return copy;
}

/* Return the context of the response to a request with @context. */
static char *derive(const char *context)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	cleanup(buffer_deinit) struct buffer request = {0};
	struct buffer derived = {0};

	buffer_printf(&request, "{\"type\": \"t\", \"context\": %s}", context);
	cr_assert_eq(bus_envelope_read(&envelope, request.data, request.size, DEPTH_MAX), 0, "%s",
		context);
	bus_context_derive(&envelope, &derived);
	return buffer_take(&derived, NULL);
}

static void expect_derived(const char *context, const char *expected)
{
	cleanup_free char *derived = derive(context);

	cr_assert_str_eq(derived, expected);
}

Test(bus_context, without_a_routing_pair_stays)
{
	expect_derived("null", "{}");
	expect_derived("{}", "{}");
	expect_derived("{ }", "{ }");
	expect_derived("{ \"a\" : 1.10 }", "{ \"a\" : 1.10 }");
}

Test(bus_context, with_only_a_source_gets_a_destination)
{
	expect_derived("{\"source\": \"s\"}", "{\"source\": \"s\", \"destination\": \"s\"}");
	expect_derived("{\"source\":\"s\" , \"z\":1 \n}",
		"{\"source\":\"s\" , \"z\":1, \"destination\": \"s\" \n}");
	expect_derived("{\"destination\": null, \"source\": \"s\"}",
		"{\"destination\": \"s\", \"source\": \"s\"}");
	expect_derived("{\"destination\": [ ], \"source\": \"s\"}",
		"{\"destination\": \"s\", \"source\": \"s\"}");
	expect_derived("{\"source\": [\"a\", \"b\"], \"destination\": \"\"}",
		"{\"source\": [\"a\", \"b\"], \"destination\": [\"a\", \"b\"]}");
}

Test(bus_context, with_both_has_them_swapped_in_place)
{
	expect_derived("{\"source\": \"s\", \"x\": 0, \"destination\": \"d\"}",
		"{\"source\": \"d\", \"x\": 0, \"destination\": \"s\"}");
	expect_derived("{\"destination\" :\"d\",\"source\":\"\\u0073\"}",
		"{\"destination\" :\"\\u0073\",\"source\":\"d\"}");
	expect_derived("{\"s\\u006furce\": \"s\", \"destinatio\\u006e\": \"d\"}",
		"{\"s\\u006furce\": \"d\", \"destinatio\\u006e\": \"s\"}");
}

Test(bus_context, takes_the_first_of_a_list_as_source)
{
	expect_derived("{\"source\": \"s\", \"destination\": [\"a\", \"b\"]}",
		"{\"source\": \"a\", \"destination\": \"s\"}");
	expect_derived("{\"destination\": [ \"a\" , \"b\"]}",
		"{\"destination\": [ \"a\" , \"b\"], \"source\": \"a\"}");
	expect_derived("{\"destination\": [{\"x\": [1]}, 2], \"source\": null}",
		"{\"destination\": [{\"x\": [1]}, 2], \"source\": {\"x\": [1]}}");
}

Test(bus_context, with_only_a_destination_gets_a_source)
{
	expect_derived("{\"destination\": \"d\"}", "{\"destination\": \"d\", \"source\": \"d\"}");
	expect_derived("{\"source\": \"\", \"destination\": \"d\"}",
		"{\"source\": \"d\", \"destination\": \"d\"}");
}

Test(bus_context, moves_values_of_other_types_as_they_are)
{
	expect_derived("{\"source\": 1.0e1, \"destination\": {\"a\":[ ]}}",
		"{\"source\": {\"a\":[ ]}, \"destination\": 1.0e1}");
	expect_derived("{\"source\": false}", "{\"source\": false, \"destination\": false}");
	expect_derived(
		"{\"source\": 0, \"destination\": {}}", "{\"source\": {}, \"destination\": 0}");
}

Test(bus_context, is_not_misled_by_pairs_deeper_down)
{
	expect_derived(
		"{\"session\": {\"source\": \"x\", \"destination\": \"y\"}, \"source\": \"s\"}",
		"{\"session\": {\"source\": \"x\", \"destination\": \"y\"}, \"source\": \"s\", "
		"\"destination\": \"s\"}");
}

/*
 * Random contexts. Each is written twice at the same time: as it is sent, and as it must come back.
 */
struct pair_of_texts {
	struct buffer sent;
	struct buffer expected;
};

static void put(struct pair_of_texts *texts, const char *text)
{
	buffer_append_string(&texts->sent, text);
	buffer_append_string(&texts->expected, text);
}

static void put_space(struct pair_of_texts *texts)
{
	static const char *const spaces[] = {"", "", " ", "\t", "\n ", "\r\n"};

	put(texts, spaces[rand() % 6]);
}

static void put_value(struct pair_of_texts *texts, int depth)
{
	static const char *const scalars[] = {"9007199254740993", "1.10", "1e400", "-0", "true",
		"false", "null", "\"\"", "\"\\u00e9 \xC3\xA9 \\ud83d\\ude00\"", "\"\\\\\\\"}]\"",
		"\"source\"", "0.1E-7", "\"\\u0000\"", "123456789012345678901234567890"};
	int choice = rand() % (depth > 0 ? 20 : 14);

	if (choice < 14) {
		put(texts, scalars[choice]);
		return;
	}
	put(texts, choice < 17 ? "[" : "{");
	for (int i = rand() % 4; i > 0; i--) {
		char key[32];

		put_space(texts);
		snprintf(key, sizeof(key), "\"\\u006b%d\":", i);
		put(texts, choice < 17 ? "" : key);
		put_value(texts, depth - 1);
		put_space(texts);
		put(texts, i > 1 ? "," : "");
	}
	put(texts, choice < 17 ? "]" : "}");
}

static void put_member(struct pair_of_texts *texts, bool *is_first, const char *key)
{
	put(texts, *is_first ? "" : ",");
	*is_first = false;
	put_space(texts);
	put(texts, key);
	put_space(texts);
	put(texts, ":");
	put_space(texts);
}

static void put_others(struct pair_of_texts *texts, bool *is_first, int from)
{
	for (int i = rand() % 4; i > 0; i--) {
		char key[32];

		snprintf(key, sizeof(key), rand() % 2 ? "\"k%d\"" : "\"\\u006b%d\"", from + i);
		put_member(texts, is_first, key);
		put_value(texts, 4);
	}
}

/* Write a context with both members of the pair, in any order, among others. */
static void put_context(struct pair_of_texts *texts)
{
	bool is_first = true;
	bool source_first = rand() % 2;

	put_space(texts);
	put(texts, "{");
	put_others(texts, &is_first, 0);
	put_member(texts, &is_first, source_first ? "\"source\"" : "\"destination\"");
	buffer_append_string(&texts->sent, source_first ? "\"a\\/\"" : "[7.0 ,{}]");
	buffer_append_string(&texts->expected, source_first ? "7.0" : "\"a\\/\"");
	put_others(texts, &is_first, 10);
	put_member(texts, &is_first, source_first ? "\"destination\"" : "\"source\"");
	buffer_append_string(&texts->sent, source_first ? "[7.0 ,{}]" : "\"a\\/\"");
	buffer_append_string(&texts->expected, source_first ? "\"a\\/\"" : "7.0");
	put_others(texts, &is_first, 20);
	put_space(texts);
	put(texts, "}");
}

Test(bus_context, of_any_shape_comes_back_byte_for_byte)
{
	srand(20261122);
	for (int i = 0; i < 20000; i++) {
		cleanup_free char *derived = NULL;
		struct pair_of_texts texts = {0};

		put_context(&texts);
		derived = derive(buffer_terminate(&texts.sent));
		cr_assert_str_eq(derived,
			buffer_terminate(&texts.expected) + strspn(texts.expected.data, " \t\r\n"));
		buffer_deinit(&texts.sent);
		buffer_deinit(&texts.expected);
	}
}

Test(bus_message, a_response_has_the_topic_and_the_context_of_its_request)
{
	static const char request[] = "{\"type\": \"a\\\"b\", \"x\": 1, \"data\": {\"n\": 1}, "
				      "\"context\": {\"source\": \"s\"}}";
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	cleanup_free char *text = NULL;
	struct buffer message = {0};

	cr_assert_eq(bus_envelope_read(&envelope, request, sizeof(request) - 1, DEPTH_MAX), 0);
	bus_response_begin(&message, &envelope);
	buffer_append_string(&message, "{\"r\": 2}");
	bus_message_end(&message);
	text = text_of(&message);
	cr_assert_str_eq(text, "{\"type\": \"a\\\"b.response\", \"context\": {\"source\": \"s\", "
			       "\"destination\": \"s\"}, \"data\": {\"r\": 2}}");
}

Test(bus_message, a_broadcast_names_its_source)
{
	cleanup_free char *text = NULL;
	struct buffer message = {0};

	bus_broadcast_begin(&message, "ovos.tools.changed", "toolboxd");
	buffer_append_string(&message, "{}");
	bus_message_end(&message);
	text = text_of(&message);
	cr_assert_str_eq(text, "{\"type\": \"ovos.tools.changed\", \"context\": "
			       "{\"source\": \"toolboxd\", \"session\": {\"session_id\": "
			       "\"default\"}}, \"data\": {}}");
}

Test(bus_message, a_request_has_the_context_that_is_given)
{
	cleanup_free char *text = NULL;
	struct buffer message = {0};

	bus_request_begin(&message, "t", "{\"id\": 7}");
	buffer_append_string(&message, "{}");
	bus_message_end(&message);
	text = text_of(&message);
	cr_assert_str_eq(text, "{\"type\": \"t\", \"context\": {\"id\": 7}, \"data\": {}}");
}

Test(bus_message, that_was_not_begun_has_no_text)
{
	struct buffer message = {0};
	size_t size = 1;

	bus_message_text(&message, &size);
	cr_assert_eq(size, 0);
}

static void expect_short(const char *context, const char *expected)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	char text[512];
	size_t size;

	snprintf(text, sizeof(text), "{\"type\": \"t\", \"context\": %s}", context);
	cr_assert_eq(bus_envelope_read(&envelope, text, strlen(text), 8), 0);
	bus_response_begin_part(&message, &envelope, BUS_CONTEXT_SHORT);
	buffer_append_string(&message, "{}}");
	snprintf(text, sizeof(text), "{\"type\": \"t.response\", \"context\": %s, \"data\": {}}",
		expected);
	buffer_terminate(&message);
	cr_assert_str_eq(bus_message_text(&message, &size), text);
	cr_assert_geq(bus_context_size(&envelope, BUS_CONTEXT_SHORT) + 64, strlen(expected));
	cr_assert_eq(bus_context_size(&envelope, BUS_CONTEXT_EMPTY), 0);
}

Test(bus_context, can_be_reduced_to_its_session_and_routing_pair)
{
	expect_short("{}", "{}");
	expect_short("{\"x\": 1, \"session\": {\"a\": 1.10}}", "{\"session\":{\"a\": 1.10}}");
	expect_short("{\"source\": \"a\", \"x\": 1}", "{\"source\":\"a\", \"destination\":\"a\"}");
	expect_short("{\"destination\": [\"b\", \"c\"], \"source\": \"a\", \"session\": null}",
		"{\"session\":null, \"source\":\"b\", \"destination\":\"a\"}");
	expect_short("{\"destination\": \"b\", \"source\": \"\"}",
		"{\"source\":\"b\", \"destination\":\"b\"}");
}
