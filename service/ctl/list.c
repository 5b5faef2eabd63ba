/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/listing.h"
#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/status.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "loader/offline.h"
#include "util/cleanup.h"

/* toolboxctl list: list the tools that are offered, or would be. */

static void add_member(
	struct table *table, const struct ctl_response *response, uint32_t object, const char *key)
{
	uint32_t value = json_find(&response->tape, object, key);

	if (value != JSON_NONE)
		terminal_append_value(table_cell(table), &response->tape, value);
	table_next(table);
}

static void print_tools(const struct ctl_response *response, uint32_t tools)
{
	static const struct table_column columns[] = {
		{"TOOLBOX", false}, {"TOOL", false}, {"RISK", false}, {"DESCRIPTION", false}};
	const struct json_tape *tape = &response->tape;
	cleanup(table_deinit) struct table table = {0};

	table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (uint32_t i = json_first(tape, tools); i < json_end(tape, tools);
		i = json_next(tape, i)) {
		add_member(&table, response, i, "toolbox_id");
		add_member(&table, response, i, "name");
		add_member(&table, response, i, "risk");
		add_member(&table, response, i, "description");
	}
	table_print(&table);
}

static void print_list(const struct ctl_options *options, const struct ctl_response *response)
{
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);

	if (options->json)
		ctl_response_print(response);
	else if (options->format)
		terminal_print_json(&response->tape, 0);
	else if (tools != JSON_NONE && json_count(&response->tape, tools) > 0)
		print_tools(response, tools);
	else
		terminal_complain("no tool is offered%s",
			options->why ? "" : "; add --why to see what was found, and why");
}

static int check_options(const struct ctl_options *options)
{
	if (options->offline && options->profile)
		terminal_complain("--profile needs the daemon: leave out --offline");
	else if (options->json && options->why && !options->offline)
		terminal_complain(
			"--why prints text only: for JSON, use `toolboxctl status --json`");
	else
		return 0;
	return CTL_USAGE;
}

/* ── with a daemon ───────────────────────────────────────────────────────────────────────────── */

static int list_online(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	ctl_request_begin(&data);
	ctl_request_member(&data, "toolbox_id", options->toolbox_id);
	ctl_request_member(&data, "profile", options->profile);
	ctl_request_member(&data, "format", options->format);
	ctl_request_end(&data);
	r = ctl_session_open(options, &session);
	if (r == 0)
		r = ctl_session_ask(session, "ovos.tools.list", &data, &response);
	if (r != 0)
		return r;
	r = ctl_response_status(&response);
	if (r != CTL_DONE && !options->json) {
		ctl_response_complain(&response);
		return r;
	}
	print_list(options, &response);
	return r == CTL_DONE && options->why ? ctl_print_skipped(session) : r;
}

/* ── without one ─────────────────────────────────────────────────────────────────────────────── */

/* `failed` or `check` reports the problems. */
static void ignore_problem(void *data, const struct diagnostic *problem)
{
	(void)data;
	(void)problem;
}

/* Print the response of ovos.tools.list, and with --why the additions of ovos.tools.status. */
static void write_catalogue(const struct ctl_options *options, const struct catalogue *catalogue,
	enum definition_format format, struct buffer *out)
{
	const char *id = options->toolbox_id;

	buffer_append_string(out, "{\"tools\":");
	listing_write(catalogue, id, id ? strlen(id) : 0, format, out);
	if (options->why) {
		buffer_append_string(out, ",\"failed\":");
		listing_write_failed(catalogue, out);
		buffer_append_string(out, ",\"not_offered\":");
		listing_write_not_offered(catalogue, out);
	}
	buffer_append_char(out, '}');
}

static int print_catalogue(const struct ctl_options *options, const struct catalogue *catalogue,
	enum definition_format format)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r;

	write_catalogue(options, catalogue, format, &response.text);
	r = buffer_status(&response.text);
	if (r == 0)
		r = json_tape_read(&response.tape, response.text.data, response.text.size,
			2 * JSON_DEPTH_DEFAULT, NULL);
	if (r != 0) {
		terminal_complain("the list cannot be written: %s",
			r < 0 ? strerror(-r) : "a definition is not JSON");
		return CTL_ERROR;
	}
	print_list(options, &response);
	if (options->why && !options->json)
		ctl_print_reason(&response);
	return CTL_DONE;
}

static int list_offline(const struct ctl_options *options)
{
	const struct config_flags flags = {0};
	cleanup(config_deinit) struct config config = {0};
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	char reason[OFFLINE_WHY_BYTES];
	struct diagnostic_counts counts = {0};
	int format = DEFINITION_FULL;
	int r;

	if (options->format)
		format = definition_format_from_name(options->format, strlen(options->format));
	if (format < 0) {
		terminal_complain(
			"--format must be " DEFINITION_FORMATS ", not '%s'", options->format);
		return CTL_USAGE;
	}
	r = config_read(&flags, diagnostic_print, &counts, &config);
	if (r < 0)
		terminal_complain("the configuration cannot be read: %s", strerror(-r));
	if (r == 0 && config.closed)
		terminal_complain("nothing is offered with this configuration");
	if (r != 0 || config.closed)
		return CTL_ERROR;
	r = offline_load(&config, NULL, 0, ignore_problem, NULL, &catalogue, reason);
	if (r == 0)
		return print_catalogue(options, catalogue, (enum definition_format)format);
	terminal_complain("%s", reason);
	return CTL_ERROR;
}

int ctl_list(const struct ctl_options *options)
{
	int r = check_options(options);

	if (r != 0)
		return r;
	return options->offline ? list_offline(options) : list_online(options);
}
