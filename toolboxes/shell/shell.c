/* SPDX-License-Identifier: Apache-2.0 */

/*
 * shell: commands, and sessions in which they go on.
 *
 *   shell.c      arguments, variants       guard.c    the seat belt: commands that are not run
 *   sessions.c   who waits for what        fences.c   system calls and network
 *   program.c    programs, terminals       output.c   what nobody has read
 *
 * The wall is the sandbox of the manifest: landlock holds each program in the writable folders, and
 * hides secrets. Where the kernel has no landlock, nothing is run.
 */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <toolbox.h>
#include <unistd.h>

#include "answer.h"
#include "fences.h"
#include "guard.h"
#include "schema_text.h"
#include "sessions.h"
#include "stringify.h"
#include "text.h"

/* The most characters of a text: each may take six in JSON, as \u001b, and RESULT_CHARS_MAX is the
 * most that a tool may have. */
#define ANSWER_CHARS_MAX 150000
#define RESULT_CHARS_MAX 1100000

#define YIELD_MS_MAX   600000
#define TIMEOUT_MS_MAX 600000
#define CALL_MS        620000
#define TOKEN_CHARS    4
#define TOKENS_MAX     (ANSWER_CHARS_MAX / TOKEN_CHARS)
#define EXEC_YIELD_MS  10000
#define WRITE_YIELD_MS 250
#define TOKENS         2000
#define WORK_FOLDER    "/work"
#define WORK_MODE      0700
#define SHELL_DEFAULT  "/bin/bash"
#define SHELL_ELSE     "/bin/sh"

/* Where commands run unless their call names a folder. */
static char default_workdir[PATH_MAX];

/* ── arguments ───────────────────────────────────────────────────────────────────────────────── */

static void fail(struct toolbox_call call, const char *tool, struct text *why)
{
	struct text whole = {0};

	text_printf(&whole, "%s failed: ", tool);
	text_add_lossy(&whole, text_string(why), why->size);
	toolbox_fail(call, whole.has_failed ? "out of memory" : text_string(&whole));
	text_free(&whole);
	text_free(why);
}

/* Return the text @key, or @fallback if it is absent. NULL with @why: it has U+0000, which no
 * command can have. */
static const char *read_text(
	struct toolbox_call call, const char *key, const char *fallback, struct text *why)
{
	const char *text = fallback;
	size_t size = strlen(fallback);

	toolbox_get_string(call, key, &text, &size);
	if (strlen(text) == size)
		return text;
	text_printf(why, "%s has the character U+0000", key);
	return NULL;
}

static bool read_flag(struct toolbox_call call, const char *key, bool fallback)
{
	bool flag = fallback;

	toolbox_get_bool(call, key, &flag);
	return flag;
}

/* Write the folder of the call to @ret. Return false with the words in @why. */
static bool read_workdir(struct toolbox_call call, char ret[PATH_MAX], struct text *why)
{
	const char *path = read_text(call, "workdir", "", why);
	int size;

	if (!path)
		return false;
	size = *path == '/'
		       ? snprintf(ret, PATH_MAX, "%s", path)
		       : snprintf(ret, PATH_MAX, "%s%s%s", default_workdir, *path ? "/" : "", path);
	if (size >= PATH_MAX)
		text_put(why, "workdir is too long");
	return size < PATH_MAX;
}

static const char *default_shell(void)
{
	const char *shell = getenv("SHELL");

	if (shell && *shell == '/')
		return shell;
	return access(SHELL_DEFAULT, X_OK) == 0 ? SHELL_DEFAULT : SHELL_ELSE;
}

/* Return whether @command may run; else @why has the words. */
static bool may_run(
	struct toolbox_call call, const char *tool, const char *command, struct text *why)
{
	const char *rule = guard_judge(command, strlen(command));

	if (rule) {
		guard_explain(tool, rule, 0, command, strlen(command), why);
		return false;
	}
	if (toolbox_is_confined(call))
		return true;
	text_printf(why,
		"%s failed: nothing is run here: this kernel has no landlock, so nothing would "
		"keep "
		"a command from writing anywhere, and from reading secrets",
		tool);
	return false;
}

