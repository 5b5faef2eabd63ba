/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "message/response.h"
#include "util/array.h"
#include "util/cleanup.h"

#define DEPTH_MAX 128

static void expect_fault(const struct bus_envelope *envelope, const char *text, const char *words)
{
	cleanup(buffer_deinit) struct buffer fault = {0};

	bus_fault_write(&envelope->fault, &fault);
	cr_assert_not_null(buffer_terminate(&fault));
	cr_assert_not_null(strstr(fault.data, words), "%s: %s", text, fault.data);
}

static void expect_malformed(const char *text, const char *words)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	cr_assert_eq(bus_envelope_read(&envelope, text, strlen(text), DEPTH_MAX), BUS_E_MALFORMED,
		"%s", text);
	expect_fault(&envelope, text, words);
}

static void read_into(struct bus_envelope *envelope, const char *text)
{
	cr_assert_eq(bus_envelope_read(envelope, text, strlen(text), DEPTH_MAX), 0, "%s: %s", text,
		envelope->fault.expected);
}

Test(bus_envelope, has_its_parts_read)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	read_into(&envelope, " {\"context\": {\"source\": \"s\"}, \"type\": \"t\", "
			     "\"data\": {\"a\": [1]}} \n");
	cr_assert_str_eq(envelope.topic, "t");
	cr_assert_eq(envelope.topic_size, 1);
	cr_assert_eq(envelope.data_status, 0);
	cr_assert_neq(json_find(&envelope.data, 0, "a"), JSON_NONE);
	cr_assert_neq(json_find(&envelope.context, 0, "source"), JSON_NONE);
}

Test(bus_envelope, takes_absent_and_null_for_an_empty_object)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	read_into(&envelope, "{\"type\": \"t\", \"data\": {\"a\": 1}, \"context\": {\"b\": 2}}");
	read_into(&envelope, "{\"type\": \"t\"}");
	cr_assert_eq(json_type_at(&envelope.data, 0), JSON_OBJECT);
	cr_assert_eq(json_count(&envelope.data, 0), 0, "nothing stays of the one before");
	cr_assert_eq(json_count(&envelope.context, 0), 0);
	read_into(&envelope, "{\"data\": null, \"type\": \"t\", \"context\": null}");
	cr_assert_eq(json_count(&envelope.data, 0), 0);
	cr_assert_eq(json_count(&envelope.context, 0), 0);
}

Test(bus_envelope, is_malformed_when_it_is_no_object)
{
	expect_malformed("", "'message' must be a JSON object");
	expect_malformed("42", "a JSON object");
	expect_malformed("[1]", "a JSON object");
	expect_malformed("{\"type\": \"t\"", "'message' must be a JSON object");
	expect_malformed("{\"type\": \"t\",}", "a JSON object (at byte 13)");
	expect_malformed("{\"type\" \"t\"}", "a JSON object (at byte 8)");
	expect_malformed("{\"type\": \"t\"} {", "no more (at byte 14)");
	expect_malformed("{\"type\": \"t\"}}", "no more (at byte 13)");
}

Test(bus_envelope, is_malformed_without_a_usable_type)
{
	expect_malformed("{}", "'type' must be given");
	expect_malformed("{\"msg_type\": \"connected\", \"data\": {}}", "'type' must be given");
	expect_malformed("{\"type\": 5}", "a string");
	expect_malformed("{\"type\": null}", "a string");
	expect_malformed("{\"type\": \"\"}", "1 to 255 bytes");
	expect_malformed("{\"type\": \"\\ud800\"}", "at byte 10: expected a pair");
	expect_malformed("{\"type\": \"\xFF\"}", "UTF-8");
	expect_malformed("{\"type\": \"a\nb\"}", "control character");
}

