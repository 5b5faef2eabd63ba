/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/head.h"

#include <criterion/criterion.h>
#include <string.h>

#include "manifest/dropin/head_words.h"
#include "quotes.h"
#include "util/array.h"
#include "util/cleanup.h"

/* The comments at the top of a program /p. JSON is written with ' in place of ". */

/* The result of reading the comments. */
struct told {
	int status;
	struct buffer entry;
	struct buffer command;
	struct buffer reason;
	struct diagnostics problems;
};

static void told_deinit(struct told *told)
{
	buffer_deinit(&told->entry);
	buffer_deinit(&told->command);
	buffer_deinit(&told->reason);
	diagnostics_deinit(&told->problems);
}

static void read_head(const char *text, struct told *told)
{
	struct buffer bytes = {0};

	buffer_append_string(&bytes, text);
	*told = (struct told){0};
	told->status = dropin_head_read(
		"/p", &bytes, &told->entry, &told->command, &told->reason, &told->problems);
	buffer_terminate(&told->entry);
	buffer_terminate(&told->command);
	buffer_terminate(&told->reason);
	buffer_deinit(&bytes);
}

/* Fail unless @members follow the argument schema, which is empty. */
static void expect_members(const char *text, const char *members)
{
	static const char arguments[] =
		",\"argument_schema\":{\"type\":\"object\",\"properties\":{},"
		"\"additionalProperties\":false}";
	cleanup(told_deinit) struct told told;
	cleanup_free char *json = quoted(members);

	read_head(text, &told);
	cr_assert_eq(told.status, 0, "%s: %s", text, told.reason.data);
	cr_assert(strstr(told.entry.data, arguments) == told.entry.data, "%s: %s", text,
		told.entry.data);
	cr_expect_str_eq(told.entry.data + strlen(arguments), json, "%s: %s", text,
		told.entry.data + strlen(arguments));
	cr_expect_eq(told.problems.n_items, 0, "%s: %s", text,
		told.problems.n_items > 0 ? told.problems.items[0].text : "");
}

static void expect_refused(const char *text, const char *reason)
{
	cleanup(told_deinit) struct told told;

	read_head(text, &told);
	cr_expect_eq(told.status, DROPIN_E_REFUSED, "%s", text);
	cr_expect_str_eq(told.reason.data, reason, "%s: %s", text, told.reason.data);
}

/* Fail unless the program has one warning, @warning; "": none. */
static void expect_warned(const char *text, const char *warning)
{
	cleanup(told_deinit) struct told told;

	read_head(text, &told);
	cr_expect_eq(told.status, 0, "%s", text);
	cr_assert_eq(told.problems.n_items, *warning ? 1 : 0, "%s", text);
	if (!*warning)
		return;
	cr_expect_str_eq(
		told.problems.items[0].text, warning, "%s: %s", text, told.problems.items[0].text);
	cr_expect_eq(told.problems.items[0].severity, DIAGNOSTIC_WARNING);
}

Test(dropin_head, has_times_of_at_most_a_day)
{
	static const char timeout[] = "/p:1: '# timeout:' must be followed by a number of seconds";
	static const char cooldown[] =
		"/p:1: '# cooldown:' must be followed by a whole number of seconds";
	static const char *const wrong[] = {"", "-1", "86401", "1 s", "\"1\"", "[1]", "1e9"};

	expect_members("# timeout: 86400\n", ",'timeout_ms':86400000");
	expect_members("# timeout: 0.0001\n", ",'timeout_ms':1");
	expect_members("# timeout: 1e1", ",'timeout_ms':10000");
	expect_members("# cooldown: 86400\n", ",'cooldown_s':86400");
	expect_members("# cooldown: 0\n", ",'cooldown_s':0");
	expect_members("# cooldown: 7.0\n", ",'cooldown_s':7");
	expect_refused("# timeout: 0\n", timeout);
	expect_refused("# cooldown: 0.5\n", cooldown);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char text[64];

		snprintf(text, sizeof(text), "# timeout: %s\n", wrong[i]);
		expect_refused(text, timeout);
		snprintf(text, sizeof(text), "# cooldown: %s\n", wrong[i]);
		expect_refused(text, cooldown);
	}
}

Test(dropin_head, has_each_of_its_single_lines_once)
{
	static const char *const lines[][2] = {{"title: A", "title:"}, {"risk: read", "risk:"},
		{"timeout: 1", "timeout:"}, {"cooldown: 1", "cooldown:"},
		{"output: text", "output:"}};
	char text[96];
	char reason[64];

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		snprintf(text, sizeof(text), "\n# %s\n# %s\n", lines[i][0], lines[i][0]);
		snprintf(reason, sizeof(reason), "/p:3: '# %s' is there twice", lines[i][1]);
		expect_refused(text, reason);
	}
	expect_members("# title: \",\"risk\":\n# risk: read\n",
		",'title':'\\\",\\\"risk\\\":','risk':'read'");
}

