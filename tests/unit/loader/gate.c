/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/gate/gate.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../scratch.h"
#include "loader/loader.h"

/* A toolbox is offered once its examples have passed. */

#define WAIT_MS 60000

/* The members of a toolbox, with ' in place of ". */
#define BOX(more, tools)                                                                           \
	"{'kind':'native','library':'libm.so.6','gate':'examples'," more "'tools':[" tools "]}"
#define SQRT(examples)                                                                             \
	"{'name':'root','examples':[" examples "],'native':{'symbol':'sqrt',"                      \
	"'parameters':[{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}"
#define ROOT(x, result) "{'args':{'x':" x "},'result':{'result':" result "}}"
#define READS           "'risk':'read',"
#define MISBEHAVE(more, name, parameters, returns, args)                                           \
	"{'kind':'native','library':'" TEST_TOOLBOX_DIR "/libtest_misbehave.so'," READS more       \
	"'gate':'examples','tools':[{'name':'" name "','examples':[{'args':{" args                 \
	"}}],'native':{'symbol':'" name "','parameters':[" parameters "],'returns':{" returns      \
	"}}}]}"

static struct loop *loop;
static struct config config;
static char *folders[1];
static struct loader *loader;
static struct catalogue *catalogue;
static struct buffer told; /* `severity: text`, a line each */
static uint64_t gate_ms = GATE_MS;
static bool asks;   /* somebody has asked for the load */
static bool defers; /* it does not wait for gates */
static int status;

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(loop_new(&loop), 0);
	folders[0] = strdup(scratch_path("boxes"));
	config.toolbox_dirs = (struct text_list){.items = folders, .n_items = 1};
	config.start_timeout_ms = WAIT_MS;
	config.sandbox_max = SANDBOX_COMMAND;
	config.limits = (struct config_limits){.toolboxes = 1000,
		.tools = 10000,
		.args_bytes = 1u << 20,
		.depth = 64,
		.pattern_steps = 100000,
		.host_output_bytes = 1u << 20,
		.stderr_bytes = 8u << 10};
}

static void tear_down(void)
{
	catalogue_free(catalogue);
	buffer_deinit(&told);
	loop_free(loop);
	free(folders[0]);
	scratch_tear_down();
}

TestSuite(gate, .init = set_up, .fini = tear_down, .timeout = 300);

static void tell(void *data, const struct diagnostic *problem)
{
	(void)data;
	buffer_printf(
		&told, "%s: %s\n", diagnostic_severity_name(problem->severity), problem->text);
}

static void take(void *data, struct catalogue *made, struct policy *policy, int error)
{
	(void)data;
	policy_free(policy);
	cr_expect_geq(error, 0);
	status = error;
	catalogue_free(catalogue);
	catalogue = made;
	loader = NULL;
	loop_stop(loop);
}

static void start(void)
{
	struct loader_options options = {
		.config = &config,
		.host_program = TEST_HOST_PROGRAM,
		.previous = catalogue,
		.gate_ms = gate_ms,
		.asks_servers = asks,
		.defers_servers = defers,
	};

	buffer_reset(&told);
	buffer_terminate(&told);
	cr_assert_eq(loader_start(loop, &options, tell, take, NULL, &loader), 0);
}

static void load(void)
{
	start();
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert(catalogue);
	buffer_terminate(&told);
}

/* Write the toolbox `box`, and load. */
static void load_box(const char *manifest)
{
	scratch_write_json("boxes/box.json", manifest);
	load();
}

/* Return the only tool that is offered; NULL: there is none. */
static const struct tool *offered(void)
{
	cr_assert(catalogue_n_tools(catalogue) <= 1);
	return catalogue_n_tools(catalogue) == 1 ? catalogue_tool(catalogue, 0) : NULL;
}

static void expect_closed(const char *why)
{
	cr_expect_null(offered());
	cr_assert_eq(catalogue_n_failures(catalogue), 1);
	cr_expect_str_eq(told.data, why);
}

Test(gate, opens_for_a_toolbox_whose_examples_pass)
{
	load_box(BOX(READS, SQRT(ROOT("4", "2") "," ROOT("2.25", "1.5") ",{'args':{'x':3}}")));
	cr_expect(offered());
	cr_expect_str_eq(told.data, "");
}

