/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/portable.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quotes.h"
#include "util/cleanup.h"

static void expect_portable(const char *schema, const char *expected, const char *definitions)
{
	cleanup_free char *given = quoted(schema);
	cleanup_free char *wanted = quoted(expected);
	cleanup_free char *wanted_definitions = quoted(definitions);
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer defined = {0};

	portable_write(given, &portable_own_names, &text, &defined);
	cr_expect_str_eq(buffer_terminate(&text), wanted, "%s\ngives    %s\nexpected %s", given,
		text.data, wanted);
	cr_expect_str_eq(buffer_terminate(&defined), wanted_definitions);
}

#define DRAFT_07 "'$schema':'http://json-schema.org/draft-07/schema#',"

Test(portable, has_an_object_where_a_schema_is)
{
	expect_portable("true", "{}", "");
	expect_portable("false", "{'not':{}}", "");
	expect_portable("{'properties':{'a':true,'b':false},'items':false,'additionalProperties':"
			"false,'unevaluatedItems':true}",
		"{'properties':{'a':{},'b':{'not':{}}},'items':{'not':{}},'additionalProperties':"
		"false,'unevaluatedItems':true}",
		"");
	expect_portable("{'enum':[],'not':{'type':'null'}}", "{'not':{}}", "");
	expect_portable("{'enum':[null],'not':{'type':'null'}}",
		"{'enum':[null],'not':{'type':'null'}}", "");
}

Test(portable, is_of_draft_2020_12)
{
	expect_portable("{" DRAFT_07 "'items':[{'type':'integer'},true],'additionalItems':false}",
		"{'prefixItems':[{'type':'integer'},{}],'items':{'not':{}}}", "");
	expect_portable("{" DRAFT_07 "'items':[{}]}", "{'prefixItems':[{}],'items':{}}", "");
	expect_portable("{" DRAFT_07 "'items':[],'additionalItems':{'type':'null'}}",
		"{'items':{'type':'null'}}", "");
	expect_portable("{" DRAFT_07
			"'items':{},'additionalItems':false,'prefixItems':[],'minContains':2}",
		"{'items':{}}", "");
	expect_portable("{" DRAFT_07 "'dependencies':{'a':['b'],'c':{'required':['d']}}}",
		"{'dependentRequired':{'a':['b']},'dependentSchemas':{'c':{'required':['d']}}}",
		"");
	expect_portable("{" DRAFT_07 "'properties':{'a':{'$ref':'#/definitions/A','minLength':1}},"
			"'definitions':{'A':{'type':'string'}}}",
		"{'properties':{'a':{'type':'string'}}}", "");
	expect_portable("{'additionalItems':false,'dependencies':{'a':['b']},'dependentRequired':{"
			"'c':['d']}}",
		"{'dependentRequired':{'c':['d']}}", "");
}

static bool is_plain(const char *schema)
{
	char *text = quoted(schema);
	struct buffer out = {0};
	struct buffer definitions = {0};
	bool is = portable_write(text, &portable_own_names, &out, &definitions);

	free(text);
	buffer_deinit(&out);
	buffer_deinit(&definitions);
	return is;
}

Test(portable, knows_a_schema_of_objects_of_draft_2020_12)
{
	cr_expect(is_plain("{'properties':{'a':{'$ref':'#/$defs/A'}},'$defs':{'A':{'enum':[true]}},"
			   "'additionalProperties':false,'default':true}"));
	cr_expect_not(is_plain("{'properties':{'a':true}}"));
	cr_expect_not(is_plain("{'anyOf':[{'items':false}]}"));
	cr_expect_not(is_plain("{" DRAFT_07 "'properties':{}}"));
	cr_expect_not(is_plain("true"));
}

Test(portable, finds_the_target_of_every_reference)
{
	expect_portable("{'$id':'https://example.com/s.json','properties':{'a':{'$ref':"
			"'https://example.com/s.json#/$defs/F'},'b':{'$ref':'s.json#f'},'c':{"
			"'$dynamicRef':'#f'}},'$defs':{'F':{'$anchor':'f','type':'null'}}}",
		"{'properties':{'a':{'type':'null'},'b':{'type':'null'},'c':{'type':'null'}}}", "");
	expect_portable(
		"{'properties':{'a':{'$ref':'inner'}},'$defs':{'I':{'$id':'inner','items':{'$ref':"
		"'#/$defs/J'},'$defs':{'J':{'type':'null'}}}}}",
		"{'properties':{'a':{'items':{'type':'null'}}}}", "");
	expect_portable("{'properties':{'a':{'$ref':'#/$defs/A','minLength':1,'allOf':[{}]}},"
			"'$defs':{'A':{'maxLength':2}}}",
		"{'properties':{'a':{'minLength':1,'allOf':[{},{'maxLength':2}]}}}", "");
	expect_portable("{'properties':{'a':{'$ref':'#/$defs/A','title':'Mine'}},'$defs':{'A':{"
			"'$ref':'#/$defs/B'},'B':{'title':'Its'}}}",
		"{'properties':{'a':{'title':'Mine','allOf':[{'title':'Its'}]}}}", "");
}

Test(portable, takes_any_value_where_a_reference_leads_out_of_it)
{
	expect_portable("{'properties':{'a':{'$ref':'https://json-schema.org/draft/2020-12/schema',"
			"'title':'A schema'},'b':{'$ref':'https://x/y'}}}",
		"{'properties':{'a':{'title':'A schema'},'b':{}}}", "");
}