Test(bus_envelope, is_malformed_when_a_part_is_no_object)
{
	expect_malformed("{\"type\": \"t\", \"data\": 5}", "'data' must be an object (at byte 22)");
	expect_malformed("{\"type\": \"t\", \"data\": \"{}\"}", "'data' must be an object");
	expect_malformed("{\"type\": \"t\", \"data\": nul}", "'data' must be an object");
	expect_malformed("{\"type\": \"t\", \"data\": {]}",
		"'data' must be JSON: at byte 23: expected a key");
	expect_malformed("{\"type\": \"t\", \"data\": {a}}", "'data' must be JSON");
	expect_malformed("{\"type\": \"t\", \"data\": {\"a\": \"\\udc00\"}}",
		"'data' must be JSON: at byte 29: expected a pair of surrogate escapes");
	expect_malformed("{\"type\": \"t\", \"context\": []}", "'context' must be an object");
	expect_malformed("{\"type\": \"t\", \"context\": {\"a\": 01}}", "'context' must be JSON");
	expect_malformed(
		"{\"type\": \"t\", \"context\": {\"a\": \"\t\"}}", "'context' must be JSON");
}

Test(bus_envelope, is_malformed_when_one_of_the_three_is_given_twice)
{
	expect_malformed("{\"type\": \"t\", \"type\": \"t\"}", "'type' must be given once");
	expect_malformed(
		"{\"type\": \"t\", \"data\": {}, \"data\": null}", "'data' must be given once");
	expect_malformed("{\"type\": \"t\", \"context\": {}, \"conte\\u0078t\": {}}", "given once");
}

Test(bus_envelope, is_malformed_when_its_session_is_none)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	expect_malformed("{\"type\": \"t\", \"context\": {\"session\": \"s\"}}", "session");
	expect_malformed("{\"type\": \"t\", \"context\": {\"s\\u0065ssion\": []}}", "session");
	read_into(&envelope, "{\"type\": \"t\", \"context\": {\"session\": null}}");
	read_into(&envelope, "{\"type\": \"t\", \"context\": {\"session\": {\"session_id\": 5}}}");
	read_into(&envelope, "{\"type\": \"t\", \"data\": {\"session\": 5}}");
}

Test(bus_envelope, is_malformed_when_its_sender_is_given_twice)
{
	expect_malformed(
		"{\"type\": \"t\", \"context\": {\"source\": 1, \"s\\u006furce\": 2}}", "once");
	expect_malformed("{\"type\": \"t\", \"context\": {\"session\": {\"session_id\": \"a\", "
			 "\"session_id\": \"b\"}}}",
		"'context' must be an object with 'source', 'destination', 'session' and its ids "
		"once");
}

/* Such texts come from json.dumps() and JSON.stringify(). */
Test(bus_envelope, takes_a_context_that_python_and_javascript_write)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	static const char context[] = "{\"a\": NaN, \"b\": [Infinity, -Infinity], \"c\": "
				      "\"\\ud83d\", \"d\": \"\\udc00x\", "
				      "\"e\": {\"f\": 1, \"f\": 2}, \"\\u0000\": 1, \"\\u0000\": "
				      "2, \"source\": \"s\\ud800\"}";
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer derived = {0};
	cleanup(buffer_deinit) struct buffer source = {0};

	buffer_printf(&text, "{\"type\": \"t\", \"context\": %s}", context);
	read_into(&envelope, buffer_terminate(&text));
	bus_context_derive(&envelope, &derived);
	cr_assert_not_null(buffer_terminate(&derived));
	cr_expect_eq(memcmp(derived.data, context, strlen(context) - 1), 0, "%s", derived.data);
	cr_expect_str_eq(derived.data + strlen(context) - 1, ", \"destination\": \"s\\ud800\"}");
	json_string_decode(&envelope.context, envelope.source, &source);
	cr_expect_str_eq(buffer_terminate(&source), "s\xEF\xBF\xBD");
}

