/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../scratch.h"
#include "guest.h"
#include "json/writer.h"
#include "quotes.h"
#include "util/digest.h"
#include "util/file/stamp.h"

/* Small programs in a real host: for each call one line, and its result. */

#define LIMIT 60

/* Start a host with the tools @tools: command objects with their names, with ' in place of ". */
static void start(struct guest *guest, const char *tools, const struct guest_options *options)
{
	struct buffer *load = &guest->manifest;

	buffer_printf(load, "{'kind':'command','toolbox_id':'test','tools':[%s]}", tools);
	cr_assert(buffer_terminate(load));
	swap_quotes(load->data);
	cr_assert_eq(json_tape_read(&guest->tape, load->data, load->size, JSON_DEPTH_DEFAULT, NULL),
		0, "%s", load->data);
	guest_start_load(guest, load->data, options);
	cr_assert_eq(guest->n_loaded, 1, "not loaded: %s",
		guest->message.data ? guest->message.data : "");
}

/* Run @command, once, with @arguments. */
static void expect_answer(const char *command, const char *arguments, const char *answer)
{
	struct guest guest = {0};
	cleanup(buffer_deinit) struct buffer tools = {0};
	const char *came;

	buffer_printf(&tools, "{'name':'f','cwd':'/',%s}", command);
	start(&guest, buffer_terminate(&tools), NULL);
	came = guest_call(&guest, "f", arguments);
	cr_expect_str_eq(came, answer, "%s %s: got %s", command, arguments, came);
	guest_stop(&guest);
}

Test(command_driver, gives_stdout_without_its_last_newlines, .timeout = LIMIT)
{
	expect_answer("'shell':'echo a; echo; echo b; echo'", "{}", "{\"output\":\"a\\n\\nb\"}");
	expect_answer("'shell':':'", "{}", "{\"output\":\"\"}");
	expect_answer("'argv':['printf','a\\\\r\\\\nb\\\\r\\\\n\\\\r\\\\n']", "{}",
		"{\"output\":\"a\\r\\nb\"}");
	expect_answer("'argv':['printf','\\\\357\\\\273\\\\277a']", "{}", "{\"output\":\"a\"}");
}

Test(command_driver, takes_the_escape_sequences_of_terminals_out_of_text, .timeout = LIMIT)
{
	expect_answer(
		"'argv':['printf','\\\\33[32mgreen\\\\33[0m \\\\33]0;title\\\\7x\\\\33[m\\\\n']",
		"{}", "{\"output\":\"green x\"}");
	expect_answer("'shell':'printf \\\"a\\\\\\\\33[1mb\\\"; printf "
		      "\\\"\\\\\\\\33[31mno\\\\\\\\33[0m key\\\" >&2; exit 1'",
		"{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program exited with status 1: no "
		"key\",\"exit_code\":1,\"stderr\":\"no key\",\"output\":\"ab\"}");
	expect_answer("'output':'json','argv':['cat']", "{\"a\":\"\\u001b[1mb\"}",
		"{\"a\":\"\\u001b[1mb\"}");
}

Test(command_driver, replaces_what_is_not_utf8, .timeout = LIMIT)
{
	expect_answer("'argv':['printf','a\\\\377b\\\\0c']", "{}",
		"{\"output\":\"a\xEF\xBF\xBD"
		"b\\u0000c\"}");
}

Test(command_driver, takes_json_as_it_is, .timeout = LIMIT)
{
	expect_answer("'output':'json','shell':'cat'", "{\"a\" : 1.50}", "{\"a\":1.50}");
	expect_answer("'output':'json','shell':'echo 7'", "{}", "{\"output\":7}");
	expect_answer("'output':'json','shell':'echo 7 8'", "{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program's stdout must be one JSON "
		"value (\\\"json_lines\\\" takes several): at byte 2: expected the end of the text "
		"after the value, found more\",\"output\":\"7 8\"}");
}

Test(command_driver, takes_no_json_at_all_as_null, .timeout = LIMIT)
{
	expect_answer("'output':'json','shell':':'", "{}", "{\"output\":null}");
	expect_answer("'output':'json','shell':'echo; echo'", "{}", "{\"output\":null}");
}

