/* SPDX-License-Identifier: Apache-2.0 */
#include "call/bus_call.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scarce.h"

/* Texts of JSON are written with ' in place of ". */

#define TEXT_BYTES 4096

static char texts[8][TEXT_BYTES];
static unsigned int n_texts;

/* Return @text as JSON, good for a few calls. */
static const char *json(const char *text)
{
	char *copy = texts[n_texts++ % 8];

	snprintf(copy, TEXT_BYTES, "%s", text);
	for (char *at = copy; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	return copy;
}

static void read_tape(struct json_tape *tape, const char *text)
{
	cr_assert_eq(
		json_tape_read(tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0, "%s", text);
}

/* Return the struct of the tool entry @tool, whose toolbox has @destination (JSON, or NULL). */
static struct bus_call *make(const char *tool, const char *destination)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	char whole[TEXT_BYTES];

	snprintf(whole, sizeof(whole), "{'bus':%s%s%s,'schema':{'required':['needed']}}", tool,
		destination ? ",'destination':" : "", destination ? destination : "");
	read_tape(&tape, json(whole));
	return bus_call_new(&tape, json_find(&tape, 0, "bus"), json_find(&tape, 0, "destination"),
		json_find(&tape, 0, "schema"));
}

static void expect_text(const struct buffer *found, const char *expected)
{
	const char *text = json(expected);

	cr_expect_eq(buffer_status(found), 0);
	cr_expect(found->size == strlen(text) && memcmp(found->data, text, found->size) == 0,
		"%.*s, not %s", (int)found->size, found->data, text);
}

static void expect_data(const char *data, const char *arguments, const char *expected)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(bus_call_cleanup) struct bus_call *call = NULL;
	char tool[TEXT_BYTES];

	snprintf(tool, sizeof(tool), "{'topic':'a','data':%s}", data);
	call = make(tool, NULL);
	cr_assert_not_null(call);
	read_tape(&tape, json(arguments));
	bus_call_write_data(call, &call->messages[0], &tape, &out);
	expect_text(&out, expected);
}

/* ── templates ───────────────────────────────────────────────────────────────────────────────── */

Test(bus_call, puts_an_argument_in_as_it_is)
{
	expect_data("{'x':'{a}'}", "{'a':1.10}", "{'x':1.10}");
	expect_data("{'x':'{a}'}", "{'a': {'k' : [1, 'y']}}", "{'x':{'k' : [1, 'y']}}");
	expect_data("{'x':'{a}'}", "{'a':'\\u00e9\\n'}", "{'x':'\\u00e9\\n'}");
	expect_data("'{a}'", "{'a':{'b':true}}", "{'b':true}");
}

Test(bus_call, puts_an_argument_into_a_text_as_text)
{
	expect_data("{'x':'for {a}!'}", "{'a':'you'}", "{'x':'for you!'}");
	expect_data("{'x':'{a}{a}'}", "{'a':2e3}", "{'x':'2e32e3'}");
	expect_data("{'x':'is {a}'}", "{'a':{'k': ['\\'', null]}}",
		"{'x':'is {\\'k\\':[\\'\\\\\\'\\',null]}'}");
	expect_data("{'x':'is {a}'}", "{'a':'say \\u0022'}", "{'x':'is say \\u0022'}");
}

Test(bus_call, takes_other_braces_literally)
{
	expect_data("{'x':'{{a} }} { {} {a b} {1}'}", "{'a':1}", "{'x':'{a} }} { {} {a b} {1}'}");
	expect_data("{'{a}':1,'arg':{'arg':'a'}}", "{'a':1}", "{'{a}':1,'arg':{'arg':'a'}}");
}

Test(bus_call, leaves_out_what_has_no_argument)
{
	expect_data(
		"{'x':'{a}','y':[1,'{a}','n {a}',2],'z':{'w':'{a}'}}", "{}", "{'y':[1,2],'z':{}}");
	expect_data("{'x':'{a}','y':{'arg':'a','scale':2}}", "{'a':null}", "{}");
	expect_data("{'x':'{needed}'}", "{'needed':null}", "{'x':null}");
	expect_data("'{a}'", "{}", "{}");
}

Test(bus_call, multiplies_exactly)
{
	expect_data("{'x':{'arg':'a','scale':0.01}}", "{'a':29}", "{'x':0.29}");
	expect_data("{'x':[{'scale':100,'arg':'a'}]}", "{'a':0.07}", "{'x':[7]}");
}

