/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/model_schema.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quotes.h"
#include "util/cleanup.h"

static void expect_form(const char *schema, const char *expected)
{
	cleanup_free char *given = quoted(schema);
	cleanup_free char *wanted = quoted(expected);
	cleanup(buffer_deinit) struct buffer text = {0};

	model_schema_write(given, &text);
	cr_expect_str_eq(buffer_terminate(&text), wanted, "%s\ngives    %s\nexpected %s", given,
		text.data, wanted);
}

Test(model_schema, has_an_object_with_properties_at_its_root)
{
	expect_form("true", "{'type':'object','properties':{}}");
	expect_form("{}", "{'type':'object','properties':{}}");
	expect_form("{'type':['object','null'],'properties':{'a':true}}",
		"{'type':'object','properties':{'a':{}}}");
}

Test(model_schema, leaves_out_what_a_root_may_not_have)
{
	expect_form("{'$schema':'https://json-schema.org/draft/2020-12/schema','$id':'y',"
		    "'properties':{'a':{'anyOf':[{},{}]}},'oneOf':[{}],'anyOf':[{}],'allOf':[{}],"
		    "'not':{},'enum':[{}],'if':{},'required':['a']}",
		"{'type':'object','properties':{'a':{'anyOf':[{},{}]}},'required':['a']}");
}

Test(model_schema, has_the_parameters_of_all_alternatives)
{
	expect_form("{'anyOf':[{'not':{'type':'null'}},{'not':{'required':['b']},"
		    "'properties':{'a':{'type':'string'}}}]}",
		"{'type':'object','properties':{'a':{'type':'string'}}}");
	expect_form("{'type':'object','oneOf':[{'type':'object','properties':{'action':{'const':"
		    "'get'},'id':{'type':'string'}},'required':['action','id']},{'type':'object',"
		    "'properties':{'action':{'const':'set'},'id':{'type':'string'},'value':{'type':"
		    "'number'}},'required':['action','id','value']}]}",
		"{'type':'object','properties':{'action':{'enum':['get','set']},'id':{'type':"
		"'string'},'value':{'type':'number'}},'required':['action','id']}");
	expect_form("{'anyOf':[{'type':'null'},{'properties':{'a':{'type':'string'}},'required':["
		    "'a'],'additionalProperties':false},{'properties':{'a':{'type':'integer'},'b':"
		    "{}},'additionalProperties':false},false]}",
		"{'type':'object','properties':{'a':{'anyOf':[{'type':'string'},{'type':"
		"'integer'}]},'b':{}},'additionalProperties':false}");
	expect_form("{'properties':{'kind':{'type':'string','description':'Which'}},'required':["
		    "'kind'],'oneOf':[{'properties':{'kind':{'const':'a'}}},{'properties':{'kind':"
		    "{'enum':['a','b']},'n':{'type':'integer'}}}]}",
		"{'type':'object','properties':{'kind':{'type':'string','description':'Which',"
		"'enum':['a','b']},'n':{'type':'integer'}},'required':['kind']}");
	expect_form("{'if':{'properties':{'a':{'const':1}}},'then':{'properties':{'b':{'type':"
		    "'string'}},'required':['b']},'properties':{'a':{'type':'integer'}}}",
		"{'type':'object','properties':{'a':{'type':'integer'},'b':{'type':'string'}}}");
}

Test(model_schema, has_the_parameters_of_all_parts)
{
	expect_form("{'allOf':[{'$ref':'#/$defs/A'},{'properties':{'b':{'type':'string'}},"
		    "'required':['b']}],'description':'Both','$defs':{'A':{'title':'A','properties'"
		    ":{'a':{'type':'integer'}},'required':['a']}}}",
		"{'type':'object','properties':{'a':{'type':'integer'},'b':{'type':'string'}},"
		"'required':['a','b'],'description':'Both','title':'A'}");
	expect_form("{'allOf':[{'properties':{'a':{'type':'integer'}}},{'properties':{'a':{"
		    "'minimum':1}}}],'unevaluatedProperties':false}",
		"{'type':'object','properties':{'a':{'allOf':[{'type':'integer'},{'minimum':1}]}},"
		"'additionalProperties':false}");
	expect_form("{'additionalProperties':false,'properties':{'a':{}},'oneOf':[{'properties':{"
		    "'a':{'const':1},'b':{}}},{'properties':{'a':{'const':2}}}]}",
		"{'type':'object','properties':{'a':{'enum':[1,2]}},'additionalProperties':false}");
	expect_form("{'$ref':'#/$defs/T','$defs':{'T':{'oneOf':[{'properties':{'l':{'$ref':"
		    "'#/$defs/T'}}},{'properties':{'n':{'type':'null'}}}]}}}",
		"{'type':'object','properties':{'l':{'$ref':'#/$defs/r1'},'n':{'type':'null'}},"
		"'$defs':{'r1':{'oneOf':[{'properties':{'l':{'$ref':'#/$defs/r1'}}},{'properties':"
		"{'n':{'type':'null'}}}]}}}");
}

