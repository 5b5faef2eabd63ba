/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../scratch.h"
#include "answering.h"
#include "util/file/file.h"

/* Changes of servers in files of pins, which are shown and accepted. JSON is written with ' in
 * place of ". */

static void set_up(void)
{
	scratch_set_up();
	unsetenv("SUDO_USER");
	setenv("STATE_DIRECTORY", scratch_path("own"), 1);
}

static void tear_down(void)
{
	answering_stop();
	scratch_tear_down();
}

TestSuite(ctl_trust, .init = set_up, .fini = tear_down, .timeout = 60);

#define PIN_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define PIN_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

#define SAME "'same':{'pin':'" PIN_A "','risk':'read'}"
#define CHANGED                                                                                    \
	"'add':{'pin':'" PIN_A "','risk':'read','definition':'[\\\"old\\\"]',"                     \
	"'changed':{'pin':'" PIN_B "','risk':'write','definition':'[\\\"new\\\"]'}}"
#define CHANGED_UNSEEN                                                                             \
	"'big':{'pin':'" PIN_A "','risk':'read','changed':{'pin':'" PIN_B "','risk':'read'}}"
#define PINS(tools) "{'server':'" PIN_A "','tools':{" tools "}}"

#define BOX_FILE "state/toolboxd/.pins/box.0123456789abcdef.json"

/* Start a service with its state in the test's folder. */
static void start(void)
{
	static char status[512];
	static struct prepared messages[3];

	snprintf(status, sizeof(status), "{'state':'%s'}", scratch_path("state/toolboxd"));
	messages[0] = (struct prepared){"ovos.tools.status", status, NULL};
	messages[1] =
		(struct prepared){"ovos.tools.reload", "{'loaded':['box'],'total_tools':1}", NULL};
	answering_start(messages);
}

/* Return the text of the file @name, "" without one. */
static const char *text_of(const char *name)
{
	static char text[2048];
	FILE *stream = fopen(scratch_path(name), "r");
	size_t size = stream ? fread(text, 1, sizeof(text) - 1, stream) : 0;

	if (stream)
		fclose(stream);
	text[size] = '\0';
	return text;
}

Test(ctl_trust, shows_each_member_that_differs)
{
	start();
	scratch_write_json(BOX_FILE, PINS(SAME "," CHANGED));
	expect_command(ctl_trust, "trust box --show", CTL_DONE,
		"add\n"
		"  - risk: read\n"
		"  + risk: write\n"
		"  - name: old\n"
		"  + name: new\n"
		"toolboxctl trust box accepts this\n",
		"");
	cr_expect_not_null(strstr(text_of(BOX_FILE), "changed"), "nothing is accepted");
	cr_expect_null(strstr(answering_requests(), "reload"));
}

Test(ctl_trust, shows_that_a_definition_was_not_kept)
{
	start();
	scratch_write_json(BOX_FILE, PINS(CHANGED_UNSEEN));
	expect_command(ctl_trust, "trust box --show", CTL_DONE,
		"big\n"
		"  only its pin was kept, since the texts of all tools are too long\n"
		"toolboxctl trust box accepts this\n",
		"");
}

Test(ctl_trust, accepts_each_change_and_reloads)
{
	start();
	scratch_write_json(BOX_FILE, PINS(SAME "," CHANGED "," CHANGED_UNSEEN));
	cr_expect_eq(command_run(ctl_trust, "trust box"), CTL_DONE, "%s", command_complaints);
	expect_output("2 changed tools of 'box' accepted\n");
	cr_expect_null(strstr(text_of(BOX_FILE), "changed"));
	cr_expect_null(strstr(text_of(BOX_FILE), "old"));
	cr_expect_not_null(strstr(text_of(BOX_FILE), PIN_B));
	cr_expect_not_null(strstr(text_of(BOX_FILE), "\"same\""));
	cr_expect_not_null(strstr(answering_requests(), "ovos.tools.reload"));
	expect_command(ctl_trust, "trust box", CTL_DONE, "no tool of 'box' has changed\n", "");
}

Test(ctl_trust, counts_the_one_change_of_all_its_files)
{
	start();
	scratch_write_json(BOX_FILE, PINS(SAME));
	scratch_write_json("state/toolboxd/.pins/box.fedcba9876543210.json", PINS(CHANGED));
	cr_expect_eq(command_run(ctl_trust, "trust box"), CTL_DONE, "%s", command_complaints);
	expect_output("1 changed tool of 'box' accepted\n");
}

