/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/model/reply.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "quotes.h"
#include "util/cleanup.h"

/* Answers of a model, put together. JSON is written with ' in place of ". */

TestSuite(reply, .timeout = 60);

static struct reply reply;

static void forget(void)
{
	reply_deinit(&reply);
}

static int take(const char *event)
{
	cleanup_free char *json = quoted(event);

	return reply_take_event(&reply, json, strlen(json));
}

static int take_whole(const char *object)
{
	cleanup_free char *json = quoted(object);

	return reply_take_whole(&reply, json, strlen(json));
}

static void expect_buffer(const struct buffer *buffer, const char *text)
{
	cr_expect_eq(buffer->size, strlen(text), "%.*s", (int)buffer->size, buffer->data);
	cr_expect(buffer->size == 0 || memcmp(buffer->data, text, buffer->size) == 0, "%.*s",
		(int)buffer->size, buffer->data);
}

Test(reply, joins_the_parts_of_a_text, .fini = forget)
{
	cr_expect_eq(take("{'choices':[{'delta':{'role':'assistant','content':''}}]}"), 0);
	cr_expect_eq(take("{'choices':[{'delta':{'content':'It is '}}]}"), 0);
	cr_expect_eq(take("{'choices':[{'delta':{'content':'noon.'}}]}"), 0);
	cr_expect_not(reply.is_finished);
	cr_expect_eq(take("{'choices':[{'delta':{},'finish_reason':'stop'}]}"), 0);
	cr_expect(reply.is_finished);
	cr_expect_not(reply.is_cut);
	expect_buffer(&reply.text, "It is noon.");
}

Test(reply, leaves_out_what_a_model_thinks, .fini = forget)
{
	cr_expect_eq(take("{'choices':[{'delta':{'reasoning_content':'Hm.','content':null}}]}"), 0);
	cr_expect_eq(take("{'choices':[{'delta':{'content':'Yes.'}}]}"), 0);
	expect_buffer(&reply.text, "Yes.");
}

Test(reply, ends_by_done, .fini = forget)
{
	cr_expect_eq(take("{'choices':[{'delta':{'content':'Yes.'}}]}"), 0);
	cr_expect_eq(take("[DONE]"), 0);
	cr_expect(reply.is_finished);
}

Test(reply, knows_an_answer_that_was_cut, .fini = forget)
{
	cr_expect_eq(take("{'choices':[{'delta':{'content':'Y'},'finish_reason':'length'}]}"), 0);
	cr_expect(reply.is_cut);
}

Test(reply, joins_calls_by_their_index, .fini = forget)
{
	cr_expect_eq(take("{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':"
			  "{'name':'add','arguments':'{'}},{'index':1,'id':'b','function':"
			  "{'name':'sub','arguments':''}}]}}]}"),
		0);
	cr_expect_eq(take("{'choices':[{'delta':{'tool_calls':[{'index':1,'function':"
			  "{'arguments':'[]'}}]}}]}"),
		0);
	cr_expect_eq(take("{'choices':[{'delta':{'tool_calls':[{'index':0,'function':"
			  "{'arguments':'}'}}]}}]}"),
		0);
	cr_assert_eq(reply.n_calls, 2);
	expect_buffer(&reply.calls[0].id, "a");
	expect_buffer(&reply.calls[0].name, "add");
	expect_buffer(&reply.calls[0].arguments, "{}");
	expect_buffer(&reply.calls[1].name, "sub");
	expect_buffer(&reply.calls[1].arguments, "[]");
}

Test(reply, tells_calls_apart_that_all_have_the_index_0, .fini = forget)
{
	cr_expect_eq(take("{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':"
			  "{'name':'add','arguments':'{}'}}]}}]}"),
		0);
	cr_expect_eq(take("{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'b','function':"
			  "{'name':'add','arguments':'{}'}}]}}]}"),
		0);
	cr_expect_eq(reply.n_calls, 2);
}

Test(reply, takes_calls_without_an_index, .fini = forget)
{
	cr_expect_eq(take("{'choices':[{'delta':{'tool_calls':[{'id':'a','function':"
			  "{'name':'add','arguments':'{'}}]}}]}"),
		0);
	cr_expect_eq(take("{'choices':[{'delta':{'tool_calls':[{'function':"
			  "{'arguments':'}'}}]}}]}"),
		0);
	cr_assert_eq(reply.n_calls, 1);
	expect_buffer(&reply.calls[0].arguments, "{}");
}

Test(reply, takes_arguments_that_are_an_object, .fini = forget)
{
	cr_expect_eq(take("{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':"
			  "{'name':'add','arguments':{'a': 1}}}]}}]}"),
		0);
	expect_buffer(&reply.calls[0].arguments, "{\"a\":1}");
}

Test(reply, drops_calls_beyond_its_bound, .fini = forget)
{
	for (int i = 0; i < REPLY_CALLS_MAX + 3; i++) {
		char event[128];

		snprintf(event, sizeof(event),
			"{'choices':[{'delta':{'tool_calls':[{'index':%d,'id':'c%d'}]}}]}", i, i);
		cr_assert_eq(take(event), 0);
	}
	cr_expect_eq(reply.n_calls, REPLY_CALLS_MAX);
	cr_expect_eq(reply.n_dropped, 3);
}