static void expect_saved(const char *text, const char *data, const char *context)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	size_t size;
	const char *found;

	cr_assert_eq(bus_envelope_read(&envelope, text, strlen(text), DEPTH_MAX), BUS_E_MALFORMED);
	cr_expect_str_eq(envelope.topic, "t");
	found = json_value_text(&envelope.data, 0, &size);
	cr_expect(size == strlen(data) && memcmp(found, data, size) == 0, "%s: %.*s", text,
		(int)size, found);
	found = json_value_text(&envelope.context, 0, &size);
	cr_expect(size == strlen(context) && memcmp(found, context, size) == 0, "%s: %.*s", text,
		(int)size, found);
}

Test(bus_envelope, that_is_malformed_has_what_answers_its_sender)
{
	expect_saved(
		"{\"type\": \"t\", \"data\": {\"args\": {\"a\": \"\\ud83d\"}, \"call_id\": \"7\", "
		"\"name\": \"\\u0061\", \"name\": \"b\"}, \"context\": {\"source\": \"s\", \"x\": "
		"1}}",
		"{\"call_id\":\"7\",\"name\":\"\\u0061\"}", "{\"source\": \"s\", \"x\": 1}");
	expect_saved("{\"context\": {\"x\": 01, \"source\": \"s\", \"destination\": [\"d\"], "
		     "\"session\": {\"session_id\": \"i\"}}, \"type\": \"t\", \"data\": {\"name\": "
		     "\"n\"}}",
		"{\"name\": \"n\"}",
		"{\"source\":\"s\",\"destination\":[\"d\"],\"session\":{\"session_id\": \"i\"}}");
	expect_saved("{\"type\": \"t\", \"context\": {\"source\": \"s\", \"session\": \"x\"}}",
		"{}", "{\"source\":\"s\"}");
	expect_saved(
		"{\"type\": \"t\", \"data\": {name}, \"context\": {\"source\": 01}}", "{}", "{}");
	expect_saved("{\"type\": \"t\", \"data\": {}, \"context\": {\"a\": 1}, \"type\": \"u\"",
		"{}", "{\"a\": 1}");
}

/* The depth counts from the root of the data: a member has one level less. */
Test(bus_envelope, that_is_malformed_has_no_member_that_is_too_deep)
{
	char deep[2 * DEPTH_MAX + 1] = "";
	char text[1024];
	char saved[1024];

	memset(deep, '[', DEPTH_MAX);
	memset(deep + DEPTH_MAX, ']', DEPTH_MAX);
	snprintf(text, sizeof(text),
		"{\"type\":\"t\",\"data\":{\"a\":01,\"name\":\"n\",\"call_id\":%s}}", deep);
	expect_saved(text, "{\"name\":\"n\"}", "{}");
	deep[2 * DEPTH_MAX - 1] = '\0';
	snprintf(text, sizeof(text),
		"{\"type\":\"t\",\"data\":{\"a\":01,\"name\":\"n\",\"call_id\":%s}}", deep + 1);
	snprintf(saved, sizeof(saved), "{\"name\":\"n\",\"call_id\":%s}", deep + 1);
	expect_saved(text, saved, "{}");
}

Test(bus_envelope, leaves_mistakes_in_the_data_to_who_answers)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	read_into(&envelope,
		"{\"type\": \"t\", \"data\": {\"a\": 1, \"a\": 2}, \"context\": {\"b\": 1}}");
	cr_assert_eq(envelope.data_status, JSON_E_DUPLICATE_KEY);
	cr_assert_eq(envelope.data_error.status, JSON_E_DUPLICATE_KEY);
	cr_assert_eq(json_count(&envelope.data, 0), 0);
	cr_assert_eq(json_count(&envelope.context, 0), 1);
	read_into(&envelope, "{\"type\": \"t\", \"data\": {\"\\u0000\": 1}}");
	cr_assert_eq(envelope.data_status, JSON_E_NUL_IN_KEY);
	read_into(&envelope, "{\"type\": \"t\", \"data\": {}}");
	cr_assert_eq(envelope.data_status, 0);
}

