/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "guard.h"

static void expect_rule(const char *rule, const char *const *commands)
{
	for (; *commands; commands++) {
		const char *found = guard_judge(*commands, strlen(*commands));

		cr_expect_str_eq(found ? found : "none", rule ? rule : "none", "%s: %s", *commands,
			found ? found : "none");
	}
}

Test(shell_guard, refuses_to_remove_what_a_machine_lives_from)
{
	static const char *const commands[] = {"rm -rf /", "rm -rf /*", "rm -rf /.*", "rm -r ~",
		"rm -Rf ~/", "rm -fr ~/*", "rm -rf $HOME", "rm -rf \"$HOME\"", "rm -rf ${HOME}/*",
		"rm --recursive --force /", "rm -rf //", "rm -rf /../", "rm -rf /usr/..",
		"rm -rf -- /", "RM -rf /", "/bin/rm -rf /", "rm / -rf", "rm -rf /home/*",
		"rm -rf /home/alice", "rm -rf /etc /tmp/x", "cd /tmp && rm -rf /", "true; rm -rf /",
		"ls | rm -rf /", "rm -rf / &", "A=1 rm -rf /", "sudo rm -rf /",
		"sudo -u root -E rm -rf /", "doas rm -rf /", "env A=b rm -rf /",
		"command nohup time rm -rf /", "timeout 5 rm -rf /", "busybox rm -rf /",
		"bash -c \"rm -rf /\"", "bash -lc 'rm -rf /'", "sh -c \"sh -c 'rm -rf /'\"",
		"eval rm -rf /", "eval \"rm -rf /\"", "echo $(rm -rf /)", "echo \"$(rm -rf /)\"",
		"echo `rm -rf /`", "(rm -rf /)", "{ rm -rf /; }", "if true; then rm -rf /; fi",
		"echo / | xargs rm -rf", "rm -r\\f /", "r\\m -rf /", "'rm' -rf /", "rm -rf '/'",
		"echo a#b; rm -rf /", "rm \\\n-rf /", "x=y\nrm -rf /\n", NULL};

	expect_rule("rm_recursive_critical_target", commands);
}

Test(shell_guard, refuses_to_write_over_disks)
{
	static const char *const file_systems[] = {
		"mkfs /dev/sda1", "mkfs.ext4 /dev/sda", "sudo mkfs.vfat x", "mke2fs x", NULL};
	static const char *const dd[] = {"dd if=/dev/zero of=/dev/sda", "dd of=/dev/nvme0n1p2",
		"dd of /dev/vda", "dd of=/dev/mapper/root", NULL};
	static const char *const tools[] = {"wipefs -a /dev/sda", "fdisk /dev/mmcblk0p1",
		"shred /dev/xvdb", "blkdiscard /dev/disk/by-id/x", "echo x | tee /dev/sda",
		"cp x /dev/sda", "parted /dev/vg0/root", "sgdisk -Z /dev/md0", NULL};
	static const char *const redirections[] = {"echo x > /dev/sda", "echo x >/dev/sda1",
		"echo x >> /dev/hda", "echo x >| /dev/sda", "echo x &> /dev/sda",
		"echo x 1>/dev/disk2", ": > \"/dev/sda\"", NULL};

	expect_rule("mkfs_filesystem_create", file_systems);
	expect_rule("dd_write_block_device", dd);
	expect_rule("disk_mutation_block_device", tools);
	expect_rule("redirect_block_device", redirections);
}

Test(shell_guard, refuses_other_disasters)
{
	static const char *const find[] = {"find / -delete", "find ~ -name x -exec rm {} +",
		"find /etc -type f -delete", NULL};
	static const char *const mv[] = {"mv / x", "mv /etc /tmp/x", NULL};
	static const char *const modes[] = {
		"chmod -R 000 /", "chown -R me ~", "chmod --recursive 777 /usr", NULL};
	static const char *const bombs[] = {":(){ :|:& };:", "b () { b | b & } ; b", NULL};

	expect_rule("find_delete_critical_target", find);
	expect_rule("mv_critical_target", mv);
	expect_rule("mode_recursive_critical_target", modes);
	expect_rule("fork_bomb", bombs);
}

