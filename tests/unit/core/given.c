/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/given.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue_fixture.h"
#include "runner/runner.h"
#include "util/cleanup.h"

/* Knowledge given to tools with a call. The toolboxes are a (add, get) and b (set). */

#define CALLER "{\"call_id\":null,\"session_id\":null,\"lang\":null,\"source\":null"

static struct loop *loop;
static struct toolbox *boxes[2];
static struct runner *runners[2];
static struct catalogue *catalogue;
static struct request_scope scope;
static struct call call;

static void is_done(void *data, struct runner_call *runner_call, const struct call_result *result)
{
	(void)data;
	(void)runner_call;
	(void)result;
}

/* Let the package have the list of its tools. */
static void list_tools(struct package *package)
{
	struct toolbox *toolbox = package->toolboxes[0];

	package->n_tools = toolbox->n_tools;
	package->tools = calloc(toolbox->n_tools, sizeof(*package->tools));
	cr_assert_not_null(package->tools);
	for (size_t i = 0; i < toolbox->n_tools; i++)
		package->tools[i] = &toolbox->tools[i];
}

static void set_up(void)
{
	static const char request[] = "{\"type\":\"t\"}";
	static const struct runner_options options = {.worker.host_program = "/none", .workers = 1};
	static const struct runner_handler handler = {.done = is_done};

	cr_assert_eq(loop_new(&loop), 0);
	boxes[0] = make_toolbox("a", "add", "get", NULL);
	boxes[1] = make_toolbox("b", "set", NULL);
	for (size_t i = 0; i < 2; i++) {
		struct package *package = boxes[i]->package;

		package->kind = KIND_PLUGIN;
		list_tools(package);
		cr_assert_eq(runner_new(loop, package, &options, &handler, NULL, &runners[i]), 0);
		package->runner = runners[i];
	}
	catalogue = catalogue_new(boxes, 2, NULL, NULL, 1);
	cr_assert_not_null(catalogue);
	cr_assert_eq(bus_envelope_read(&scope.envelope, request, strlen(request), 8), 0);
	scope.view = catalogue;
}

static void tear_down(void)
{
	buffer_deinit(&call.runner_call.caller);
	bus_envelope_deinit(&scope.envelope);
	catalogue_free(catalogue);
	for (size_t i = 0; i < 2; i++) {
		boxes[i]->package->runner = NULL;
		runner_free(runners[i]);
		package_unref(boxes[i]->package);
	}
	loop_free(loop);
}

TestSuite(given, .init = set_up, .fini = tear_down, .timeout = 60);

/* Return what the first tool of a, that asks for @given, is sent. */
static const char *write_for(enum tool_given given)
{
	boxes[0]->tools[0].given = given;
	call.package = boxes[0]->package;
	call.tool = &boxes[0]->tools[0];
	given_write_caller(NULL, &scope, &call);
	return buffer_terminate(&call.runner_call.caller);
}

Test(given, is_the_caller_alone_for_a_tool_that_asks_for_nothing)
{
	cr_expect_str_eq(write_for(GIVEN_NOTHING), CALLER "}");
}

Test(given, has_the_figures_of_the_tools_that_were_called)
{
	cr_expect_str_eq(
		write_for(GIVEN_STATISTICS), CALLER ",\"given\":{\"tools\":[],\"left_out\":0}}");
	runner_count(runners[0], &boxes[0]->tools[1], 1000, NULL, NULL, 0);
	runner_count(runners[0], &boxes[0]->tools[1], 1000, "tool_failed", "secret", 6);
	runner_count_refused(runners[1], &boxes[1]->tools[0], "busy");
	cr_expect_str_eq(write_for(GIVEN_STATISTICS),
		CALLER ",\"given\":{\"tools\":["
		       "{\"toolbox_id\":\"a\",\"name\":\"get\",\"calls\":2,\"errors\":1,"
		       "\"p50_ms\":1.023,\"p99_ms\":1.023},"
		       "{\"toolbox_id\":\"b\",\"name\":\"set\",\"calls\":1,\"errors\":1,"
		       "\"p50_ms\":null,\"p99_ms\":null}],\"left_out\":0}}");
}

Test(given, has_only_tools_that_the_caller_sees)
{
	struct catalogue *none = catalogue_new(NULL, 0, NULL, NULL, 1);

	runner_count(runners[0], &boxes[0]->tools[1], 1000, NULL, NULL, 0);
	scope.view = none;
	cr_expect_str_eq(
		write_for(GIVEN_STATISTICS), CALLER ",\"given\":{\"tools\":[],\"left_out\":0}}");
	catalogue_free(none);
}
