/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "schema/compile/keyword.h"
#include "util/array.h"

Test(schema_compile, names_the_place_of_a_mistake)
{
	expect_refusal("{\"properties\":{\"a\":{\"type\":\"strin\"}}}",
		"/properties/a/type: 'type' must be array, boolean, integer");
	expect_refusal(
		"{\"required\":\"a\"}", "/required: 'required' must be an array, not string");
	expect_refusal("{\"required\":[\"a\",3]}",
		"/required/1: 'required' must list strings, not number");
	expect_refusal("{\"dependentRequired\":{\"a\":[\"b\",null]}}",
		"/dependentRequired/a/1: must be the name of a property, not null");
	expect_refusal(
		"{\"uniqueItems\":1}", "/uniqueItems: 'uniqueItems' must be a boolean, not number");
	expect_refusal("{\"$ref\":3}", "/$ref: '$ref' must be a string, not number");
	expect_refusal("{\"$id\":\"http://x/a#b\"}", "/$id: '$id' must have no fragment");
	expect_refusal("{\"$id\":3}", "/$id: '$id' must be a string, not number");
	expect_refusal("{\"$schema\":7}", "/$schema: '$schema' must be a string, not number");
	expect_refusal("{\"minLength\":-1}", "/minLength: 'minLength' must be a whole number");
	expect_refusal("{\"multipleOf\":0}", "/multipleOf: 'multipleOf' must be greater than 0");
	expect_refusal("{\"multipleOf\":1.000000000000000001}",
		"/multipleOf: 'multipleOf' must have at most 18 digits");
	expect_refusal("{\"items\":3}", "/items: a schema must be an object or a boolean");
	expect_refusal("[]", ": a schema must be an object or a boolean, not array");
}

Test(schema_compile, knows_a_keyword_with_escapes)
{
	static const char schema[] = "{\"\\u0074ype\":\"integer\",\"\\u0074yp\":1}";
	static const char old[] =
		"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"\\u0024defs\":1}";

	cr_expect(judge(schema, "1"));
	cr_expect_not(judge(schema, "null"));
	cr_expect(judge(old, "1"), "draft-07 has no $defs");
}

Test(schema_compile, holds_a_schema_against_its_metaschema)
{
	expect_refusal("{\"title\":3}", "/title: must be a string, not the number 3");
	expect_refusal("{\"$defs\":{\"a\":{\"readOnly\":\"yes\"}}}", "/$defs/a/readOnly: must be");
	expect_refusal(
		"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":[]}", "/items");
}

Test(schema_compile, refuses_a_dialect_by_name)
{
	expect_refusal("{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}",
		"/$schema: the dialect 'http://json-schema.org/draft-04/schema' is unknown");
}

/* Check that a schema of the dialect http://x/m, whose metaschema is @metaschema, is refused. */
static void expect_dialect_refusal(const char *metaschema, const char *expected)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct schema_resource resource = {.uri = "http://x/m", .tape = &tape};
	struct schema_options options = {.resources = &resource, .n_resources = 1};
	cleanup_free char *refusal = NULL;

	cr_assert_eq(json_tape_read(&tape, metaschema, strlen(metaschema), 9, NULL), 0);
	refusal = judge_refusal(&options, "{\"$schema\":\"http://x/m\"}");
	cr_expect(refusal && strstr(refusal, expected), "%s", refusal);
}

Test(schema_compile, refuses_a_dialect_whose_metaschema_leads_nowhere)
{
	expect_dialect_refusal("{\"$vocabulary\":{\"http://x/v\":false,\"http://x/w\":true}}",
		"/$schema: its metaschema 'http://x/m' requires the vocabulary 'http://x/w', "
		"which is unknown");
	expect_dialect_refusal(
		"{\"$schema\":\"http://x/m\"}", "/$schema: the dialect 'http://x/m' is unknown");
	expect_dialect_refusal("{\"$schema\":\"http://x/absent#\"}",
		"/$schema: the dialect 'http://x/absent' is unknown");
	expect_dialect_refusal("true", "/$schema: the dialect 'http://x/m' is unknown");
}

