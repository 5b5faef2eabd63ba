/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/invoke/arguments.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scarce.h"
#include "util/cleanup.h"

TestSuite(ctl_arguments, .timeout = 20);

static const char schema[] =
	"{\"argument_schema\": {\"properties\": {"
	"\"text\": {\"type\": \"string\"},"
	"\"number\": {\"type\": \"integer\"},"
	"\"maybe\": {\"type\": [\"string\", \"null\"]},"
	"\"either\": {\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"boolean\"}]},"
	"\"word\": {\"enum\": [\"1\", \"2\"]},"
	"\"fixed\": {\"const\": \"3\"},"
	"\"list\": {\"type\": \"array\"},"
	"\"odd\": {\"type\": \"text\"},"
	"\"days\": {\"type\": \"array\", \"items\": {\"type\": \"integer\"}},"
	"\"tags\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}},"
	"\"bytes\": {\"type\": \"string\", \"contentEncoding\": \"base64\"},"
	"\"place\": {\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}},"
	"\"by_ref\": {\"anyOf\": [{\"type\": \"null\"}, {\"$ref\": \"#/$defs/place\"}]},"
	"\"with.dot\": {\"type\": \"string\"},"
	"\"any\": true}, \"$defs\": {\"place\": {\"type\": \"object\", \"properties\": "
	"{\"city\": {\"type\": \"string\"}}}}}}";

static int write_words(
	const char *const *words, size_t n_words, struct buffer *out, struct buffer *reason)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(words_deinit) struct words read = {0};
	int r = words_read(words, n_words, &read, reason);

	cr_assert_eq(json_tape_read(&tape, schema, strlen(schema), JSON_DEPTH_DEFAULT, NULL), 0);
	if (r != 0)
		return r;
	return ctl_arguments_write(
		&read, &tape, json_find(&tape, 0, "argument_schema"), out, reason);
}

static void expect(const char *word, const char *json)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};

	cr_assert_eq(write_words(&word, 1, &out, &reason), 0, "%s", word);
	cr_expect_str_eq(buffer_terminate(&out), json);
}

static void expect_refused(const char *const *words, size_t n_words, const char *text)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};

	cr_assert_eq(write_words(words, n_words, &out, &reason), WORDS_E_USAGE);
	cr_expect(strstr(reason.data, text), "%s", reason.data);
}

Test(ctl_arguments, are_text_where_only_text_is_allowed)
{
	expect("text=42", "{\"text\":\"42\"}");
	expect("text=null", "{\"text\":\"null\"}");
	expect("text=a=b", "{\"text\":\"a=b\"}");
	expect("text=", "{\"text\":\"\"}");
	expect("text=\"q\"", "{\"text\":\"\\\"q\\\"\"}");
	expect("word=1", "{\"word\":\"1\"}");
	expect("fixed=3", "{\"fixed\":\"3\"}");
}

Test(ctl_arguments, are_json_elsewhere_if_they_are_any)
{
	expect("number=42", "{\"number\":42}");
	expect("number=9007199254740993", "{\"number\":9007199254740993}");
	expect("list=[1, 2]", "{\"list\":[1,2]}");
	expect("any=true", "{\"any\":true}");
	expect("unknown=1.0", "{\"unknown\":1.0}");
	expect("odd=1.0", "{\"odd\":1.0}");
}

Test(ctl_arguments, are_text_if_they_are_no_json)
{
	expect("number=many", "{\"number\":\"many\"}");
	expect("any=a b", "{\"any\":\"a b\"}");
}

Test(ctl_arguments, are_text_if_text_is_allowed_and_their_json_is_not)
{
	expect("maybe=42", "{\"maybe\":\"42\"}");
	expect("maybe=null", "{\"maybe\":null}");
	expect("either=true", "{\"either\":true}");
	expect("either=1", "{\"either\":\"1\"}");
}

Test(ctl_arguments, are_always_json_after_a_colon)
{
	expect("text:=42", "{\"text\":42}");
	expect("any:={\"a\": [ ]}", "{\"any\":{\"a\":[]}}");
	expect_refused((const char *const[]){"any:=x"}, 1, "'any:=' needs JSON, not 'x': ");
	expect_refused((const char *const[]){"any:="}, 1, "'any:=' needs JSON");
}