Test(bus_envelope, checks_that_other_members_are_json_and_no_more)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	read_into(&envelope,
		"{\"x\": {\"a\": 1, \"a\": 2}, \"x\": 1, \"type\": \"t\", \"\": [\"\\u0000\"]}");
	expect_malformed("{\"x\": tru, \"type\": \"t\"}", "'message' must be JSON: at byte 6");
	expect_malformed("{\"x\": 1.e, \"type\": \"t\"}", "'message' must be JSON");
	expect_malformed("{\"x\\q\": 1, \"type\": \"t\"}", "'message' must be JSON");
	expect_malformed("{\"\xC0\x80\": 1, \"type\": \"t\"}", "'message' must be JSON");
}

/* Return {"type": "t", "PART": {"a": {"a": … }}} with @depth objects. */
static char *nested(const char *part, size_t depth)
{
	struct buffer text = {0};

	buffer_printf(&text, "{\"type\": \"t\", \"%s\": ", part);
	for (size_t i = 0; i < depth; i++)
		buffer_append_string(&text, i + 1 < depth ? "{\"a\":" : "{");
	for (size_t i = 0; i < depth; i++)
		buffer_append_char(&text, '}');
	buffer_append_char(&text, '}');
	return buffer_take(&text, NULL);
}

Test(bus_envelope, counts_levels_from_the_parts_down)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	cleanup_free char *data = nested("data", DEPTH_MAX);
	cleanup_free char *data_over = nested("data", DEPTH_MAX + 1);
	cleanup_free char *context = nested("context", DEPTH_MAX);
	cleanup_free char *context_over = nested("context", DEPTH_MAX + 1);

	read_into(&envelope, data);
	cr_assert_eq(envelope.data_status, 0);
	read_into(&envelope, data_over);
	cr_assert_eq(envelope.data_status, JSON_E_DEPTH);
	read_into(&envelope, context);
	expect_malformed(context_over, "levels");
}

/* Fill @envelope with a request for "t" whose data is {"name":"n"}, with @args (NULL: none). */
static int fill(struct bus_envelope *envelope, const char *args)
{
	const struct text_view view = {args, args ? strlen(args) : 0};

	return bus_envelope_fill(
		envelope, "t", &TEXT_VIEW("{\"name\":\"n\"}"), &view, false, DEPTH_MAX);
}

Test(bus_envelope, is_filled_with_the_parts_of_a_request)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	read_into(&envelope, "{\"type\": \"u\", \"context\": {\"source\": \"s\"}}");
	cr_assert_eq(fill(&envelope, " {\"a\": [1]}"), 0);
	cr_expect_str_eq(envelope.topic, "t");
	cr_expect_eq(envelope.source, JSON_NONE);
	cr_expect_eq(json_count(&envelope.context, 0), 0);
	cr_expect_neq(json_find(&envelope.data, 0, "name"), JSON_NONE);
	cr_expect(envelope.has_args && !envelope.is_skimmed);
	cr_expect_neq(json_find(&envelope.args, 0, "a"), JSON_NONE);
	cr_assert_eq(fill(&envelope, NULL), 0);
	cr_expect_not(envelope.has_args);
	cr_assert_eq(fill(&envelope, "7"), 0);
	cr_expect(envelope.has_args);
	read_into(&envelope, "{\"type\": \"u\"}");
	cr_expect_not(envelope.has_args);
}

Test(bus_envelope, is_not_filled_with_arguments_that_are_no_value)
{
	static const char *const none[] = {"", "{", "{}}", "{},\"name\":\"m\"", "NaN", "\"\xFF\"",
		"\"\\ud83d\"", "{\"a\":1,\"a\":2}}", "{\"a\":1,\"a\":2", "{} {}"};
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		cr_expect_eq(fill(&envelope, none[i]), BUS_E_MALFORMED, "%s", none[i]);
		cr_expect_str_eq(envelope.fault.part, "args");
		cr_expect_not(envelope.has_args);
	}
	cr_expect_eq(fill(&envelope, "{\"a\": nul}"), BUS_E_MALFORMED);
	cr_expect_eq(envelope.fault.offset, 6);
}

