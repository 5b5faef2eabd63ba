/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/help/complete.h"
#include "ctl/help/help.h"
#include "ctl/terminal.h"
#include "util/array.h"
#include "util/file/file.h"
#include "util/log.h"

/*
 * The command line client: the table of commands, and their common parts. ctl/ has the commands
 * themselves.
 */

#define REMEMBERED_NAMES                                                                           \
	"NAMES are tools: TOOL, TOOLBOX/TOOL, with * for any characters. They are kept in a file " \
	"of the service,\nwhich reads it at once.\n"

#define WHICH_FLAGS (CTL_FLAG_TOOLBOX | CTL_FLAG_PROFILE)

/* The flags of commands that can be done over HTTP as well. */
#define DOOR_FLAGS (CTL_FLAG_BUS | CTL_FLAG_HTTP)

static int print_help(const struct ctl_options *options);
static int print_version(const struct ctl_options *options);
static int complete(const struct ctl_options *options);

static const struct ctl_command commands[] = {
	{"list", "[NAME...]", "list the tools that are offered",
		"NAMES are tools: TOOL, TOOLBOX/TOOL, with * for any characters. With --format the "
		"list is\nprinted for a model: as JSON, or as text (markdown).\n",
		"  toolboxctl list --toolbox math_tools\n"
		"  toolboxctl list 'light*'\n"
		"  toolboxctl list --long\n"
		"  toolboxctl list --why\n"
		"  toolboxctl list --format openai\n"
		"  toolboxctl list --format anthropic --stat\n",
		WHICH_FLAGS | CTL_FLAG_FORMAT | CTL_FLAG_LONG | CTL_FLAG_WHY | CTL_FLAG_OFFLINE |
			CTL_FLAG_DIR | DOOR_FLAGS,
		0, CTL_MANY, ctl_list},
	{"get", "NAME", "show how to call a tool", "NAME is a tool, or TOOLBOX/TOOL.\n",
		"  toolboxctl get add\n"
		"  toolboxctl get math_tools/add --json\n",
		WHICH_FLAGS | DOOR_FLAGS, 1, 1, ctl_get},
	{"invoke", "NAME [KEY=VALUE | KEY:=JSON | KEY=@FILE | -]...", "run a tool",
		"NAME is a tool, TOOLBOX/TOOL or TOOLBOX__TOOL. In KEY=VALUE the value is text "
		"where the tool wants text, JSON or text elsewhere, and elements with commas "
		"between them where it wants an array; in KEY:=JSON it is always JSON. KEY=@FILE "
		"takes the text or the bytes of a file, and place.city=Porto a member of an "
		"object. A '-' alone reads one JSON object with all arguments from stdin. The tool "
		"has its own deadline, and Ctrl-C cancels the call.\n",
		"  toolboxctl invoke add a=3 b=4\n"
		"  toolboxctl invoke math_tools/add --args '{\"a\": 3, \"b\": 4}'\n"
		"  toolboxctl invoke add a=3 b=x --dry-run\n"
		"  toolboxctl invoke crc32 data=@/bin/ls --timeout 60\n"
		"  toolboxctl invoke weather place.city=Porto days=1,2\n"
		"  toolboxctl invoke shout text=hello --raw\n"
		"  toolboxctl invoke shout text=hello --get result.loud\n"
		"  toolboxctl invoke lights_on --yes\n"
		"  toolboxctl invoke backup --background\n"
		"  toolboxctl invoke --file words/words.json shout text=hello\n"
		"  toolboxctl invoke --trace-files file_type path=/etc/hostname\n",
		WHICH_FLAGS | CTL_FLAG_ARGS | CTL_FLAG_DRY_RUN | CTL_FLAG_FILE | DOOR_FLAGS, 1,
		CTL_MANY, ctl_invoke},
	{"reload", "", "reload the configuration and the toolboxes", "", "  toolboxctl reload\n",
		DOOR_FLAGS, 0, 0, ctl_reload},
	{"status", "[TOOLBOX]", "show the state of the service and its toolboxes",
		"With TOOLBOX, its tools, their last failures, and the last lines that its "
		"processes have\nprinted. With --watch it is shown again each second.\n",
		"  toolboxctl status\n"
		"  toolboxctl status math_tools\n"
		"  toolboxctl status --watch\n"
		"  toolboxctl status --json\n",
		CTL_FLAG_WATCH | DOOR_FLAGS, 0, 1, ctl_status},
	{"calls", "", "list the calls in flight, and the last that are over",
		"The newest is at the bottom. NAME of --tool is a tool, or TOOLBOX/TOOL. Arguments "
		"and results\nare not kept.\n",
		"  toolboxctl calls --running\n"
		"  toolboxctl calls --failed --since 10m\n"
		"  toolboxctl calls --tool math_tools/add --source skill-math\n",
		CTL_FLAG_CALLS | CTL_FLAG_TOOL | CTL_FLAG_TOOLBOX | CTL_FLAG_PAST | DOOR_FLAGS, 0,
		0, ctl_calls},
	{"cancel", "CALL...", "end calls that run or wait",
		"CALL is the id that `calls` shows, or the caller's call_id, or the beginning of "
		"either.\n",
		"  toolboxctl cancel c4f1a2\n", DOOR_FLAGS, 1, CTL_MANY, ctl_cancel},
	{"jobs", "[get | wait | cancel] [JOB...]",
		"list the calls in the background, or one of them",
		"JOB is the id that `invoke --background` prints. `wait` waits for its end and "
		"prints "
		"its\nresult, like `get` of one that has ended. A caller sees its own jobs.\n",
		"  toolboxctl jobs\n"
		"  toolboxctl jobs wait 0123456789abcdef0123456789abcdef\n"
		"  toolboxctl jobs cancel 0123456789abcdef0123456789abcdef\n",
		DOOR_FLAGS, 0, CTL_MANY, ctl_jobs},
	{"watch", "", "print calls as they happen",
		"It runs until it is interrupted. With --json it prints one line of JSON per "
		"event. Events\nhave the arguments and the results of calls where the service's "
		"configuration has\n\"events\": {\"arguments\": true, \"results\": true}.\n",
		"  toolboxctl watch\n"
		"  toolboxctl watch --json\n"
		"  toolboxctl watch --failed --source skill-math\n"
		"  toolboxctl watch --tool add --arguments --count 1\n",
		CTL_FLAG_TOOL | CTL_FLAG_TOOLBOX | CTL_FLAG_EVENTS | DOOR_FLAGS, 0, 0, ctl_watch},
	{"match", "TEXT...", "find the tool that an utterance means",
		"The first tool, in the order of `list`, with a trigger that matches. Several "
		"words are\none utterance.\n",
		"  toolboxctl match what is 3 plus 4\n", CTL_FLAG_LANG | DOOR_FLAGS, 1, CTL_MANY,
		ctl_match},
	{"say", "TEXT...", "let the tool that an utterance means answer it",
		"The tool is called with the arguments in the utterance, and its words are "
		"printed, or its result if\nit has no words. Several words are one utterance.\n",
		"  toolboxctl say what is three plus four\n"
		"  toolboxctl say --lang de was ist drei plus vier\n",
		CTL_FLAG_LANG | CTL_FLAG_BUS, 1, CTL_MANY, ctl_say},
	{"chat", "[TEXT...]", "talk to a model with tools (toolbox-agent)",
		"One turn with TEXT; without it a conversation, a turn for each line, until the "
		"end of the\ninput (Ctrl-D). Tools are shown as they run, and questions about them "
		"are asked here. Ctrl-C\ncancels a turn.\n",
		"  toolboxctl chat what is the square root of two\n"
		"  toolboxctl chat --profile kids\n",
		CTL_FLAG_LANG | CTL_FLAG_PROFILE | CTL_FLAG_BUS, 0, CTL_MANY, ctl_chat},
	{"search", "WORDS...", "find the tools that fit a description best",
		"The best is at the top. Words are compared by their stems, without case and "
		"accents.\n",
		"  toolboxctl search how warm is it outside\n",
		CTL_FLAG_TOOLBOX | CTL_FLAG_PROFILE | DOOR_FLAGS, 1, CTL_MANY, ctl_search},
	{"audit", "[FILE | verify FILE...]",
		"list an audit log, or check its chain (needs no daemon)",
		"Without FILE it is the audit.file of the configuration, after its FILE.1. "
		"`verify` takes files\nin their order, and names the first line without the hash "
		"of the line before.\n",
		"  toolboxctl audit --since 2h --source kitchen\n"
		"  toolboxctl audit verify audit.log.1 audit.log\n",
		CTL_FLAG_TOOL | CTL_FLAG_PAST, 0, CTL_MANY, ctl_audit},
	{"approvals", "", "list the calls that wait for a person's approval",
		"With --watch this terminal answers: y once, s for the session, n no, ? all "
		"arguments,\nq leave.\n",
		"  toolboxctl approvals --watch\n", CTL_FLAG_WATCH | CTL_FLAG_ALLOWED | DOOR_FLAGS,
		0, 0, ctl_approvals},
	{"approve", "ID", "let a waiting call run", "ID is an id of `approvals`.\n",
		"  toolboxctl approve 0123456789abcdef0123456789abcdef --session\n",
		CTL_FLAG_SESSION | DOOR_FLAGS, 1, 1, ctl_approve},
	{"deny", "ID", "deny a waiting call", "ID is an id of `approvals`.\n",
		"  toolboxctl deny 0123456789abcdef0123456789abcdef --reason no\n",
		CTL_FLAG_REASON | DOOR_FLAGS, 1, 1, ctl_deny},
	{"approval", "key [FILE]", "make the key for approving calls (needs no daemon)",
		"It is written to FILE, else where approval.key_file says, for its owner only.\n",
		"  toolboxctl approval key --new\n"
		"  toolboxctl approval key --new /etc/toolboxd/approval.key\n",
		CTL_FLAG_KEY, 1, 2, ctl_approval},
	{"check", "FILE...", "check manifests (needs no daemon)",
		"FILE is a manifest, a folder of programs, or a folder of toolboxes such as "
		"toolbox.d.\nPrints problems as `error|warning FILE:LINE PATH: text` on stderr, "
		"and a summary.\nWith --header, a name or a path, native tools are held against "
		"the declarations of their library\nby a C compiler: $CC, or cc.\n",
		"  toolboxctl check words/words.json --run\n"
		"  toolboxctl check --header zlib.h --pkg zlib zip.json\n"
		"  toolboxctl check ~/.local/share/toolboxd/toolbox.d\n",
		CTL_FLAG_RUN | CTL_FLAG_HEADER, 1, CTL_MANY, ctl_check},
	{"test", "FILE... [FILE.calls...]",
		"call the examples of a toolbox, and compare (needs no daemon)",
		"Each example is really called, in the sandbox of its toolbox, and its result "
		"compared. Then\nthe lines of tests/*.calls beside FILE, or in it if it is a "
		"folder, or of the files named:\n"
		"`TOOL KEY=VALUE... -> JSON` or `-> error CODE`, or without `->` any result.\n",
		"  toolboxctl test words/words.json\n"
		"  toolboxctl test build/toolbox.d/words.json tests/words.calls\n",
		CTL_FLAG_ALL, 1, CTL_MANY, ctl_test},
	{"validate", "SCHEMA INSTANCE...", "check JSON against a JSON Schema (needs no daemon)",
		"The schema is draft 2020-12, or draft-07 when $schema names it. '-' is stdin.\n",
		"  toolboxctl validate schema.json a.json b.json\n"
		"  toolboxctl validate schema.json --lines log.jsonl\n",
		CTL_FLAG_LINES, 2, CTL_MANY, ctl_validate},
	{"allow", "NAME...", "let tools run without approval, for good", REMEMBERED_NAMES,
		"  toolboxctl allow clock/get_time\n", CTL_FLAG_BUS, 1, CTL_MANY, ctl_remember},
	{"disallow", "NAME...", "take back what allow has remembered", REMEMBERED_NAMES,
		"  toolboxctl disallow clock/get_time\n", CTL_FLAG_BUS, 1, CTL_MANY, ctl_remember},
	{"disable", "NAME...", "leave tools out for everybody, for good or --for a time",
		REMEMBERED_NAMES,
		"  toolboxctl disable 'shell/*'\n"
		"  toolboxctl disable home/lights_on --for 10m\n",
		CTL_FLAG_FOR | CTL_FLAG_BUS, 1, CTL_MANY, ctl_remember},
	{"enable", "NAME...", "take back a disable, or offer what a manifest disables",
		REMEMBERED_NAMES "A toolbox that its manifest disables is named by its id alone.\n",
		"  toolboxctl enable 'web/*'\n"
		"  toolboxctl enable shell\n",
		CTL_FLAG_BUS, 1, CTL_MANY, ctl_remember},
	{"profile", "list | show NAME | set NAME NAMES... | remove NAME",
		"the profiles that are files of the service", REMEMBERED_NAMES,
		"  toolboxctl profile set kids 'clock/*' get_weather\n", CTL_FLAG_BUS, 1, CTL_MANY,
		ctl_profile},
	{"token", "new NAME | list | revoke NAME", "the tokens of clients of HTTP",
		"A token is printed once, when it is made; the service keeps its SHA-256 "
		"(tokens.json). As soon as\nthere is one, no client of HTTP gets in without. Its "
		"calls have the source http:NAME.\n",
		"  toolboxctl token new kitchen --profile kids\n"
		"  toolboxctl token new me --admin\n",
		CTL_FLAG_PROFILE | CTL_FLAG_ADMIN | CTL_FLAG_BUS, 1, CTL_MANY, ctl_token},
	{"trust", "ID", "accept what an MCP server has changed (needs no daemon)",
		"ID is a toolbox of kind mcp. The tools of its server are pinned when they are "
		"seen first. A tool that was changed since is reported, and with \"pin\": "
		"\"block\" not offered until the change is accepted.\n",
		"  toolboxctl trust files --show\n"
		"  toolboxctl trust files\n",
		CTL_FLAG_SHOW | CTL_FLAG_BUS, 1, 1, ctl_trust},
	{"add", "FILE...", "register toolboxes for this user: check, copy, reload",
		"FILE is a manifest NAME.json (also a list of shell lines or of servers), a folder "
		"of programs,\nor '-', a manifest on stdin. All are put into the user's toolbox.d, "
		"or, with a mistake in one,\nnone. Without a daemon they are offered once there is "
		"one.\n",
		"  toolboxctl add lights.json\n"
		"  toolboxctl add home/ notes.json\n"
		"  toolboxctl add - <lights.json\n",
		CTL_FLAG_BUS, 1, CTL_MANY, ctl_add},
	{"remove", "ID", "take out what add has registered",
		"ID is the name of the file or folder "
		"that `add` has put into the user's toolbox.d.\n",
		"  toolboxctl remove lights\n", CTL_FLAG_BUS, 1, 1, ctl_remove},
	{"dev", "FILE", "serve a toolbox while it is written (needs no daemon)",
		"FILE is a manifest, or the folder of a toolbox or of several. Each change is "
		"loaded and reported,\nand each call printed. It is its own bus, at the configured "
		"address if that is free.\nWhat a build has made in FILE/build/toolbox.d "
		"is served instead of the sources.\n",
		"  toolboxctl dev words/\n", 0, 1, 1, ctl_dev},
	{"mcp", "", "serve the tools to a client of MCP, on stdin and stdout",
		"A tool is called toolbox__name, or by its own name if --toolbox is given once; it "
		"may be given\nseveral times. With --bare a tool has its own name unless another "
		"one has the same.\nIt ends when stdin does, which cancels calls; if that is a "
		"file, it waits for\nthem. With --standalone it needs no daemon; a call that needs "
		"approval is then denied, since\nno person can be asked.\n",
		"  toolboxctl mcp\n"
		"  toolboxctl mcp <requests.jsonl\n"
		"  toolboxctl mcp --toolbox math_tools\n"
		"  toolboxctl mcp --standalone --toolbox-dir ~/tools\n",
		WHICH_FLAGS | CTL_FLAG_MCP | CTL_FLAG_DIR | CTL_FLAG_BUS, 0, 0, ctl_mcp},
	{"new", "ID | --from-skill SKILL",
		"write a new toolbox into the folder ID (needs no daemon)",
		"It has a manifest, sources, CMakeLists.txt and tests, and builds as it is. KIND "
		"is\n"
		"native: a C library that does not know toolboxd; plugin: a library with "
		"toolbox.h;\n"
		"command: programs and shell lines; programs: a folder where each program is a "
		"tool;\npython: a package of ToolBox plugins; bus: messages of the bus. For mcp, a "
		"server of the Model Context\nProtocol, it is a manifest alone: the server is "
		"started and asked for its tools.\nA secret of --env and --header is kept in a "
		"file that only you can read.\n--from-skill asks a skill of OVOS on the bus, and "
		"ovos-core, and writes one manifest, of kind bus.\n--from-header has a C compiler "
		"read a header, and writes a manifest, of kind native, with a tool\nfor each "
		"function of the library that a tool can call; --why lists the others. --from-gir "
		"reads a\nGIR file instead, which names header and library.\n",
		"  toolboxctl new words --kind native\n"
		"  toolboxctl new music --kind mcp --command npx -y some-server /srv/music\n"
		"  toolboxctl new lights --kind mcp --url https://lights.example/mcp\n"
		"  toolboxctl new notes --kind mcp --env API_KEY=... --command notes-server\n"
		"  toolboxctl new --from-skill ovos-skill-count.openvoiceos --out count.json\n"
		"  toolboxctl new zip --from-header zlib.h --library libz.so.1 --only 'crc32*'\n"
		"  toolboxctl new text --from-gir GLib-2.0 --only 'g_utf8_*'\n",
		CTL_FLAG_KIND | CTL_FLAG_WHY | CTL_FLAG_BUS, 0, 1, ctl_new},
	{"help", "[COMMAND | TOPIC]", "print help", "", "  toolboxctl help manifest\n", 0, 0, 1,
		print_help},
	{"version", "", "print the version", "", "  toolboxctl version\n", 0, 0, 0, print_version},
	/* Hidden: it has no summary. */
	{"complete", "-- WORD...", "", "", "  toolboxctl complete -- invoke math_tools/\n", 0, 0,
		CTL_MANY, complete},
};
#define N_COMMANDS ARRAY_SIZE(commands)