/* The pieces of @template, each in brackets: [literal] or <argument>. */
static void expect_pieces(const char *template, const char *expected)
{
	size_t size = strlen(template);
	const char *at = template;
	char found[TEXT_BYTES] = "";
	struct bus_piece piece;

	while (bus_call_next_piece(&at, &size, &piece)) {
		bool is_argument = piece.kind == BUS_PIECE_ARGUMENT;
		size_t used = strlen(found);

		snprintf(found + used, sizeof(found) - used, "%c%.*s%c", is_argument ? '<' : '[',
			(int)piece.size, piece.text, is_argument ? '>' : ']');
	}
	cr_expect_eq(size, 0);
	cr_expect_str_eq(found, expected, "%s is %s", template, found);
}

Test(bus_call, cuts_a_template_into_literals_and_arguments)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"plain", "[plain]"},
		{"{a}", "<a>"},
		{"{a}{b}", "<a><b>"},
		{"x{a}y", "[x]<a>[y]"},
		{"{{a}", "[{][a}]"},
		{"{{{a}", "[{]<a>"},
		{"{{{{", "[{][{]"},
		{"{a}}", "<a>[}]"},
		{"{a", "[{a]"},
		{"{", "[{]"},
		{"a{", "[a][{]"},
		{"{a{b}", "[{a]<b>"},
		{"{_9-z}", "<_9-z>"},
		{"{-a}{9}", "[{-a}][{9}]"},
		{"{\303\244}", "[{\303\244}]"},
		{"\\u007ba}", "[\\u007ba}]"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_pieces(cases[i][0], cases[i][1]);
}

Test(bus_call, reads_no_byte_after_a_template)
{
	static const char bytes[] = "{abc}";

	for (size_t n = 1; n < strlen(bytes); n++) {
		cleanup_free char *exact = malloc(n); /* without a NUL after it */
		const char *at = exact;
		size_t size = n;
		struct bus_piece piece;

		memcpy(exact, bytes, n);
		cr_expect(bus_call_next_piece(&at, &size, &piece));
		cr_expect_eq(piece.kind, BUS_PIECE_LITERAL, "%.*s", (int)n, exact);
		cr_expect_eq(piece.size, n);
		cr_expect_eq(size, 0);
	}
}

Test(bus_call, takes_nothing_in_an_argument_for_a_template)
{
	static const char arguments[] = "{'a':'{b}','b':'secret','c':{'arg':'b','scale':2}}";

	expect_data("{'x':'{a}'}", arguments, "{'x':'{b}'}");
	expect_data("{'x':'is {a}'}", arguments, "{'x':'is {b}'}");
	expect_data("{'x':'{c}'}", arguments, "{'x':{'arg':'b','scale':2}}");
	expect_data(
		"{'x':'{c} {b}'}", arguments, "{'x':'{\\'arg\\':\\'b\\',\\'scale\\':2} secret'}");
}

Test(bus_call, finds_an_argument_by_its_whole_name)
{
	expect_data("{'x':'{aa}','y':'{a}','z':'{A}'}", "{'a':1}", "{'y':1}");
	expect_data("{'x':'{need}','y':'{needed}','z':'{neededs}'}",
		"{'need':null,'needed':null,'neededs':null}", "{'y':null}");
	expect_data("{'x':'is {needed}'}", "{'needed':null}", "{'x':'is null'}");
}