Test(dropin_head, has_lines_that_come_together)
{
	cleanup(told_deinit) struct told told;

	read_head("# description: One\n# description: \"two\".\n", &told);
	cr_expect(strstr(told.entry.data, ",\"description\":\"One \\\"two\\\".\","), "%s",
		told.entry.data);
	expect_members("# trigger a b\n# trigger c\n", ",'triggers':['a b','c']");
	expect_members("# example {}\n# example {\"a\": [1, {}]} -> \"x\"\n",
		",'examples':[{'args':{}},{'args':{'a':[1,{}]},'result':'x'}]");
	expect_members("# example {\"a\": \"}\\\"\"}->{}\n",
		",'examples':[{'args':{'a':'}\\\"'},'result':{}}]");
}

Test(dropin_head, is_read_in_comments_of_many_languages)
{
	static const char *const comments[] = {"# title: A", "#title: A", "// title: A",
		"-- title: A", ";; title: A", "; title: A", "\t #\ttitle:\tA \r", "#  title:A"};
	static const char *const others[] = {"//title: A", "--title: A", "title: A", "/* title: A",
		"# titles: A", "## title: A", "# \xff title: A", "# Title A"};

	for (size_t i = 0; i < ARRAY_SIZE(comments); i++)
		expect_members(comments[i], ",'title':'A'");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		cleanup(told_deinit) struct told told;

		read_head(others[i], &told);
		cr_expect_not(strstr(told.entry.data, "title"), "%s", others[i]);
	}
}

Test(dropin_head, ends_with_the_first_line_of_code_for_some)
{
	expect_members("x=1\n# title: A\n# cooldown: 1\n# trigger a\n# output: json\n"
		       "# returns a string\n# example {}\n# risk: read\n# timeout: 1\n",
		",'risk':'read','timeout_ms':1000");
	expect_members("\n\t\n# trigger a\n", ",'triggers':['a']");
}

Test(dropin_head, ends_after_64_lines)
{
	char text[256] = "";

	memset(text, '\n', DROPIN_LINES_MAX - 1);
	strcpy(text + DROPIN_LINES_MAX - 1, "# risk: read\n");
	expect_members(text, ",'risk':'read'");
	text[DROPIN_LINES_MAX - 1] = '\n';
	strcpy(text + DROPIN_LINES_MAX, "# risk: read\n");
	expect_members(text, "");
}

Test(dropin_head, needs_a_space_or_colon_after_its_word)
{
	expect_members("# triggers a\n", "");
	expect_members("# trigger\n", ",'triggers':['']");
	expect_members("# examples {}\n", "");
	expect_members("# example of {}\n", "");
	expect_members("# example\n", "");
	expect_members("# risk", "");
	expect_members("# RISK read", ",'risk':'read'");
	expect_refused("# param", "/p:1: '# param' must be followed by a name and a type: string, "
				  "integer, number, boolean, array or object, with '?' when it may "
				  "be absent");
	expect_refused(
		"# risk: reads", "/p:1: '# risk:' must be followed by read, write or execute");
}

Test(dropin_head, refuses_an_example_that_is_no_json)
{
	static const char *const wrong[] = {
		"{\"a\"}", "{} x", "{} - {}", "{} ->", "{} -> x", "{} -> {} {}", "{\"a\": 1"};
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(text, sizeof(text), "# example %s\n", wrong[i]);
		expect_refused(text,
			"/p:1: '# example' must be followed by an object of arguments, and perhaps "
			"'->' and the result, all in JSON on one line");
	}
}

Test(dropin_head, describes_a_result_where_its_output_is_json)
{
	static const char unused[] =
		"/p:1: '# returns' describes a result in JSON, and has an effect only with '# "
		"output: json', json_lines or content";
	static const char *const forms[] = {"json", "json_lines", "content"};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		cleanup(told_deinit) struct told told;
		char text[128];

		snprintf(text, sizeof(text),
			"# returns a string? = b\n# returns c array Many\n# output: %s\n",
			forms[i]);
		read_head(text, &told);
		cr_expect(strstr(told.entry.data,
				  ",\"output_schema\":{\"type\":\"object\",\"properties\":{\"a\":{"
				  "\"type\":\"string\",\"description\":\"= b\"},\"c\":{\"type\":"
				  "\"array\",\"description\":\"Many\"}},\"required\":[\"c\"]}"),
			"%s", told.entry.data);
		snprintf(text, sizeof(text), ",\"output\":\"%s\"", forms[i]);
		cr_expect_str_eq(told.command.data, text);
	}
	expect_warned("# returns a string\n# output: text\n", unused);
	expect_warned("# returns a string\n# returns b string\n", unused);
	expect_warned("# returns a letter\n", "");
	expect_refused("# returns a letter\n# returns b\n# output: json\n",
		"/p:1: '# returns' must be followed by a name and a type: string, integer, number, "
		"boolean, array or object, with '?' when it may be absent");
}

