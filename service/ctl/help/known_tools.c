/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/help/known_tools.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/offline/listed.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "json/member.h"

/* Return whether the line or the environment names a service, so that tools of this device would be
 * the wrong ones. */
static bool names_service(const struct ctl_options *options)
{
	static const char *const variables[] = {"TOOLBOXD_BUS", "TOOLBOXD_HTTP"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return true;
	}
	return options->bus || options->http;
}

static bool is_offline(const struct ctl_options *options)
{
	return options->offline || options->standalone || options->file || options->trace_files;
}

/* Ask the service for its tools, or for the tool @name. Return whether it has answered with
 * them. */
static bool ask_service(const struct ctl_options *options, const char *topic, const char *name,
	struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	int r = 0;

	if (name)
		r = ctl_request_tool(&data, name, options);
	return r == 0 && ctl_session_ask_once(options, topic, &data, ret_response) == 0 &&
	       ctl_response_status(ret_response) == CTL_DONE;
}

/* Read the manifests into @ret_response, as a service would list them. */
static bool read_here(const struct ctl_options *options, struct ctl_response *ret_response)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;

	return listed_load(options->toolbox_dir, options->file, OFFLINE_ASKS_NOBODY, &catalogue) ==
		       CTL_DONE &&
	       listed_write(catalogue, options->toolbox_id, DEFINITION_FULL, false, ret_response) ==
		       0;
}

static bool has_tools(const struct ctl_response *response, uint32_t *ret_tools)
{
	*ret_tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);
	return *ret_tools != JSON_NONE;
}

bool known_tools_list(
	const struct ctl_options *options, struct ctl_response *ret_response, uint32_t *ret_tools)
{
	if (!is_offline(options) && ask_service(options, "ovos.tools.list", NULL, ret_response))
		return has_tools(ret_response, ret_tools);
	if (!is_offline(options) && names_service(options))
		return false;
	return read_here(options, ret_response) && has_tools(ret_response, ret_tools);
}

/* Return whether the definition at @tool is of the tool @name: TOOL or TOOLBOX/TOOL. */
static bool is_tool_named(const struct json_tape *tape, uint32_t tool, const char *name)
{
	const char *slash = strchr(name, '/');
	uint32_t id = json_find_typed(tape, tool, "toolbox_id", JSON_STRING);
	uint32_t own = json_find_typed(tape, tool, "name", JSON_STRING);

	if (id == JSON_NONE || own == JSON_NONE)
		return false;
	return json_is_text(tape, own, slash ? slash + 1 : name) &&
	       (!slash || json_string_equals(tape, id, name, (size_t)(slash - name)));
}

bool known_tools_get(const struct ctl_options *options, const char *name,
	struct ctl_response *ret_response, uint32_t *ret_tool)
{
	uint32_t tools;

	*ret_tool = 0;
	if (!is_offline(options) && ask_service(options, "ovos.tools.get", name, ret_response))
		return true;
	if ((!is_offline(options) && names_service(options)) || !read_here(options, ret_response) ||
		!has_tools(ret_response, &tools))
		return false;
	json_each(i, &ret_response->tape, tools) {
		if (is_tool_named(&ret_response->tape, i, name)) {
			*ret_tool = i;
			return true;
		}
	}
	return false;
}
