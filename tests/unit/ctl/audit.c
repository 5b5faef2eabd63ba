/* SPDX-License-Identifier: Apache-2.0 */

#include <criterion/criterion.h>
#include <stdlib.h>

#include "../scratch.h"
#include "answering.h"
#include "policy/audit_chain.h"
#include "util/cleanup.h"

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(chdir(scratch_folder), 0);
	setenv("HOME", scratch_folder, 1);
	setenv("XDG_CONFIG_HOME", scratch_folder, 1);
	setenv("TZ", "UTC", 1);
}

TestSuite(ctl_audit, .init = set_up, .fini = scratch_tear_down, .timeout = 60);

static const char three[] =
	"{'time':'2026-11-23T09:00:00.000Z','source':'skill','toolbox_id':'math','tool':'add',"
	"'risk':'read','decision':'allow','by':'risk','duration_ms':1.5,'outcome':'ok'}\n"
	"{'time':'2026-11-23T10:00:00.000Z','source':'kitchen','toolbox_id':'home','tool':'add',"
	"'decision':'deny','by':'person'}\n"
	"{'time':'2026-11-23T11:00:00.000Z','source':'kitchen','toolbox_id':'home','tool':'on',"
	"'outcome':'timeout'}\n";

#define HEAD                                                                                       \
	"TIME                      SOURCE   TOOLBOX  TOOL  RISK  DECISION  BY       MS  OUTCOME\n"
#define FIRST  "2026-11-23T09:00:00.000Z  skill    math     add   read  allow     risk    1.5  ok\n"
#define SECOND "2026-11-23T10:00:00.000Z  kitchen  home     add         deny      person\n"
#define THIRD                                                                                      \
	"2026-11-23T11:00:00.000Z  kitchen  home     on                                 timeout\n"

/* ── the listing ─────────────────────────────────────────────────────────────────────────────── */

Test(ctl_audit, lists_the_lines_of_a_file)
{
	scratch_write_json("a.log", three);
	expect_command(ctl_audit, "audit a.log", CTL_DONE, HEAD FIRST SECOND THIRD, "");
	scratch_write("empty.log", "");
	expect_command(ctl_audit, "audit empty.log", CTL_DONE, "", "");
}

Test(ctl_audit, lists_the_lines_that_its_flags_mean)
{
	static const struct {
		const char *line;
		bool has[3];
	} cases[] = {
		{"audit a.log --tool add", {true, true, false}},
		{"audit a.log --tool math/add", {true, false, false}},
		{"audit a.log --tool /add", {false, false, false}},
		{"audit a.log --source kitchen", {false, true, true}},
		{"audit a.log --source kitche", {false, false, false}},
		{"audit a.log --since 2026-11-23T10:00:00Z", {false, true, true}},
		{"audit a.log --since 2026-11-23T10:00:01Z", {false, false, true}},
		{"audit a.log --since 2026-11-23T09:00:00+01:00", {true, true, true}},
		{"audit a.log --source kitchen --tool add --since 2026-11-23",
			{false, true, false}},
	};
	static const char *const times[] = {"T09:00:00.000Z", "T10:00:00.000Z", "T11:00:00.000Z"};

	scratch_write_json("a.log", three);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(command_run(ctl_audit, cases[i].line), CTL_DONE);
		for (size_t j = 0; j < 3; j++)
			cr_expect_eq(strstr(command_output, times[j]) != NULL, cases[i].has[j],
				"%s: %s", cases[i].line, command_output);
	}
}

Test(ctl_audit, prints_lines_as_they_are_with_json)
{
	scratch_write_json("a.log", "{'time':'t','source':'a', 'x':1.50}\n{'source':'b'}\n");
	expect_command(ctl_audit, "audit --json --source a a.log", CTL_DONE,
		"{\"time\":\"t\",\"source\":\"a\", \"x\":1.50}\n", "");
}

