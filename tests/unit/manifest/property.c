/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/voice/property.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "quotes.h"
#include "util/array.h"
#include "util/cleanup.h"

/* The properties in a schema's own words. JSON is written with ' in place of ". */

/* A schema, read; the tape refers to the text. */
struct schema {
	char *json;
	struct json_tape tape;
};

static void read_schema(const char *text, struct schema *schema)
{
	*schema = (struct schema){.json = quoted(text)};
	cr_assert_eq(json_tape_read(&schema->tape, schema->json, strlen(schema->json), 64, NULL), 0,
		"%s", text);
}

static void schema_deinit(struct schema *schema)
{
	json_tape_deinit(&schema->tape);
	free(schema->json);
}

static bool is_declared(const char *text, const char *name)
{
	cleanup(schema_deinit) struct schema schema = {0};

	read_schema(text, &schema);
	return property_is_declared(&schema.tape, name, strlen(name));
}

#define X "{'properties':{'x':{}}}"

Test(property, is_declared_where_a_schema_its_alternatives_or_its_references_have_it)
{
	static const struct {
		const char *schema;
		bool is_declared;
	} rows[] = {
		{X, true},
		{"{'properties':{'xy':{},'y':{'properties':{'x':{}}}}}", false},
		{"{'properties':['x']}", false},
		{"{'required':['x']}", false},
		{"{}", false},
		{"true", false},
		{"{'allOf':[{}," X "]}", true},
		{"{'anyOf':[true," X "]}", true},
		{"{'oneOf':[" X "]}", true},
		{"{'allOf':[{'oneOf':[" X "]}]}", true},
		{"{'allOf':" X "}", false},
		{"{'not':" X "}", false},
		{"{'if':" X "}", false},
		{"{'then':" X "}", true},
		{"{'then':{},'else':" X "}", true},
		{"{'$ref':'#/$defs/a','$defs':{'a':" X "}}", true},
		{"{'$ref':'#/$defs/b','$defs':{'a':" X "}}", false},
		{"{'$ref':'/$defs/a','$defs':{'a':" X "}}", false},
		{"{'$ref':7,'$defs':{'a':" X "}}", false},
		{"{'$ref':'#'}", false},
		{"{'allOf':[{'$ref':'#'}," X "]}", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_expect_eq(is_declared(rows[i].schema, "x"), rows[i].is_declared, "%s",
			rows[i].schema);
}

Test(property, is_looked_for_through_eight_alternatives)
{
	char seven[] = "{'then':{'then':{'then':{'then':{'then':{'then':{'then':";
	char text[256];

	for (int more = 1; more <= 2; more++) {
		snprintf(text, sizeof(text), "%s%s" X "}}}}}}}}%s", seven,
			more == 1 ? "{'then':" : "{'then':{'then':", more == 1 ? "" : "}");
		cr_expect_eq(is_declared(text, "x"), more == 1, "%s", text);
	}
}

Test(property, names_of_a_schema_are_written_in_their_order)
{
	static const char *const rows[][2] = {
		{"{'properties':{'b':{},'a\\u00e9':{},'c':{}}}", "b, a\xC3\xA9, c"},
		{"{'properties':{}}", ""}, {"{'allOf':[" X "]}", ""}, {"{'properties':7}", ""}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(schema_deinit) struct schema schema = {0};
		cleanup(buffer_deinit) struct buffer out = {0};

		read_schema(rows[i][0], &schema);
		property_write_names(&schema.tape, &out);
		cr_expect_str_eq(buffer_terminate(&out), rows[i][1], "%s", out.data);
	}
}
