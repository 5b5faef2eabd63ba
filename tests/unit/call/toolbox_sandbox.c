/* SPDX-License-Identifier: Apache-2.0 */
#include "call/toolbox_sandbox.h"

#include <criterion/criterion.h>
#include <string.h>

static void read_sandbox(const char *text, struct toolbox_sandbox *sandbox)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct sandbox_mistake mistake = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(toolbox_sandbox_read(&tape, 0, "/base", sandbox, &mistake), 0, "%s",
		mistake.expected);
}

static void expect_written(const struct toolbox_sandbox *sandbox, const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	toolbox_sandbox_write(sandbox, &text);
	cr_expect_str_eq(buffer_terminate(&text), expected);
}

Test(toolbox_sandbox, is_written_as_it_was_read)
{
	struct toolbox_sandbox sandbox = {0};

	expect_written(&sandbox, "{\"class\":\"compute\"}");
	read_sandbox("{\"class\":\"net\",\"read\":[\"/a\",\"b\"],\"write\":[\"/c\",\"/d\",\"/e\"]}",
		&sandbox);
	expect_written(&sandbox, "{\"class\":\"net\",\"read\":[\"/a\",\"/base/b\"],"
				 "\"write\":[\"/c\",\"/d\",\"/e\"]}");
	read_sandbox("{\"class\":null,\"read\":null,\"write\":[]}", &sandbox);
	expect_written(&sandbox, "{\"class\":\"net\",\"read\":[\"/a\",\"/base/b\"],\"write\":[]}");
	read_sandbox("{\"unix\":true}", &sandbox);
	expect_written(&sandbox, "{\"class\":\"net\",\"read\":[\"/a\",\"/base/b\"],\"write\":[],"
				 "\"unix\":true}");
	toolbox_sandbox_deinit(&sandbox);
}

Test(toolbox_sandbox, is_overridden_by_the_members_that_another_has)
{
	struct toolbox_sandbox sandbox = {0};
	struct toolbox_sandbox paths = {0};
	struct toolbox_sandbox class = {0};

	read_sandbox("{\"class\":\"command\",\"read\":[\"/a\"],\"write\":[\"/b\"]}", &sandbox);
	read_sandbox("{\"read\":[\"/c\",\"/d\",\"/e\"]}", &paths);
	read_sandbox("{\"class\":\"compute\"}", &class);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &paths), 0);
	expect_written(&sandbox, "{\"class\":\"command\",\"read\":[\"/c\",\"/d\",\"/e\"],"
				 "\"write\":[\"/b\"]}");
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &class), 0);
	expect_written(&sandbox, "{\"class\":\"compute\",\"read\":[\"/c\",\"/d\",\"/e\"],"
				 "\"write\":[\"/b\"]}");
	cr_expect(sandbox.has_class && !paths.has_class);
	read_sandbox("{\"unix\":true}", &class);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &class), 0);
	cr_expect(sandbox.has_unix);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &paths), 0);
	cr_expect(sandbox.has_unix, "a member that is not given replaces nothing");
	read_sandbox("{\"unix\":false}", &paths);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &paths), 0);
	cr_expect(!sandbox.has_unix);
	toolbox_sandbox_deinit(&sandbox);
	toolbox_sandbox_deinit(&paths);
	toolbox_sandbox_deinit(&class);
}

Test(toolbox_sandbox, has_no_unix_sockets_in_a_class_of_the_operator_that_does_not_name_them)
{
	struct toolbox_sandbox sandbox = {0};
	struct toolbox_sandbox class = {0};

	read_sandbox("{\"class\":\"compute\",\"unix\":true}", &sandbox);
	read_sandbox("{\"class\":\"compute\"}", &class);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &class), 0);
	cr_expect_not(sandbox.has_unix);
	read_sandbox("{\"class\":\"compute\",\"unix\":true}", &class);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &class), 0);
	cr_expect(sandbox.has_unix);
	toolbox_sandbox_deinit(&class);
	toolbox_sandbox_deinit(&sandbox);
}

static void expect_order(const char *narrow, const char *wide)
{
	struct toolbox_sandbox left = {0};
	struct toolbox_sandbox right = {0};

	read_sandbox(narrow, &left);
	read_sandbox(wide, &right);
	cr_expect_lt(toolbox_sandbox_compare(&left, &right), 0, "%s %s", narrow, wide);
	cr_expect_gt(toolbox_sandbox_compare(&right, &left), 0, "%s %s", narrow, wide);
	cr_expect_eq(toolbox_sandbox_compare(&left, &left), 0, "%s", narrow);
	toolbox_sandbox_deinit(&left);
	toolbox_sandbox_deinit(&right);
}

Test(toolbox_sandbox, has_its_place_in_an_order)
{
	struct toolbox_sandbox less = {.memory_mb = 1};
	struct toolbox_sandbox more = {.memory_mb = 2};

	expect_order("{\"class\":\"compute\",\"read\":[\"/z\"]}", "{\"class\":\"net\"}");
	expect_order("{\"class\":\"command\"}", "{\"class\":\"none\"}");
	expect_order("{\"class\":\"net\"}", "{\"class\":\"net\",\"unix\":true}");
	expect_order("{\"read\":[\"/z\"]}", "{\"read\":[\"/a\",\"/b\"]}");
	expect_order("{\"read\":[\"/a\",\"/b\"]}", "{\"read\":[\"/a\",\"/c\"]}");
	expect_order("{}", "{\"write\":[]}");
	expect_order("{\"write\":[\"/a\"]}", "{\"write\":[\"/b\"]}");
	cr_expect_lt(toolbox_sandbox_compare(&less, &more), 0);
	cr_expect_gt(toolbox_sandbox_compare(&more, &less), 0);
}