Test(command_driver, takes_the_values_of_json_lines_as_an_array, .timeout = LIMIT)
{
	expect_answer("'output':'json_lines','shell':'cat; echo 1; echo [2 ]; printf null'",
		"{\"a\":{\"b\": 1.50}}", "{\"output\":[{\"a\":{\"b\":1.50}},1,[2],null]}");
	expect_answer("'output':'json_lines','shell':':'", "{}", "{\"output\":[]}");
	expect_answer("'output':'json_lines','shell':'echo 1; echo x'", "{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program's stdout must be JSON values, "
		"one after the other: at byte 2: expected a value, found a character that cannot "
		"begin one\",\"output\":\"1\\nx\"}");
}

Test(command_driver, replaces_half_a_surrogate_pair_in_json, .timeout = LIMIT)
{
	expect_answer("'output':'json','argv':['cat']", "{\"a\":\"b\"}", "{\"a\":\"b\"}");
	expect_answer("'output':'json','argv':['printf','%s','["
		      "\\u0022\\\\ud83d\\\\ud83d\\\\ude00x\\u0022]']",
		"{}", "{\"output\":[\"\\ufffd\\ud83d\\ude00x\"]}");
}

Test(command_driver, replaces_what_is_not_utf8_in_json_too, .timeout = LIMIT)
{
	expect_answer("'output':'json','argv':['printf','[\\\\042a\\\\377\\\\042]']", "{}",
		"{\"output\":[\"a\xEF\xBF\xBD\"]}");
	expect_answer("'output':'json_lines','argv':['printf','\\\\042a\\\\377\\\\042 1']", "{}",
		"{\"output\":[\"a\xEF\xBF\xBD\",1]}");
	expect_answer("'output':'json','argv':['printf','\\\\357\\\\273\\\\277[1]']", "{}",
		"{\"output\":[1]}");
}

Test(command_driver, fills_arguments_in_as_data, .timeout = LIMIT)
{
	static const char say[] = "'argv':['printf','<%s>','--a={a}','{a}{b}','{{a}','{ a }']";

	expect_answer(say, "{\"a\":\"$(id) `id` ' ; \\n\",\"b\":[1,\"x\"]}",
		"{\"output\":\"<--a=$(id) `id` ' ; \\n><$(id) `id` ' ; "
		"\\n[1,\\\"x\\\"]><{a}><{ a }>\"}");
	expect_answer(say, "{\"a\":\"-n\"}", "{\"output\":\"<--a=-n><{a}><{ a }>\"}");
	expect_answer(say, "{\"a\":null,\"b\":\"\"}", "{\"output\":\"<{a}><{ a }>\"}");
	expect_answer(say, "{\"a\":\"null\"}", "{\"output\":\"<--a=null><{a}><{ a }>\"}");
}

Test(command_driver, leaves_out_a_group_whole, .timeout = LIMIT)
{
	static const char cut[] = "'argv':['printf','<%s>','x',['-t','{seconds}'],'{to}']";

	expect_answer(cut, "{\"seconds\":3,\"to\":\"y\"}", "{\"output\":\"<x><-t><3><y>\"}");
	expect_answer(cut, "{\"to\":\"y\"}", "{\"output\":\"<x><y>\"}");
	expect_answer(cut, "{\"seconds\":null,\"to\":\"y\"}", "{\"output\":\"<x><y>\"}");
}

Test(command_driver, repeats_a_group_for_each_element_of_an_array, .timeout = LIMIT)
{
	static const char find[] = "'argv':['printf','<%s>','x',['-e','{words...}'],'{files...}']";

	expect_answer(find, "{\"words\":[\"a b\",2],\"files\":[\"f\",\"g\"]}",
		"{\"output\":\"<x><-e><a b><-e><2><f><g>\"}");
	expect_answer(find, "{\"words\":[],\"files\":\"f\"}", "{\"output\":\"<x><f>\"}");
	expect_answer(find, "{\"files\":[\"a\",\"x\\u0000\"]}",
		"{\"code\":\"invalid_arguments\",\"violations\":[{\"path\":\"/files\","
		"\"message\":\"must not hold U+0000, which no argument of a program can\"}]}");
}

