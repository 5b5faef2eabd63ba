/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/tools/hidden.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "util/text/utf8.h"
#include "util/text/visible.h"

static void expect_stripped(const char *text, size_t size, const char *wanted, size_t count)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_expect_eq(mcp_strip_hidden(&out, text, size), count, "%s", text);
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_str_eq(out.data, wanted, "%s: %s", text, out.data);
}

Test(mcp_hidden, are_those_of_questions_but_tabs_and_newlines)
{
	for (unsigned int code = 0; code <= 0x10FFFF; code++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		uint32_t hidden;
		char text[8];
		size_t length;
		bool is_removed;

		if (code >= 0xD800 && code <= 0xDFFF)
			continue;
		text[0] = ' ';
		length = 1 + utf8_encode(code, text + 1);
		text[length] = ' ';
		visible_take(text + 1, length - 1, &hidden);
		is_removed = hidden == code && code != '\t' && code != '\n';
		cr_assert_eq(mcp_strip_hidden(&out, text, length + 1), is_removed, "U+%04X", code);
		cr_assert_eq(out.size, is_removed ? 2 : length + 1, "U+%04X", code);
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
	STRIPPED("a\u200d\u200db sa\u200dfe", "ab safe", 3);
	STRIPPED("soft\u00adhyphen \u3164\u115f x\ufe00\U000e0100\ufe0f", "softhyphen  x", 6);
	STRIPPED("1\u200d2 .\u200c. a\u200d\ue000", "12 .. a\ue000", 3);
	STRIPPED("\u0645\u200d\u200b\u200d\u0646", "\u0645\u0646", 3);
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

static bool hides_values(const char *text)
{
	bool has_hidden = false;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 64, NULL), 0, "%s", text);
	cr_assert_eq(mcp_find_hidden(&tape, 0, &has_hidden), 0);
	return has_hidden;
}

Test(mcp_hidden, are_found_wherever_they_are_not_removed)
{
	static const char *const texts[] = {
		"{\"properties\":{\"a\\udb40\\udc41\":true}}",
		"{\"enum\":[\"a\",\"b\\u200b\"]}",
		"{\"default\":{\"description\":\"\\u2060\"}}",
		"{\"anyOf\":[{\"examples\":[\"\\ufe01\"]}]}",
		"{\"pattern\":\"[\\u200b]\"}",
		"{\"required\":[\"\\u3164\"]}",
		"{\"x-note\":\"a\\u00adb\"}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		cr_expect(hides_values(texts[i]), "%s", texts[i]);
	cr_expect_not(hides_values(
		"{\"description\":\"\\u200b\",\"$comment\":\"\\u200b\","
		"\"properties\":{\"a\":{\"title\":\"\\u200b\",\"enum\":[\"⚠\\ufe0f\"]}}}"));
}