Test(dropin_head, warns_of_comments_that_define_nothing)
{
	static const char wrong[] = "/p:1: the comment '# risc: low' defines nothing; is '# risk: "
				    "read, write or execute' meant?";
	static const char unknown[] =
		"/p:1: the comment '# colour: \xC3\xA9lllllllllllllllllllllllllllllll' defines "
		"nothing: the words with a colon are description, risk, timeout, title, cooldown "
		"and output";

	expect_warned("# risc: low", wrong);
	expect_warned("# colour: \xC3\xA9lllllllllllllllllllllllllllllll", unknown);
	expect_warned("# colour: \xC3\xA9llllllllllllllllllllllllllllllll", unknown);
	expect_warned("code\n# colour: red", "");
	expect_warned("code\n# namee: red", "");
	expect_warned("# output: words",
		"/p:1: '# output:' has an effect only with text, json, json_lines or content");
}

/* ── the schema of a parameter ───────────────────────────────────────────────────────────────── */

Test(dropin_head, has_the_parameters_of_its_lines)
{
	static const struct {
		const char *line;
		const char *property; /* with ' */
		bool is_required;
	} rows[] = {
		{"x string", "{'type':'string'}", true},
		{"x integer How often", "{'type':'integer','description':'How often'}", true},
		{"x number?", "{'type':'number'}", false},
		{"x boolean ?", "{'type':'boolean'}", false},
		{"x boolean ? On", "{'type':'boolean','description':'On'}", false},
		{"x boolean=true On", "{'type':'boolean','default':true,'description':'On'}",
			false},
		{"x string = a b", "{'type':'string','default':'a','description':'b'}", false},
		{"x string =", "{'type':'string','default':''}", false},
		{"x string = \"a b\" c", "{'type':'string','default':'a b','description':'c'}",
			false},
		{"x array = [\"a]\", [1]] c",
			"{'type':'array','default':['a]',[1]],'description':'c'}", false},
		{"x object = {\"a\\\"}\": {}} c",
			"{'type':'object','default':{'a\\\"}':{}},'description':'c'}", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(told_deinit) struct told told;
		cleanup_free char *property = quoted(rows[i].property);
		char text[128];
		char expected[256];

		snprintf(text, sizeof(text), "# param %s\n", rows[i].line);
		read_head(text, &told);
		cr_assert_eq(told.status, 0, "%s", text);
		snprintf(expected, sizeof(expected),
			",\"argument_schema\":{\"type\":\"object\",\"properties\":{\"x\":%s}%s,"
			"\"additionalProperties\":false}",
			property, rows[i].is_required ? ",\"required\":[\"x\"]" : "");
		cr_expect_str_eq(told.entry.data, expected, "%s: %s", text, told.entry.data);
	}
}

Test(dropin_head, requires_each_parameter_without_a_mark)
{
	cleanup(told_deinit) struct told told;

	read_head("# param a string\n# param b string?\n# param c array\n", &told);
	cr_expect(strstr(told.entry.data,
			  "},\"c\":{\"type\":\"array\"}},\"required\":[\"a\",\"c\"],"),
		"%s", told.entry.data);
}

Test(dropin_head, names_the_type_that_another_language_means)
{
	static const char *const rows[][2] = {{"int", "; did you mean 'integer'?"},
		{"str", "; did you mean 'string'?"}, {"text", "; did you mean 'string'?"},
		{"bool", "; did you mean 'boolean'?"}, {"float", "; did you mean 'number'?"},
		{"double", "; did you mean 'number'?"}, {"list", "; did you mean 'array'?"},
		{"dict", "; did you mean 'object'?"}, {"letter", ""}, {"", ""}, {"string!", ""},
		{"String", ""}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[64];
		char reason[256];

		snprintf(text, sizeof(text), "\n# param x %s", rows[i][0]);
		snprintf(reason, sizeof(reason),
			"/p:2: '# param' must be followed by a name and a type: string, integer, "
			"number, boolean, array or object, with '?' when it may be absent%s",
			rows[i][1]);
		expect_refused(text, reason);
	}
	expect_refused("# param x integer = a", "/p:1: '# param' has a default after '=', which "
						"must be one JSON value");
	expect_refused("# param x integer =", "/p:1: '# param' has a default after '=', which "
					      "must be one JSON value");
}
