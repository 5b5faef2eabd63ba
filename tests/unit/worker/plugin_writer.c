/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/plugin/writer.h"

#include <criterion/criterion.h>
#include <string.h>

/* The text of a result, and the first mistake in the calls of a plugin. */

static struct plugin_writer writer;

static void tear_down(void)
{
	buffer_deinit(&writer.out);
}

TestSuite(plugin_writer, .fini = tear_down);

/* Put the number 1. */
static void put(const char *key)
{
	struct buffer *out = plugin_writer_begin(&writer, key);

	if (out)
		buffer_append_char(out, '1');
}

/* Finish the text, and expect it, and start over. */
static void expect_text(const char *text)
{
	plugin_writer_finish(&writer);
	cr_expect_null(writer.mistake, "%s", writer.mistake);
	cr_expect_str_eq(buffer_terminate(&writer.out), text, "%s", writer.out.data);
	plugin_writer_reset(&writer);
}

/* Expect the mistake, which nothing after it takes back, and start over. */
static void expect_mistake(const char *mistake)
{
	cr_expect_not(plugin_writer_open(&writer, "x", false), "%s", mistake);
	cr_expect_not(plugin_writer_close(&writer), "%s", mistake);
	cr_expect_null(plugin_writer_begin(&writer, "y"), "%s", mistake);
	plugin_writer_finish(&writer);
	cr_expect_str_eq(writer.mistake, mistake, "%s", writer.mistake);
	plugin_writer_reset(&writer);
	cr_expect_null(writer.mistake);
}

Test(plugin_writer, writes_an_object_unless_something_else_is_opened)
{
	expect_text("{}");
	put("a");
	put("b\"");
	expect_text("{\"a\":1,\"b\\\"\":1}");
	cr_expect(plugin_writer_open(&writer, NULL, true));
	put(NULL);
	put(NULL);
	expect_text("[1,1]");
	cr_expect(plugin_writer_open(&writer, NULL, false));
	expect_text("{}");
	cr_expect(plugin_writer_open(&writer, "list", true));
	cr_expect(plugin_writer_open(&writer, NULL, false));
	put("a");
	cr_expect(plugin_writer_close(&writer));
	put(NULL);
	cr_expect(plugin_writer_close(&writer));
	put("b");
	expect_text("{\"list\":[{\"a\":1},1],\"b\":1}");
}

Test(plugin_writer, records_a_mistake_and_ignores_the_rest)
{
	put(NULL);
	expect_mistake("a value without a key in an object");
	plugin_writer_open(&writer, NULL, true);
	put("a");
	expect_mistake("a value with a key in an array");
	cr_expect_not(plugin_writer_close(&writer));
	expect_mistake("a close without anything open");
	plugin_writer_open(&writer, NULL, true);
	cr_expect(plugin_writer_close(&writer));
	put(NULL);
	expect_mistake("a value after the end of the result");
	plugin_writer_open(&writer, NULL, false);
	cr_expect(plugin_writer_close(&writer));
	cr_expect_not(plugin_writer_open(&writer, NULL, true));
	expect_mistake("a value after the end of the result");
	plugin_writer_open(&writer, NULL, true);
	cr_expect(plugin_writer_close(&writer));
	cr_expect_not(plugin_writer_close(&writer));
	expect_mistake("a close without anything open");
	plugin_writer_fail(&writer, "first");
	plugin_writer_fail(&writer, "second");
	expect_mistake("first");
}

Test(plugin_writer, has_128_levels_and_no_more)
{
	for (int i = 0; i < 128; i++)
		cr_assert(plugin_writer_open(&writer, NULL, true), "%d", i);
	put(NULL);
	plugin_writer_finish(&writer);
	cr_expect_null(writer.mistake);
	cr_expect_eq(writer.out.size, 257);
	plugin_writer_reset(&writer);
	for (int i = 0; i < 128; i++)
		cr_assert(plugin_writer_open(&writer, NULL, true), "%d", i);
	cr_expect_not(plugin_writer_open(&writer, NULL, true));
	expect_mistake("more than 128 levels in the result");
}
