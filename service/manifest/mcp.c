/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/mcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "manifest/diagnose.h"
#include "util/cleanup.h"
#include "util/environment.h"

/* Append the path at @token, which is relative to @folder, as a JSON string. */
static void write_path(
	const struct json_tape *tape, uint32_t token, const char *folder, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer path = {0};
	cleanup(buffer_deinit) struct buffer given = {0};

	json_string_decode(tape, token, &given);
	if (given.size == 0 || given.data[0] != '/')
		buffer_printf(&path, "%s/", folder);
	buffer_append_buffer(&path, &given);
	buffer_fail_with(out, &path);
	json_write_bytes_lossy(out, path.data, path.size);
}

/* Append the program and its arguments. A program with a '/' is a path. */
static void write_argv(
	const struct json_tape *tape, uint32_t list, const char *folder, struct buffer *out)
{
	uint32_t program = json_first(tape, list);

	buffer_append_string(out, "\"argv\":[");
	if (memchr(json_bytes(tape, program), '/', json_at(tape, program)->length))
		write_path(tape, program, folder, out);
	else
		json_write_compact(out, tape, program);
	for (uint32_t at = json_next(tape, program); at < json_end(tape, list);
		at = json_next(tape, at)) {
		buffer_append_char(out, ',');
		json_write_compact(out, tape, at);
	}
	buffer_append_char(out, ']');
}

static char *write_server(const struct json_tape *tape, uint32_t object, const char *folder)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	uint32_t cwd = json_find(tape, object, "cwd");
	uint32_t env = json_find(tape, object, "env");

	buffer_append_char(&out, '{');
	write_argv(tape, json_find(tape, object, "command"), folder, &out);
	buffer_append_string(&out, ",\"cwd\":");
	if (cwd != JSON_NONE)
		write_path(tape, cwd, folder, &out);
	else
		json_write_bytes_lossy(&out, folder, strlen(folder));
	if (env != JSON_NONE) {
		buffer_append_string(&out, ",\"env\":");
		json_write_compact(&out, tape, env);
	}
	buffer_append_char(&out, '}');
	return buffer_take(&out, NULL);
}

static char *write_rules(const struct json_tape *tape)
{
	static const char *const keys[] = {"include", "exclude", "tools"};
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append_char(&out, '{');
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		uint32_t value = json_find(tape, 0, keys[i]);

		if (value == JSON_NONE)
			continue;
		buffer_append_string(&out, out.size > 1 ? "," : "");
		json_write_key(&out, keys[i]);
		json_write_compact(&out, tape, value);
	}
	buffer_append_char(&out, '}');
	return buffer_take(&out, NULL);
}

/* Append the variable of this process that the text @name, up to its '}', names. */
static void add_variable(const char *name, struct buffer *out)
{
	size_t size = strcspn(name, "}");
	cleanup_free char *copy = strndup(name, size);
	cleanup(buffer_deinit) struct buffer entry = {0};
	const char *value = copy ? getenv(copy) : NULL;

	if (!copy)
		out->error = -ENOMEM;
	if (!value)
		return;
	buffer_printf(&entry, "%s=%s", copy, value);
	if (!buffer_terminate(&entry))
		out->error = -ENOMEM;
	else if (!environment_names(buffer_terminate(out), entry.data))
		buffer_append(out, entry.data, entry.size + 1);
}

/* Find the variables that the values of the environment @environment mean by `${env:NAME}`: a host has only some of
 * ours. */
static int find_variables(const char *environment, char **ret_variables)
{
	static const char begin[] = "${env:";
	cleanup(buffer_deinit) struct buffer out = {0};

	for (const char *entry = environment; entry && *entry; entry = environment_next(entry))
		for (const char *at = strstr(entry, begin); at; at = strstr(at + 1, begin))
			add_variable(at + strlen(begin), &out);
	if (!buffer_terminate(&out))
		return -ENOMEM;
	if (out.size == 0)
		return 0;
	*ret_variables = buffer_take(&out, NULL);
	return *ret_variables ? 0 : -ENOMEM;
}

/* Read what the host will read, to find its mistakes now. */
static int check_server(const struct json_tape *tape, uint32_t object, struct package *package,
	struct diagnostics *problems)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape load = {0};
	struct command_mistake mistake = {0};
	struct command command = {0};
	int r;

	buffer_printf(&text, "[%s]", package->mcp.server);
	r = buffer_status(&text);
	r = r ? r : json_tape_read(&load, text.data, text.size, JSON_DEPTH_DEFAULT, NULL);
	r = r ? r : command_read(&load, json_first(&load, 0), &command, &mistake);
	if (r == 0) {
		r = find_variables(command.environment, &package->mcp.variables);
		command_deinit(&command);
		return r;
	}
	if (r == COMMAND_E_MALFORMED)
		diagnose_found(problems, tape, object, mistake.expected);
	return r < 0 ? r : 0;
}

int manifest_mcp_read(const struct json_tape *tape, const char *folder, struct package *package,
	struct diagnostics *problems)
{
	uint32_t object = json_find(tape, 0, "mcp");

	package->mcp.server = write_server(tape, object, folder);
	package->mcp.rules = write_rules(tape);
	if (!package->mcp.server || !package->mcp.rules)
		return -ENOMEM;
	return check_server(tape, object, package, problems);
}