Test(portable, has_a_definition_of_what_contains_itself)
{
	expect_portable("{'properties':{'child':{'$ref':'#','title':'Child'}}}",
		"{'properties':{'child':{'$ref':'#/$defs/r1','title':'Child'}}}",
		"'r1':{'properties':{'child':{'$ref':'#/$defs/r1','title':'Child'}}}");
}

Test(portable, leaves_out_what_only_helps_references)
{
	expect_portable("{'$comment':'c','$id':'i','$anchor':'a','$vocabulary':{},'id':'old',"
			"'discriminator':{'propertyName':'k','mapping':{'l':'#/$defs/Light'}},"
			"'x-more':{'$ref':'#/$defs/Light'},'x-flag':1,'default':{'$ref':1},'$defs':"
			"{'Light':{}},'$recursiveAnchor':true}",
		"{'$comment':'c','x-flag':1,'default':{'$ref':1}}", "");
}

/* $defs: a0 has two references to a1, a1 has two to a2, and so on: 2^40 schemas inlined. */
Test(portable, does_not_explode, .timeout = 20)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer definitions = {0};

	buffer_append_string(
		&schema, "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/a0\"}},\"$defs\":{");
	for (int i = 0; i < 40; i++)
		buffer_printf(&schema,
			"\"a%d\":{\"properties\":{\"l\":{\"$ref\":\"#/$defs/a%d\"},"
			"\"r\":{\"$ref\":\"#/$defs/a%d\"}}},",
			i, i + 1, i + 1);
	buffer_append_string(&schema, "\"a40\":{\"type\":\"null\"}}}");
	portable_write(buffer_terminate(&schema), &portable_own_names, &text, &definitions);
	cr_assert_str_eq(
		buffer_terminate(&text), "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/r1\"}}}");
	cr_assert(buffer_terminate(&definitions));
	cr_expect(strstr(definitions.data, "\"r41\":{\"type\":\"null\"}"), "%s", definitions.data);
	cr_expect_lt(definitions.size, schema.size);
}

Test(portable, has_the_annotations_beside_a_reference_before_those_of_its_target)
{
	expect_portable("{'properties':{'a':{'$ref':'#/$defs/A','description':'Mine.'}},'$defs':{"
			"'A':{'type':'string','description':'Its.','title':'A'}}}",
		"{'properties':{'a':{'description':'Mine.','type':'string','title':'A'}}}", "");
	expect_portable("{'properties':{'a':{'$ref':'#/$defs/A','description':'Mine.','minLength':"
			"1}},'$defs':{'A':{'description':'Its.'}}}",
		"{'properties':{'a':{'description':'Mine.','minLength':1,'allOf':[{'description':"
		"'Its.'}]}}}",
		"");
	expect_portable("{'properties':{'a':{'$ref':'#/$defs/A','title':'Mine'}},'$defs':{'A':"
			"true}}",
		"{'properties':{'a':{'title':'Mine','allOf':[{}]}}}", "");
	expect_portable("{'properties':{'a':{'$ref':'#/$defs/A','title':'Mine','x-other':1}},"
			"'$defs':{'A':{'type':'null'}}}",
		"{'properties':{'a':{'title':'Mine','x-other':1,'allOf':[{'type':'null'}]}}}", "");
}

Test(portable, follows_a_pointer_with_escapes)
{
	static const char *const names[][2] = {
		{"a/b", "a~1b"},
		{"a~b", "a~0b"},
		{"~1", "~01"},
		{"a b", "a%20b"},
		{"%41", "%2541"},
		{"a~2", "a~2"},
		{"a~", "a~"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char schema[256];

		snprintf(schema, sizeof(schema),
			"{'properties':{'a':{'$ref':'#/$defs/%s'}},'$defs':{'%s':{'type':'null'}}}",
			names[i][1], names[i][0]);
		expect_portable(schema, "{'properties':{'a':{'type':'null'}}}", "");
	}
}

Test(portable, gives_an_array_items)
{
	expect_portable("{'type':'array'}", "{'type':'array','items':{}}", "");
	expect_portable("{'type':['array','null']}", "{'type':['array','null'],'items':{}}", "");
	expect_portable("{'type':'array','items':{'type':'null'}}",
		"{'type':'array','items':{'type':'null'}}", "");
	expect_portable("{'type':'string'}", "{'type':'string'}", "");
}

Test(portable, takes_anything_where_it_cannot_be_read)
{
	expect_portable("nonsense", "{}", "");
	cr_expect_not(is_plain("nonsense"));
}

Test(portable, adds_definitions_to_the_object_at_the_end)
{
	static const char *const rows[][3] = {
		{"{}", "", "{}"},
		{"{}", "\"r1\":{}", "{\"$defs\":{\"r1\":{}}}"},
		{"[{\"a\":1}", "\"r1\":{}", "[{\"a\":1,\"$defs\":{\"r1\":{}}}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup(buffer_deinit) struct buffer definitions = {0};

		buffer_append_string(&out, rows[i][0]);
		buffer_append_string(&definitions, rows[i][1]);
		portable_add_definitions(&out, &definitions);
		cr_expect_str_eq(buffer_terminate(&out), rows[i][2]);
	}
}
