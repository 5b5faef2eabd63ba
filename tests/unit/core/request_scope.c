/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/request_scope.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "quotes.h"
#include "util/cleanup.h"

static struct request_scope scope;
static char *frame;

/* The request has the context @context. */
static void read_context(const char *context)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	bus_envelope_deinit(&scope.envelope);
	free(frame);
	buffer_printf(&text, "{'type':'t','data':{},'context':%s}", context);
	frame = quoted(buffer_terminate(&text));
	cr_assert_eq(bus_envelope_read(&scope.envelope, frame, strlen(frame), 16), 0);
}

static void tear_down(void)
{
	bus_envelope_deinit(&scope.envelope);
	free(frame);
}

TestSuite(request_scope, .fini = tear_down);

static void expect_language(const char *context, const char *usual, const char *expected)
{
	struct text_view language;

	read_context(context);
	language = request_scope_language(&scope, usual);
	cr_expect(text_view_is(language, expected), "%s: %.*s", context, (int)language.size,
		language.text);
}

Test(request_scope, has_the_language_of_the_nearest_that_names_one)
{
	expect_language("{}", NULL, "en");
	expect_language("{}", "da", "da");
	expect_language("{'lang':'fr'}", "da", "fr");
	expect_language("{'lang':5}", "da", "da");
	expect_language("{'lang':'fr','session':{'lang':'it'}}", "da", "it");
	expect_language("{'lang':'fr','session':{}}", "da", "fr");
	expect_language("{'lang':'fr','session':{'lang':5}}", "da", "da");
	scope.request.lang = TEXT_VIEW("es");
	expect_language("{'lang':'fr'}", "da", "es");
}

static void expect_written(struct buffer *out, const char *expected)
{
	cleanup_free char *json = quoted(expected);

	cr_expect_str_eq(buffer_terminate(out), json);
	buffer_reset(out);
}

Test(request_scope, tells_a_host_of_its_caller)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	struct buffer none = {0};
	struct buffer id = {.data = (char *)"\"7\"", .size = 3};
	struct buffer trace = {.data = (char *)"\"x\":1", .size = 5};

	read_context("{'lang':'fr'}");
	request_scope_write_caller(&scope, &none, &none, &none, &out);
	expect_written(&out, "{'call_id':null,'session_id':null,'lang':'fr','source':null}");
	scope.caller.source = TEXT_VIEW("me");
	read_context("{}");
	request_scope_write_caller(&scope, &id, &id, &trace, &out);
	expect_written(&out, "{'call_id':'7','session_id':'7','lang':null,'source':'me','x':1}");
}

Test(request_scope, passes_the_session_on)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	struct buffer none = {0};
	struct buffer trace = {.data = (char *)"\"x\":1", .size = 5};

	read_context("{}");
	request_scope_write_session(&scope, &none, &out);
	expect_written(&out, "{'session':null,'lang':null}");
	scope.caller.session_id = TEXT_VIEW("s");
	request_scope_write_session(&scope, &trace, &out);
	expect_written(&out, "{'session':{'session_id':'s'},'lang':null,'x':1}");
	read_context("{'session':{'session_id':'t','lang':'it'}}");
	request_scope_write_session(&scope, &none, &out);
	expect_written(&out, "{'session':{'session_id':'t','lang':'it'},'lang':'it'}");
}
