/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/request.h"

#include <criterion/criterion.h>
#include <string.h>

#include "../scratch.h"
#include "quotes.h"

#define DEPTH 8
#define ALL   (REQUEST_CALL | REQUEST_OWNER | REQUEST_FORMAT)

static struct request request;
static struct bus_envelope envelope;
static char *frame;

static void give_back(void)
{
	request_deinit(&request);
	bus_envelope_deinit(&envelope);
	free(frame);
}

TestSuite(request, .fini = give_back);

/* Read a request with these members of data, written with ' in place of ". */
static bool read_data(const char *members, unsigned int fields)
{
	struct buffer text = {0};

	buffer_printf(&text, "{'type':'ovos.tools.invoke','data':{%s}}", members);
	free(frame);
	frame = buffer_take(&text, NULL);
	swap_quotes(frame);
	cr_assert_eq(bus_envelope_read(&envelope, frame, strlen(frame), DEPTH), 0, "%s", members);
	return request_read(&request, &envelope, fields);
}

static void expect_text(const struct text_view *text, const char *expected)
{
	cr_expect(text->text && text->size == strlen(expected) &&
			  memcmp(text->text, expected, text->size) == 0,
		"%.*s, not %s", (int)text->size, text->text ? text->text : "", expected);
}

static void expect_refused(const char *members, const char *error)
{
	struct config_limits limits = {.depth = DEPTH};
	struct answer answer;
	const char *text;
	size_t size;

	cr_expect_not(read_data(members, ALL), "%s", members);
	answer_begin(&answer, &envelope, BUS_SHARE_OWN);
	request_write_refusal(&request, &envelope, &limits, &answer);
	text = bus_message_text(&answer.message, &size);
	cr_expect(memmem(text, size, error, strlen(error)), "%s: %.*s", members, (int)size, text);
	answer_deinit(&answer);
}

Test(request, has_the_fields_that_were_sent)
{
	cr_assert(read_data("'name':'add','args':{'a':1},'toolbox_id':'math','profile':'p',"
			    "'call_id':'7','timeout_ms':50,'format':'openai','more':1",
		ALL));
	expect_text(&request.name_text, "add");
	cr_expect(request.name_is_string);
	cr_expect_eq(json_type_at(request.args_tape, request.args), JSON_OBJECT);
	expect_text(&request.toolbox_id, "math");
	expect_text(&request.profile, "p");
	cr_expect_neq(request.call_id, JSON_NONE);
	cr_expect_eq(request.timeout_ms, 50);
	cr_expect_eq(request.format, DEFINITION_OPENAI);
}

Test(request, takes_null_as_absent)
{
	cr_assert(read_data("'name':null,'args':null,'toolbox_id':null,'profile':null,"
			    "'call_id':null,'timeout_ms':null,'format':null",
		ALL));
	cr_expect_eq(request.name, JSON_NONE);
	cr_expect_null(request.args_tape);
	cr_expect_eq(request.call_id, JSON_NONE);
	cr_expect_null(request.toolbox_id.text);
	cr_expect_null(request.profile.text);
	cr_expect_eq(request.timeout_ms, 0);
	cr_expect_eq(request.format, DEFINITION_FULL);
}

Test(request, forgets_the_one_before)
{
	cr_assert(read_data("'name':'add','args':{},'toolbox_id':'m','timeout_ms':5", ALL));
	cr_assert(read_data("", ALL));
	cr_expect(request.name == JSON_NONE && !request.args_tape);
	cr_expect_null(request.toolbox_id.text);
	cr_expect_eq(request.timeout_ms, 0);
}

Test(request, ignores_fields_that_its_topic_does_not_read)
{
	cr_expect(read_data("'name':'add','timeout_ms':'x','format':5", REQUEST_OWNER));
	cr_expect(read_data("'call_id':5,'kwargs':{'a':1}", REQUEST_PERSONA));
	cr_expect_not_null(request.args_tape);
}

