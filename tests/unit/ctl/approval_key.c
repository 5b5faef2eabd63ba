/* SPDX-License-Identifier: Apache-2.0 */
#include "config/approval_key.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "../scratch.h"
#include "answering.h"

static void set_up(void)
{
	scratch_set_up();
	setenv("HOME", scratch_folder, 1);
	setenv("XDG_CONFIG_HOME", scratch_folder, 1);
	cr_assert_eq(chdir(scratch_folder), 0);
	umask(0);
}

TestSuite(ctl_approval_key, .init = set_up, .fini = scratch_tear_down, .timeout = 60);

Test(ctl_approval_key, is_made_for_its_owner_only)
{
	struct approval_key key;
	struct stat status;

	cr_expect_eq(command_run(ctl_approval, "approval key --new key"), CTL_DONE, "%s",
		command_complaints);
	cr_expect_str_eq(command_output, "key\n", "the key itself is not printed");
	cr_assert_eq(stat(scratch_path("key"), &status), 0);
	cr_expect_eq(status.st_mode & 0777, 0600);
	cr_expect_eq(status.st_size, 2 * APPROVAL_KEY_BYTES + 1);
	cr_expect_eq(approval_key_read(scratch_path("key"), &key), 0);
	cr_expect_eq(key.state, APPROVAL_KEY_READY);
}

Test(ctl_approval_key, replaces_another_only_by_force)
{
	struct approval_key first;
	struct approval_key second;

	cr_assert_eq(command_run(ctl_approval, "approval key --new key"), CTL_DONE);
	cr_assert_eq(approval_key_read(scratch_path("key"), &first), 0);
	cr_expect_eq(command_run(ctl_approval, "approval key --new key"), CTL_ERROR);
	expect_complaint(
		"File exists; --force replaces it, and earlier copies of it answer no more");
	cr_assert_eq(approval_key_read(scratch_path("key"), &second), 0);
	cr_expect_arr_eq(second.bytes, first.bytes, APPROVAL_KEY_BYTES);
	cr_expect_eq(command_run(ctl_approval, "approval key --new --force key"), CTL_DONE);
	cr_assert_eq(approval_key_read(scratch_path("key"), &second), 0);
	cr_expect_neq(memcmp(second.bytes, first.bytes, APPROVAL_KEY_BYTES), 0);
}

Test(ctl_approval_key, leaves_no_draft)
{
	char command[128];

	cr_expect_eq(command_run(ctl_approval, "approval key --new key"), CTL_DONE);
	cr_expect_eq(command_run(ctl_approval, "approval key --new key"), CTL_ERROR);
	cr_expect_eq(command_run(ctl_approval, "approval key --new --force key"), CTL_DONE);
	snprintf(command, sizeof(command), "test $(ls %s | wc -l) = 1", scratch_folder);
	cr_expect_eq(system(command), 0);
}

Test(ctl_approval_key, follows_no_link_to_another_file)
{
	scratch_write("other", "precious");
	cr_assert_eq(symlink(scratch_path("other"), scratch_path("key")), 0);
	cr_expect_eq(command_run(ctl_approval, "approval key --new key"), CTL_ERROR);
	cr_expect_eq(command_run(ctl_approval, "approval key --new --force key"), CTL_DONE);
	cr_expect_eq(readlink(scratch_path("key"), (char[8]){0}, 8), -1, "the link was replaced");
	cr_expect_eq(command_run(ctl_approval, "approval key --new key/below"), CTL_ERROR);
	expect_complaint("Not a directory");
}

Test(ctl_approval_key, goes_where_the_configuration_says)
{
	char text[256];

	expect_command(ctl_approval, "approval key --new", CTL_USAGE, "",
		"no file is configured: set approval.key_file of toolboxd in mycroft.conf first, "
		"or name a FILE\n");
	snprintf(text, sizeof(text), "{'toolboxd':{'approval':{'key_file':'%s'}}}",
		scratch_path("configured"));
	scratch_write_json("mycroft/mycroft.conf", text);
	cr_expect_eq(command_run(ctl_approval, "approval key --new"), CTL_DONE, "%s",
		command_complaints);
	cr_expect_eq(access(scratch_path("configured"), R_OK), 0);
}

Test(ctl_approval_key, is_not_made_by_half_a_command)
{
	static const char *const lines[] = {
		"approval key", "approval x --new", "approval keys --new"};

	for (size_t i = 0; i < 3; i++)
		expect_command(ctl_approval, lines[i], CTL_USAGE, "",
			"what about the approval? toolboxctl approval key --new [FILE]\n");
}