Test(ctl_audit, names_each_line_that_is_none_and_lists_the_others)
{
	scratch_write_json("a.log", "nonsense\n{'tool':'x'}\n[1]\n\n{'tool':'y'");
	cr_expect_eq(command_run(ctl_audit, "audit a.log"), CTL_ERROR);
	expect_output("x\n");
	cr_expect_str_eq(command_complaints, "toolboxctl: a.log:1: is no line of an audit log\n"
					     "toolboxctl: a.log:3: is no line of an audit log\n"
					     "toolboxctl: a.log:4: is no line of an audit log\n"
					     "toolboxctl: a.log:5: is no line of an audit log\n");
}

Test(ctl_audit, leaves_out_lines_without_a_time_when_it_matters)
{
	scratch_write_json("a.log",
		"{'tool':'x'}\n{'tool':'x','time':5}\n{'tool':'x','time':'2026'}\n"
		"{'tool':'x','time':'2027-01-01T00:00:00.000Z'}\n");
	cr_expect_eq(command_run(ctl_audit, "audit a.log --json --since 2026-12-01"), CTL_DONE);
	cr_expect_str_eq(
		command_output, "{\"tool\":\"x\",\"time\":\"2027-01-01T00:00:00.000Z\"}\n");
}

Test(ctl_audit, shows_no_control_character_of_a_line)
{
	scratch_write_json("a.log", "{'tool':'a\\u001b[31mb','by':'\\u202e'}\n");
	cr_expect_eq(command_run(ctl_audit, "audit a.log"), CTL_DONE);
	expect_output("a\\u001b[31mb");
	expect_output("\\u202e");
	cr_expect_null(strchr(command_output, '\x1b'));
}