Test(model_schema, merges_the_values_of_one_parameter)
{
	static const char *const rows[][2] = {
		/* constants of one type, of several, and of none */
		{"{'oneOf':[{'properties':{'a':{'type':'string','const':'x'}}},{'properties':{'a':"
		 "{'type':'string','enum':['y','x']}}}]}",
			"{'type':'object','properties':{'a':{'type':'string','enum':['x','y']}}}"},
		{"{'oneOf':[{'properties':{'a':{'type':'string','const':'x'}}},{'properties':{'a':"
		 "{'type':'number','const':1}}}]}",
			"{'type':'object','properties':{'a':{'enum':['x',1]}}}"},
		{"{'oneOf':[{'properties':{'a':{'type':'string','const':'x'}}},{'properties':{'a':"
		 "{'const':1}}}]}",
			"{'type':'object','properties':{'a':{'enum':['x',1]}}}"},
		{"{'oneOf':[{'properties':{'a':{'const':'x'}}},{'properties':{'a':{'const':'x'}}}]"
		 "}",
			"{'type':'object','properties':{'a':{'const':'x'}}}"},
		{"{'oneOf':[{'properties':{'a':{'const':'x'}}},{'properties':{'a':{'type':'null'}}}"
		 "]}",
			"{'type':'object','properties':{'a':{'anyOf':[{'const':'x'},{'type':'null'}"
			"]}}}"},
		/* values in all parts, and in some */
		{"{'properties':{'a':{}},'oneOf':[{'properties':{'a':{'type':'string'}}}]}",
			"{'type':'object','properties':{'a':{'type':'string'}}}"},
		{"{'properties':{'a':{'title':'A'}},'oneOf':[{'properties':{'a':{'type':'string'}}}"
		 "]}",
			"{'type':'object','properties':{'a':{'title':'A'}}}"},
		{"{'properties':{'a':{'title':'A'}},'oneOf':[{'properties':{'a':{'const':2}}}]}",
			"{'type':'object','properties':{'a':{'title':'A','enum':[2]}}}"},
		{"{'properties':{'a':{'const':1}},'oneOf':[{'properties':{'a':{'const':2}}}]}",
			"{'type':'object','properties':{'a':{'const':1}}}"},
		{"{'allOf':[{'properties':{'a':{}}},{'properties':{'a':{'type':'string'}}}],'anyOf'"
		 ":"
		 "[{'properties':{'a':{'const':2}}}]}",
			"{'type':'object','properties':{'a':{'allOf':[{},{'type':'string'}]}}}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect_form(rows[i][0], rows[i][1]);
}

Test(model_schema, closes_an_object_that_a_part_closes)
{
	static const char *const parts[] = {
		"'additionalProperties':false", "'unevaluatedProperties':false"};
	char text[256];

	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "{'allOf':[{%s,'properties':{'a':{}}}]}", parts[i]);
		expect_form(text,
			"{'type':'object','properties':{'a':{}},'additionalProperties':false}");
	}
	expect_form("{'allOf':[{'properties':{'a':{}}}],'additionalProperties':{'type':'string'}}",
		"{'type':'object','properties':{'a':{}},'additionalProperties':{'type':'string'}}");
	expect_form("{'allOf':[{'$ref':'#/$defs/B'},{'properties':{'a':{}}}],'$defs':{'A':"
		    "{'properties':{'b':{}}}}}",
		"{'type':'object','properties':{'a':{}}}");
}