/* Run @command in @shell, and let the call wait. */
static void run(struct toolbox_call call, const char *shell, bool is_login, const char *command,
	bool has_tty, const struct session_wait *wait)
{
	char *const argv[] = {
		(char *)shell, (char *)(is_login ? "-lc" : "-c"), (char *)command, NULL};
	char workdir[PATH_MAX];
	struct text why = {0};

	if (!read_workdir(call, workdir, &why) ||
		!sessions_begin(call, argv, command, workdir, has_tty, wait, &why))
		fail(call, wait->tool, &why);
}

/* Fail @call with the words of @why, unless it may run @command. Return whether it may. */
static bool admit(struct toolbox_call call, const char *tool, const char *command)
{
	struct text why = {0};
	bool is_good = may_run(call, tool, command, &why);

	if (!is_good)
		toolbox_fail(call, why.has_failed ? "out of memory" : text_string(&why));
	text_free(&why);
	return is_good;
}

/* ── exec_command, write_stdin ───────────────────────────────────────────────────────────────── */

static size_t read_chars_max(struct toolbox_call call)
{
	return (size_t)read_number(call, "max_output_tokens", TOKENS, TOKENS_MAX) * TOKEN_CHARS;
}

static void exec_command(struct toolbox_call call, void *data)
{
	const struct session_wait wait = {
		.tool = "exec_command",
		.yield_ms = read_number(call, "yield_time_ms", EXEC_YIELD_MS, YIELD_MS_MAX),
		.chars_max = read_chars_max(call),
	};
	struct text why = {0};
	const char *command = read_text(call, "cmd", "", &why);
	const char *shell = command ? read_text(call, "shell", default_shell(), &why) : NULL;

	(void)data;
	if (!shell || !*shell) {
		text_put(&why, why.size == 0 ? "shell must not be empty" : "");
		fail(call, wait.tool, &why);
		return;
	}
	if (admit(call, wait.tool, command))
		run(call, shell, read_flag(call, "login", true), command,
			read_flag(call, "tty", false), &wait);
}

/* Refuse a command that destroys, before anybody is asked. */
static void check_exec(struct toolbox_call call, void *data)
{
	struct text why = {0};
	const char *command = read_text(call, "cmd", "", &why);

	(void)data;
	if (command)
		admit(call, "exec_command", command);
	text_free(&why);
}

/* What is typed, after the line that the session has. */
struct typing {
	int64_t id;
	const char *chars;
	size_t size;
	char *command; /* of the session; NULL: it is not there. The caller frees it */
	char before[SESSION_LINE_BYTES + 1];
	char after[SESSION_LINE_BYTES + 1];
	const char *rule; /* which it breaks, or NULL */
};

static void read_typing(struct toolbox_call call, struct typing *ret)
{
	*ret = (struct typing){.chars = ""};
	toolbox_get_i64(call, "session_id", &ret->id);
	toolbox_get_string(call, "chars", &ret->chars, &ret->size);
	if (sessions_find(call, ret->id, &ret->command, ret->before))
		ret->rule = guard_type(
			ret->before, ret->chars, ret->size, ret->after, sizeof(ret->after));
}

/* Fail @call if it types a line that destroys. Return whether it may go on. */
static bool admit_typing(struct toolbox_call call, const struct typing *typing)
{
	struct text all = {0};
	struct text why = {0};

	if (!typing->rule)
		return true;
	text_put(&all, typing->before);
	text_add(&all, typing->chars, typing->size);
	guard_explain("write_stdin", typing->rule, (long long)typing->id, text_string(&all),
		all.size, &why);
	toolbox_fail(call, why.has_failed ? "out of memory" : text_string(&why));
	text_free(&why);
	text_free(&all);
	return false;
}