Test(gate, keeps_a_toolbox_out_and_has_both_values)
{
	load_box(BOX(READS, SQRT(ROOT("4", "2") "," ROOT("9", "4"))));
	expect_closed("error: its gate is closed: example 2 of 'root', {\"x\":9}: expected "
		      "{\"result\":4}, came {\"result\":3.0}\n");
	cr_expect(strstr(catalogue_failure(catalogue, 0)->error, "came {\"result\":3.0}"));
}

Test(gate, lets_a_number_differ_by_the_tolerance)
{
	load_box(BOX(READS, SQRT("{'args':{'x':2},'result':{'result':1.414},'tolerance':0.001}")));
	cr_expect(offered());
	load_box(BOX(READS, SQRT("{'args':{'x':2},'result':{'result':1.41},'tolerance':0.001}")));
	cr_expect(strstr(told.data, "its gate is closed"));
}

Test(gate, keeps_the_old_version_until_a_new_one_passes)
{
	load_box(BOX(READS, SQRT(ROOT("4", "2"))));
	const struct package *old = offered()->toolbox->package;
	const struct failed *failed;

	load_box(BOX(READS "'description':'Worse.',", SQRT(ROOT("4", "3"))));
	cr_assert(offered());
	cr_expect_eq(offered()->toolbox->package, old);
	cr_assert_eq(catalogue_n_failures(catalogue), 1);
	failed = catalogue_failure(catalogue, 0)->failed;
	cr_assert(failed);
	load();
	cr_expect_eq(offered()->toolbox->package, old);
	cr_expect(strstr(told.data, "its gate is closed"));
	cr_expect_eq(catalogue_failure(catalogue, 0)->failed, failed, "not tried again");
	asks = true;
	load();
	cr_expect_eq(offered()->toolbox->package, old);
	cr_expect_neq(catalogue_failure(catalogue, 0)->failed, failed, "tried when asked");
	asks = false;
	load_box(BOX(READS "'description':'Better.',", SQRT(ROOT("9", "3"))));
	cr_expect_str_eq(offered()->toolbox->description, "Better.");
	cr_expect_eq(catalogue_n_failures(catalogue), 0);
}

Test(gate, calls_only_what_is_declared_to_read)
{
	load_box(BOX("", SQRT(ROOT("4", "5"))));
	cr_expect(offered());
	cr_expect_str_eq(told.data, "warning: its gate is open: none of its tools has the risk "
				    "read and an example\n");
	load_box(BOX("'risk':'write',", SQRT(ROOT("4", "5"))));
	cr_expect(offered());
}

Test(gate, calls_nothing_where_nothing_is_to_be_called)
{
	gate_ms = 0;
	load_box(BOX(READS, SQRT(ROOT("4", "5"))));
	cr_expect(offered());
	cr_expect_str_eq(told.data, "");
}

Test(gate, is_that_of_the_configuration)
{
	struct config_toolbox settings = {.toolbox_id = (char *)"box",
		.is_enabled = true,
		.gate = CONFIG_GATE_NONE,
		.digest = 1};

	config.toolboxes = &settings;
	config.n_toolboxes = 1;
	load_box(BOX(READS, SQRT(ROOT("4", "5"))));
	cr_expect(offered());
	settings.gate = CONFIG_GATE_EXAMPLES;
	settings.digest = 2;
	load();
	expect_closed("error: its gate is closed: example 1 of 'root', {\"x\":4}: expected "
		      "{\"result\":5}, came {\"result\":2.0}\n"
		      "warning: the last good version of 'box' does not go on: its configuration "
		      "is another one now\n");
}

Test(gate, is_refused_for_kinds_that_need_others)
{
	struct config_toolbox settings = {.toolbox_id = (char *)"box",
		.is_enabled = true,
		.gate = CONFIG_GATE_EXAMPLES,
		.digest = 1};

	config.toolboxes = &settings;
	config.n_toolboxes = 1;
	load_box("{'kind':'bus','tools':[{'name':'say','bus':{'topic':'speak','reply':false}}]}");
	expect_closed("error: " GATE_KINDS "\n");
	config.n_toolboxes = 0;
	load_box("{'kind':'bus','gate':'examples','tools':[{'name':'say','bus':{'topic':'speak','"
		 "reply':false}}]}");
	expect_closed(
		"error: \"gate\" is not a key of a toolbox of the kind \"bus\"; leave it out\n");
}

