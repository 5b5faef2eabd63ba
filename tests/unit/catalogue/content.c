/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/content.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "schema/schema.h"

/* Return whether @result satisfies the schema of results around @structured. */
static bool satisfies(const char *structured, const char *result)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(json_tape_cleanup) struct json_tape value = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct schema_context *context = schema_context_new();
	struct schema *schema = NULL;
	int r;

	content_schema_write(structured, &text);
	cr_assert(buffer_terminate(&text));
	cr_assert_eq(json_tape_read(&tape, text.data, text.size, 64, NULL), 0, "%s", text.data);
	r = schema_compile(&tape, 0, NULL, &schema, &error);
	cr_assert_eq(r, 0, "%s: %s", text.data, error.message.data);
	cr_assert_eq(json_tape_read(&value, result, strlen(result), 64, NULL), 0);
	r = schema_validate(schema, context, &value, 0);
	schema_free(schema);
	schema_context_free(context);
	return r == 0;
}

Test(content, needs_the_value_that_the_author_describes)
{
	static const char author[] =
		"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"required\":[\"b\"]}}}";

	cr_expect(satisfies(NULL, "{\"content\":[]}"));
	cr_expect(satisfies(NULL, "{\"content\":[],\"structured\":{}}"));
	cr_expect_not(satisfies(NULL, "{\"structured\":{}}"));
	cr_expect(satisfies(NULL, "{\"content\":[],\"structured\":[7]}"));
	cr_expect(satisfies(author, "{\"content\":[],\"structured\":{\"b\":1}}"));
	cr_expect_not(satisfies(author, "{\"content\":[],\"structured\":{}}"));
	cr_expect_not(satisfies(author, "{\"content\":[]}"));
	cr_expect(satisfies("true", "{\"content\":[],\"structured\":{}}"));
	cr_expect(satisfies("{\"type\":\"array\"}", "{\"content\":[],\"structured\":[7]}"));
	cr_expect_not(satisfies("{\"type\":\"array\"}", "{\"content\":[],\"structured\":{}}"));
	cr_expect_not(satisfies("false", "{\"content\":[],\"structured\":{}}"));
}

static void expect_read(const char *author)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer again = {0};

	content_schema_write(author, &schema);
	cr_assert(buffer_terminate(&schema));
	cr_expect_eq(content_schema_read(schema.data, &again), author != NULL);
	cr_expect_str_eq(buffer_terminate(&again), author ? author : "");
}

Test(content, has_the_author_s_schema_as_it_was)
{
	expect_read(NULL);
	expect_read("{}");
	expect_read("true");
	expect_read("{\"type\":\"object\",\"x\":1.10}");
	expect_read("{\"$id\":\"https://a.example/b\",\"type\":\"object\"}");
}

Test(content, is_a_schema_within_another_without_a_name_of_its_own)
{
	static const char *const names[] = {"$schema", "$id", "title", "description"};
	static const char *const authors[] = {NULL, "{}"};

	for (size_t i = 0; i < 2; i++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		uint32_t required;

		content_schema_write(authors[i], &text);
		cr_assert_eq(json_tape_read(&tape, text.data, text.size, 64, NULL), 0);
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
			cr_expect_eq(json_find(&tape, 0, names[k]), JSON_NONE, "%s", names[k]);
		cr_expect_neq(json_find(&tape, 0, "type"), JSON_NONE);
		required = json_find(&tape, 0, "required");
		cr_expect_eq(json_count(&tape, required), authors[i] ? 2 : 1);
		cr_expect_neq(
			json_find(&tape, json_find(&tape, 0, "properties"), "content"), JSON_NONE);
	}
}