Test(bus_envelope, leaves_mistakes_in_arguments_apart_to_who_answers)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	char deep[2 * DEPTH_MAX + 1];

	cr_assert_eq(fill(&envelope, "{\"a\":1,\"a\":2}"), 0);
	cr_expect_eq(envelope.data_status, JSON_E_DUPLICATE_KEY);
	cr_expect_not(envelope.has_args);
	cr_expect_neq(json_find(&envelope.data, 0, "name"), JSON_NONE);
	envelope.values_max = 6;
	cr_assert_eq(fill(&envelope, "[1,2]"), 0);
	cr_expect_eq(envelope.data_status, 0);
	cr_assert_eq(fill(&envelope, "[1,2,3,4]"), 0);
	cr_expect_eq(envelope.data_status, JSON_E_TOKENS);
	envelope.values_max = 0;
	memset(deep, '[', DEPTH_MAX);
	memset(deep + DEPTH_MAX, ']', DEPTH_MAX);
	deep[2 * DEPTH_MAX] = '\0';
	cr_assert_eq(fill(&envelope, deep), 0);
	cr_expect_eq(envelope.data_status, JSON_E_DEPTH, "the data is a level, too");
	deep[2 * DEPTH_MAX - 1] = '\0';
	cr_assert_eq(fill(&envelope, deep + 1), 0);
	cr_expect_eq(envelope.data_status, 0);
}

/* Give @envelope the member `args` of @text, after a fill without arguments. */
static void give(struct bus_envelope *envelope, struct json_tape *tape, const char *text)
{
	cr_assert_eq(json_tape_read(tape, text, strlen(text), DEPTH_MAX, NULL), 0);
	cr_assert_eq(fill(envelope, NULL), 0);
	bus_envelope_give(envelope, tape, json_find(tape, 0, "args"), 4);
}

Test(bus_envelope, is_given_arguments_that_were_read)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {.values_max = 7};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	give(&envelope, &tape, "{\"args\": {\"a\": [1]}}");
	cr_expect_eq(envelope.given, &tape);
	cr_expect_neq(json_find(&tape, envelope.given_token, "a"), JSON_NONE);
	give(&envelope, &tape, "{\"args\": [[[]]]}");
	cr_expect(envelope.given && envelope.data_status == 0);
	give(&envelope, &tape, "{\"args\": [[[[]]]]}");
	cr_expect(!envelope.given && envelope.data_status == JSON_E_DEPTH);
	give(&envelope, &tape, "{\"args\": [1, 2, 3, 4]}");
	cr_expect(!envelope.given && envelope.data_status == JSON_E_TOKENS);
	cr_assert_eq(fill(&envelope, NULL), 0);
	cr_expect_null(envelope.given);
}

Test(bus_envelope, has_no_arguments_apart_when_it_is_skimmed)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	cr_assert_eq(bus_envelope_fill(&envelope, "t", &TEXT_VIEW("{\"name\":\"n\"}"),
			     &TEXT_VIEW("{"), true, DEPTH_MAX),
		0);
	cr_expect(envelope.is_skimmed && !envelope.has_args);
	cr_expect_neq(json_find(&envelope.data, 0, "name"), JSON_NONE);
}

/* Return a message with so many numbers in each part; the caller frees it. */
static char *numbers(size_t in_data, size_t in_context, size_t in_other)
{
	const struct {
		const char *key;
		size_t n;
	} parts[] = {{"context", in_context}, {"data", in_data}, {"x", in_other}};
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "{\"type\": \"t\"");
	for (size_t i = 0; i < 3; i++) {
		buffer_printf(&text, ", \"%s\": {\"a\": [0", parts[i].key);
		for (size_t n = 1; n < parts[i].n; n++)
			buffer_append_string(&text, ",0");
		buffer_append_string(&text, "]}");
	}
	buffer_append_char(&text, '}');
	return buffer_take(&text, NULL);
}