static const struct ctl_command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int print_version(const struct ctl_options *options)
{
	(void)options;
	puts("toolboxctl " TOOLBOXD_VERSION);
	return CTL_DONE;
}

static int complete(const struct ctl_options *options)
{
	return help_complete(commands, N_COMMANDS, options);
}

/* Print the help that `help` or `help WORD` asks for. A topic comes before the command of its name,
 * which has `toolboxctl WORD --help`. */
static int print_help(const struct ctl_options *options)
{
	const char *word = options->n_positional > 1 ? options->positional[1] : NULL;
	const struct ctl_command *command = word ? find_command(word) : NULL;

	if (!word)
		help_print_program(commands, N_COMMANDS);
	else if (help_print_topic(word))
		return CTL_DONE;
	else if (command)
		help_print_command(command);
	else {
		terminal_complain("there is no help on '%s'; see toolboxctl help", word);
		return CTL_USAGE;
	}
	return CTL_DONE;
}

/* Check that the command takes these flags and this number of arguments. */
static int check_usage(const struct ctl_command *command, const struct ctl_options *options)
{
	const char *other = ctl_options_other(options, command->flags | CTL_FLAG_COMMON);
	size_t n_arguments = options->n_positional - 1;

	if (other)
		terminal_complain("%s takes no %s", command->name, other);
	else if (n_arguments < command->n_least)
		terminal_complain("%s needs more arguments: toolboxctl %s %s", command->name,
			command->name, command->arguments);
	else if (n_arguments > command->n_most)
		terminal_complain("%s takes no '%s'", command->name,
			options->positional[command->n_most + 1]);
	else
		return 0;
	return CTL_USAGE;
}

