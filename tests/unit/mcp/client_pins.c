/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "mcp/client/tools/pins.h"

static struct mcp_pins pins;
static struct buffer file;
static struct buffer written;

/* Begin with the text that was written last. */
static int begin(const char *server)
{
	mcp_pins_deinit(&pins);
	buffer_reset(&file);
	buffer_append_buffer(&file, &written);
	return mcp_pins_read(&pins, file.data, file.size, server);
}

/* Read a list of @tool alone. */
static void begin_list(const char *tool, struct buffer *list, struct json_tape *tape)
{
	buffer_printf(list, "[%s]", tool);
	cr_assert_eq(json_tape_read(tape, list->data, list->size, JSON_DEPTH_DEFAULT, NULL), 0);
}

static enum mcp_pin_verdict see(const char *name, const char *tool)
{
	struct buffer list = {0};
	struct json_tape tape = {0};
	enum mcp_pin_verdict verdict;

	begin_list(tool, &list, &tape);
	cr_assert_eq(mcp_pins_see(&pins, &tape, json_first(&tape, 0), name, &verdict), 0);
	json_tape_deinit(&tape);
	buffer_deinit(&list);
	return verdict;
}

static void finish(const char *server)
{
	buffer_reset(&written);
	cr_assert_eq(mcp_pins_write(&pins, server, &written), 0);
}

static int trust(void)
{
	int n;

	cr_assert_eq(begin(NULL), 0);
	buffer_reset(&written);
	n = mcp_pins_trust(&pins, &written);
	return n;
}

static int read_text(const char *text)
{
	mcp_pins_deinit(&pins);
	return mcp_pins_read(&pins, text, strlen(text), "s");
}

Test(mcp_pins, a_tool_is_pinned_when_it_is_seen_first)
{
	cr_assert_eq(begin("s"), 0);
	cr_expect_eq(see("f", "{\"name\":\"f\",\"description\":\"a\"}"), MCP_PIN_NEW);
	cr_expect(pins.is_new);
	finish("s");
	cr_assert_eq(begin("s"), 0);
	/* However it is written. */
	cr_expect_eq(see("f", "{ \"description\" : \"\\u0061\", \"name\":\"f\", \"_meta\":{} }"),
		MCP_PIN_SAME);
	cr_expect_not(pins.is_new);
}

Test(mcp_pins, a_change_stays_one_until_it_is_trusted)
{
	cr_assert_eq(begin("s"), 0);
	see("f", "{\"name\":\"f\"}");
	see("g", "{\"name\":\"g\"}");
	finish("s");
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(begin("s"), 0);
		cr_expect_eq(see("f", "{\"name\":\"f\",\"outputSchema\":{}}"), MCP_PIN_CHANGED);
		cr_expect_eq(pins.is_new, i == 0, "a file is not written twice for one change");
		finish("s");
	}
	cr_expect_eq(trust(), 1);
	cr_expect_eq(trust(), 0);
	cr_assert_eq(begin("s"), 0);
	cr_expect_eq(see("f", "{\"name\":\"f\",\"outputSchema\":{}}"), MCP_PIN_SAME);
	/* It was not in the list of the changes. */
	cr_expect_eq(see("g", "{\"name\":\"g\",\"description\":1}"), MCP_PIN_CHANGED);
}

/* All of a tool that a policy, a model or a person is shown something of. */
Test(mcp_pins, a_change_of_any_member_is_a_change)
{
	static const char *const members[] = {"\"title\":\"x\"", "\"description\":\"x\"",
		"\"inputSchema\":{\"x\":1}", "\"outputSchema\":{}",
		"\"execution\":{\"taskSupport\":\"required\"}",
		"\"annotations\":{\"readOnlyHint\":true}",
		"\"annotations\":{\"destructiveHint\":false}",
		"\"annotations\":{\"idempotentHint\":true}", "\"annotations\":{\"title\":\"x\"}"};

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		char tool[128];

		buffer_reset(&written);
		cr_assert_eq(begin("s"), 0);
		see("f", "{\"name\":\"f\"}");
		finish("s");
		cr_assert_eq(begin("s"), 0);
		snprintf(tool, sizeof(tool), "{\"name\":\"f\",%s}", members[i]);
		cr_expect_eq(see("f", tool), MCP_PIN_CHANGED, "%s", members[i]);
	}
}

/* Return the risk of @tool, called @name. */
static const char *risk_of(const char *name, const char *tool)
{
	struct buffer list = {0};
	struct json_tape tape = {0};
	const char *risk;

	begin_list(tool, &list, &tape);
	risk = mcp_pins_risk(&pins, &tape, json_first(&tape, 0), name);
	json_tape_deinit(&tape);
	buffer_deinit(&list);
	return risk;
}

#define READS  "{\"name\":\"f\",\"annotations\":{\"readOnlyHint\":true}}"
#define WRITES "{\"name\":\"f\",\"annotations\":{\"destructiveHint\":false}}"
#define RUNS   "{\"name\":\"f\"}"