Test(schema_compile, fetches_nothing)
{
	expect_refusal("{\"$ref\":\"http://example.org/a.json\"}",
		"/$ref: 'http://example.org/a.json' refers to 'http://example.org/a.json', which "
		"is not registered; nothing is ever fetched");
	expect_refusal("{\"$ref\":\"#/$defs/a\"}", "/$ref: '#/$defs/a' refers to nothing");
	expect_refusal("{\"$ref\":\"#/type/0\",\"type\":\"null\"}", "'#/type/0' refers to nothing");
	expect_refusal("{\"$ref\":\"#here\"}", "/$ref: '#here' refers to nothing");
	expect_refusal("{\"$ref\":\"#/maximum\",\"maximum\":3}", "must refer to a schema");
}

Test(schema_compile, resolves_references_from_what_is_registered)
{
	static const char text[] = "{\"$id\":\"http://x/b.json\",\"$defs\":{\"n\":{\"$anchor\":"
				   "\"n\",\"type\":\"null\"}}}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct schema_resource resource = {.uri = "http://x/b.json", .tape = &tape};
	struct schema_options options = {.resources = &resource, .n_resources = 1};

	cr_assert_eq(json_tape_read(&tape, text, sizeof(text) - 1, 9, NULL), 0);
	cr_assert(judge_with(
		&options, "{\"$id\":\"http://x/a.json\",\"$ref\":\"b.json#n\"}", "null"));
	cr_assert_not(judge_with(&options,
		"{\"$id\":\"http://x/a.json\",\"$ref\":\"./c/../b.json#/$defs/n\"}", "1"));
}

