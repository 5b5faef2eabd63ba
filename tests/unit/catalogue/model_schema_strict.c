/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/model_schema.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "quotes.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/* Schemas for the strict mode of OpenAI. JSON is written with ' in place of ". */

static bool is_strict(const char *text)
{
	cleanup_free char *json = quoted(text);

	return model_schema_is_strict(json, strlen(json));
}

/* An object with the property x. */
#define X(schema)                                                                                  \
	"{'type':'object','properties':{'x':" schema                                               \
	"},'required':['x'],'additionalProperties':false}"
#define EMPTY "{'type':'object','properties':{},'additionalProperties':false}"

Test(model_schema_strict, takes_what_its_mode_knows)
{
	static const struct {
		const char *schema;
		bool is_strict;
	} rows[] = {
		{EMPTY, true},
		{X("{'type':'string'}"), true},
		{X("{'type':['string','null']}"), true},
		{X("{'type':'string','enum':['a','b'],'title':'t','description':'d'}"), true},
		{X("{'type':'number','minimum':1,'maximum':2,'exclusiveMinimum':0,"
		   "'exclusiveMaximum':3,'multipleOf':1}"),
			true},
		{X("{'type':'array','items':{'type':'string'},'minItems':1,'maxItems':2}"), true},
		{X("{'anyOf':[{'type':'string'}," EMPTY "]}"), true},
		{X("{'type':'string','const':'a'}"), true},
		{"{'$ref':'#/$defs/a','$defs':{'a':" EMPTY "}}", true},
		{X("{}"), false},
		{X("true"), false},
		{X("{'type':'string','pattern':'a'}"), false},
		{X("{'type':'string','enum':'a'}"), false},
		{X("{'enum':['a']}"), false},
		{X("{'type':'array'}"), false},
		{X("{'type':'array','items':{}}"), false},
		{X("{'type':'string','items':{}}"), false},
		{X("{'type':'string','properties':{}}"), false},
		{X("{'type':['string','object']}"), false},
		{X("{'type':['null','object'],'properties':{},'additionalProperties':false}"),
			true},
		{X("{'anyOf':[{'type':'string'},{}]}"), false},
		{X("{'anyOf':7}"), false},
		{"{'$ref':'#/$defs/a','$defs':{'a':{}}}", false},
		{"{'$ref':'#/$defs/a','$defs':7}", false},
		{"{'type':'object','properties':{}}", false},
		{"{'type':'object','properties':{},'additionalProperties':true}", false},
		{"{'type':'object','additionalProperties':false}", false},
		{"{'type':'object','properties':{'x':{'type':'string'}},'required':[],"
		 "'additionalProperties':false}",
			false},
		{"{'type':'object','properties':{'x':{'type':'string'}},"
		 "'additionalProperties':false}",
			false},
		{"{'type':'object','properties':{'x':{'type':'string'}},'required':['y'],"
		 "'additionalProperties':false}",
			false},
		{"{'type':'object','properties':{'x':{'type':'string'}},'required':['x','y'],"
		 "'additionalProperties':false}",
			false},
		{"[]", false},
		{"", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_expect_eq(is_strict(rows[i].schema), rows[i].is_strict, "%s", rows[i].schema);
}

Test(model_schema_strict, takes_the_formats_of_its_mode)
{
	static const char *const formats[] = {"date-time", "time", "date", "duration", "email",
		"hostname", "ipv4", "ipv6", "uuid"};
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		snprintf(text, sizeof(text), X("{'type':'string','format':'%s'}"), formats[i]);
		cr_expect(is_strict(text), "%s", text);
	}
	cr_expect_not(is_strict(X("{'type':'string','format':'uri'}")));
	cr_expect_not(is_strict(X("{'type':'string','format':7}")));
}

/* Append an object with @n properties like @inner, whose names have @name_bytes digits. */
static void append_object(struct buffer *out, unsigned int n, int name_bytes, const char *inner)
{
	buffer_append_string(out, "{'type':'object','additionalProperties':false,'properties':{");
	for (unsigned int i = 0; i < n; i++)
		buffer_printf(out, "%s'%0*u':%s", i > 0 ? "," : "", name_bytes, i, inner);
	buffer_append_string(out, "},'required':[");
	for (unsigned int i = 0; i < n; i++)
		buffer_printf(out, "%s'%0*u'", i > 0 ? "," : "", name_bytes, i);
	buffer_append_string(out, "]}");
}

Test(model_schema_strict, has_objects_of_a_thousand_properties_and_no_more)
{
	for (unsigned int more = 0; more < 2; more++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		append_object(&text, 1000 + more, 4, "{'type':'string'}");
		cr_expect_eq(is_strict(buffer_terminate(&text)), more == 0);
	}
}

Test(model_schema_strict, has_five_thousand_properties_in_all_and_no_more)
{
	for (unsigned int more = 0; more < 2; more++) {
		cleanup(buffer_deinit) struct buffer inner = {0};
		cleanup(buffer_deinit) struct buffer text = {0};

		append_object(&inner, 499, 3, "{'type':'string'}");
		append_object(&text, 10, 2, buffer_terminate(&inner));
		buffer_reset(&inner);
		buffer_printf(&inner, "{'anyOf':[%s", buffer_terminate(&text));
		for (unsigned int i = 0; i < more; i++)
			buffer_append_string(&inner, "," X("{'type':'string'}"));
		buffer_append_string(&inner, "]}");
		cr_expect_eq(is_strict(buffer_terminate(&inner)), more == 0);
	}
}

Test(model_schema_strict, has_ten_levels_of_objects_and_no_more)
{
	for (int more = 0; more < 2; more++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		buffer_append_string(&text, EMPTY);
		for (int i = 1; i < 10 + more; i++) {
			cleanup(buffer_deinit) struct buffer outer = {0};

			buffer_printf(&outer, X("%s"), buffer_terminate(&text));
			buffer_reset(&text);
			buffer_append_buffer(&text, &outer);
		}
		cr_expect_eq(is_strict(buffer_terminate(&text)), more == 0);
	}
}

/* Return whether a property may have an enum of @n values of @bytes digits, the last of @last. */
static bool takes_enum(unsigned int n, int bytes, int last)
{
	cleanup(buffer_deinit) struct buffer values = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	for (unsigned int i = 0; i < n; i++)
		buffer_printf(&values, "%s'%0*u'", i > 0 ? "," : "", i + 1 < n ? bytes : last, i);
	buffer_printf(&text, X("{'type':'string','enum':[%s]}"), buffer_terminate(&values));
	return is_strict(buffer_terminate(&text));
}

Test(model_schema_strict, has_a_thousand_values_in_all_and_small_ones_in_a_large_enum)
{
	cr_expect(takes_enum(1000, 4, 4));
	cr_expect_not(takes_enum(1001, 4, 4));
	cr_expect(takes_enum(250, 61, 61), "more than 15000 bytes, of few values");
	cr_expect(takes_enum(251, 59, 250), "15000 bytes");
	cr_expect_not(takes_enum(251, 59, 251), "15001 bytes");
	cr_expect(takes_enum(250, 480, 479), "120000 bytes with the name of the property");
	cr_expect_not(takes_enum(250, 480, 480), "120001 bytes");
}