static void write_stdin(struct toolbox_call call, void *data)
{
	const struct session_wait wait = {
		.tool = "write_stdin",
		.yield_ms = read_number(call, "yield_time_ms", WRITE_YIELD_MS, YIELD_MS_MAX),
		.chars_max = read_chars_max(call),
	};
	struct text why = {0};
	struct typing typing;

	(void)data;
	read_typing(call, &typing);
	if (admit_typing(call, &typing) && !sessions_write(call, typing.id, typing.chars,
						   typing.size, typing.after, &wait, &why))
		fail(call, wait.tool, &why);
	free(typing.command);
}

/* Refuse a line that destroys, and show a person which command gets the text. */
static void check_write(struct toolbox_call call, void *data)
{
	struct text about = {0};
	struct typing typing;

	(void)data;
	read_typing(call, &typing);
	if (admit_typing(call, &typing) && typing.command) {
		text_printf(&about, "Session %lld gets the text ", (long long)typing.id);
		text_add_json(&about, typing.chars, typing.size);
		text_put(&about, ". It runs ");
		text_add_json(&about, typing.command, strlen(typing.command));
		toolbox_describe(call, text_string(&about));
	}
	text_free(&about);
	free(typing.command);
}

/* ── shell, shell_command ────────────────────────────────────────────────────────────────────── */

static void read_deadline(struct toolbox_call call, const char *tool, struct session_wait *ret_wait)
{
	*ret_wait = (struct session_wait){
		.tool = tool,
		.timeout_ms = read_number(call, "timeout_ms", TIMEOUT_MS_MAX, TIMEOUT_MS_MAX),
		.chars_max = ANSWER_CHARS_MAX,
	};
}

/* Append @word, in single quotes unless it is plain. */
static void quote_word(const char *word, struct text *out)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_./:@%+-";

	if (*word && !word[strspn(word, plain)]) {
		text_put(out, word);
		return;
	}
	text_put(out, "'");
	for (; *word; word++) {
		if (*word == '\'')
			text_put(out, "'\\''");
		else
			text_add(out, word, 1);
	}
	text_put(out, "'");
}

/* Join the words of the argument `command`. Return false with the words in @why. */
static bool join_words(struct toolbox_call call, struct text *out, struct text *why)
{
	uint32_t n = 0;

	toolbox_get_count(call, "command", &n);
	for (uint32_t i = 0; i < n; i++) {
		const char *word;
		char key[32];

		snprintf(key, sizeof(key), "/command/%u", (unsigned int)i);
		word = read_text(call, key, "", why);
		if (!word)
			return false;
		text_put(out, i > 0 ? " " : "");
		quote_word(word, out);
	}
	if (out->has_failed)
		text_put(why, "out of memory");
	return !out->has_failed;
}

static void shell(struct toolbox_call call, void *data)
{
	struct text command = {0};
	struct session_wait wait;
	struct text why = {0};

	(void)data;
	read_deadline(call, "shell", &wait);
	if (!join_words(call, &command, &why))
		fail(call, wait.tool, &why);
	else if (admit(call, wait.tool, text_string(&command)))
		run(call, default_shell(), false, text_string(&command), false, &wait);
	text_free(&command);
}

static void check_shell(struct toolbox_call call, void *data)
{
	struct text command = {0};
	struct text why = {0};

	(void)data;
	if (join_words(call, &command, &why))
		admit(call, "shell", text_string(&command));
	text_free(&command);
	text_free(&why);
}

static void shell_command(struct toolbox_call call, void *data)
{
	struct session_wait wait;
	struct text why = {0};
	const char *command = read_text(call, "command", "", &why);

	(void)data;
	read_deadline(call, "shell_command", &wait);
	if (!command)
		fail(call, wait.tool, &why);
	else if (admit(call, wait.tool, command))
		run(call, default_shell(), read_flag(call, "login", true), command, false, &wait);
}

static void check_shell_command(struct toolbox_call call, void *data)
{
	struct text why = {0};
	const char *command = read_text(call, "command", "", &why);

	(void)data;
	if (command)
		admit(call, "shell_command", command);
	text_free(&why);
}

/* ── the tables ──────────────────────────────────────────────────────────────────────────────── */