/* Each part has an object, a key and an array beside its numbers. */
Test(bus_envelope, has_no_more_values_than_it_may)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {.values_max = 1000};
	cleanup_free char *most = numbers(487, 500, 1);
	cleanup_free char *data = numbers(2000, 1, 1);
	cleanup_free char *both = numbers(498, 500, 1);
	cleanup_free char *context = numbers(1, 2000, 1);
	cleanup_free char *other = numbers(1, 1, 100000);

	read_into(&envelope, most);
	cr_expect_eq(envelope.data_status, 0);
	read_into(&envelope, data);
	cr_expect_eq(envelope.data_status, JSON_E_TOKENS);
	cr_expect_eq(json_count(&envelope.data, 0), 0);
	read_into(&envelope, both);
	cr_expect_eq(envelope.data_status, JSON_E_TOKENS, "they are counted together");
	cr_expect_eq(
		bus_envelope_read(&envelope, context, strlen(context), DEPTH_MAX), BUS_E_MALFORMED);
	expect_fault(
		&envelope, "context", "'context' must be an object with fewer values: at byte ");
	read_into(&envelope, other);
	cr_expect_leq(envelope.scratch.capacity, 1000);
	read_into(&envelope, most);
	cr_expect_eq(envelope.data_status, 0, "each message has all of them");
}

static void skim_into(struct bus_envelope *envelope, const char *text)
{
	cr_assert_eq(bus_envelope_skim(envelope, text, strlen(text), DEPTH_MAX), 0, "%s",
		envelope->fault.expected);
}

Test(bus_envelope, is_skimmed_for_what_answers_it)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_free char *message = NULL;

	buffer_append_string(&text, "{\"context\": {\"source\": \"s\"}, \"type\": \"t\", \"data\": "
				    "{\"name\": \"a\\u0062\" , \"args\": [");
	for (size_t i = 0; i < 20000; i++)
		buffer_append_string(&text, "01,");
	buffer_append_string(&text, "], \"call_id\":\"1\"}}");
	message = buffer_take(&text, NULL);
	skim_into(&envelope, message);
	cr_expect(envelope.is_skimmed);
	cr_expect_eq(json_count(&envelope.data, 0), 2);
	cr_expect(
		json_string_equals(&envelope.data, json_find(&envelope.data, 0, "name"), "ab", 2));
	cr_expect_neq(json_find(&envelope.data, 0, "call_id"), JSON_NONE);
	cr_expect_neq(envelope.source, JSON_NONE);
	cr_expect_eq(bus_envelope_read(&envelope, message, strlen(message), DEPTH_MAX),
		BUS_E_MALFORMED, "01 is no number, but it was not looked at");
	cr_expect_not(envelope.is_skimmed);
}

Test(bus_envelope, is_skimmed_of_a_long_context_and_of_others_too)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_free char *message = NULL;

	buffer_append_string(
		&text, "{\"type\": \"t\", \"odd\": [01], \"context\": {\"padding\": [");
	for (size_t i = 0; i < 20000; i++)
		buffer_append_string(&text, "01,");
	buffer_append_string(&text, "], \"source\": \"s\", \"session\": {}}}");
	message = buffer_take(&text, NULL);
	skim_into(&envelope, message);
	cr_expect_eq(json_count(&envelope.context, 0), 2);
	cr_expect(json_string_equals(&envelope.context, envelope.source, "s", 1));
	cr_expect_neq(envelope.session, JSON_NONE);
	cr_expect_lt(envelope.context.capacity, 1000);
	skim_into(&envelope, "{\"type\": \"t\", \"context\": {\"padding\": [1, 2]}}");
	cr_expect_eq(json_count(&envelope.context, 0), 1, "a short one is read whole");
	cr_expect_eq(envelope.source, JSON_NONE);
	cr_expect_eq(
		bus_envelope_read(&envelope, message, strlen(message), DEPTH_MAX), BUS_E_MALFORMED);
}