Test(command_driver, has_a_flag_for_a_boolean_that_is_true, .timeout = LIMIT)
{
	static const char list[] =
		"'argv':['printf','<%s>','x','-a{all?}',['-s','t','{sort?}'],'']";

	expect_answer(list, "{\"all\":true,\"sort\":true}", "{\"output\":\"<x><-a><-s><t><>\"}");
	expect_answer(list, "{\"all\":false,\"sort\":null}", "{\"output\":\"<x><>\"}");
	expect_answer(list, "{}", "{\"output\":\"<x><>\"}");
}

Test(command_driver, gives_arguments_as_variables_too, .timeout = LIMIT)
{
	expect_answer("'shell':'echo $TOOL_NAME $TOOL_ARG_FROM_CITY $TOOL_ARG_N ${TOOL_ARG_B+set}'",
		"{\"from-city\":\"Ulm\",\"n\":{\"x\": 1},\"b\":\"a\\u0000\",\"\\u00e9\":1}",
		"{\"output\":\"f Ulm {\\\"x\\\":1}\"}");
	expect_answer("'shell':'echo ${TOOL_ARG_A-none}'", "{\"a\":null}", "{\"output\":\"none\"}");
	expect_answer("'shell':'echo $A $TOOL_NAME','env':{'A':'b','TOOL_NAME':'own'}", "{}",
		"{\"output\":\"b own\"}");
}

/* Run the shell line @line, without apostrophes, in a host. Return how many reports of progress
 * came; the last has the text @last. */
static unsigned int count_progress(const char *line, const char *last)
{
	struct guest guest = {0};
	struct buffer tools = {0};
	unsigned int count;

	buffer_append_string(&tools, "{'name':'f','shell':");
	json_write_text(&tools, line);
	buffer_append_char(&tools, '}');
	start(&guest, buffer_terminate(&tools), NULL);
	guest_call(&guest, "f", "{}");
	cr_expect_str_eq(guest.answer.data, "{\"output\":\"done\"}");
	cr_expect_str_eq(guest.progress.data ? guest.progress.data : "", last, "%s", line);
	count = guest.n_progress;
	guest_stop(&guest);
	buffer_deinit(&tools);
	return count;
}

#define REPORT(number, text)                                                                       \
	"echo \"{\\\"progress\\\":" number ",\\\"text\\\":\\\"" text "\\\"}\" "                    \
	">&$TOOL_PROGRESS_FD; "

Test(command_driver, passes_on_the_progress_of_a_program, .timeout = LIMIT)
{
	cr_expect_eq(count_progress("echo done", ""), 0);
	cr_expect_eq(count_progress(REPORT("0.5", "half") "echo done", "half"), 1);
	/* Also for a program without stdout and stderr, with its last line. */
	cr_expect_eq(count_progress("echo done; exec >&- 2>&-; " REPORT(
					    "0", "a") "sleep 0.2; " REPORT("1", "b"),
			     "b"),
		2);
}

Test(command_driver, bounds_the_progress_of_a_program, .timeout = LIMIT)
{
	unsigned int many = count_progress("i=0; while [ $i -lt 200 ]; do " REPORT(
						   "0.1", "many") "i=$((i+1)); done; echo done",
		"many");

	cr_expect(many >= 4 && many < 100, "%u", many);
	cr_expect_eq(count_progress("head -c 999999 /dev/zero >&3; echo >&3; " REPORT(
					    "1", "after") "echo done",
			     "after"),
		1);
	cr_expect_eq(count_progress("(while :; do echo x; done) >&3 2>&3 & echo done", ""), 0);
}