Test(reply, marks_a_call_with_too_long_arguments, .fini = forget)
{
	cleanup(buffer_deinit) struct buffer event = {0};

	buffer_append_string(&event, "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,"
				     "\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"");
	for (size_t i = 0; i < REPLY_ARGUMENTS_BYTES + 1; i++)
		buffer_append_char(&event, 'x');
	buffer_append_string(&event, "\"}}]}}]}");
	cr_expect_eq(reply_take_event(&reply, event.data, event.size), 0);
	cr_assert_eq(reply.n_calls, 1);
	cr_expect(reply.calls[0].is_oversized);
}

Test(reply, marks_a_call_with_too_long_a_name, .fini = forget)
{
	cleanup(buffer_deinit) struct buffer event = {0};

	buffer_append_string(&event, "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,"
				     "\"function\":{\"name\":\"");
	for (size_t i = 0; i < REPLY_NAME_BYTES + 1; i++)
		buffer_append_char(&event, 'x');
	buffer_append_string(&event, "\"}}]}}]}");
	cr_expect_eq(reply_take_event(&reply, event.data, event.size), 0);
	cr_expect(reply.calls[0].is_oversized);
}

Test(reply, refuses_more_than_a_mib_of_text, .fini = forget)
{
	cleanup(buffer_deinit) struct buffer event = {0};

	buffer_append_string(&event, "{\"choices\":[{\"delta\":{\"content\":\"");
	for (size_t i = 0; i < REPLY_TEXT_BYTES; i++)
		buffer_append_char(&event, 'x');
	buffer_append_string(&event, "\"}}]}");
	cr_expect_eq(reply_take_event(&reply, event.data, event.size), 0);
	cr_expect_eq(take("{'choices':[{'delta':{'content':'x'}}]}"), REPLY_E_WRONG);
	cr_expect_str_eq(reply.reason, "the answer has more than a MiB of text");
}

Test(reply, counts_tokens, .fini = forget)
{
	cr_expect_not(reply.usage.is_known);
	cr_expect_eq(take("{'choices':[],'usage':{'prompt_tokens':10,'completion_tokens':3,"
			  "'total_tokens':13}}"),
		0);
	cr_expect(reply.usage.is_known);
	cr_expect_eq(reply.usage.prompt_tokens, 10);
	cr_expect_eq(reply.usage.completion_tokens, 3);
	cr_expect_eq(reply.usage.total_tokens, 13);
}

Test(reply, reads_a_whole_answer, .fini = forget)
{
	cr_expect_eq(take_whole("{'choices':[{'message':{'content':'Hi.','tool_calls':[{'id':'a',"
				"'function':{'name':'f','arguments':'{}'}}]}}],"
				"'usage':{'total_tokens':2}}"),
		0);
	cr_expect(reply.is_finished);
	expect_buffer(&reply.text, "Hi.");
	cr_assert_eq(reply.n_calls, 1);
	expect_buffer(&reply.calls[0].name, "f");
}

Test(reply, refuses_a_whole_answer_without_choices, .fini = forget)
{
	cr_expect_eq(take_whole("{'choices':[]}"), REPLY_E_WRONG);
	cr_expect_str_eq(reply.reason, "its answer has no choices");
}

Test(reply, refuses_half_a_json, .fini = forget)
{
	cr_expect_eq(take("{'choices':[{'delta':{'content':'Hi"), REPLY_E_WRONG);
	cr_expect(strstr(reply.reason, "no JSON object"), "%s", reply.reason);
}

Test(reply, refuses_other_values, .fini = forget)
{
	cr_expect_eq(take("7"), REPLY_E_WRONG);
	cr_expect_eq(take("[]"), REPLY_E_WRONG);
}

Test(reply, refuses_half_a_letter, .fini = forget)
{
	static const char event[] = "{\"choices\":[{\"delta\":{\"content\":\"\xC3\"}}]}";

	cr_expect_eq(reply_take_event(&reply, event, sizeof(event) - 1), REPLY_E_WRONG);
}

Test(reply, takes_the_error_of_a_server, .fini = forget)
{
	cr_expect_eq(take("{'error':{'message':'out of memory','code':500}}"), REPLY_E_WRONG);
	cr_expect_str_eq(reply.reason, "out of memory");
}

Test(reply, ignores_members_of_other_types, .fini = forget)
{
	cr_expect_eq(take("{'choices':[{'delta':7,'finish_reason':null}],'usage':null}"), 0);
	cr_expect_eq(take("{'choices':[3]}"), 0);
	cr_expect_eq(take("{'choices':[{'delta':{'content':7,'tool_calls':[1,{},"
			  "{'function':3}]}}]}"),
		0);
	cr_expect_not(reply.is_finished);
	expect_buffer(&reply.text, "");
}

static const char *described(long status, const char *json)
{
	static char reason[MODEL_REASON_BYTES];
	cleanup_free char *text = quoted(json);

	reply_describe_error("sk-key", status, text, strlen(text), reason);
	return reason;
}

Test(reply, describes_errors_of_each_form)
{
	cr_expect_str_eq(
		described(400, "{'error':{'message':'no such model'}}"), "HTTP 400: no such model");
	cr_expect_str_eq(described(404, "{'error':'not found'}"), "HTTP 404: not found");
	cr_expect_str_eq(described(0, "{'message':'busy'}"), "busy");
	cr_expect_str_eq(described(502, "<html>"), "HTTP 502: <html>");
	cr_expect_str_eq(described(500, ""), "HTTP 500");
	cr_expect_str_eq(described(500, "a\nb"), "HTTP 500: a\\u000ab");
}

Test(reply, masks_a_key_that_is_cut)
{
	char text[320];

	memset(text, 'x', 296);
	snprintf(text + 296, sizeof(text) - 296, "sk-key, sk-key");
	cr_expect_str_eq(described(500, text) + 296, "xxxxxxxxxx****");
	memcpy(text, "sk-keysk-key", 12);
	cr_expect(strstr(described(500, text), "HTTP 500: ************xx"));
}
