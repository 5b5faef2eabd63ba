/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/hidden.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "util/cleanup.h"
#include "util/utf8.h"

static void expect_stripped(const char *text, size_t size, const char *wanted, size_t count)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_expect_eq(mcp_strip_hidden(&out, text, size), count, "%s", text);
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_str_eq(out.data, wanted, "%s: %s", text, out.data);
}

static bool is_removed(unsigned int code)
{
	static const unsigned int ranges[][2] = {{0x0, 0x8}, {0xB, 0x1F}, {0x7F, 0x9F},
		{0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064}, {0x2066, 0x206F},
		{0xFEFF, 0xFEFF}, {0xE0000, 0xE007F}};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (code >= ranges[i][0] && code <= ranges[i][1])
			return true;
	return false;
}

Test(mcp_hidden, are_exactly_these_characters)
{
	char text[8];
	size_t length;

	for (unsigned int code = 0; code <= 0x10FFFF; code++) {
		cleanup(buffer_deinit) struct buffer out = {0};

		if (code >= 0xD800 && code <= 0xDFFF)
			continue;
		text[0] = ' ';
		length = 1 + utf8_encode(code, text + 1);
		text[length] = ' ';
		cr_assert_eq(
			mcp_strip_hidden(&out, text, length + 1), is_removed(code), "U+%04X", code);
		cr_assert_eq(out.size, is_removed(code) ? 2 : length + 1, "U+%04X", code);
	}
}

#define STRIPPED(text, wanted, count) expect_stripped(text, strlen(text), wanted, count)

Test(mcp_hidden, joiners_stay_between_letters_and_emoji)
{
	STRIPPED("می‌خواهم", "می‌خواهم", 0);
	STRIPPED("क्‍ष", "क्‍ष", 0);
	STRIPPED("👩‍👩‍👧 ❤️‍🔥 🙂‍↔️",
		"👩‍👩‍👧 ❤️‍🔥 🙂‍↔️", 0);
	STRIPPED("a\u200d b \u200cc\u200d", "a b c", 3);
	STRIPPED("\u200da", "a", 1);
	STRIPPED("a\u200d\u200db", "a\u200db", 1);
	STRIPPED("1\u200d2 .\u200c. a\u200d\ue000", "12 .. a\ue000", 3);
	STRIPPED("a\u200d\u200b\u200db", "a\u200db", 2);
	expect_stripped("", 0, "", 0);
}

static void expect_schema(const char *text, const char *wanted, size_t count)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 64, NULL), 0, "%s", text);
	cr_expect_eq(mcp_strip_schema(&out, &tape, 0, JSON_NONE), count, "%s", text);
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_str_eq(out.data, wanted, "%s: %s", text, out.data);
}

Test(mcp_hidden, are_removed_from_descriptions_and_titles_of_schemas)
{
	expect_schema(
		"{\"title\": \"\\u200ba\\nb\", \"anyOf\": [{\"description\": \"\\ufeff\"}, true],"
		"\"x\": 1.0}",
		"{\"title\":\"a\\nb\",\"anyOf\":[{\"description\":\"\"},true],\"x\":1.0}", 2);
	expect_schema(
		"{\"properties\":{\"title\":{\"title\":\"\\u200b\"},"
		"\"default\":{\"description\":\"\\u200b\"}},"
		"\"$defs\":{\"properties\":{\"properties\":{\"enum\":{\"title\":\"\\u200b\"}}}}}",
		"{\"properties\":{\"title\":{\"title\":\"\"},\"default\":{\"description\":\"\"}},"
		"\"$defs\":{\"properties\":{\"properties\":{\"enum\":{\"title\":\"\"}}}}}",
		3);
}

Test(mcp_hidden, stay_in_everything_else_of_a_schema)
{
	static const char *const text =
		"{\"default\":{\"title\":\"\\u200b\"},\"const\":{\"description\":\"\\u200b\"},"
		"\"enum\":[{\"title\":\"\\u200b\"}],\"examples\":[{\"title\":\"\\u200b\"}],"
		"\"pattern\":\"\\u200b\",\"properties\":{\"\\u200b\":true},"
		"\"description\":\"\\u00e9\\/\",\"title\":[\"\\u200b\"]}";

	expect_schema(text, text, 0);
}