static int run(const struct ctl_options *options)
{
	const struct ctl_command *command;
	int r;

	if (options->version)
		return print_version(options);
	if (options->n_positional == 0 && options->help)
		return print_help(options);
	if (options->n_positional == 0) {
		terminal_complain("a command is missing; see toolboxctl --help");
		return CTL_USAGE;
	}
	command = find_command(options->positional[0]);
	if (!command) {
		help_refuse_command(commands, N_COMMANDS, options->positional[0]);
		return CTL_USAGE;
	}
	if (options->help) {
		help_print_command(command);
		return CTL_DONE;
	}
	r = check_usage(command, options);
	return r == 0 ? command->run(options) : r;
}

/* Return whether stdout is a pipe whose reader, such as `head`, has ended. */
static bool is_reader_gone(void)
{
	struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&output, 1, 0) == 1 && (output.revents & POLLERR);
}

int main(int argc, char **argv)
{
	cleanup(ctl_options_deinit) struct ctl_options options = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	int r;

	file_hold_standard();
	/* For the widths of characters; numbers stay as they are. */
	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN);
	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	r = ctl_options_read(argc - 1, argv + 1, &options, &reason);
	if (r == 0) {
		r = run(&options);
	} else {
		terminal_complain("%s", r > 0 ? reason.data : strerror(-r));
		r = CTL_USAGE;
	}
	if ((fflush(stdout) == 0 && !ferror(stdout)) || is_reader_gone())
		return r;
	terminal_complain("the output cannot be written");
	return r == CTL_DONE ? CTL_ERROR : r;
}