Test(ctl_audit, refuses_files_and_times_that_it_cannot_read)
{
	static const struct {
		const char *line;
		const char *complaint;
	} cases[] = {
		{"audit none.log", "none.log: cannot be read: No such file or directory\n"},
		{"audit .", ".: cannot be read: Is a directory\n"},
		{"audit a b", "audit takes one FILE, or verify FILE...\n"},
		{"audit a.log --since never",
			"--since must be like 10m, 2h, 3d or 2026-11-23T10:00, not 'never'\n"},
		{"audit verify", "audit verify needs a FILE\n"},
		{"audit verify none.log", "none.log: cannot be read: No such file or directory\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_command(ctl_audit, cases[i].line, CTL_USAGE, "", cases[i].complaint);
}

Test(ctl_audit, finds_the_file_of_the_configuration_after_the_one_before)
{
	char text[256];

	expect_command(ctl_audit, "audit", CTL_USAGE, "",
		"the configuration has no audit.file; name a FILE\n");
	snprintf(text, sizeof(text), "{'toolboxd':{'audit':{'file':'%s'}}}",
		scratch_path("audit.log"));
	scratch_write_json("mycroft/mycroft.conf", text);
	scratch_write_json("audit.log", "{'tool':'new'}\n");
	cr_expect_eq(command_run(ctl_audit, "audit --json"), CTL_DONE, "%s", command_complaints);
	cr_expect_str_eq(command_output, "{\"tool\":\"new\"}\n");
	scratch_write_json("audit.log.1", "{'tool':'old'}\n");
	cr_expect_eq(command_run(ctl_audit, "audit --json"), CTL_DONE, "%s", command_complaints);
	cr_expect_str_eq(command_output, "{\"tool\":\"old\"}\n{\"tool\":\"new\"}\n");
}

/* ── the chain ───────────────────────────────────────────────────────────────────────────────── */

#define ZERO_HASH "0000000000000000000000000000000000000000000000000000000000000000"

/* Append a line with @prev to @text, and set *hash to its hash. */
static void add_link(
	struct buffer *text, const char *prev, const char *name, struct audit_hash *hash)
{
	size_t start = text->size;

	buffer_printf(text, "{\"prev\":\"%s\",\"tool\":\"%s\"}", prev, name);
	audit_hash_line(text->data + start, text->size - start, hash);
	buffer_append_char(text, '\n');
}

/* Write @n lines of one chain to files of two lines each: 0.log, 1.log, … */
static void write_chain(const char *before, unsigned int n, struct audit_hash *ret_last)
{
	snprintf(ret_last->text, sizeof(ret_last->text), "%s", before);
	for (unsigned int i = 0; i < n; i += 2) {
		cleanup(buffer_deinit) struct buffer text = {0};
		char name[16];

		for (unsigned int j = i; j < i + 2 && j < n; j++) {
			char prev[AUDIT_HASH_CHARS + 1];

			strcpy(prev, ret_last->text);
			snprintf(name, sizeof(name), "t%u", j);
			add_link(&text, prev, name, ret_last);
		}
		snprintf(name, sizeof(name), "%u.log", i / 2);
		scratch_write_bytes(name, text.data, text.size);
	}
}

Test(ctl_audit, verifies_a_chain_from_the_first_line_ever_over_several_files)
{
	struct audit_hash last;
	char expected[256];

	write_chain("", 5, &last);
	snprintf(expected, sizeof(expected),
		"5 lines, the chain is whole from the first line ever; last hash: %s\n", last.text);
	expect_command(ctl_audit, "audit verify 0.log 1.log 2.log", CTL_DONE, expected, "");
	snprintf(expected, sizeof(expected), "{\"lines\":5,\"after\":\"\",\"last\":\"%s\"}\n",
		last.text);
	expect_command(ctl_audit, "audit verify --json 0.log 1.log 2.log", CTL_DONE, expected, "");
}

Test(ctl_audit, names_the_line_that_the_first_one_follows)
{
	struct audit_hash last;
	char expected[256];

	write_chain(ZERO_HASH, 1, &last);
	snprintf(expected, sizeof(expected),
		"1 line, the chain is whole after the line with the hash " ZERO_HASH
		", which is not here; last hash: %s\n",
		last.text);
	expect_command(ctl_audit, "audit verify 0.log", CTL_DONE, expected, "");
}

Test(ctl_audit, verifies_nothing_of_an_empty_file)
{
	scratch_write("empty.log", "");
	expect_command(ctl_audit, "audit verify empty.log", CTL_DONE,
		"no lines: there is nothing to verify\n", "");
}

Test(ctl_audit, names_the_first_line_that_breaks_the_chain)
{
	static const char not_before[] = "its \"prev\" is not the hash of the line before: one of "
					 "them was changed, or a line between them is missing";
	static const struct {
		const char *text;
		unsigned int line;
		const char *reason;
	} cases[] = {
		{"{'prev':''}\n{'prev':'" ZERO_HASH "'}\n", 2, not_before},
		{"{'prev':''}\n{'prev':''}\n", 2, not_before},
		{"{'prev':''}", 1, "the line is torn: it has no end"},
		{"{}\n", 1, "it has no \"prev\""},
		{"{'prev':5}\n", 1, "it has no \"prev\""},
		{"nonsense\n", 1, "it is no line of an audit log"},
		{"\n", 1, "it is no line of an audit log"},
		{"{'prev':'short'}\n", 1, "its \"prev\" is no hash"},
		{"{'prev':'" ZERO_HASH "0'}\n", 1, "its \"prev\" is no hash"},
		{"{'prev':'0000000000000000000000000000000000000000000000000000000000000G00'}\n", 1,
			"its \"prev\" is no hash"},
		{"{'prev':'00000000000000000000000000000000000000000000000000000000000\\u0030'}\n",
			1, "its \"prev\" is no hash"},
	};
	char complaint[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		scratch_write_json("a.log", cases[i].text);
		snprintf(complaint, sizeof(complaint), "a.log:%u: the chain is broken: %s\n",
			cases[i].line, cases[i].reason);
		expect_command(ctl_audit, "audit verify a.log", CTL_ERROR, "", complaint);
	}
}

Test(ctl_audit, breaks_when_a_file_a_line_or_a_byte_is_missing)
{
	struct audit_hash last;

	write_chain("", 6, &last);
	cr_expect_eq(command_run(ctl_audit, "audit verify 0.log 2.log"), CTL_ERROR);
	expect_complaint("2.log:1: the chain is broken: its \"prev\"");
	cr_expect_eq(command_run(ctl_audit, "audit verify 1.log 0.log"), CTL_ERROR);
	expect_complaint("0.log:1: the chain is broken");
	cr_expect_eq(command_run(ctl_audit, "audit verify 1.log 2.log"), CTL_DONE);
	cr_expect_eq(command_run(ctl_audit, "audit verify 0.log 0.log"), CTL_ERROR);
}