/* ── mistakes ────────────────────────────────────────────────────────────────────────────────── */

/* Expect that @text in a manifest in @folder (NULL: in a LOAD frame) is refused at @place. */
static void expect_refused(
	const char *text, const char *folder, const char *place, const char *expected)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct toolbox_sandbox sandbox = {0};
	struct sandbox_mistake mistake = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_expect_eq(toolbox_sandbox_read(&tape, 0, folder, &sandbox, &mistake),
		SANDBOX_E_MALFORMED, "%.80s", text);
	cr_expect_str_eq(mistake.expected, expected, "%.80s: %s", text, mistake.expected);
	cr_expect_eq(strncmp(json_bytes(&tape, mistake.token), place, strlen(place)), 0,
		"%.80s: %.20s", text, json_bytes(&tape, mistake.token));
	toolbox_sandbox_deinit(&sandbox);
}

#define PATHS    "must be a list of at most 64 paths"
#define PATH     "must be a path: absolute, or in a manifest relative to its folder"
#define CLASSES  "must be \"compute\", \"net\", \"command\" or \"none\""
#define NO_KEY   "is an unknown key; expected \"class\", \"read\", \"write\" or \"unix\""
#define NO_TRUTH "must be true or false"

Test(toolbox_sandbox, tells_each_mistake_with_its_place)
{
	static const struct {
		const char *text;
		const char *place;
		const char *expected;
	} rows[] = {
		{"[]", "[]", "must be an object"},
		{"{\"class\":\"full\"}", "full", CLASSES},
		{"{\"class\":1}", "1", CLASSES},
		{"{\"read\":\"/a\"}", "/a", PATHS},
		{"{\"write\":{\"/a\":1}}", "{", PATHS},
		{"{\"hidden\":1}", "1", PATHS},
		{"{\"kept\":1}", "1", PATHS},
		{"{\"read\":[\"/a\",5]}", "5", PATH},
		{"{\"read\":[\"\"]}", "\"", PATH},
		{"{\"write\":[\"/a\\u0000b\"]}", "/a", PATH},
		{"{\"hidden\":[\"a\"]}", "a\"", PATH},
		{"{\"kept\":[\"a\"]}", "a\"", PATH},
		{"{\"unix\":1}", "1", NO_TRUTH},
		{"{\"unix\":\"yes\"}", "yes", NO_TRUTH},
		{"{\"exec\":[]}", "[]", NO_KEY},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect_refused(rows[i].text, "/base", rows[i].place, rows[i].expected);
	expect_refused("{\"read\":[\"a\"]}", NULL, "a\"", PATH);
}

/* Write a sandbox with @n paths. */
static const char *with_paths(struct buffer *text, unsigned int n)
{
	buffer_reset(text);
	buffer_append_string(text, "{\"read\":[");
	for (unsigned int i = 0; i < n; i++)
		buffer_printf(text, "%s\"/%u\"", i > 0 ? "," : "", i);
	buffer_append_string(text, "]}");
	return buffer_terminate(text);
}

static void expect_loaded(const char *text, int result)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct toolbox_sandbox sandbox = {0};
	struct sandbox_mistake mistake = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_expect_eq(toolbox_sandbox_read(&tape, 0, NULL, &sandbox, &mistake), result);
	toolbox_sandbox_deinit(&sandbox);
}

Test(toolbox_sandbox, has_64_paths_in_a_manifest_and_512_in_a_load_frame)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct toolbox_sandbox sandbox = {0};

	read_sandbox(with_paths(&text, 64), &sandbox);
	cr_expect_eq(sandbox.read.list.n_items, 64);
	toolbox_sandbox_deinit(&sandbox);
	expect_refused(with_paths(&text, 65), "/base", "[", PATHS);
	expect_loaded(with_paths(&text, 512), 0);
	expect_loaded(with_paths(&text, 513), SANDBOX_E_MALFORMED);
}

Test(toolbox_sandbox, may_have_the_names_of_settings_for_paths)
{
	static const char *const settings[] = {"$a", "$A_9", "$a.b", "$a.b_C1"};
	static const char *const others[] = {
		"", "a", "$", "$.a", "$a.", "$a.b.c", "$a/b", "$a.b/", "$a-b", "/$a"};

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		cr_expect(sandbox_path_is_setting(settings[i]), "%s", settings[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect_not(sandbox_path_is_setting(others[i]), "%s", others[i]);
	expect_loaded("{\"read\":[\"$a.b\"]}", 0);
}

Test(toolbox_sandbox, is_written_with_what_a_host_gets)
{
	struct toolbox_sandbox sandbox = {0};

	read_sandbox("{\"hidden\":[\"/h\"],\"kept\":[\"/k\",\"$s\"],\"unix\":false}", &sandbox);
	expect_written(
		&sandbox, "{\"class\":\"compute\",\"hidden\":[\"/h\"],\"kept\":[\"/k\",\"$s\"]}");
	cr_expect(sandbox.has_unix_given && !sandbox.has_class);
	toolbox_sandbox_deinit(&sandbox);
	expect_order("{\"hidden\":[\"/a\"]}", "{\"hidden\":[\"/b\"]}");
	expect_order("{\"kept\":[\"/a\"]}", "{\"kept\":[\"/b\"]}");
	expect_order("{\"kept\":[\"/a\"]}", "{\"hidden\":[]}");
}
