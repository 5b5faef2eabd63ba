/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/warn/open_bus.h"

#include <stdio.h>

#include "policy/approval.h"
#include "policy/names.h"

void warn_open_bus(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	if (*config->embedded_token)
		return;
	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++) {
		const struct package *package =
			catalogue_toolbox(catalogue, i, NULL, NULL)->package;

		if (package->sandbox.class != SANDBOX_NET)
			continue;
		report(data,
			&(struct diagnostic){.severity = DIAGNOSTIC_WARNING,
				.file = package->file,
				.text = "class net: its tools can speak on a bus that asks for no "
					"token, as any source; with --embedded-bus, set "
					"embedded.token_file"});
	}
}

void warn_open_bus_sockets(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	bool is_served = false;

	for (size_t i = 0; i < config->http.n_addresses; i++)
		is_served = is_served || *config->http.addresses[i].path;
	for (size_t i = 0; is_served && i < catalogue_n_toolboxes(catalogue); i++) {
		const struct package *package =
			catalogue_toolbox(catalogue, i, NULL, NULL)->package;

		if (!package->sandbox.has_unix || package->sandbox.class > SANDBOX_NET)
			continue;
		report(data,
			&(struct diagnostic){.severity = DIAGNOSTIC_WARNING,
				.file = package->file,
				.text = "unix: its tools can be an administrator at the unix "
					"socket of http.listen, and answer questions without a "
					"proof"});
	}
}

void warn_open_bus_answers(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	char text[256];
	size_t n_asking = 0;

	if (config->approval_key.state != APPROVAL_KEY_NONE)
		return;
	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++) {
		const struct tool *tool = catalogue_tool(catalogue, i);

		n_asking += approval_is_needed(config->approval_mode, tool->risk) &&
			    !names_mean(&config->approval_allow, tool->toolbox->id, tool->name);
	}
	if (n_asking == 0)
		return;
	snprintf(text, sizeof(text),
		"the calls of %zu tool%s need a person's approval, and any client of the bus can "
		"give it, also for its own calls: approval.key_file is not set",
		n_asking, n_asking == 1 ? "" : "s");
	report(data, &(struct diagnostic){.severity = DIAGNOSTIC_WARNING, .text = text});
}

void warn_open_bus_unrated(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	char text[256];
	size_t n_unrated = 0;

	if (approval_is_needed(config->approval_mode, TOOL_UNRATED))
		return;
	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++)
		n_unrated += catalogue_tool(catalogue, i)->risk == TOOL_UNRATED;
	if (n_unrated == 0)
		return;
	snprintf(text, sizeof(text),
		"%zu tool%s no risk, and will run without asking a person; give a risk, or set "
		"approval.mode to \"auto\"",
		n_unrated, n_unrated == 1 ? " has" : "s have");
	report(data, &(struct diagnostic){.severity = DIAGNOSTIC_WARNING, .text = text});
}

void warn_open_bus_guests(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	char text[256];

	(void)catalogue;
	if (!config->guests.is_enabled)
		return;
	snprintf(text, sizeof(text),
		"any client of the bus can offer tools, up to %u in %u toolboxes: it describes "
		"them, declares their risk, and gets their arguments",
		config->guests.tools, config->guests.max);
	report(data,
		&(struct diagnostic){
			.severity = DIAGNOSTIC_WARNING, .pointer = "guests.enabled", .text = text});
}