Test(shell_guard, lets_everyday_commands_go)
{
	static const char *const commands[] = {"rm -rf build", "rm -rf /tmp/x", "rm -rf ./",
		"rm /etc", "rm -rf ~/build", "rm -rf /home/alice/x", "echo rm -rf /",
		"echo 'rm -rf /'", "# rm -rf /", "ls # ; rm -rf /", "ls / | grep rm",
		"dd if=a of=b", "dd if=/dev/sda of=image", "cat /dev/sda > image",
		"echo x > /dev/null", "echo x > /dev/pts/1", "tee /dev/stderr", "find . -delete",
		"find / -name x", "mv a b", "chmod -R u+w .", "chmod 644 /etc/x",
		"cp /dev/sda image", "", ";;;", "'", "\"$(", "`", "\\", "sudo", "bash -c",
		"git commit -m 'rm -rf /'", NULL};

	expect_rule(NULL, commands);
}

Test(shell_guard, is_bounded)
{
	static char deep[20000];
	static char wide[200000];
	size_t n = 0;

	while (n < sizeof(deep) - 3) {
		deep[n++] = '$';
		deep[n++] = '(';
	}
	cr_expect_null(guard_judge(deep, n));
	memset(wide, 'a', sizeof(wide));
	cr_expect_null(guard_judge(wide, sizeof(wide)));
	for (size_t i = 0; i < sizeof(wide); i += 2)
		wide[i] = ' ';
	cr_expect_null(guard_judge(wide, sizeof(wide)));
}

static char line[64];

static const char *type(const char *before, const char *chars)
{
	char after[sizeof(line)];
	const char *rule = guard_type(before, chars, strlen(chars), after, sizeof(after));

	memcpy(line, after, sizeof(line));
	return rule;
}

Test(shell_guard, judges_each_line_that_is_typed_whole)
{
	cr_expect_null(type("", "rm -rf /"));
	cr_expect_str_eq(line, "rm -rf /");
	cr_expect_str_eq(type("rm -rf /", "\n"), "rm_recursive_critical_target");
	cr_expect_str_eq(type("rm -r", "f /\r"), "rm_recursive_critical_target");
	cr_expect_str_eq(type("", "ls\nrm -rf /\r\nls"), "rm_recursive_critical_target");
	cr_expect_str_eq(type("", "rm -rf /\x04"), "rm_recursive_critical_target");
	cr_expect_str_eq(type("rm -rf /", "\x04\x04"), "rm_recursive_critical_target");
	cr_expect_str_eq(type("", "rm -rf /\x04\n"), "rm_recursive_critical_target");
	cr_expect_str_eq(type("rm", " -rf\x04 \x04/\n"), "rm_recursive_critical_target");
	cr_expect_null(type("rm -rf", "\x04"));
	cr_expect_str_eq(line, "rm -rf", "a terminal goes on with the line");
	cr_expect_null(type("rm -rf /", "tmp/x\nls"));
	cr_expect_str_eq(line, "ls");
	cr_expect_null(
		type("", "0123456789012345678901234567890123456789012345678901234567890123abc"));
	cr_expect_eq(strlen(line), sizeof(line) - 1);
	cr_expect_str_eq(line + strlen(line) - 3, "abc", "the last bytes count");
}

Test(shell_guard, explains_itself_to_a_model)
{
	struct text out = {0};
	static const char command[] = "rm\n -rf   \"/\" <&>";

	guard_explain("write_stdin", "a_rule", 7, command, strlen(command), &out);
	cr_expect(strstr(text_string(&out), "tool=\"write_stdin\" reason=\"dangerous_command\" "
					    "policy=\"blacklist\" rule=\"a_rule\" "
					    "session_id=\"7\" command=\"rm -rf &quot;/&quot; "
					    "&lt;&amp;&gt;\">"),
		"%s", text_string(&out));
	text_free(&out);
}