Test(request, decodes_texts_with_escapes)
{
	cr_assert(
		read_data("'name':'\\u0061dd','toolbox_id':'m\\u0061th','profile':'\\u0070'", ALL));
	expect_text(&request.name_text, "add");
	expect_text(&request.toolbox_id, "math");
	expect_text(&request.profile, "p");
}

Test(request, keeps_a_name_that_is_no_string_as_it_came)
{
	cr_assert(read_data("'name':42", ALL));
	cr_expect_not(request.name_is_string);
	expect_text(&request.name_text, "42");
	cr_assert(read_data("'name':['a', 'b']", ALL));
	expect_text(&request.name_text, "[\"a\", \"b\"]");
}

Test(request, cuts_names_in_texts_by_code_points)
{
	struct text_view name = {"\xc3\xa9", 2};
	char text[2 * (REQUEST_NAME_POINTS + 1)];

	cr_expect_eq(request_name_length(&name), 2);
	for (size_t i = 0; i < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	name = (struct text_view){text, sizeof(text)};
	cr_expect_eq(request_name_length(&name), 2 * REQUEST_NAME_POINTS);
}

Test(request, is_refused_for_a_field_of_another_type)
{
	expect_refused("'toolbox_id':5",
		"\"error\":\"ValueError: Bad request: 'toolbox_id' must be a string\","
		"\"code\":\"bad_request\",\"field\":\"toolbox_id\"");
	expect_refused("'profile':[]", "'profile' must be a string");
	expect_refused("'call_id':5", "'call_id' must be a string of at most 128 bytes");
	expect_refused("'format':'xml'", "'format' must be \\\"full\\\", \\\"compact\\\", "
					 "\\\"openai\\\", \\\"anthropic\\\", "
					 "\\\"mcp\\\" or \\\"markdown\\\"");
	expect_refused("'format':5", "'format' must be a string");
}

Test(request, wants_a_positive_integer_of_milliseconds)
{
	static const char *const bad[] = {
		"0", "-0", "-5", "1.5", "-1e400", "1e-400", "'5'", "true"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char members[64];

		snprintf(members, sizeof(members), "'timeout_ms':%s", bad[i]);
		expect_refused(members,
			"'timeout_ms' must be a positive integer, in milliseconds\",\"code\":"
			"\"bad_request\"");
	}
	cr_expect(read_data("'timeout_ms':3.0", ALL));
	cr_expect_eq(request.timeout_ms, 3);
	cr_expect(read_data("'timeout_ms':1e2", ALL));
	cr_expect_eq(request.timeout_ms, 100);
	cr_expect(read_data("'timeout_ms':1e400", ALL), "a huge one is simply capped");
	cr_expect_eq(request.timeout_ms, UINT64_MAX);
}

/* Python escapes what is not ASCII: six bytes on the wire for two of the id. */
Test(request, counts_the_bytes_of_a_call_id_not_of_its_escapes)
{
	char members[1024] = "'call_id':'";

	for (int i = 0; i < REQUEST_CALL_ID_BYTES / 2; i++)
		strcat(members, "\\u00e9");
	strcat(members, "'");
	cr_expect(read_data(members, ALL));
	members[strlen(members) - 1] = '\0';
	strcat(members, "x'");
	expect_refused(members, "'call_id' must be a string of at most 128 bytes");
}

Test(request, is_refused_for_a_duplicate_key)
{
	expect_refused("'a':1,'a':2",
		"'data' must be an object without duplicate keys\",\"code\":\"bad_request\","
		"\"field\":\"data\"");
	expect_refused("'args':{'a':1,'a':2}", "'data' must be an object without duplicate keys");
	expect_refused("'a\\u0000':1", "'data' must be an object without U+0000 in its keys");
}

Test(request, of_too_many_levels_is_too_large)
{
	cr_expect(read_data("'args':[[[[[[[]]]]]]]", ALL));
	expect_refused("'args':[[[[[[[[]]]]]]]]",
		"\"error\":\"RuntimeError: The request's data has more than 8 levels of nesting\","
		"\"code\":\"too_large\",\"actual\":9,\"max\":8");
}