#define IGNORED                                                                                    \
	"\"sandbox_permissions\":{\"enum\":[\"use_default\",\"require_escalated\"],"               \
	"\"description\":\"Accepted and ignored.\"},"                                              \
	"\"justification\":{\"type\":\"string\",\"description\":\"Accepted and ignored.\"},"       \
	"\"prefix_rule\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1},"     \
	"\"description\":\"Accepted and ignored.\"}"
#define TEXT(name, description)                                                                    \
	"\"" name "\":{\"type\":\"string\",\"description\":\"" description "\"}"
#define WORKDIR TEXT("workdir", "The folder to run in. Default: the working folder.")
#define LOGIN   FLAG("login", "true", "Run it by a login shell.")
#define TOKENS_ARGUMENT                                                                            \
	NUMBER("max_output_tokens", "1", ",\"default\":" STRINGIFY(TOKENS),                        \
		"The most output of the answer, in tokens of " STRINGIFY(                          \
			TOKEN_CHARS) " characters. The rest waits for "                            \
				     "the next call.")
#define TIMEOUT                                                                                    \
	NUMBER("timeout_ms", "1", "",                                                              \
		"The command is ended after so many milliseconds, and the call fails with its "    \
		"output. Default and most: " STRINGIFY(TIMEOUT_MS_MAX) ".")
#define RESULT                                                                                     \
	"{\"type\":\"object\",\"properties\":{\"exit_code\":{\"type\":\"integer\","                \
	"\"description\":"                                                                         \
	"\"-1: a signal has ended it.\"},\"session_id\":{\"type\":\"integer\",\"description\":"    \
	"\"For write_stdin: it runs, or has more output.\"}}}"

#define YIELD(fallback)                                                                            \
	NUMBER("yield_time_ms", "0", ",\"default\":" fallback,                                     \
		"How long to wait for its end, at most " STRINGIFY(YIELD_MS_MAX) ".")
#define SHELL TEXT("shell", "The shell. Default: the user's.")
#define TTY   FLAG("tty", "false", "Give it a terminal.")
#define CHARS TEXT("chars", "The text; a line ends with \\\\n.")

/* clang-format off */
static const char exec_schema[] = OBJECT("\"cmd\"",
	STRING("cmd", "The command.") ","
	WORKDIR "," SHELL "," LOGIN "," TTY "," YIELD(STRINGIFY(EXEC_YIELD_MS)) ","
	TOKENS_ARGUMENT "," IGNORED);

static const char write_schema[] = OBJECT("\"session_id\"",
	NUMBER("session_id", "1", "", "The session ID of exec_command.") ","
	CHARS "," YIELD(STRINGIFY(WRITE_YIELD_MS)) "," TOKENS_ARGUMENT);
/* clang-format on */

static const struct toolbox_tool unified_exec[] = {
	{
		.name = "exec_command",
		.title = "Run a command",
		.description =
			"Run a command in a shell. When it has not ended after yield_time_ms, the "
			"answer has a session ID: write_stdin goes on with it. With tty the "
			"command "
			"gets a terminal.",
		.argument_schema = exec_schema,
		.output_schema = RESULT,
		.risk = TOOLBOX_EXECUTE,
		.timeout_ms = CALL_MS,
		.result_max_chars = RESULT_CHARS_MAX,
		.examples = "[{\"args\":{\"cmd\":\"make "
			    "test\",\"workdir\":\"/home/ada/project\",\"yield_time_ms\":60000}}]",
		.handler = exec_command,
		.validate = check_exec,
	},
	{
		.name = "write_stdin",
		.title = "Type into a running command",
		.description =
			"Send text to a command that runs, and return its new output. Without "
			"chars, only return the output. \\u0004 at the end of chars ends its "
			"input.",
		.argument_schema = write_schema,
		.output_schema = RESULT,
		.risk = TOOLBOX_EXECUTE,
		.timeout_ms = CALL_MS,
		.result_max_chars = RESULT_CHARS_MAX,
		.examples = "[{\"args\":{\"session_id\":4711,\"chars\":\"yes\\n\"}},{\"args\":{"
			    "\"session_id\":4711}}]",
		.handler = write_stdin,
		.validate = check_write,
		.grant_key = "session_id",
		.asked_key = "chars",
	},
};

