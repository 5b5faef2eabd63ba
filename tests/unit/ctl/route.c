/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/http/route.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "util/cleanup.h"

TestSuite(ctl_route, .timeout = 20);

/* The request for @topic as `METHOD TARGET BODY`. */
static void expect(const char *topic, const char *data, const char *expected)
{
	cleanup(route_request_deinit) struct route_request request = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer whole = {0};

	buffer_append_string(&text, data);
	cr_assert_eq(route_write(topic, &text, &request), 0);
	buffer_printf(&whole, "%s %s ", request.method, request.target.data);
	buffer_append_buffer(&whole, &request.body);
	cr_expect_str_eq(buffer_terminate(&whole), expected);
	cr_expect_eq(request.has_effect, strcmp(topic, "ovos.tools.invoke") == 0);
}

Test(ctl_route, has_the_members_in_their_places)
{
	expect("ovos.tools.list", "{}", "GET /v1/tools?format=full ");
	expect("ovos.tools.list", "{\"format\":\"mcp\",\"toolbox_id\":\"a\"}",
		"GET /v1/tools?toolbox_id=a&format=mcp ");
	expect("ovos.tools.get", "{\"name\":\"add\",\"deadline\":true}",
		"GET /v1/tools/add?deadline=1 ");
	expect("ovos.tools.invoke",
		"{\"name\":\"add\",\"toolbox_id\":\"m\",\"call_id\":\"7\",\"timeout_ms\":250,"
		"\"progress\":true,\"args\":{\"a\": 1}}",
		"POST /v1/tools/add?toolbox_id=m&call_id=7&timeout_ms=250 {\"a\": 1}");
	expect("ovos.tools.validate", "{\"name\":\"add\",\"args\":{}}",
		"POST /v1/tools/add?dry_run=1 {}");
	expect("ovos.tools.calls", "{\"since_s\":600.5,\"limit\":3}",
		"GET /v1/calls?since_s=600.5&limit=3 ");
	expect("ovos.tools.calls",
		"{\"name\":\"a b\",\"toolbox_id\":\"m\",\"state\":\"failed\",\"source\":\"s\"}",
		"GET /v1/calls?state=failed&name=a%20b&toolbox_id=m&source=s ");
	expect("ovos.tools.cancel", "{\"id\":\"c4\"}", "DELETE /v1/calls/c4 ");
	expect("ovos.tools.watch", "{\"seconds\":60}", "GET /v1/events ");
	expect("ovos.tools.reload", "{}", "POST /v1/reload ");
	expect("ovos.tools.approval.respond",
		"{\"id\":\"q\",\"decision\":\"deny\",\"reason\":\"n\\\"o\",\"proof\":\"00\"}",
		"POST /v1/approvals/q {\"decision\":\"deny\",\"reason\":\"n\\\"o\"}");
}

Test(ctl_route, encodes_each_byte_that_a_target_cannot_have)
{
	expect("ovos.tools.get", "{\"name\":\"a/b ?#%&=+\\u00e9.-_~\\u0000\"}",
		"GET /v1/tools/a%2Fb%20%3F%23%25%26%3D%2B%C3%A9.-_~%00 ");
	expect("ovos.tools.match", "{\"utterance\":\"3 + 4&\"}",
		"GET /v1/match?utterance=3%20%2B%204%26 ");
}

Test(ctl_route, refuses_what_has_no_route)
{
	cleanup(route_request_deinit) struct route_request request = {0};
	cleanup(buffer_deinit) struct buffer data = {0};

	buffer_append_string(&data, "[]");
	cr_expect_eq(route_write("ovos.tools.approval.attach", &data, &request), -ENOENT);
	cr_expect_eq(route_write("ovos.tools.list", &data, &request), -EINVAL);
}

Test(ctl_route, reads_a_list_that_is_text)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	route_read("application/json; charset=utf-8", &TEXT_VIEW("{\"tools\":[]}"), &out);
	cr_expect_str_eq(buffer_terminate(&out), "{\"tools\":[]}");
	route_read("text/markdown; charset=utf-8", &TEXT_VIEW("# a\n\"b\""), &out);
	cr_expect_str_eq(buffer_terminate(&out), "{\"text\":\"# a\\n\\\"b\\\"\"}");
	route_read(NULL, &TEXT_VIEW("{}"), &out);
	cr_expect_str_eq(buffer_terminate(&out), "{}");
}