Test(bus_envelope, is_skimmed_no_further_than_some_members)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_free char *message = NULL;

	buffer_append_string(&text, "{\"type\": \"t\", \"data\": {\"name\": 1");
	for (size_t i = 0; i < 200000; i++)
		buffer_printf(&text, ",\"%zu\":0", i);
	buffer_append_string(&text, "}}");
	message = buffer_take(&text, NULL);
	skim_into(&envelope, message);
	cr_expect_neq(json_find(&envelope.data, 0, "name"), JSON_NONE);
	cr_expect_leq(json_count(&envelope.data, 0), 1000);
	cr_expect_leq(envelope.skimmed.size, 16386);
	skim_into(&envelope, "{\"type\": \"t\"}");
	cr_expect_eq(json_count(&envelope.data, 0), 0);
	cr_expect_eq(
		bus_envelope_skim(&envelope, "{\"type\":\"t\",\"data\":{\"a\"}}", 25, DEPTH_MAX),
		BUS_E_MALFORMED);
	cr_expect_eq(bus_envelope_skim(&envelope, "{\"type\":\"t\",\"data\":[]}", 22, DEPTH_MAX),
		BUS_E_MALFORMED);
}

/* Data and context are read without a look for their end before. */
Test(bus_envelope, has_no_part_of_an_object_that_does_not_end)
{
	static const char *const texts[] = {
		"{\"type\": \"t\", \"data\": {\"name\": \"n\", \"a\": 1",
		"{\"type\": \"t\", \"data\": {\"name\": \"n\"",
		"{\"type\": \"t\", \"context\": {\"source\": \"s\""};
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	read_into(&envelope,
		"{\"type\": \"t\", \"data\": {\"name\": 1}, \"context\": {\"source\": 2}}");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		cr_assert_eq(bus_envelope_read(&envelope, texts[i], strlen(texts[i]), DEPTH_MAX),
			BUS_E_MALFORMED, "%s", texts[i]);
		expect_fault(&envelope, texts[i], "'message' must be a JSON object");
		cr_expect_eq(envelope.data.count, 1);
		cr_expect_eq(envelope.context.count, 1);
		cr_expect_eq(json_find(&envelope.data, 0, "name"), JSON_NONE);
		cr_expect_eq(envelope.source, JSON_NONE);
	}
}

/* The place is where the reader has come: after the colon of a value that does not end. */
Test(bus_envelope, reports_the_place_of_a_member_that_does_not_end)
{
	static const char place[] = "'message' must be a JSON object (at byte 20)";

	expect_malformed("{\"type\": \"t\", \"a\"  :", place);
	expect_malformed("{\"type\": \"t\", \"a\"  :   ", place);
	expect_malformed("{\"type\":\"t\", \"data\":  {\"a\": 1", place);
	expect_malformed("{\"type\":\"t\", \"data\": \"a", place);
	expect_malformed("{\"type\": \"t\", \"a\"  : [1", place);
}

/* The fault of an object is found in the text up to its end: what comes after is not its fault. */
Test(bus_envelope, reports_a_broken_object_as_it_ends)
{
	expect_malformed("{\"type\": \"t\", \"data\": {\"a\": tru}, \"x\": 1}",
		"'data' must be JSON: at byte");
	expect_malformed(
		"{\"type\": \"t\", \"data\": {\"a\"}, \"x\": 1}", "'data' must be JSON: at byte");
	expect_malformed("{\"type\": \"t\", \"data\": {\"a\": 1]}", "'data' must be JSON: at byte");
	expect_malformed("{\"type\": \"t\", \"data\": {\"a\": [1}, \"b\": 2]}",
		"'data' must be JSON: at byte");
	expect_malformed(
		"{\"type\": \"t\", \"context\": {\"a\": [}]}", "'context' must be JSON: at byte");
	expect_malformed("{\"type\": \"t\", \"data\": {}, \"data\": {", "a JSON object");
}