Test(command_driver, ignores_lines_that_are_no_progress, .timeout = LIMIT)
{
	cr_expect_eq(count_progress("for i in 0.5 [] {} x {\\\"text\\\":7}; do echo $i >&3; done; "
				    "echo >&3; echo done",
			     ""),
		0);
	cr_expect_eq(count_progress(
			     "echo {\\\"progress\\\":7,\\\"text\\\":null} >&3; echo done", "null"),
		1);
	cr_expect_eq(count_progress("printf half >&3; exec 3>&-; echo done", ""), 0);
}

Test(command_driver, tells_a_status_that_is_not_zero, .timeout = LIMIT)
{
	expect_answer("'shell':'echo out; echo first >&2; echo last >&2; exit 3'", "{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program exited with status 3: "
		"first\\nlast\",\"exit_code\":3,\"stderr\":\"first\\nlast\\n\",\"output\":"
		"\"out\"}");
	expect_answer("'shell':'kill -SEGV $$'", "{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program was killed by SIGSEGV and "
		"printed nothing\","
		"\"signal\":\"SIGSEGV\",\"stderr\":\"\",\"output\":\"\"}");
}

/* Expect that the tool whose shell line is @line fails with the message @message and the rest
 * @rest. */
static void expect_message(const char *line, const char *message, const char *rest)
{
	cleanup(buffer_deinit) struct buffer command = {0};
	cleanup(buffer_deinit) struct buffer answer = {0};

	buffer_printf(&command, "'shell':'%s'", line);
	buffer_printf(&answer, "{\"code\":\"tool_failed\",\"message\":\"%s\",%s}", message, rest);
	expect_answer(buffer_terminate(&command), "{}", buffer_terminate(&answer));
}

Test(command_driver, tells_the_reason_that_is_before_a_stack_trace, .timeout = LIMIT)
{
	expect_message("echo Error: no key >&2; echo >&2; echo \\\"    at f (x.js:3)\\\" >&2; "
		       "printf \\\"\\tat g\\nNode v20\\n\\\" >&2; exit 1",
		"the program exited with status 1: Error: no key\\nNode v20",
		"\"exit_code\":1,\"stderr\":\"Error: no key\\n\\n    at f (x.js:3)\\n\\tat "
		"g\\nNode "
		"v20\\n\",\"output\":\"\"");
}

Test(command_driver, tells_what_stdout_has_when_stderr_has_nothing, .timeout = LIMIT)
{
	expect_message("echo one; echo two; echo >&2; exit 1",
		"the program exited with status 1: one\\ntwo",
		"\"exit_code\":1,\"stderr\":\"\\n\",\"output\":\"one\\ntwo\"");
}

Test(command_driver, tells_the_last_lines_of_stderr_that_fit, .timeout = LIMIT)
{
	static const char begin[] = "\"message\":\"the program exited with status 1: ";
	struct guest guest = {0};
	const char *message;

	start(&guest,
		"{'name':'f','shell':'seq 1000 >&2; exit 1'},"
		"{'name':'g','shell':'printf %900s x | tr \\u0022 \\u0022 y >&2; exit 1'}",
		NULL);
	message = strstr(guest_call(&guest, "f", "{}"), begin);
	cr_assert(message, "%s", guest.answer.data);
	message += strlen(begin);
	cr_expect_eq(strncmp(message, "969\\n970\\n", 10), 0, "%.20s", message);
	message = strstr(guest_call(&guest, "g", "{}"), begin);
	cr_assert(message, "%s", guest.answer.data);
	cr_expect_eq(strcspn(message + strlen(begin), "\""), 500u, "%s", message);
	guest_stop(&guest);
}

Test(command_driver, takes_a_status_of_success_for_no_failure, .timeout = LIMIT)
{
	expect_answer("'shell':'echo none; exit 1','success':[0,1]", "{}", "{\"output\":\"none\"}");
	expect_answer("'shell':'exit 0','success':[1]", "{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program exited with status 0 and "
		"printed nothing\",\"exit_code\":0,\"stderr\":\"\",\"output\":\"\"}");
}

