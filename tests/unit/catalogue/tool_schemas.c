/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/tool_schemas.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "boxes.h"
#include "catalogue/arguments.h"
#include "catalogue/package.h"
#include "scarce.h"
#include "util/buffer.h"

/* A tool whose text of schemas is more than a sixteenth of what may be awake. */
#define LARGE_BYTES (TOOL_SCHEMAS_BYTES_MAX / 16)
#define N_LARGE     24u

static struct schema_context *context;
static struct arguments arguments;
static struct asked asked;

static void set_up(void)
{
	context = schema_context_new();
}

static void tear_down(void)
{
	arguments_deinit(&arguments);
	asked_deinit(&asked);
	schema_context_free(context);
}

TestSuite(tool_schemas, .init = set_up, .fini = tear_down);

static int check(const struct tool *tool, const char *members)
{
	static const struct arguments_limits limits = {.bytes = 64, .depth = 4};

	ask(&asked, members);
	return arguments_check(
		&arguments, tool, asked.request.args_tape, asked.request.args, context, &limits);
}

/* A toolbox of @n large tools, all at rest. */
static struct toolbox *make_large(unsigned int n)
{
	cleanup(buffer_deinit) struct buffer tools = {0};
	struct toolbox *box;

	for (unsigned int i = 0; i < n; i++)
		buffer_printf(&tools,
			"%s{'name':'f%u','argument_schema':{'properties':{'a':{'type':'integer',"
			"'description':'%*d'}}},'native':{'symbol':'f','parameters':[{'name':'a',"
			"'type':'i64','dir':'inout','nullable':true}]}}",
			i ? "," : "", i, (int)LARGE_BYTES, 0);
	cr_assert(buffer_terminate(&tools));
	box = make_box("large", tools.data);
	for (unsigned int i = 0; i < n; i++)
		tool_schemas_rest(box->tools[i].schemas);
	return box;
}

static unsigned int count_awake(const struct toolbox *box)
{
	unsigned int n = 0;

	for (size_t i = 0; i < box->n_tools; i++)
		n += box->tools[i].schemas->output.compiled != NULL;
	return n;
}

Test(tool_schemas, rest_once_their_mistakes_are_looked_for)
{
	cleanup(buffer_deinit) struct buffer tools = {0};
	struct toolbox *box;

	/* The first one finds no metaschema, and may take too long to rest. */
	for (int i = 0; i < 50; i++)
		buffer_printf(&tools, "%s{'name':'f%d','native':{'symbol':'f'}}", i ? "," : "", i);
	cr_assert(buffer_terminate(&tools));
	box = make_box("box", tools.data);
	cr_expect_lt(count_awake(box), 50);
	package_unref(box->package);
}

Test(tool_schemas, check_a_call_after_a_rest_as_before_it)
{
	struct toolbox *box = make_box("box",
		"{'name':'f','argument_schema':{'properties':{'a':{'type':'integer','maximum':4}}},"
		"'native':{'symbol':'f','parameters':[{'name':'a','type':'i64','default':3}]}}");
	const struct tool *tool = &box->tools[0];

	for (int i = 0; i < 2; i++) {
		tool_schemas_rest(tool->schemas);
		cr_expect_eq(check(tool, "'args':{'a':5}"), ARGUMENTS_E_INVALID);
		cr_expect_eq(check(tool, "'args':{'a':4}"), 0);
		cr_expect(tool->schemas->arguments.compiled && tool->schemas->output.compiled);
	}
	package_unref(box->package);
}

Test(tool_schemas, assert_formats_only_where_they_did)
{
	struct toolbox *box = make_box("box",
		"{'name':'f','argument_schema':{'properties':{'a':{'format':'date'}}},"
		"'native':{'symbol':'f','parameters':[{'name':'a','type':'str'}]}}");
	const struct tool *tool = &box->tools[0];

	for (int asserts = 0; asserts < 2; asserts++) {
		tool_schemas_rest(tool->schemas);
		tool->schemas->arguments.asserts_formats = asserts;
		cr_expect_eq(
			check(tool, "'args':{'a':'never'}"), asserts ? ARGUMENTS_E_INVALID : 0);
	}
	package_unref(box->package);
}

Test(tool_schemas, hold_no_more_text_awake_than_they_may)
{
	struct toolbox *box = make_large(N_LARGE);
	struct toolbox *other = make_large(2);

	for (unsigned int i = 0; i < N_LARGE; i++)
		cr_assert_eq(tool_schemas_wake(&box->tools[i]), 0);
	cr_expect_eq(count_awake(box), 15);
	package_unref(box->package);
	/* Freed tools take no room. */
	cr_assert_eq(tool_schemas_wake(&other->tools[0]), 0);
	cr_assert_eq(tool_schemas_wake(&other->tools[1]), 0);
	cr_expect_eq(count_awake(other), 2);
	package_unref(other->package);
}

Test(tool_schemas, keep_what_is_used_awake)
{
	struct toolbox *box = make_large(N_LARGE);
	const struct schema *first;

	cr_assert_eq(tool_schemas_wake(&box->tools[0]), 0);
	first = box->tools[0].schemas->output.compiled;
	for (unsigned int i = 1; i < N_LARGE; i++) {
		cr_assert_eq(tool_schemas_wake(&box->tools[i]), 0);
		cr_assert_eq(tool_schemas_wake(&box->tools[0]), 0);
		cr_assert_eq(box->tools[0].schemas->output.compiled, first, "%u", i);
	}
	package_unref(box->package);
}

Test(tool_schemas, do_not_rest_while_they_are_pinned)
{
	struct toolbox *box = make_large(N_LARGE);
	struct tool_schemas *schemas = box->tools[0].schemas;
	const struct schema *first;

	cr_assert_eq(tool_schemas_wake(&box->tools[0]), 0);
	first = schemas->output.compiled;
	tool_schemas_pin(schemas);
	for (int round = 0; round < 2; round++)
		for (unsigned int i = 1; i < N_LARGE; i++)
			cr_assert_eq(tool_schemas_wake(&box->tools[i]), 0);
	cr_expect_eq(schemas->output.compiled, first);
	cr_expect_eq(count_awake(box), 16);
	tool_schemas_unpin(schemas);
	for (int round = 0; round < 2; round++)
		for (unsigned int i = 1; i < N_LARGE; i++)
			cr_assert_eq(tool_schemas_wake(&box->tools[i]), 0);
	cr_expect_null(schemas->output.compiled);
	cr_expect_eq(count_awake(box), 15);
	package_unref(box->package);
}

Test(tool_schemas, stay_at_rest_without_memory)
{
	struct toolbox *box = make_large(1);
	const struct tool *tool = &box->tools[0];

	for (size_t n = 0; scarce_once_after(n); n++) {
		int r = tool_schemas_wake(tool);
		bool has_failed = scarce_has_failed();

		cr_expect_eq(r, has_failed ? -ENOMEM : 0, "%zu", n);
		cr_expect_eq(tool->schemas->arguments.compiled != NULL, !has_failed);
		cr_expect_eq(tool->schemas->output.compiled != NULL, !has_failed);
	}
	package_unref(box->package);
}