static const struct toolbox_tool shell_tools[] = {{
	.name = "shell",
	.title = "Run a command",
	.description = "Run a program with its arguments, and return its output when it has ended.",
	.argument_schema = OBJECT("\"command\"",
		"\"command\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\","
		"\"minLength\":1},\"description\":\"The program and its arguments.\"}," WORKDIR
		"," TIMEOUT "," IGNORED),
	.output_schema = RESULT,
	.risk = TOOLBOX_EXECUTE,
	.timeout_ms = CALL_MS,
	.result_max_chars = RESULT_CHARS_MAX,
	.examples = "[{\"args\":{\"command\":[\"ls\",\"-l\",\"my folder\"]}}]",
	.handler = shell,
	.validate = check_shell,
}};

static const struct toolbox_tool shell_command_tools[] = {{
	.name = "shell_command",
	.title = "Run a command",
	.description = "Run a command in a shell, and return its output when it has ended.",
	.argument_schema = OBJECT("\"command\"",
		STRING("command", "The command.") "," WORKDIR "," LOGIN "," TIMEOUT "," IGNORED),
	.output_schema = RESULT,
	.risk = TOOLBOX_EXECUTE,
	.timeout_ms = CALL_MS,
	.result_max_chars = RESULT_CHARS_MAX,
	.examples = "[{\"args\":{\"command\":\"ls -l *.txt\"}}]",
	.handler = shell_command,
	.validate = check_shell_command,
}};

/* Find the folder of commands. Return false when the call has the failure. */
static bool find_workdir(struct toolbox_call call)
{
	const char *folder = NULL;

	if (toolbox_get_string(call, "/writable/0", &folder, NULL) == TOOLBOX_OK) {
		snprintf(default_workdir, sizeof(default_workdir), "%s", folder);
		return true;
	}
	if (toolbox_get_string(call, "state_folder", &folder, NULL) != TOOLBOX_OK) {
		toolbox_fail(call, "there is no state folder to work in: set shell.writable");
		return false;
	}
	snprintf(default_workdir, sizeof(default_workdir), "%s" WORK_FOLDER, folder);
	if (mkdir(default_workdir, WORK_MODE) == 0 || errno == EEXIST)
		return true;
	toolbox_fail(call, "the folder `work` in its state folder cannot be made");
	return false;
}

/* Choose the tools by the setting `variant`. */
static int choose_variant(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	const char *variant = "unified_exec";

	toolbox_get_string(call, "variant", &variant, NULL);
	*ret_n_tools = 1;
	if (strcmp(variant, "unified_exec") == 0) {
		*ret_tools = unified_exec;
		*ret_n_tools = sizeof(unified_exec) / sizeof(unified_exec[0]);
	} else if (strcmp(variant, "shell") == 0) {
		*ret_tools = shell_tools;
	} else if (strcmp(variant, "shell_command") == 0) {
		*ret_tools = shell_command_tools;
	} else if (strcmp(variant, "disabled") == 0) {
		return toolbox_fail(call, "it offers nothing: shell.variant is \"disabled\"");
	} else {
		return toolbox_fail(call, "shell.variant must be \"unified_exec\", \"shell\", "
					  "\"shell_command\" or \"disabled\"");
	}
	return 0;
}

static int init(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	struct text why = {0};

	if (choose_variant(call, ret_tools, ret_n_tools) != 0 || !find_workdir(call))
		return 1;
	if (!fences_enter(read_flag(call, "network", true), &why)) {
		toolbox_fail(call, text_string(&why));
		text_free(&why);
		return 1;
	}
	return sessions_init(call) ? 0 : 1;
}

const struct toolbox_plugin toolbox_plugin = {
	.api_version = TOOLBOX_API_VERSION,
	.size = sizeof(struct toolbox_plugin),
	.tool_size = sizeof(struct toolbox_tool),
	.init = init,
	.replaced = sessions_end_all,
};