Test(command_driver, tells_reason_a_program_cannot_be_started, .timeout = LIMIT)
{
	expect_answer("'argv':['no-such-program']", "{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program 'no-such-program' is in none "
		"of the folders of PATH; install it, or give its path\"}");
	expect_answer("'argv':['/etc/passwd']", "{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program '/etc/passwd' cannot be run: "
		"Permission denied (chmod +x?)\"}");
	expect_answer("'argv':['/none/such']", "{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program '/none/such' cannot be run: "
		"it does not exist, or the interpreter of its '#!' line does not\"}");
}

Test(command_driver, tells_of_a_folder_that_is_not_there, .timeout = LIMIT)
{
	struct guest guest = {0};

	start(&guest, "{'name':'f','cwd':'/none/such','shell':'pwd'}", NULL);
	cr_expect_str_eq(guest_call(&guest, "f", "{}"),
		"{\"code\":\"tool_failed\",\"message\":\"the folder to run in, '/none/such', "
		"cannot "
		"be entered: No such file or directory\"}");
	guest_stop(&guest);
}

Test(command_driver, refuses_what_no_argument_can_hold, .timeout = LIMIT)
{
	expect_answer("'argv':['echo','{a}']", "{\"a\":\"x\\u0000\"}",
		"{\"code\":\"invalid_arguments\",\"violations\":[{\"path\":\"/a\",\"message\":"
		"\"must not hold U+0000, which no argument of a program can\"}]}");
	expect_answer("'argv':['cat']", "{\"a\":\"x\\u0000\"}",
		"{\"output\":\"{\\\"a\\\":\\\"x\\\\u0000\\\"}\"}");
}

Test(command_driver, takes_much_output_and_input_at_once, .timeout = LIMIT)
{
	struct guest guest = {0};
	cleanup(buffer_deinit) struct buffer arguments = {0};

	start(&guest, "{'name':'f','shell':'cat; cat /dev/null >&2'},{'name':'g','shell':':'}",
		NULL);
	buffer_append_string(&arguments, "{\"a\":\"");
	for (size_t i = 0; i < 1000000; i++)
		buffer_append_char(&arguments, 'x');
	buffer_append_string(&arguments, "\"}");
	buffer_terminate(&arguments);
	cr_expect_eq(strlen(guest_call(&guest, "f", arguments.data)),
		arguments.size + 4 + strlen("{\"output\":\"\"}"));
	cr_expect_str_eq(guest_call(&guest, "g", arguments.data), "{\"output\":\"\"}");
	guest_stop(&guest);
}

Test(command_driver, ends_a_program_that_says_too_much, .timeout = LIMIT)
{
	const struct guest_options options = {.output_max = 1000};
	struct guest guest = {0};

	start(&guest,
		"{'name':'f','shell':'yes'},{'name':'g','shell':'printf %900s'},"
		"{'name':'h','shell':'printf %500s | tr \\\" \\\" \\\"\\\\001\\\"'}",
		&options);
	cr_expect(strncmp(guest_call(&guest, "f", "{}"),
			  "{\"code\":\"too_large\",\"actual\":", 29) == 0);
	cr_expect_eq(strlen(guest_call(&guest, "g", "{}")), 900 + strlen("{\"output\":\"\"}"));
	cr_expect_str_eq(guest_call(&guest, "h", "{}"),
		"{\"code\":\"too_large\",\"actual\":3013,\"max\":1000}");
	guest_stop(&guest);
}

Test(command_driver, keeps_the_end_of_stderr, .timeout = LIMIT)
{
	const struct guest_options options = {.stderr_max = 10};
	struct guest guest = {0};

	start(&guest, "{'name':'f','shell':'seq 100000 >&2; exit 1'}", &options);
	cr_expect_str_eq(guest_call(&guest, "f", "{}"),
		"{\"code\":\"tool_failed\",\"message\":\"the program exited with status 1: "
		"99\\n100000\","
		"\"exit_code\":1,\"stderr\":\"99\\n100000\\n\",\"output\":\"\"}");
	guest_stop(&guest);
}

