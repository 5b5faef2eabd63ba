/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/server/tools.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "json/reader.h"
#include "scarce.h"

/* The table of listed names: each leads back to its tool, and nothing else does. */

static struct mcp_tools tools;

/* Make the list of @n tools out of the order of their names. Return 0 or -ENOMEM. */
static int make_list(size_t n)
{
	static char names[64][32];
	int r = mcp_tools_begin(&tools, n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "b__t%02zu", (i * 7) % n);
		buffer_printf(&tools.text, "{\"name\":\"%s\"}", names[i]);
		mcp_tools_add(&tools, &(struct mcp_listed_tool){.listed = names[i],
					      .toolbox_id = "b",
					      .name = names[i] + 3,
					      .index = 99});
	}
	return r ? r : mcp_tools_end(&tools);
}

static void tear_down(void)
{
	mcp_tools_deinit(&tools);
}

TestSuite(tools, .fini = tear_down);

static const struct mcp_listed_tool *find(const char *json)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 4, NULL), 0, "%s", json);
	return mcp_tools_find(&tools, &tape, 0);
}

Test(tools, are_found_by_their_names_and_keep_their_order)
{
	cr_assert_eq(make_list(64), 0);
	for (size_t i = 0; i < 64; i++) {
		const struct text_view *text = &tools.texts[i];
		char json[32];
		const struct mcp_listed_tool *tool;

		snprintf(json, sizeof(json), "\"b__t%02zu\"", (i * 7) % 64);
		tool = find(json);
		cr_assert_not_null(tool, "%s", json);
		cr_expect_eq(tool->index, i);
		cr_expect_eq(text->size, strlen("{\"name\":\"b__t00\"}"));
		cr_expect_eq(memcmp(text->text + strlen("{\"name\":"), json, strlen(json)), 0,
			"%.*s", (int)text->size, text->text);
	}
}

Test(tools, are_found_by_no_other_string)
{
	static const char *const others[] = {"\"\"", "\"b__t\"", "\"b__t000\"", "\"B__T00\"",
		"\"b__t00\\u0000\"", "\"b__t00\\u0000x\"", "\"\\u0000\"", "\" b__t00\"", "\"t00\""};

	cr_assert_eq(make_list(3), 0);
	cr_expect_not_null(find("\"b__t00\""));
	cr_expect_not_null(find("\"b\\u005f_t00\""), "an escape is another way to write it");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect_null(find(others[i]), "%s", others[i]);
}

Test(tools, of_an_empty_list_are_none)
{
	cr_assert_eq(make_list(0), 0);
	cr_expect_eq(tools.n_items, 0);
	cr_expect_null(find("\"b__t00\""));
	mcp_tools_deinit(&tools);
	mcp_tools_deinit(&tools);
	cr_expect_null(tools.items);
}

Test(tools, are_listed_whole_or_not_at_all_when_memory_is_short)
{
	for (size_t n = 0; scarce_once_after(n); n++) {
		cr_expect_eq(make_list(20), scarce_has_failed() ? -ENOMEM : 0);
		mcp_tools_deinit(&tools);
	}
}
