/* SPDX-License-Identifier: Apache-2.0 */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/document.h"

static struct document *make_document(const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), UINT32_MAX, NULL), 0, "%.40s", text);
	return document_from_tape(&tape, 0);
}

static void expect_document(const struct document *document, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	document_write(document, &out);
	cr_assert_str_eq(buffer_terminate(&out), expected);
}

Test(json_document, starts_as_an_empty_object)
{
	cleanup(document_cleanup) struct document *document = document_new();

	expect_document(document, "{}");
	document_free(NULL);
}

Test(json_document, keeps_what_cjson_would_lose)
{
	static const char *const texts[] = {
		"{\"a\":9007199254740993,\"A\":1e400,\"b\":-0.10}",
		"[\"x\\u0000y\",\"\\u0000\",0.30000000000000004,[],{},null,true,false]",
		"{\"\":\"\xc3\xa9\xf0\x9d\x84\x9e\"}",
		"18446744073709551615",
		"\"a \\\" \\\\ \\n\"",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		cleanup(document_cleanup) struct document *document = make_document(texts[i]);

		expect_document(document, texts[i]);
	}
}

Test(json_document, takes_a_part_of_a_tape)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(document_cleanup) struct document *document = NULL;
	static const char text[] = "{\"a\": {\"b\": [1, 2]}, \"c\": 3}";

	cr_assert_eq(json_tape_read(&tape, text, sizeof(text) - 1, 9, NULL), 0);
	document = document_from_tape(&tape, json_find(&tape, 0, "a"));
	expect_document(document, "{\"b\":[1,2]}");
}

Test(json_document, sets_a_member_and_makes_the_objects_on_the_way)
{
	cleanup(document_cleanup) struct document *document =
		make_document("{\"a\":{\"b\":1,\"c\":2},\"n\":null,\"s\":3}");

	cr_assert_eq(document_set(document, "a.b", "[1.50]", 6), 0);
	cr_assert_eq(document_set(document, "x.y.z", "\"q\"", 3), 0);
	cr_assert_eq(document_set(document, "n.m", "true", 4), 0);
	cr_assert_eq(document_set(document, "a.C", " {} ", 4), 0);
	cr_assert_eq(document_set(document, "s.m", "true", 4), -ENOTDIR);
	cr_assert_eq(document_set(document, "a.b.m", "true", 4), -ENOTDIR);
	expect_document(document,
		"{\"a\":{\"b\":[1.50],\"c\":2,\"C\":{}},\"n\":{\"m\":true},\"s\":3,"
		"\"x\":{\"y\":{\"z\":\"q\"}}}");
}

Test(json_document, refuses_to_set_what_is_not_json_and_stays_as_it_was)
{
	cleanup(document_cleanup) struct document *document = make_document("{\"a\":1}");

	cr_assert_eq(document_set(document, "b.c", "{", 1), JSON_E_SYNTAX);
	cr_assert_eq(document_set(document, "b.c", "{\"a\":1,\"a\":2}", 13), JSON_E_DUPLICATE_KEY);
	expect_document(document, "{\"a\":1}");
}

/* @depth arrays in one another. */
static struct document *make_nested(size_t depth)
{
	cleanup_free char *text = calloc(1, 2 * depth + 1);

	cr_assert_not_null(text);
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	return make_document(text);
}

Test(json_document, holds_nesting_to_its_bound)
{
	cleanup(document_cleanup) struct document *deep = make_nested(JSON_DOCUMENT_DEPTH_MAX);
	cleanup(document_cleanup) struct document *document = document_new();
	char path[2 * JSON_DOCUMENT_DEPTH_MAX + 2];

	cr_assert_not_null(deep);
	cr_assert_null(make_nested(JSON_DOCUMENT_DEPTH_MAX + 1));
	cr_assert_null(make_nested(100000));

	/* One key less than the bound: the root and as many objects, and no room for a value's. */
	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = i % 2 ? '.' : 'a';
	path[2 * JSON_DOCUMENT_DEPTH_MAX - 1] = '\0';
	cr_assert_eq(document_set(document, path, "[]", 2), JSON_E_DEPTH);
	cr_assert_eq(document_set(document, path, "1", 1), 0);
	path[2 * JSON_DOCUMENT_DEPTH_MAX - 1] = '.';
	path[2 * JSON_DOCUMENT_DEPTH_MAX + 1] = '\0';
	cr_assert_eq(document_set(document, path, "1", 1), JSON_E_DEPTH);
}

/* cJSON's memory: so many allocations succeed, and all of them have to come back. */
static size_t allocations_left;
static long allocations_open;

static void *limited_malloc(size_t size)
{
	if (allocations_left == 0)
		return NULL;
	allocations_left--;
	allocations_open++;
	return malloc(size);
}

static void counted_free(void *block)
{
	allocations_open -= block != NULL;
	free(block);
}

/* Build, set and write with so much memory; 0, or how it failed. */
static int run_with(size_t allocations)
{
	static const char text[] = "{\"a\":[1,\"s\",\"\\u0000\",{}],\"b\":{\"c\":null}}";
	cleanup(document_cleanup) struct document *document = NULL;
	cleanup(buffer_deinit) struct buffer out = {0};
	int r;

	allocations_left = allocations;
	document = make_document(text);
	if (!document)
		return -ENOMEM;
	r = document_set(document, "b.x.y", "[2]", 3);
	if (r != 0)
		return r;
	document_write(document, &out);
	return buffer_status(&out);
}

Test(json_document, says_so_wherever_memory_ends_and_gives_all_of_it_back)
{
	size_t allocations = 0;
	int r;

	cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = limited_malloc, .free_fn = counted_free});
	do {
		r = run_with(allocations++);
		cr_assert(r == 0 || r == -ENOMEM, "%d", r);
		cr_assert_eq(allocations_open, 0, "%ld left of %zu", allocations_open, allocations);
	} while (r != 0);
	cr_assert_gt(allocations, 20);
	cJSON_InitHooks(NULL);
}