Test(ctl_arguments, keep_their_order)
{
	const char *words[] = {"text=b", "any:=1"};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};

	cr_assert_eq(write_words(words, 2, &out, &reason), 0);
	cr_expect_str_eq(buffer_terminate(&out), "{\"text\":\"b\",\"any\":1}");
}

Test(ctl_arguments, refuse_a_word_that_is_none)
{
	expect_refused((const char *const[]){"text"}, 1, "'text' is not an argument of a tool");
	expect_refused((const char *const[]){"=x"}, 1, "'=x' is not an argument of a tool");
	expect_refused((const char *const[]){":=1"}, 1, "':=1' is not an argument of a tool");
}

Test(ctl_arguments, refuse_bytes_that_are_not_utf8)
{
	expect_refused((const char *const[]){"any=\xff"}, 1, "'any' is given a value that is not");
}

Test(ctl_arguments, refuse_a_key_that_is_given_twice)
{
	expect_refused((const char *const[]){"a=1", "b=2", "a:=3"}, 3, "'a' is given twice");
}

static void expect_all(const char *const *words, size_t n_words, const char *json)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	int r = write_words(words, n_words, &out, &reason);

	cr_assert_eq(r, 0, "%s", reason.data ? reason.data : "");
	cr_expect_str_eq(buffer_terminate(&out), json);
}

#define EXPECT_ALL(json, ...)                                                                      \
	expect_all((const char *const[]){__VA_ARGS__},                                             \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), json)

Test(ctl_arguments, have_members_where_the_schema_has_objects)
{
	EXPECT_ALL("{\"place\":{\"city\":\"12\",\"zip\":12},\"text\":\"a\"}", "place.city=12",
		"text=a", "place[zip]=12");
	EXPECT_ALL("{\"place\":{\"deep.er\":1}}", "place.deep.er=1");
	EXPECT_ALL("{\"place\":{\"deep\":{\"er\":1,\"b\":2}}}", "place[deep][er]=1",
		"place[deep].b=2");
	EXPECT_ALL("{\"with.dot\":\"1\",\"unknown.key\":1,\"text.x\":1}", "with.dot=1",
		"unknown.key=1", "text.x=1");
	EXPECT_ALL("{\"by_ref\":{\"city\":\"1\"}}", "by_ref.city=1");
	EXPECT_ALL("{\"place\":{\"city\":1}}", "place:={\"city\": 1}");
	expect_refused(
		(const char *const[]){"place.city=1", "place={}"}, 2, "as a whole and in parts");
	expect_refused((const char *const[]){"place.city=1", "place.city=2"}, 2,
		"'place.city' is given twice");
	expect_refused((const char *const[]){"place[city=1"}, 1, "'[' without its ']'");
	expect_refused((const char *const[]){"place.=1"}, 1, "has an empty part");
	expect_refused((const char *const[]){"place[]=1"}, 1, "has an empty part");
}

Test(ctl_arguments, have_elements_where_the_schema_has_an_array)
{
	EXPECT_ALL("{\"days\":[1,2]}", "days=1,2");
	EXPECT_ALL("{\"days\":[1]}", "days=1");
	EXPECT_ALL("{\"days\":[]}", "days=");
	EXPECT_ALL("{\"days\":[1,2,3,4]}", "days=1,2", "days:=3", "days=[4]");
	EXPECT_ALL("{\"tags\":[\"1\",\"b c\"]}", "tags=1,b c");
	EXPECT_ALL("{\"days\":[\"mon\"]}", "days=mon");
}