Test(schema_compile, counts_the_elements_of_an_array_in_a_reference)
{
	static const char *const absent[] = {"3", "00", "01", "x", "1x", "/", "-1", "1000000000"};

	for (unsigned int i = 0; i < 3; i++) {
		cleanup(buffer_deinit) struct buffer schema = {0};

		buffer_printf(&schema,
			"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/all/anyOf/"
			"%u\"}},\"$defs\":{\"all\":{"
			"\"anyOf\":[{\"const\":0},{\"const\":1},{\"const\":2}]}}}",
			i);
		cr_expect(judge(buffer_terminate(&schema), i == 0   ? "{\"a\":0}"
							   : i == 1 ? "{\"a\":1}"
								    : "{\"a\":2}"));
		cr_expect_not(judge(schema.data, i == 0 ? "{\"a\":1}" : "{\"a\":0}"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++) {
		cleanup(buffer_deinit) struct buffer schema = {0};

		buffer_printf(
			&schema, "{\"$ref\":\"#/anyOf/%s\",\"anyOf\":[true,true,true]}", absent[i]);
		expect_refusal(buffer_terminate(&schema), "refers to nothing");
	}
}

Test(schema_compile, finds_no_member_that_is_absent_among_many)
{
	cleanup(buffer_deinit) struct buffer schema = {0};

	buffer_append_string(&schema, "{\"$ref\":\"#/$defs/m\",\"$defs\":{\"a\":true");
	for (int i = 0; i < 100; i++)
		buffer_printf(&schema, ",\"m%d\":true", i);
	buffer_append_string(&schema, "}}");
	expect_refusal(buffer_terminate(&schema), "/$ref: '#/$defs/m' refers to nothing");
}

/* Whether the reference @to from http://x/a/b/c leads to http://x@path, which takes integers
 * alone. */
static bool leads(const char *to, const char *path)
{
	cleanup(buffer_deinit) struct buffer schema = {0};

	buffer_printf(&schema,
		"{\"$id\":\"http://x/a/b/c\",\"$ref\":\"%s\",\"$defs\":{\"d\":{"
		"\"$id\":\"http://x%s\",\"type\":\"integer\"}}}",
		to, path);
	return judge(buffer_terminate(&schema), "1") && !judge(schema.data, "null");
}

Test(schema_compile, resolves_the_segments_of_a_relative_reference)
{
	cr_assert(leads("d", "/a/b/d"));
	cr_assert(leads("dd", "/a/b/dd"));
	cr_assert(leads("./d", "/a/b/d"));
	cr_assert(leads("../d", "/a/d"));
	cr_assert(leads("../../d", "/d"));
	cr_assert(leads("../../../d", "/d"));
	cr_assert(leads("e/../d", "/a/b/d"));
	cr_assert(leads("ee/.d", "/a/b/ee/.d"));
	cr_assert(leads("..", "/a/"));
	cr_assert(leads(".", "/a/b/"));
	cr_assert(leads("/e/./d", "/e/d"));
	cr_assert(leads("//x/d", "/d"));
	cr_assert(leads("...", "/a/b/..."));
}

Test(schema_compile, resolves_a_reference_from_a_host_without_a_path)
{
	static const char schema[] = "{\"$id\":\"http://x\",\"$ref\":\"d\",\"$defs\":{\"d\":{"
				     "\"$id\":\"http://x/d\",\"type\":\"integer\"}}}";

	cr_expect(judge(schema, "1"));
	cr_expect_not(judge(schema, "null"));
}

Test(schema_compile, has_the_metaschemas_built_in)
{
	static const char schema[] = "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}";
	static const char old[] = "{\"$ref\":\"http://json-schema.org/draft-07/schema#\"}";

	cr_assert(judge(schema, "{\"properties\":{\"a\":{\"type\":\"null\"}}}"));
	cr_assert_not(judge(schema, "{\"properties\":{\"a\":{\"type\":\"nil\"}}}"));
	cr_assert_not(judge(old, "{\"items\":[{\"maximum\":\"1\"}]}"));
}

Test(schema_compile, refuses_what_is_no_regular_expression_of_ecma)
{
	expect_refusal("{\"pattern\":\"(a\"}", "/pattern: no regular expression");
	expect_refusal("{\"pattern\":\"(?i)a\"}", "/pattern: not a regular expression of ECMA-262");
	expect_refusal("{\"pattern\":\"a++\"}", "/pattern: not a regular expression of ECMA-262");
	expect_refusal("{\"pattern\":\"\\\\Aa\\\\Z\"}", "/pattern: not a regular expression of");
	expect_refusal("{\"patternProperties\":{\"[\":true}}", "/patternProperties/[: ");
}

Test(schema_compile, leaves_patterns_to_another_checker_where_that_is_wanted)
{
	static const struct schema_options ignoring = {.ignores_patterns = true};

	cr_expect(judge_with(&ignoring, "{\"pattern\":\"(?i)^a$\"}", "\"b\""));
	cr_expect(judge_with(&ignoring, "{\"pattern\":\"^a$\"}", "\"b\""));
	cr_expect(judge_with(&ignoring, "{\"patternProperties\":{\"^a\":false}}", "{\"b\":1}"));
	cr_expect_not(judge_with(&ignoring, "{\"patternProperties\":{\"^a\":false}}", "{\"a\":1}"));
	cr_expect_not(
		judge_with(&ignoring, "{\"patternProperties\":{\"(?i)a\":false}}", "{\"b\":1}"));
}

Test(schema_compile, takes_a_pattern_that_is_none_as_an_annotation_where_that_is_wanted)
{
	static const struct schema_options ignoring = {.ignores_mistakes = true};
	cleanup_free char *of_names =
		judge_refusal(&ignoring, "{\"patternProperties\":{\"[\":true}}");
	cleanup_free char *no_text = judge_refusal(&ignoring, "{\"pattern\":7}");

	cr_assert(judge_with(&ignoring, "{\"pattern\":\"(?P<x>a)\",\"maxLength\":1}", "\"b\""));
	cr_assert_not(
		judge_with(&ignoring, "{\"pattern\":\"(?P<x>a)\",\"maxLength\":1}", "\"bb\""));
	cr_assert_not(judge_with(&ignoring, "{\"pattern\":\"a\"}", "\"b\""));
	cr_assert_not_null(of_names);
	cr_assert_not_null(no_text);
}

Test(schema_compile, refuses_a_default_that_its_schema_does_not_take)
{
	static const struct schema_options checking = {.check_defaults = true};
	static const char schema[] =
		"{\"properties\":{\"a\":{\"type\":\"integer\",\"default\":\"x\"}}}";
	cleanup_free char *refusal = judge_refusal(&checking, schema);
	cleanup_free char *unchecked = judge_refusal(NULL, schema);

	cr_assert_str_eq(refusal, "/properties/a/default: the default does not satisfy its schema: "
				  "must be an integer, not the string \"x\"");
	cr_assert_null(unchecked);
}

Test(schema_compile, knows_the_byte_of_a_mistake)
{
	static const char text[] = "[0, {\"a\": 1, \"type\": \"x\"}]";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct schema *schema = NULL;

	cr_assert_eq(json_tape_read(&tape, text, sizeof(text) - 1, 9, NULL), 0);
	cr_assert_eq(schema_compile(&tape, 2, NULL, &schema, &error), SCHEMA_E_REFUSED);
	cr_assert_str_eq(error.pointer.data, "/type");
	cr_assert_eq(text[error.offset], 'x');
}

Test(schema_compile, switches_vocabularies_off_as_its_metaschema_says)
{
	static const char text[] =
		"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
		"\"$id\":\"http://x/meta\",\"$vocabulary\":{"
		"\"https://json-schema.org/draft/2020-12/vocab/core\":true,"
		"\"https://json-schema.org/draft/2020-12/vocab/applicator\":true}}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct schema_resource resource = {.uri = "http://x/meta", .tape = &tape};
	struct schema_options options = {.resources = &resource, .n_resources = 1};

	cr_assert_eq(json_tape_read(&tape, text, sizeof(text) - 1, 9, NULL), 0);
	cr_assert(judge_with(&options, "{\"$schema\":\"http://x/meta\",\"maximum\":1}", "2"));
	cr_assert_not(judge_with(&options,
		"{\"$schema\":\"http://x/meta\",\"properties\":{\"a\":false}}", "{\"a\":1}"));
}

Test(schema_compile, takes_a_metaschema_without_a_dialect_as_one_of_its_own_dialect)
{
	static const char text[] = "{\"$id\":\"http://x/meta\"}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct schema_resource resource = {.uri = "http://x/meta", .tape = &tape};
	struct schema_options options = {.resources = &resource, .n_resources = 1};

	cr_assert_eq(json_tape_read(&tape, text, sizeof(text) - 1, 9, NULL), 0);
	cr_expect(judge_with(&options,
		"{\"$schema\":\"http://x/meta\",\"prefixItems\":[true],\"items\":false}", "[1]"));
	cr_expect_not(judge_with(
		&options, "{\"$schema\":\"http://x/meta\",\"prefixItems\":[false]}", "[1]"));
}

Test(schema_compile, refuses_two_anchors_of_one_name)
{
	expect_refusal("{\"$defs\":{\"a\":{\"$anchor\":\"n\"},\"b\":{\"$anchor\":\"n\"}}}",
		"/$defs/b: the anchor 'n' is given twice");
}

/* Every keyword is found by its name, and by no other name of its length. */
Test(schema_compile, knows_each_keyword_by_its_name)
{
	static const struct dialect dialects[] = {
		{DRAFT_07, VOCABULARY_ALL}, {DRAFT_2020_12, VOCABULARY_ALL}};

	for (int i = 0; i < KEYWORD_COUNT; i++) {
		const struct keyword_info *info = keyword_info((enum keyword)i);
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		char text[64];

		snprintf(text, sizeof(text), "[\"%s\",\"%.*sx\"]", info->name,
			(int)strlen(info->name) - 1, info->name);
		cr_assert_eq(json_tape_read(&tape, text, strlen(text), 2, NULL), 0);
		for (size_t d = 0; d < 2; d++) {
			cr_expect_eq(keyword_find(&tape, 1, &dialects[d]),
				info->draft & dialects[d].draft ? i : KEYWORD_NONE, "%s", text);
			cr_expect_eq(keyword_find(&tape, 2, &dialects[d]), KEYWORD_NONE);
		}
	}
}