Test(ctl_trust, looks_at_no_file_of_another_toolbox)
{
	static const char *const others[] = {
		"state/toolboxd/.pins/box2.0123456789abcdef.json",
		"state/toolboxd/.pins/bo.0123456789abcdef.json",
		"state/toolboxd/.pins/boxx0123456789abcdef.json",
		"state/toolboxd/.pins/box.0123456789abcde.json",
		"state/toolboxd/.pins/box.0123456789abcdef0.json",
		"state/toolboxd/.pins/box.0123456789abcdeg.json",
		"state/toolboxd/.pins/box.0123456789abcdef.json~",
		"state/toolboxd/.pins/box.0123456789abcdef",
		"state/toolboxd/.pins/.box.0123456789abcdef.json",
	};
	char complaint[256];

	start();
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		scratch_write_json(others[i], PINS(CHANGED));
	snprintf(complaint, sizeof(complaint), "no tools of a server are pinned for 'box' in %s\n",
		scratch_path("state/toolboxd/.pins"));
	expect_command(ctl_trust, "trust box", CTL_ERROR, "", complaint);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect_not_null(strstr(text_of(others[i]), "changed"), "%s", others[i]);
}

Test(ctl_trust, has_no_pins_without_a_folder)
{
	start();
	cr_expect_eq(command_run(ctl_trust, "trust box"), CTL_ERROR);
	expect_complaint("no tools of a server are pinned for 'box' in ");
	cr_expect_eq(command_run(ctl_trust, "trust box --show"), CTL_ERROR);
	expect_complaint("no tools of a server are pinned for 'box' in ");
}

Test(ctl_trust, refuses_a_file_that_has_another_shape)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{'server':5,'tools':{}}",
		"{'server':'" PIN_A "','tools':[]}",
		"{'server':'" PIN_A "','tools':{'add':5}}",
	};

	start();
	for (size_t i = 1; i < sizeof(texts) / sizeof(*texts); i++) {
		scratch_write_json(BOX_FILE, texts[i]);
		cr_expect_eq(command_run(ctl_trust, "trust box"), CTL_ERROR, "%s", texts[i]);
		expect_complaint("cannot be used: it is no file of pins; remove it to have all");
	}
}

Test(ctl_trust, changes_nothing_while_another_program_has_the_lock)
{
	int lock;

	start();
	scratch_write_json(BOX_FILE, PINS(CHANGED));
	cr_assert_eq(file_lock(scratch_path("state/toolboxd"), 0, &lock), 0);
	cr_expect_eq(command_run(ctl_trust, "trust box"), CTL_ERROR);
	expect_complaint("toolboxctl: ");
	cr_expect_not_null(strstr(text_of(BOX_FILE), "changed"));
	cr_expect_eq(command_run(ctl_trust, "trust box --show"), CTL_DONE, "showing needs none");
	close(lock);
	cr_expect_eq(command_run(ctl_trust, "trust box"), CTL_DONE);
}

Test(ctl_trust, takes_no_folder_that_cannot_be_of_the_service)
{
	static const struct {
		const char *status;
		const char *complaint;
	} rows[] = {
		{"{}", "the service has no state folder\n"},
		{"{'state':5}", "the service has no state folder\n"},
		{"{'state':'relative'}", "the service has a folder that cannot be its own\n"},
		{"{'state':'/'}", "the service has a folder that cannot be its own\n"},
		{"{'state':'/toolboxd'}", "the service has a folder that cannot be its own\n"},
		{"{'state':'/etc'}", "the service has a folder that cannot be its own\n"},
		{"{'state':'/x/../toolboxd'}", "the service has a folder that cannot be its own\n"},
		{"{'state':'x/toolboxd'}", "the service has a folder that cannot be its own\n"},
		{"{'state':''}", "the service has a folder that cannot be its own\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct prepared messages[] = {
			{"ovos.tools.status", rows[i].status, NULL}, {NULL, NULL, NULL}};

		answering_start(messages);
		expect_command(ctl_trust, "trust box", CTL_ERROR, "", rows[i].complaint);
		answering_stop();
	}
}

Test(ctl_trust, takes_only_ids_of_toolboxes)
{
	static const char *const ids[] = {"../box", "a.b", "a/b", "."};
	char line[64];

	start();
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		snprintf(line, sizeof(line), "trust %s", ids[i]);
		cr_expect_eq(command_run(ctl_trust, line), CTL_USAGE, "%s", ids[i]);
		expect_complaint("is no id of a toolbox: letters, digits, '_' and '-'");
	}
	cr_expect_str_eq(answering_requests(), "");
}
