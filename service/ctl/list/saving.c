/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/list/saving.h"

#include <string.h>

#include "ctl/command.h"
#include "ctl/mcp/tools.h"
#include "ctl/request.h"
#include "ctl/terminal.h"
#include "util/text/utf8.h"

static size_t count_all(const struct text_view *texts, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += utf8_count(texts[i].text, texts[i].size);
	return sum;
}

static void print_saving(const struct mcp_tools *tools)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t whole = count_all(tools->texts, tools->n_items);
	size_t lazy = count_all(tools->lazy, MCP_LAZY_TOOLS);

	if (lazy >= whole)
		return;
	buffer_printf(&text,
		"A list of MCP has %zu characters; with `mcp --lazy` or http.mcp_lazy it has %zu, "
		"%zu %% fewer",
		whole, lazy, (whole - lazy) * 100 / whole);
	terminal_print_paragraph(&text, 0, 0);
}

int saving_print(struct ctl_session *session, const struct ctl_options *options)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	struct listed_tools listed;
	int r;

	ctl_request_member(&data, "profile", options->profile);
	ctl_request_member(&data, "format", "mcp");
	ctl_request_flag(&data, "toolboxes");
	r = ctl_session_ask(session, "ovos.tools.list", &data, &response);
	if (r == 0)
		r = ctl_response_status(&response);
	if (r != 0)
		return r;
	r = listed_tools_read(
		&response.tape, options->toolboxes, options->n_toolboxes, false, &listed);
	if (r == 0)
		r = listed_tools_make_lazy(&listed, &response.tape);
	if (r < 0) {
		terminal_complain("the list of tools cannot be read: %s", strerror(-r));
		return CTL_ERROR;
	}
	print_saving(&listed.tools);
	listed_tools_deinit(&listed);
	return 0;
}