/* Alternatives of alternatives: 2^40 of them. */
Test(model_schema, keeps_its_own_parameters_where_there_are_too_many_alternatives, .timeout = 20)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&schema, "{\"properties\":{\"own\":{}},\"$defs\":{");
	for (int i = 0; i < 40; i++)
		buffer_printf(&schema,
			"\"a%d\":{\"oneOf\":[{\"$ref\":\"#/$defs/a%d\"},"
			"{\"$ref\":\"#/$defs/a%d\"}]},",
			i, i + 1, i + 1);
	buffer_append_string(&schema,
		"\"a40\":{\"properties\":{\"deep\":{}}}},\"allOf\":[{\"$ref\":\"#/$defs/a0\"}]}");
	model_schema_write(buffer_terminate(&schema), &text);
	cr_assert(buffer_terminate(&text));
	cr_expect(
		strstr(text.data, "{\"type\":\"object\",\"properties\":{\"own\":{}}") == text.data,
		"%.200s", text.data);
}

Test(model_schema, replaces_references)
{
	expect_form("{'type':'object','properties':{'a':{'$ref':'#/$defs/A','description':'Mine'},"
		    "'$ref':{'const':{'$ref':'#/$defs/A'}}},"
		    "'$defs':{'A':{'type':'string','description':'Its','minLength':1}}}",
		"{'type':'object','properties':{'a':{'description':'Mine','type':'string',"
		"'minLength':1},'$ref':{'const':{'$ref':'#/$defs/A'}}}}");
	expect_form("{'properties':{'a':{'items':{'$ref':'#/definitions/a~1b%20c'}}},"
		    "'definitions':{'a/b c':{'$ref':'#/definitions/B'},'B':{'type':'null'}}}",
		"{'type':'object','properties':{'a':{'items':{'type':'null'}}}}");
	expect_form("{'$ref':'#/$defs/A','$defs':{'A':{'type':'object','properties':{'b':{'$ref':"
		    "'#/$defs/B'}},'additionalProperties':false},'B':{'type':'integer'}}}",
		"{'type':'object','properties':{'b':{'type':'integer'}},"
		"'additionalProperties':false}");
}

Test(model_schema, gives_an_array_items)
{
	expect_form("{'properties':{'a':{'type':'array'},'b':{'type':['null','array'],'items':{"
		    "'type':'array'}},'c':{'type':'string'}},'required':['a']}",
		"{'type':'object','properties':{'a':{'type':'array','items':{}},'b':{'type':['null'"
		","
		"'array'],'items':{'type':'array','items':{}}},'c':{'type':'string'}},"
		"'required':['a']}");
	expect_form("{'properties':{'a':{'$ref':'#/$defs/A','items':{'type':'null'}},'b':{'$ref':"
		    "'#/$defs/A'},'type':{'type':'null'}},'$defs':{'A':{'type':'array'}},"
		    "'$schema':'http://json-schema.org/draft-07/schema#'}",
		"{'type':'object','properties':{'a':{'type':'array','items':{}},'b':{'type':'array'"
		","
		"'items':{}},'type':{'type':'null'}}}");
	expect_form("{'properties':{'a':{'const':{'type':'array'},'default':{'type':'array'}}}}",
		"{'type':'object','properties':{'a':{'const':{'type':'array'},'default':{'type':"
		"'array'}}}}");
}

Test(model_schema, keeps_what_contains_itself)
{
	expect_form("{'properties':{'t':{'$ref':'#/$defs/Tree'}},'$defs':{'Tree':{'type':'object',"
		    "'properties':{'left':{'$ref':'#/$defs/Tree'},'leaf':{'$ref':'#/$defs/Leaf'}}},"
		    "'Leaf':{'type':'string'}}}",
		"{'type':'object','properties':{'t':{'$ref':'#/$defs/r1'}},'$defs':{'r1':"
		"{'type':'object','properties':{'left':{'$ref':'#/$defs/r1'},'leaf':"
		"{'type':'string'}}}}}");
	expect_form("{'type':'object','properties':{'child':{'$ref':'#'}}}",
		"{'type':'object','properties':{'child':{'$ref':'#/$defs/r1'}},'$defs':{'r1':"
		"{'type':'object','properties':{'child':{'$ref':'#/$defs/r1'}}}}}");
}

static bool is_strict(const char *schema)
{
	char *text = quoted(schema);
	bool is = model_schema_is_strict(text, strlen(text));

	free(text);
	return is;
}

#define STRICT(properties, required)                                                               \
	"{'type':'object','properties':{" properties "},'required':[" required                     \
	"],'additionalProperties':false}"