Test(gate, has_the_reason_of_a_crash)
{
	load_box(MISBEHAVE("", "segfault", "", "'type':'i32'", ""));
	expect_closed("error: its gate is closed: example 1 of 'segfault', {}: its host died "
		      "(SIGSEGV)\n");
}

Test(gate, ends_a_call_at_its_deadline)
{
	load_box(MISBEHAVE("'limits':{'timeout_ms':50},", "hang", "", "'type':'void'", ""));
	expect_closed("error: its gate is closed: example 1 of 'hang', {}: it has not answered "
		      "within its deadline of 50 ms\n");
}

Test(gate, bounds_the_time_of_all_examples)
{
	gate_ms = 50;
	load_box(MISBEHAVE("", "hang", "", "'type':'void'", ""));
	expect_closed("error: its gate is closed: example 1 of 'hang', {}: all examples together "
		      "take longer than 50 ms\n");
}

Test(gate, bounds_what_a_tool_may_answer)
{
	config.limits.host_output_bytes = 100000;
	load_box(MISBEHAVE("", "long_text", "{'name':'size','type':'usize'}",
		"'type':'str','transfer':'full'", "'size':200000"));
	cr_expect_null(offered());
	cr_expect(
		strstr(told.data, "its gate is closed: example 1 of 'long_text'"), "%s", told.data);
}

/* The filter may let in what was not there when the gate opened. */
Test(gate, tries_a_tool_that_is_let_in_later)
{
	char *left_out[] = {(char *)"box/square"};
	const struct package *first;

	config.tools_disabled = (struct text_list){left_out, 1};
	load_box(BOX(READS, SQRT(ROOT("4", "2")) ",{'name':'square','examples':[" ROOT("4",
				    "3") "],'native':{"
					 "'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],"
					 "'returns':{'type':'f64'}}}"));
	first = offered()->toolbox->package;
	load();
	cr_expect_eq(offered()->toolbox->package, first);
	config.tools_disabled.n_items = 0;
	load();
	expect_closed("error: its gate is closed: example 1 of 'square', {\"x\":4}: expected "
		      "{\"result\":3}, came {\"result\":2.0}\n");
	load();
	expect_closed("error: its gate is closed: example 1 of 'square', {\"x\":4}: expected "
		      "{\"result\":3}, came {\"result\":2.0}\n");
}

/* A last good version is not offered with a tool that has not passed. */
Test(gate, keeps_no_version_with_a_tool_that_is_let_in)
{
	char *left_out[] = {(char *)"box/square"};

	config.tools_disabled = (struct text_list){left_out, 1};
	load_box(BOX(READS, SQRT(ROOT("4", "2")) ",{'name':'square','examples':[" ROOT("4",
				    "3") "],'native':{"
					 "'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],"
					 "'returns':{'type':'f64'}}}"));
	cr_expect(offered());
	config.tools_disabled.n_items = 0;
	load_box("{");
	cr_expect_null(offered());
	cr_expect(strstr(told.data, "a tool of it has not passed its gate\n"), "%s", told.data);
}