Test(command_driver, ends_what_is_left_of_a_group_with_its_call, .timeout = LIMIT)
{
	struct guest guest = {0};
	cleanup(buffer_deinit) struct buffer pid = {0};
	const char *answer;

	start(&guest,
		"{'name':'leave','shell':'sleep 500 >/dev/null 2>&1 & echo $!'},"
		"{'name':'await','shell':'while grep -q State:.[RSD] /proc/$TOOL_ARG_PID/status "
		"2>/dev/null; do :; done; echo gone'}",
		NULL);
	answer = guest_call(&guest, "leave", "{}");
	cr_assert_eq(strncmp(answer, "{\"output\":\"", 11), 0, "%s", answer);
	buffer_printf(&pid, "{\"pid\":%d}", atoi(answer + 11));
	cr_expect_str_eq(
		guest_call(&guest, "await", buffer_terminate(&pid)), "{\"output\":\"gone\"}");
	guest_stop(&guest);
}

Test(command_driver, ends_with_its_program_when_another_process_holds_stdout, .timeout = LIMIT)
{
	struct guest guest = {0};

	expect_answer("'shell':'sleep 500 & echo a'", "{}", "{\"output\":\"a\"}");
	expect_answer("'shell':'sleep 500 & echo a; exit 4'", "{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program exited with status 4: a\","
		"\"exit_code\":4,\"stderr\":\"\",\"output\":\"a\"}");
	expect_answer("'output':'json','shell':'sleep 500 & echo [1]'", "{}", "{\"output\":[1]}");
	/* Also when that one writes on. */
	start(&guest, "{'name':'f','shell':'while echo a; do sleep 0.1; done &'}", NULL);
	cr_expect_eq(strncmp(guest_call(&guest, "f", "{}"), "{\"output\":\"a\\na\\n", 17), 0, "%s",
		guest.answer.data);
	guest_stop(&guest);
}

Test(command_driver, waits_for_a_program_that_has_closed_its_stdout, .timeout = LIMIT)
{
	expect_answer("'shell':'echo a; exec >&-; echo b >&2; exec 2>&-; exit 4'", "{}",
		"{\"code\":\"tool_failed\",\"message\":\"the program exited with status 4: b\","
		"\"exit_code\":4,\"stderr\":\"b\\n\",\"output\":\"a\"}");
	expect_answer("'shell':'sleep 50 >&- & echo a'", "{}", "{\"output\":\"a\"}");
	/* Its end is all that there is to wait for: another process keeps stderr. */
	expect_answer("'shell':'echo a; exec >&-; sleep 1000 &'", "{}", "{\"output\":\"a\"}");
}

/* Let @guest expect the files at @paths as they are now. */
static void expect_files(struct guest *guest, const char *const *paths, size_t n_paths)
{
	guest->program = DIGEST_SEED;
	for (size_t i = 0; i < n_paths; i++) {
		struct stamp stamp;

		stamp_take_file(paths[i], &stamp);
		guest->program = stamp_fold(guest->program, &stamp);
	}
}

Test(command_driver, starts_no_file_but_those_that_the_daemon_has_looked_at, .timeout = LIMIT,
	.init = scratch_set_up, .fini = scratch_tear_down)
{
	const char *const paths[] = {"/bin/sh", scratch_path("x.sh")};
	struct guest guest = {0};
	cleanup(buffer_deinit) struct buffer tools = {0};

	scratch_write("x.sh", "echo first");
	buffer_printf(&tools, "{'name':'f','cwd':'%.*s','argv':['/bin/sh','x.sh'],'scripts':[1]}",
		(int)(strlen(paths[1]) - strlen("/x.sh")), paths[1]);
	start(&guest, buffer_terminate(&tools), NULL);
	expect_files(&guest, paths, 2);
	cr_expect_str_eq(guest_call(&guest, "f", "{}"), "{\"output\":\"first\"}");
	scratch_write("x.sh", "echo other");
	cr_expect(strstr(guest_call(&guest, "f", "{}"), "{\"code\":\"unavailable\""), "%s",
		guest.answer.data);
	expect_files(&guest, paths, 2);
	cr_expect_str_eq(guest_call(&guest, "f", "{}"), "{\"output\":\"other\"}");
	guest_stop(&guest);
}