Test(mcp_pins, a_risk_only_rises)
{
	cr_assert_eq(begin("s"), 0);
	cr_expect_str_eq(risk_of("f", READS), "read", "it is seen first");
	see("f", WRITES);
	finish("s");
	cr_assert_eq(begin("s"), 0);
	cr_expect_str_eq(risk_of("f", READS), "write");
	cr_expect_str_eq(risk_of("f", WRITES), "write");
	cr_expect_str_eq(risk_of("f", RUNS), "execute");
	see("f", READS);
	finish("s");
	cr_assert_eq(begin("s"), 0);
	cr_expect_str_eq(risk_of("f", READS), "write", "it is reported, but not accepted");
	cr_assert_eq(trust(), 1);
	cr_assert_eq(begin("s"), 0);
	cr_expect_str_eq(risk_of("f", READS), "read");
	pins.is_unknown = true;
	cr_expect_str_eq(risk_of("g", READS), "execute", "the file could not be read");
}

Test(mcp_pins, names_that_callers_see_as_one_have_one_pin)
{
	cr_assert_eq(begin("s"), 0);
	see("a.b", "{\"name\":\"a.b\"}");
	finish("s");
	cr_assert_eq(begin("s"), 0);
	cr_expect_eq(see("a_b", "{\"name\":\"a_b\"}"), MCP_PIN_CHANGED);
	finish("s");
	cr_expect_eq(trust(), 1);
	cr_assert_eq(begin("s"), 0);
	cr_expect_eq(see("a_b", "{\"name\":\"a_b\"}"), MCP_PIN_SAME);
	cr_assert_eq(begin("s"), 0);
	cr_expect_eq(see("a.b", "{\"name\":\"a.b\"}"), MCP_PIN_CHANGED);
}

Test(mcp_pins, a_tool_that_is_back_as_it_was_has_not_changed)
{
	cr_assert_eq(begin("s"), 0);
	see("f", "{\"name\":\"f\"}");
	finish("s");
	cr_assert_eq(begin("s"), 0);
	see("f", "{\"name\":\"f\",\"description\":\"x\"}");
	finish("s");
	cr_assert_eq(begin("s"), 0);
	cr_expect_eq(see("f", "{\"name\":\"f\"}"), MCP_PIN_SAME);
	cr_expect(pins.is_new);
	finish("s");
	cr_expect_eq(trust(), 0);
}

Test(mcp_pins, another_server_has_none)
{
	cr_assert_eq(begin("s"), 0);
	see("f", "{\"name\":\"f\"}");
	finish("s");
	cr_assert_eq(begin("t"), 0);
	cr_expect_eq(see("f", "{\"name\":\"f\",\"description\":\"x\"}"), MCP_PIN_NEW);
}

Test(mcp_pins, long_definitions_are_left_out)
{
	size_t size = MCP_PINS_TEXT_BYTES;
	cleanup_free char *tool = malloc(size + 64);

	memset(tool, 'x', size + 64);
	memcpy(tool, "{\"name\":\"", strlen("{\"name\":\""));
	memcpy(tool + size, "\"}", sizeof("\"}"));
	cr_assert_eq(begin("s"), 0);
	cr_expect_eq(see("long", tool), MCP_PIN_NEW);
	cr_expect_eq(see("short", "{\"name\":\"short\"}"), MCP_PIN_NEW);
	finish("s");
	cr_expect_lt(written.size, (size_t)1024);
	cr_assert_eq(begin("s"), 0);
	cr_expect_eq(see("long", tool), MCP_PIN_SAME);
}

#define PIN "08c3804af7d83e98dbf4c326a52c889539496129bf22e5b59cc7e6fece860408"

Test(mcp_pins, what_is_no_such_file_is_refused)
{
	static const char *const texts[] = {"[]", "{", "{}", "{\"server\":\"s\",\"tools\":[]}",
		"{\"server\":7,\"tools\":{}}", "{\"server\":\"s\",\"tools\":{\"f\":{}}}",
		"{\"server\":\"s\",\"tools\":{\"f\":{\"pin\":\"00\"}}}",
		"{\"server\":\"s\",\"tools\":{\"f\":7}}",
		("{\"server\":\"s\",\"tools\":{\"f\":{\"pin\":\"" PIN "\"}}}"),
		("{\"server\":\"s\",\"tools\":{\"f\":{\"pin\":\"" PIN "\",\"risk\":\"none\"}}}")};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		cr_expect_eq(read_text(texts[i]), MCP_PINS_E_WRONG, "%s", texts[i]);
}

Test(mcp_pins, a_change_of_a_tool_that_is_away_is_kept)
{
	cr_assert_eq(begin("s"), 0);
	see("f", "{\"name\":\"f\"}");
	finish("s");
	cr_assert_eq(begin("s"), 0);
	see("f", "{\"name\":\"f\",\"outputSchema\":{}}");
	finish("s");
	cr_assert_eq(begin("s"), 0);
	see("g", "{\"name\":\"g\"}");
	finish("s");
	cr_assert_eq(begin("s"), 0);
	cr_expect_eq(see("f", "{\"name\":\"f\",\"outputSchema\":{}}"), MCP_PIN_CHANGED);
	cr_expect_not(pins.is_new);
	finish("s");
	cr_expect_eq(trust(), 1);
}