Test(gate, is_tried_by_a_later_load_when_others_would_wait)
{
	const struct package *old;

	defers = true;
	scratch_write_json("boxes/other.json",
		"{'kind':'native','library':'libm.so.6','tools':[" SQRT("") "]}");
	load_box(BOX(READS, SQRT(ROOT("4", "2"))));
	cr_expect_eq(status, LOADER_DEFERRED);
	cr_expect_eq(catalogue_n_tools(catalogue), 1, "the other one alone");
	cr_expect_eq(catalogue_n_failures(catalogue), 0);
	cr_assert_eq(catalogue_n_skipped(catalogue), 1);
	cr_expect_str_eq(catalogue_skipped(catalogue, 0)->reason, "its examples are being called");
	defers = false;
	load();
	cr_expect_eq(status, 0);
	cr_expect_eq(catalogue_n_tools(catalogue), 2);
	old = catalogue_toolbox(catalogue, 0, NULL, NULL)->package;
	cr_expect_str_eq(old->id, "box");
	defers = true;
	load_box(BOX(READS "'description':'Worse.',", SQRT(ROOT("4", "3"))));
	cr_expect_eq(status, LOADER_DEFERRED);
	cr_expect_eq(catalogue_toolbox(catalogue, 0, NULL, NULL)->package, old);
	defers = false;
	load();
	cr_expect_eq(catalogue_toolbox(catalogue, 0, NULL, NULL)->package, old);
	cr_expect_eq(catalogue_n_failures(catalogue), 1);
	defers = true;
	load();
	cr_expect_eq(status, 0, "nothing is to be tried");
	cr_expect_eq(catalogue_n_failures(catalogue), 1);
}

/* One that is slow harms nothing but itself. */
Test(gate, tries_many_toolboxes_side_by_side)
{
	char name[64];

	for (int i = 0; i < 3 * GATE_HOSTS_MAX; i++) {
		snprintf(name, sizeof(name), "boxes/box%d.json", i);
		scratch_write_json(name, i == 5 ? MISBEHAVE("'limits':{'timeout_ms':50},", "hang",
							  "", "'type':'void'", "")
						: BOX(READS, SQRT(ROOT("4", "2"))));
	}
	load();
	cr_expect_eq(catalogue_n_tools(catalogue), 3 * GATE_HOSTS_MAX - 1);
	cr_assert_eq(catalogue_n_failures(catalogue), 1);
	cr_expect_str_eq(catalogue_failure(catalogue, 0)->toolbox_id, "box5");
}

Test(gate, takes_programs_by_what_they_print)
{
	scratch_write("boxes/say.json",
		"{\"kind\":\"command\",\"risk\":\"read\",\"gate\":\"examples\",\"tools\":[{"
		"\"name\":\"say\",\"examples\":[{\"args\":{},\"result\":{\"output\":\"hello\"}}],"
		"\"command\":{\"argv\":[\"/bin/echo\",\"hello\"]}}]}");
	load();
	cr_expect(offered(), "%s", told.data);
	cr_expect_str_eq(told.data, "");
}

Test(gate, holds_a_result_against_its_schema)
{
	scratch_write_json("boxes/say.json",
		"{'kind':'command','risk':'read','gate':'examples','tools':[{'name':'say',"
		"'output_schema':{'type':'object','required':['n'],'properties':{'n':{'type':"
		"'integer'}}},'examples':[{'args':{}}],'command':{'shell':'cat said','output':"
		"'json'}}]}");
	scratch_write_json("boxes/said", "{'n':'x'}");
	load();
	expect_closed("error: its gate is closed: example 1 of 'say', {}: /n: must be an integer, "
		      "not the string \"x\". Result: n (an integer, required)\n");
	scratch_write_json("boxes/said", "{'n':3}");
	asks = true;
	load();
	cr_expect(offered(), "%s", told.data);
}

Test(gate, passes_no_larger_arguments_than_calls_have)
{
	config.limits.args_bytes = strlen("{\"x\":4}");
	load_box(BOX(READS, SQRT(ROOT("4", "2"))));
	cr_expect(offered(), "%s", told.data);
	load_box(BOX(READS, SQRT(ROOT("16", "4"))));
	cr_expect(
		strstr(told.data, "error: its gate is closed: example 1 of 'root', {\"x\":16}: its "
				  "arguments are larger than calls may have\n"),
		"%s", told.data);
}

/* A load that is given up ends its processes. */
Test(gate, is_left_in_the_middle)
{
	scratch_write_json("boxes/box.json", MISBEHAVE("", "hang", "", "'type':'void'", ""));
	scratch_write_json("boxes/box2.json", BOX(READS, SQRT(ROOT("4", "2"))));
	start();
	for (int ms = 1; ms < 200 && loader; ms += ms) {
		loop_run(loop, ms);
		loader_free(take_ptr(loader));
		start();
	}
	loader_free(loader);
	cr_expect_null(catalogue);
}
