/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/warn/open_bus.h"

#include <criterion/criterion.h>
#include <string.h>

#include "boxes.h"
#include "loader/warn/names.h"

static struct buffer reported;

static void tear_down(void)
{
	buffer_deinit(&reported);
}

TestSuite(open_bus, .fini = tear_down, .timeout = 60);

static void report(void *data, const struct diagnostic *diagnostic)
{
	cr_expect_null(data);
	cr_expect_eq(diagnostic->severity, DIAGNOSTIC_WARNING);
	buffer_printf(&reported, "%s%s%s\n", diagnostic->pointer ? diagnostic->pointer : "",
		diagnostic->pointer ? ": " : "", diagnostic->text);
}

typedef void (*report_function)(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);

static void expect_reported(report_function function, const struct config *config,
	const struct catalogue *catalogue, const char *expected)
{
	buffer_reset(&reported);
	function(config, catalogue, report, NULL);
	cr_expect_str_eq(buffer_terminate(&reported), expected, "%s", reported.data);
}

/* Two toolboxes: a with tools of the risks read and execute, b with one that is unrated. */
static struct catalogue *make_two(struct toolbox **ret_first)
{
	struct toolbox *first = make_box("a", BOX_TOOL("one", "") "," BOX_TOOL("two", ""));

	first->tools[0].risk = TOOL_READ;
	first->tools[1].risk = TOOL_EXECUTE;
	*ret_first = first;
	return make_catalogue(first, make_box("b", BOX_TOOL("three", "")), NULL);
}

Test(open_bus, tools_with_a_network_are_named_where_the_bus_asks_for_no_token)
{
	static const char warning[] =
		"class net: its tools can speak on a bus that asks for no token, as any source; "
		"with --embedded-bus, set embedded.token_file\n";
	struct config config = {0};
	struct toolbox *first;
	cleanup(catalogue_cleanup) struct catalogue *catalogue = make_two(&first);

	expect_reported(warn_open_bus, &config, catalogue, "");
	first->package->sandbox.class = SANDBOX_NET;
	expect_reported(warn_open_bus, &config, catalogue, warning);
	strcpy(config.embedded_token, "token");
	expect_reported(warn_open_bus, &config, catalogue, "");
}

Test(open_bus, toolboxes_that_reach_the_socket_of_http_are_named)
{
	static const char warning[] =
		"unix: its tools can be an administrator at the unix socket of http.listen, and "
		"answer questions without a proof\n";
	struct config_http_address addresses[] = {
		{.host = "127.0.0.1", .port = 8090}, {.path = "/run/toolboxd"}};
	struct config config = {.http = {.addresses = addresses, .n_addresses = 1}};
	struct toolbox *first;
	cleanup(catalogue_cleanup) struct catalogue *catalogue = make_two(&first);

	first->package->sandbox.has_unix = true;
	expect_reported(warn_open_bus_sockets, &config, catalogue, "");
	config.http.n_addresses = 2;
	expect_reported(warn_open_bus_sockets, &config, catalogue, warning);
	first->package->sandbox.has_unix = false;
	expect_reported(warn_open_bus_sockets, &config, catalogue, "");
}

Test(open_bus, answers_that_any_client_can_give_are_counted)
{
	char *allowed[] = {(char *)"b/*"};
	struct config config = {.approval_mode = APPROVAL_AUTO};
	struct toolbox *first;
	cleanup(catalogue_cleanup) struct catalogue *catalogue = make_two(&first);

	expect_reported(warn_open_bus_answers, &config, catalogue,
		"the calls of 2 tools need a person's approval, and any client of the bus can give "
		"it, also for its own calls: approval.key_file is not set\n");
	config.approval_allow = (struct text_list){allowed, 1};
	expect_reported(warn_open_bus_answers, &config, catalogue,
		"the calls of 1 tool need a person's approval, and any client of the bus can give "
		"it, also for its own calls: approval.key_file is not set\n");
	config.approval_key.state = APPROVAL_KEY_READY;
	expect_reported(warn_open_bus_answers, &config, catalogue, "");
	config.approval_key.state = APPROVAL_KEY_UNUSABLE;
	expect_reported(warn_open_bus_answers, &config, catalogue, "");
	config.approval_key.state = APPROVAL_KEY_NONE;
	config.approval_mode = APPROVAL_OFF;
	expect_reported(warn_open_bus_answers, &config, catalogue, "");
}

Test(open_bus, tools_without_a_risk_are_counted_where_they_run_without_asking)
{
	struct config config = {.approval_mode = APPROVAL_OFF};
	struct toolbox *first;
	cleanup(catalogue_cleanup) struct catalogue *catalogue = make_two(&first);

	expect_reported(warn_open_bus_unrated, &config, catalogue,
		"1 tool has no risk, and will run without asking a person; give a risk, or set "
		"approval.mode to \"auto\"\n");
	first->tools[0].risk = TOOL_UNRATED;
	expect_reported(warn_open_bus_unrated, &config, catalogue,
		"2 tools have no risk, and will run without asking a person; give a risk, or set "
		"approval.mode to \"auto\"\n");
	config.approval_mode = APPROVAL_AUTO;
	expect_reported(warn_open_bus_unrated, &config, catalogue, "");
}

Test(open_bus, settings_of_toolboxes_that_are_not_there_are_named_once)
{
	struct config_toolbox toolboxes[] = {{.toolbox_id = (char *)"b"},
		{.toolbox_id = (char *)"gone"}, {.toolbox_id = (char *)"away"},
		{.toolbox_id = (char *)"skipped"}, {.toolbox_id = (char *)"away"}};
	struct config config = {.toolboxes = toolboxes, .n_toolboxes = 5};
	struct toolbox *first;
	cleanup(catalogue_cleanup) struct catalogue *catalogue = make_two(&first);

	cr_assert_eq(catalogue_add_skipped(catalogue, "skipped", NULL, "left out"), 0);
	expect_reported(warn_unknown_toolboxes, &config, catalogue,
		"toolboxes: no toolbox is called 'away', 'gone'\n");
	config.n_toolboxes = 1;
	expect_reported(warn_unknown_toolboxes, &config, catalogue, "");
}

Test(open_bus, guests_are_named_where_they_are_taken_in)
{
	struct config config = {.guests = {.max = 2, .tools = 30}};
	struct toolbox *first;
	cleanup(catalogue_cleanup) struct catalogue *catalogue = make_two(&first);

	expect_reported(warn_open_bus_guests, &config, catalogue, "");
	config.guests.is_enabled = true;
	expect_reported(warn_open_bus_guests, &config, catalogue,
		"guests.enabled: any client of the bus can offer tools, up to 30 in 2 toolboxes: "
		"it "
		"describes them, declares their risk, and gets their arguments\n");
}