/* Write @word by the schema @property of its argument, both with ' in place of ". */
static void expect_by(const char *property, const char *word, const char *json)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(words_deinit) struct words read = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	cleanup_free char *wanted = strdup(json);

	buffer_printf(&text,
		"{'schema':{'properties':{'a':%s},'$defs':{'n':{'type':'integer'},"
		"'s':{'$ref':'#/$defs/t'},'t':{'type':'string'}}}}",
		property);
	cr_assert(buffer_terminate(&text));
	for (char *at = text.data; (at = strchr(at, '\''));)
		*at = '"';
	for (char *at = wanted; (at = strchr(at, '\''));)
		*at = '"';
	cr_assert_eq(json_tape_read(&tape, text.data, text.size, JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(words_read(&word, 1, &read, &reason), 0);
	cr_assert_eq(
		ctl_arguments_write(&read, &tape, json_find(&tape, 0, "schema"), &out, &reason), 0);
	cr_expect_str_eq(buffer_terminate(&out), wanted, "%s %s: %s", property, word, out.data);
}

Test(ctl_arguments, have_the_type_that_the_schema_leaves)
{
	static const struct {
		const char *property;
		const char *word;
		const char *json;
	} cases[] = {
		{"{'$ref':'#/$defs/t'}", "a=1", "{'a':'1'}"},
		{"{'$ref':'#/$defs/s'}", "a=1", "{'a':'1'}"},
		{"{'$ref':'#/$defs/n'}", "a=1", "{'a':1}"},
		{"{'$ref':'#/$defs/none'}", "a=1", "{'a':1}"},
		{"{'$ref':'other#/$defs/t'}", "a=1", "{'a':1}"},
		{"{'$ref':5,'type':'string'}", "a=1", "{'a':'1'}"},
		{"{'anyOf':[{'type':'string'},{'$ref':'#/$defs/n'}]}", "a=1", "{'a':1}"},
		{"{'oneOf':[{'type':'string'},{'type':'null'}]}", "a=1", "{'a':'1'}"},
		{"{'oneOf':[{'type':'string'},{'type':'null'}]}", "a=null", "{'a':null}"},
		{"{'anyOf':5,'type':'string'}", "a=1", "{'a':'1'}"},
		{"{'enum':['1',null]}", "a=1", "{'a':'1'}"},
		{"{'enum':['1',null]}", "a=null", "{'a':null}"},
		{"{'enum':['1',2]}", "a=1", "{'a':1}"},
		{"{'enum':'1'}", "a=1", "{'a':1}"},
		{"{'type':['string','number'],'enum':['1','2']}", "a=1", "{'a':'1'}"},
		{"{'const':'1'}", "a=1", "{'a':'1'}"},
		{"{'const':1}", "a=1", "{'a':1}"},
		{"{'type':['string','text']}", "a=1", "{'a':1}"},
		{"{'type':['string',7]}", "a=1", "{'a':1}"},
		{"{'type':['string','boolean']}", "a=false", "{'a':false}"},
		{"{'type':['string','boolean']}", "a=[]", "{'a':'[]'}"},
		{"{'type':['string','object']}", "a={}", "{'a':{}}"},
		{"{'type':['string','array']}", "a=[1]", "{'a':[1]}"},
		{"{'type':['string','array']}", "a=b,c", "{'a':'b,c'}"},
		{"{'type':['null','array']}", "a=1,2", "{'a':[1,2]}"},
		{"{'type':'array','items':{'type':'string'}}", "a=1,,2", "{'a':['1','','2']}"},
		{"{'type':'array','items':{'type':'string'}}", "a=1,", "{'a':['1']}"},
		{"{'type':'array','items':{'type':'string'}}", "a:=1", "{'a':1}"},
		{"{'type':'array','allOf':[{'items':{'type':'string'}}]}", "a=1", "{'a':['1']}"},
		{"5", "a=1", "{'a':1}"},
		{"{'type':'object'}", "a.b=1", "{'a':{'b':1}}"},
		{"{'type':['string','integer'],'$ref':'#/$defs/t'}", "a=1", "{'a':'1'}"},
		/* A schema within itself. */
		{"{'$ref':'#/properties/a'}", "a=1", "{'a':1}"},
		{"{'type':'array','anyOf':[{'$ref':'#/properties/a'}]}", "a=1", "{'a':[1]}"},
		/* A branch of a branch, to the eighth level. */
		{"{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':[{'type':"
		 "'string'}]}]}]}]}]}]}]}",
			"a=1", "{'a':'1'}"},
		{"{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':"
		 "[{'type':'string'}]}]}]}]}]}]}]}]}",
			"a=1", "{'a':1}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_by(cases[i].property, cases[i].word, cases[i].json);
}

Test(ctl_arguments, have_as_many_levels_as_a_key_may_have)
{
	EXPECT_ALL("{\"place\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":{\"h\":1}}}}}}}}",
		"place[b][c][d][e][f][g][h]=1");
	expect_refused((const char *const[]){"place[b][c][d][e][f][g][h][i]=1"}, 1,
		"'place[b][c][d][e][f][g][h][i]' has too many levels: write it as JSON, with :=");
	expect_refused((const char *const[]){"place[b]c=1"}, 1,
		"'place[b]c' goes on after a ']' without a '.'");
	expect_refused((const char *const[]){"place[b].=1"}, 1, "has an empty part");
	EXPECT_ALL("{\"place\":{\"b\":1,\"bc\":2,\"c\":{\"b\":3}}}", "place.b=1", "place.bc=2",
		"place[c][b]=3");
	/* Only an object has parts. */
	EXPECT_ALL("{\"days.x\":1,\"number[x]\":2}", "days.x=1", "number[x]=2");
	expect_all(NULL, 0, "{}");
}

Test(ctl_arguments, may_be_files)
{
	char path[] = "/tmp/unit-arguments-XXXXXX";
	char word[64];
	int fd = mkstemp(path);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, "a\xff\0", 3), 3);
	snprintf(word, sizeof(word), "bytes=@%s", path);
	EXPECT_ALL("{\"bytes\":\"Yf8A\"}", word);
	snprintf(word, sizeof(word), "text=@%s", path);
	expect_refused(
		(const char *const[]){word}, 1, "'text' needs text, and the file '/tmp/unit-");
	snprintf(word, sizeof(word), "any:=@%s", path);
	expect_refused((const char *const[]){word}, 1, "'any:=' needs JSON, and '/tmp/unit-");
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(pwrite(fd, "[1]\n", 4, 0), 4);
	EXPECT_ALL("{\"any\":[1]}", word);
	snprintf(word, sizeof(word), "text=@%s", path);
	EXPECT_ALL("{\"text\":\"[1]\\n\"}", word);
	close(fd);
	unlink(path);
	expect_refused((const char *const[]){word}, 1, "which cannot be read: No such file");
	expect_refused(
		(const char *const[]){"text=@/"}, 1, "'text' is given the file '/', which cannot");
	expect_refused(
		(const char *const[]){"text=@alice"}, 1, "for the text itself: text:='\"@alice\"'");
}

Test(ctl_arguments, must_be_an_object_when_they_come_whole)
{
	cleanup(buffer_deinit) struct buffer reason = {0};

	cr_expect_eq(ctl_arguments_check("{\"a\": 1}", 8, &reason), 0);
	cr_expect_eq(ctl_arguments_check("[1]", 3, &reason), WORDS_E_USAGE);
	cr_expect_str_eq(reason.data, "the arguments must be a JSON object, not array");
	buffer_reset(&reason);
	cr_expect_eq(ctl_arguments_check("{", 1, &reason), WORDS_E_USAGE);
	cr_expect(strstr(reason.data, "the arguments must be a JSON object: byte 1: "));
}

Test(ctl_arguments, are_written_whole_or_not_at_all_when_memory_is_short)
{
	static const char *const words[] = {
		"days=1,2", "place.city=x", "by_ref[city]=y", "any={}", "text:=\"a\""};

	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		cleanup(words_deinit) struct words read = {0};
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup(buffer_deinit) struct buffer reason = {0};
		int r = json_tape_read(&tape, schema, strlen(schema), JSON_DEPTH_DEFAULT, NULL);

		r = r ? r : words_read(words, 5, &read, &reason);
		r = r ? r
		      : ctl_arguments_write(&read, &tape, json_find(&tape, 0, "argument_schema"),
				&out, &reason);
		cr_expect((scarce_has_failed() && r == -ENOMEM) || r == 0, "%zu: %d", n, r);
		if (r == 0)
			cr_expect_str_eq(buffer_terminate(&out),
				"{\"days\":[1,2],\"place\":{\"city\":\"x\"},\"by_ref\":{\"city\":"
				"\"y\"},"
				"\"any\":{},\"text\":\"a\"}");
	}
}