Test(bus_call, keeps_the_commas_right_around_what_is_left_out)
{
	static const char *const cases[][2] = {
		{"{'x':['{a}',1,'{a}',2,'{a}']}", "{'x':[1,2]}"},
		{"{'x':['{a}','{a}']}", "{'x':[]}"},
		{"{'x':[['{a}'],['{a}']]}", "{'x':[[],[]]}"},
		{"{'u':'{a}','v':1,'w':'{a}','x':2,'y':'{a}'}", "{'v':1,'x':2}"},
		{"{'u':{'v':{'w':'{a}'}},'x':{'arg':'a','scale':2},'y':0}", "{'u':{'v':{}},'y':0}"},
		{"{'x':'{b}{a}'}", "{}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_data(cases[i][0], "{'b':1}", cases[i][1]);
}

Test(bus_call, multiplies_in_decimal)
{
	static const char *const cases[][3] = {
		{"0.01", "1", "0.01"},
		{"0.1", "3", "0.3"},    /* in binary 0.30000000000000004 */
		{"100", "1.15", "115"}, /* in binary 114.99999999999999 */
		{"-0.5", "-7", "3.5"},
		{"-2", "0", "0"},
		{"3", "-0.0", "0"},
		{"1e3", "2.50", "2500"},
		{"1e-3", "5e2", "0.5"},
		{"0.001", "123456789012345678901234567890", "123456789012345678901234567.89"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char data[128];
		char arguments[128];
		char expected[128];

		snprintf(data, sizeof(data), "{'x':{'arg':'a','scale':%s}}", cases[i][0]);
		snprintf(arguments, sizeof(arguments), "{'a':%s}", cases[i][1]);
		snprintf(expected, sizeof(expected), "{'x':%s}", cases[i][2]);
		expect_data(data, arguments, expected);
	}
}

Test(bus_call, passes_a_null_that_the_schema_requires_without_a_product)
{
	expect_data(
		"{'x':{'arg':'needed','scale':2},'y':1}", "{'needed':null}", "{'x':null,'y':1}");
}

Test(bus_call, multiplies_only_by_an_object_of_exactly_two_members)
{
	expect_data("{'x':{'arg':'{a}','scale':2,'more':1}}", "{'a':3}",
		"{'x':{'arg':3,'scale':2,'more':1}}");
	expect_data("{'x':{'scale':2}}", "{'a':3}", "{'x':{'scale':2}}");
	expect_data("{'x':{'arg':'a','scales':2}}", "{'a':3}", "{'x':{'arg':'a','scales':2}}");
}

Test(bus_call, refuses_a_product_by_any_factor_of_any_message)
{
	static const struct {
		const char *arguments;
		const char *refused; /* NULL: none */
	} cases[] = {
		{"{'a':1,'b':1,'c':1}", NULL},
		{"{'c':1e999,'b':2}", NULL}, /* no template multiplies it */
		{"{'a':'1e999'}", NULL},     /* the schema judges types */
		{"{'a':1e399}", NULL},
		{"{'a':1e400}", "a"},
		{"{'a':1e-398}", NULL},
		{"{'a':1e-399}", "a"}, /* the other factor makes it too small */
		{"{'b':-1e400,'a':1e400}", "b"},
	};
	cleanup(bus_call_cleanup) struct bus_call *call =
		make("{'messages':[{'topic':'x','data':{'v':{'arg':'a','scale':1}}},"
		     "{'topic':'y','data':{'v':[{'arg':'b','scale':10}],'w':'{c}'},"
		     "'context':{'k':{'arg':'a','scale':0.01}}}]}",
			NULL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		const char *name = cases[i].refused;
		uint32_t key;

		read_tape(&tape, json(cases[i].arguments));
		key = bus_call_next_refused(call, &tape, 0, json_first(&tape, 0));
		cr_expect_eq(key < json_end(&tape, 0), name != NULL, "%s", cases[i].arguments);
		cr_expect(!name || json_string_equals(&tape, key, name, strlen(name)), "%s",
			cases[i].arguments);
	}
}

Test(bus_call, finds_arguments_that_it_cannot_multiply)
{
	cleanup(bus_call_cleanup) struct bus_call *call =
		make("{'topic':'a','data':{'x':{'arg':'a','scale':0.01}}}", NULL);
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t key;

	read_tape(&tape, json("{'b':1e999,'a':1e999}"));
	key = bus_call_next_refused(call, &tape, 0, json_first(&tape, 0));
	cr_assert_lt(key, json_end(&tape, 0));
	cr_expect(json_string_equals(&tape, key, "a", 1));
	key = json_next_key(&tape, key);
	cr_expect_eq(bus_call_next_refused(call, &tape, 0, key), json_end(&tape, 0));
}

Test(bus_call, adds_members_to_the_context)
{
	cleanup(bus_call_cleanup) struct bus_call *call =
		make("{'topic':'a','context':{'k':'{a}','l':'{b}','m':[1]}}", NULL);
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	read_tape(&tape, json("{'a':'x'}"));
	bus_call_write_context(call, &call->messages[0], &tape, &out);
	expect_text(&out, ",'k':'x','m':[1]");
}

Test(bus_call, speaks_text_whatever_the_argument_is)
{
	static const char *const cases[][3] = {
		{"{a}", "{'a':'hello'}", "'hello'"},
		{"{a}", "{'a':3}", "'3'"},
		{"Say {a}.", "{'a':true}", "'Say true.'"},
		{"Say {a}.", "{}", "''"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup(bus_call_cleanup) struct bus_call *call = NULL;
		char tool[TEXT_BYTES];

		snprintf(tool, sizeof(tool), "{'ask':'%s'}", cases[i][0]);
		call = make(tool, NULL);
		read_tape(&tape, json(cases[i][1]));
		bus_call_write_ask(call, &tape, &out);
		expect_text(&out, cases[i][2]);
	}
}

Test(bus_call, has_a_condition_that_holds_unless_it_is_false)
{
	cleanup(bus_call_cleanup) struct bus_call *call = make("{'topic':'a','unless':'w'}", NULL);
	cleanup(bus_call_cleanup) struct bus_call *without = make("{'topic':'a'}", NULL);
	static const struct {
		const char *arguments;
		bool holds;
	} cases[] = {
		{"{}", true}, {"{'w':true}", true}, {"{'w':null}", true}, {"{'w':false}", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};

		read_tape(&tape, json(cases[i].arguments));
		cr_expect_eq(bus_call_condition_holds(call, &tape), cases[i].holds);
		cr_expect(bus_call_condition_holds(without, &tape));
	}
}

/* ── what it is ──────────────────────────────────────────────────────────────────────────────── */

Test(bus_call, waits_for_the_response_unless_another_reply_is_named)
{
	cleanup(bus_call_cleanup) struct bus_call *usual = make("{'topic':'a.b'}", NULL);
	cleanup(bus_call_cleanup) struct bus_call *none =
		make("{'topic':'a.b','reply':false}", NULL);
	cleanup(bus_call_cleanup) struct bus_call *one = make("{'topic':'a.b','reply':'c'}", NULL);
	cleanup(bus_call_cleanup) struct bus_call *two =
		make("{'messages':[{'topic':'x'},{'topic':'a.b'}],'reply':['c','d']}", NULL);
	cleanup(bus_call_cleanup) struct bus_call *last =
		make("{'messages':[{'topic':'x'},{'topic':'a.b'}]}", NULL);

	cr_assert_eq(usual->replies.n_items, 1);
	cr_expect_str_eq(usual->replies.items[0], "a.b.response");
	cr_expect_eq(none->replies.n_items, 0);
	cr_expect_str_eq(one->replies.items[0], "c");
	cr_expect_eq(two->replies.n_items, 2);
	cr_expect_eq(two->n_messages, 2);
	cr_expect_str_eq(last->replies.items[0], "a.b.response");
}

Test(bus_call, has_the_topics_of_the_operator)
{
	cleanup(bus_call_cleanup) struct bus_call *call = make("{'topic':'$topics'}", NULL);
	cleanup(buffer_deinit) struct buffer before = {0};
	cleanup(buffer_deinit) struct buffer after = {0};

	cr_expect_str_eq(call->setting, "topics");
	cr_expect_eq(call->replies.n_items, 0);
	bus_call_write(call, &before);
	cr_assert_eq(bus_call_set_topic(call, "a.b", "c.d"), 0);
	cr_expect_str_eq(call->messages[0].topic, "a.b");
	cr_assert_eq(call->replies.n_items, 1);
	cr_expect_str_eq(call->replies.items[0], "c.d");
	bus_call_write(call, &after);
	cr_expect(buffer_terminate(&after) && strstr(after.data, "a.b c.d"), "%s", after.data);
	cr_expect(buffer_terminate(&before) && !strstr(before.data, "a.b"), "%s", before.data);
	for (size_t n = 0, failed = 1; failed; n++) {
		cleanup(bus_call_cleanup) struct bus_call *poor = make("{'topic':'$topics'}", NULL);
		int r;

		scarce_once_after(n);
		r = bus_call_set_topic(poor, "a.b", "c.d");
		failed = scarce_has_failed();
		cr_expect_eq(r, failed ? -ENOMEM : 0);
	}
}

Test(bus_call, has_the_destination_of_its_toolbox_unless_it_has_its_own)
{
	cleanup(bus_call_cleanup) struct bus_call *own =
		make("{'topic':'a','destination':'mine'}", "'theirs'");
	cleanup(bus_call_cleanup) struct bus_call *common = make("{'topic':'a'}", "'theirs'");
	cleanup(bus_call_cleanup) struct bus_call *none = make("{'topic':'a'}", NULL);

	cr_expect(json_string_equals(&own->tape, own->destination, "mine", 4));
	cr_expect(json_string_equals(&common->tape, common->destination, "theirs", 6));
	cr_expect_eq(none->destination, JSON_NONE);
}

Test(bus_call, listens_for_twenty_seconds_unless_it_is_told)
{
	cleanup(bus_call_cleanup) struct bus_call *usual = make("{'ask':'a'}", NULL);
	cleanup(bus_call_cleanup) struct bus_call *given =
		make("{'ask':'a','listen_ms':5000}", NULL);

	cr_expect_eq(usual->listen_ms, 20000);
	cr_expect_eq(given->listen_ms, 5000);
	cr_expect_eq(usual->n_messages, 0);
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

/* The result, or the reason, that @tool makes of @reply. */
static void expect_result(const char *tool, const char *reply, bool succeeds, const char *expected)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(bus_call_cleanup) struct bus_call *call = make(tool, NULL);

	cr_assert_not_null(call);
	read_tape(&tape, json(reply));
	cr_expect_eq(bus_call_write_result(call, &tape, &out), succeeds, "%s: %.*s", reply,
		(int)out.size, out.data);
	expect_text(&out, expected);
}

Test(bus_call, returns_the_data_of_the_reply_or_what_is_pointed_to)
{
	expect_result("{'topic':'a'}", "{ 'x': 1.10 }", true, "{ 'x': 1.10 }");
	expect_result("{'topic':'a','result':'/x'}", "{'x':{'y':1}}", true, "{'y':1}");
	expect_result("{'topic':'a','result':'/x/0'}", "{'x':['y']}", true, "{'result':'y'}");
	expect_result("{'topic':'a','result':'/x','as':'z'}", "{'x':[]}", true, "{'z':[]}");
	expect_result("{'topic':'a','result':''}", "{'x':0}", true, "{'x':0}");
	expect_result("{'topic':'a','result':{'p':{'at':'/x','scale':100},'q':{'at':'/y'}}}",
		"{'x':0.29,'y':null}", true, "{'p':29,'q':null}");
	expect_result("{'topic':'a','result':{'p':{'at':'/x','optional':true},'q':{'at':'/y'}}}",
		"{'y':2}", true, "{'q':2}");
}

Test(bus_call, fails_by_the_error_of_the_reply)
{
	static const char tool[] = "{'topic':'a','error':'/e'}";
	static const char *const good[] = {
		"{}", "{'e':null}", "{'e':false}", "{'e':''}", "{'e':0}", "{'e':0.0}"};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		expect_result(tool, good[i], true, good[i]);
	expect_result(tool, "{'e':'no \\u0022card'}", false, "no \"card");
	expect_result(tool, "{'e':true}", false, "true");
	expect_result(tool, "{'e':{ 'code':3 }}", false, "{'code':3}");
	expect_result(tool, "{'e':1e999}", false, "1e999");
}

Test(bus_call, fails_without_a_value)
{
	expect_result("{'topic':'a','result':'/x'}", "{}", false, "the reply has no /x");
	expect_result("{'topic':'a','result':{'p':{'at':'/x'},'q':{'at':'/y/0'}}}",
		"{'x':1,'y':[]}", false, "the reply has no /y/0");
	expect_result("{'topic':'a','result':{'p':{'at':'/x','scale':2}}}", "{'x':'1'}", false,
		"the reply has no number of at most 400 digits at /x, but the type string");
	expect_result("{'topic':'a','result':{'p':{'at':'/x','scale':2}}}", "{'x':1e500}", false,
		"the reply has no number of at most 400 digits at /x, but the type number");
}

Test(bus_call, follows_pointers_as_rfc_6901_has_them)
{
	static const char *const cases[][3] = {
		{"/a~1b", "{'a/b':{'v':1}}", "{'v':1}"},
		{"/a~0b", "{'a~b':{'v':1}}", "{'v':1}"},
		{"/a~01", "{'a~1':{'v':1}}", "{'v':1}"},
		{"/", "{'':{'v':1}}", "{'v':1}"},
		{"/x/1", "{'x':[0,{'v':1}]}", "{'v':1}"},
		{"/x/1", "{'x':{'1':{'v':1}}}", "{'v':1}"},
		{"/x", "{'x':null}", "{'result':null}"},
	};
	static const char *const missing[][2] = {
		{"/x/01", "{'x':[0,1]}"},
		{"/x/-", "{'x':[0,1]}"},
		{"/x/2", "{'x':[0,1]}"},
		{"/x/99999999999999999999", "{'x':[0,1]}"},
		{"/x/y", "{'x':'y'}"},
		{"/X", "{'x':1}"},
	};
	char tool[TEXT_BYTES];
	char expected[TEXT_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(tool, sizeof(tool), "{'topic':'a','result':'%s'}", cases[i][0]);
		expect_result(tool, cases[i][1], true, cases[i][2]);
	}
	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++) {
		snprintf(tool, sizeof(tool), "{'topic':'a','result':'%s'}", missing[i][0]);
		snprintf(expected, sizeof(expected), "the reply has no %s", missing[i][0]);
		expect_result(tool, missing[i][1], false, expected);
	}
}

Test(bus_call, prefers_the_error_to_a_result_that_is_there)
{
	static const char tool[] = "{'topic':'a','result':{'p':{'at':'/x'}},'error':'/e/0'}";

	expect_result(tool, "{'x':1,'e':['no card']}", false, "no card");
	expect_result(tool, "{'x':1,'e':[]}", true, "{'p':1}");
	expect_result(tool, "{'x':1,'e':{}}", true, "{'p':1}");
	expect_result("{'topic':'a','error':''}", "{'x':1}", false, "{'x':1}");
}

Test(bus_call, leaves_only_optional_members_out_and_no_text_of_a_result_in_a_failure)
{
	static const char tool[] = "{'topic':'a','result':{'p':{'at':'/x'},"
				   "'q':{'at':'/y','scale':0.1,'optional':true},"
				   "'r':{'at':'/z','optional':false}}}";

	expect_result(tool, "{'x':1,'z':3}", true, "{'p':1,'r':3}");
	expect_result(tool, "{'x':1,'y':3,'z':3}", true, "{'p':1,'q':0.3,'r':3}");
	expect_result(tool, "{'x':1}", false, "the reply has no /z");
	expect_result(tool, "{'x':1,'y':null,'z':3}", false,
		"the reply has no number of at most 400 digits at /y, but the type null");
	expect_result("{'topic':'a','result':{'p':{'at':'/x','optional':true}}}", "{}", true, "{}");
}

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

Test(bus_call, reports_a_lack_of_memory)
{
	static const char tool[] =
		"{'messages':[{'topic':'x','data':{'a':'{b}'}}],'reply':['c','d'],'unless':'w',"
		"'collect':{'topics':'e','at':'/f'},'result':{'p':{'at':'/x'}},'error':'/"
		"e','as':'r'}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct bus_call *call = NULL;

	read_tape(&tape, json(tool));
	for (size_t n = 0; !call && scarce_once_after(n); n++) {
		call = bus_call_new(&tape, 0, JSON_NONE, JSON_NONE);
		cr_expect_eq(!call, scarce_has_failed());
	}
	cr_assert_not_null(call);
	cr_expect_eq(call->replies.n_items, 2);
	bus_call_free(call);
	bus_call_free(NULL);
}

/* Write all that a call writes about the arguments and the reply, into buffers of their own.
 * Return the worst status. */
static int write_all(const struct bus_call *call, const struct bus_call *question,
	const struct json_tape *arguments, struct buffer out[4])
{
	int r = 0;

	bus_call_write_data(call, &call->messages[0], arguments, &out[0]);
	bus_call_write_context(call, &call->messages[0], arguments, &out[1]);
	bus_call_write_ask(question, arguments, &out[2]);
	bus_call_write_result(call, arguments, &out[3]);
	for (size_t i = 0; i < 4; i++)
		r = r ? r : buffer_status(&out[i]);
	return r;
}

Test(bus_call, writes_all_or_reports_a_lack_of_memory)
{
	cleanup(bus_call_cleanup) struct bus_call *call =
		make("{'topic':'a','data':{'x':'is {a}','y':{'arg':'n','scale':0.01}},"
		     "'context':{'k':['{a}']},'result':{'p':{'at':'/n','scale':10}}}",
			NULL);
	cleanup(bus_call_cleanup) struct bus_call *question = make("{'ask':'{a}'}", NULL);
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	static const char *const expected[] = {
		"{'x':'is [1,\\'b\\']','y':0.29}", ",'k':[[1, 'b']]", "'[1,\\'b\\']'", "{'p':290}"};
	size_t n = 0;
	int r = -1;

	read_tape(&tape, json("{'a':[1, 'b'],'n':29}"));
	for (; r != 0 && scarce_once_after(n); n++) {
		struct buffer out[4] = {0};

		r = write_all(call, question, &tape, out);
		cr_expect_eq(r != 0, scarce_has_failed(), "allocation %zu", n);
		for (size_t i = 0; r == 0 && i < 4; i++)
			expect_text(&out[i], expected[i]);
		for (size_t i = 0; i < 4; i++)
			buffer_deinit(&out[i]);
	}
	cr_expect_eq(r, 0);
	cr_expect_gt(n, 4);
}