Test(model_schema, is_strict_where_every_property_is_required_and_no_other_allowed)
{
	cr_expect(is_strict(STRICT("", "")));
	cr_expect(is_strict("{'type':'object','properties':{},'additionalProperties':false}"));
	cr_expect(is_strict(STRICT("'a':{'type':'integer','minimum':0}", "'a'")));
	cr_expect(is_strict(STRICT("'a':{'type':['string','null'],'enum':['x',null]}", "'a'")));
	cr_expect(is_strict(STRICT("'a':{'anyOf':[{'type':'null'},{'type':'string'}]}", "'a'")));
	cr_expect(is_strict(STRICT("'a':{'type':'array','items':" STRICT("", "") "}", "'a'")));
	cr_expect(is_strict(STRICT("'a':{'type':'string','format':'date'}", "'a'")));
	cr_expect_not(is_strict("{'type':'object','properties':{}}"));
	cr_expect_not(is_strict(STRICT("'a':{'type':'integer'}", "")));
	cr_expect_not(is_strict(STRICT("'a':{'type':'integer','default':1}", "'a'")));
	cr_expect_not(is_strict(STRICT("'a':{'type':'string','minLength':1}", "'a'")));
	cr_expect_not(is_strict(STRICT("'a':{'type':'string','format':'uri'}", "'a'")));
	cr_expect_not(is_strict(STRICT("'a':{'type':'array'}", "'a'")));
	cr_expect_not(is_strict(STRICT("'a':{'type':'object'}", "'a'")));
	cr_expect_not(is_strict(STRICT("'a':{}", "'a'")));
	cr_expect_not(is_strict(STRICT("'a':true", "'a'")));
	cr_expect_not(is_strict(STRICT("'a':{'oneOf':[{'type':'null'}]}", "'a'")));
	cr_expect_not(is_strict(STRICT("'a':{'type':'array','items':{'type':'object'}}", "'a'")));
}

Test(model_schema, may_be_the_schema_itself)
{
	static const struct {
		const char *schema;
		bool is_same;
	} rows[] = {
		{"{'type':'object','properties':{}}", true},
		{"{'type':'object','properties':{},'$comment':'c'}", true},
		{"{'type':'object','properties':{},'required':[],'title':'t'}", true},
		{"{'type':'object','properties':{},'$schema':'x'}", false},
		{"{'type':'object','properties':{},'not':{}}", false},
		{"{'type':'object'}", false},
		{"{'type':'object','properties':[]}", false},
		{"{'properties':{}}", false},
		{"{'type':['object'],'properties':{}}", false},
		{"{'type':'object','properties':{},'allOf':[]}", false},
		{"{'type':'object','properties':{},'if':{}}", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup_free char *schema = quoted(rows[i].schema);
		cleanup(buffer_deinit) struct buffer text = {0};

		cr_expect_eq(
			model_schema_write(schema, &text), rows[i].is_same, "%s", rows[i].schema);
	}
}

/* Return whether the form of a root with @n parts @part, numbered where they have a %u, between
 * @before and @after, has @words. */
static bool has_in_form(
	unsigned int n, const char *before, const char *part, const char *after, const char *words)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_free char *json = NULL;

	buffer_append_string(&schema, before);
	for (unsigned int i = 0; i < n; i++) {
		buffer_append_string(&schema, i > 0 ? "," : "");
		for (const char *at = part; *at; at++)
			if (*at == '#')
				buffer_printf(&schema, "%u", i);
			else
				buffer_append_char(&schema, *at);
	}
	buffer_append_string(&schema, after);
	json = quoted(buffer_terminate(&schema));
	model_schema_write(json, &text);
	return strstr(buffer_terminate(&text), words) != NULL;
}

Test(model_schema, merges_so_many_parts_and_names_and_no_more)
{
	static const struct {
		unsigned int most;
		const char *before;
		const char *part; /* with its number for # */
		const char *after;
		const char *words;
	} rows[] = {
		{1022, "{'allOf':[", "{}", ",{'properties':{'a':{}}}]}", "\"a\""},
		{1024, "{'allOf':[{'properties':{", "'p#':{}", "}}]}", "\"p0\""},
		{1024, "{'allOf':[{'properties':{'a':{}},'required':[", "'p#'", "]}]}", "\"p0\""},
		{255, "{'allOf':[", "{'properties':{'a':{'minimum':#}}}", "]}", "\"minimum\""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (unsigned int more = 0; more < 2; more++)
			cr_expect_eq(has_in_form(rows[i].most + more, rows[i].before, rows[i].part,
					     rows[i].after, rows[i].words),
				more == 0, "%zu: %u more", i, more);
}
