/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/mcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/number.h"
#include "json/writer.h"
#include "manifest/diagnose.h"
#include "json/member.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/environment.h"
#include "util/text/text.h"

/* The default of mcp.grace_s. */
#define GRACE_S 300

/* Append the path at @token, relative to @folder, as a JSON string. */
static void write_program_path(
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
		write_program_path(tape, program, folder, out);
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
		write_program_path(tape, cwd, folder, &out);
	else
		json_write_bytes_lossy(&out, folder, strlen(folder));
	if (env != JSON_NONE)
		json_write_member_value(&out, "env", tape, env);
	buffer_append_char(&out, '}');
	return buffer_take(&out, NULL);
}

static char *write_address(const struct json_tape *tape, uint32_t object, const char *folder)
{
	static const char *const keys[] = {"headers", "proxy"};
	cleanup(buffer_deinit) struct buffer out = {0};
	uint32_t ca = json_find(tape, object, "ca");

	buffer_append_string(&out, "{\"url\":");
	json_write_compact(&out, tape, json_find(tape, object, "url"));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t value = json_find(tape, object, keys[i]);

		if (value == JSON_NONE)
			continue;
		json_write_member_value(&out, keys[i], tape, value);
	}
	if (ca != JSON_NONE) {
		buffer_append_string(&out, ",\"ca\":");
		write_program_path(tape, ca, folder, &out);
	}
	buffer_append_char(&out, '}');
	return buffer_take(&out, NULL);
}

/* Return @url without its path, perhaps a secret, and with a mask for a name and a password. */
static char *find_origin(const char *url)
{
	const char *scheme = strstr(url, "://");
	const char *authority = scheme ? scheme + strlen("://") : url;
	cleanup_free char *origin =
		strndup(url, (size_t)(authority - url) + strcspn(authority, "/?#"));

	return origin ? text_mask_url_dup(origin) : NULL;
}

/* Return the server at @object for people (struct package_mcp). NULL when memory is short. */
static char *write_origin(const struct json_tape *tape, uint32_t object)
{
	uint32_t url = json_find(tape, object, "url");
	uint32_t command = json_find(tape, object, "command");
	cleanup_free char *text =
		json_string_dup(tape, url != JSON_NONE ? url : json_first(tape, command), NULL);

	if (!text)
		return NULL;
	return url != JSON_NONE ? find_origin(text) : strdup(basename(text));
}

static char *write_rules(const struct json_tape *tape)
{
	static const char *const keys[] = {"include", "exclude", "tools"};
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append_char(&out, '{');
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
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

enum mcp_pin_mode manifest_pin_mode(const struct json_tape *tape, uint32_t value)
{
	if (value == JSON_NONE || json_is_text(tape, value, "warn"))
		return MCP_PIN_WARN;
	return json_is_text(tape, value, "off") ? MCP_PIN_OFF : MCP_PIN_BLOCK;
}

/* Append the variable of this process named by the text @name, up to its '}'. */
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

/* Add the variables named by `${env:NAME}` in the texts @texts, of the form of an environment: a
 * host has only some of ours. */
static void add_meant(const char *texts, struct buffer *out)
{
	static const char begin[] = "${env:";

	for (const char *text = texts; text && *text; text = environment_next(text))
		for (const char *at = strstr(text, begin); at; at = strstr(at + 1, begin))
			add_variable(at + strlen(begin), out);
}

/* Let @package have the variables @variables. 0 or -ENOMEM. */
static int keep_variables(struct package *package, struct buffer *variables)
{
	if (!buffer_terminate(variables))
		return -ENOMEM;
	if (variables->size == 0)
		return 0;
	package->mcp.variables = buffer_take(variables, NULL);
	return package->mcp.variables ? 0 : -ENOMEM;
}

/* Read what the host will read, to find its mistakes now. */
static int check_server(const struct json_tape *tape, uint32_t object, struct package *package,
	struct diagnostics *problems)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape load = {0};
	struct command_mistake mistake = {0};
	struct command command = {0};
	cleanup(buffer_deinit) struct buffer variables = {0};
	int r;

	buffer_printf(&text, "[%s]", package->mcp.server);
	r = buffer_status(&text);
	r = r ? r : json_tape_read(&load, text.data, text.size, JSON_DEPTH_DEFAULT, NULL);
	r = r ? r : command_read(&load, json_first(&load, 0), &command, &mistake);
	if (r == 0) {
		add_meant(command.environment, &variables);
		command_deinit(&command);
		return keep_variables(package, &variables);
	}
	if (r == COMMAND_E_MALFORMED)
		diagnose_found(problems, tape, object, mistake.expected);
	return r < 0 ? r : 0;
}

/* Check the text of @token by its purpose: a single line. Append it, and a NUL, to @texts. */
static void check_line(const struct json_tape *tape, uint32_t token, struct diagnostics *problems,
	struct buffer *texts)
{
	size_t start = texts->size;

	json_string_decode(tape, token, texts);
	for (size_t i = start; i < texts->size; i++)
		if ((unsigned char)texts->data[i] < ' ' || texts->data[i] == 0x7F) {
			diagnose(problems, DIAGNOSTIC_ERROR, tape, token,
				"must be one line of text, without control characters");
			break;
		}
	buffer_append_char(texts, '\0');
}

/* Check the address of a server over HTTP, and find the variables named there. 0 or -ENOMEM. */
static int check_address(const struct json_tape *tape, uint32_t object, struct package *package,
	struct diagnostics *problems)
{
	static const char *const proxies[] = {"http_proxy", "https_proxy", "HTTPS_PROXY",
		"all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"};
	uint32_t url = json_find(tape, object, "url");
	uint32_t headers = json_find(tape, object, "headers");
	uint32_t proxy = json_find(tape, object, "proxy");
	cleanup(buffer_deinit) struct buffer texts = {0};
	cleanup(buffer_deinit) struct buffer variables = {0};

	check_line(tape, url, problems, &texts);
	if (proxy != JSON_NONE)
		check_line(tape, proxy, problems, &texts);
	json_each_key_found(key, tape, headers)
		check_line(tape, key + 1, problems, &texts);
	if (!buffer_terminate(&texts))
		return -ENOMEM;
	if (problems->n_errors > 0)
		return 0;
	add_meant(texts.data, &variables);
	for (size_t i = 0; i < ARRAY_SIZE(proxies); i++)
		add_variable(proxies[i], &variables);
	return keep_variables(package, &variables);
}

int manifest_mcp_read(const struct json_tape *tape, const char *folder, struct package *package,
	struct diagnostics *problems)
{
	uint32_t object = json_find(tape, 0, "mcp");
	uint32_t grace = json_find(tape, object, "grace_s");
	bool has_url = json_find(tape, object, "url") != JSON_NONE;

	package->mcp.is_http = has_url;
	package->mcp.grace_s = GRACE_S;
	if (grace != JSON_NONE && json_number_u64(tape, grace, &package->mcp.grace_s) != 0)
		return -EINVAL;
	package->mcp.server =
		has_url ? write_address(tape, object, folder) : write_server(tape, object, folder);
	package->mcp.origin = write_origin(tape, object);
	package->mcp.rules = write_rules(tape);
	package->mcp.has_resources = json_member_is_true(tape, 0, "resources");
	package->mcp.pin = manifest_pin_mode(tape, json_find(tape, 0, "pin"));
	if (!package->mcp.server || !package->mcp.origin || !package->mcp.rules)
		return -ENOMEM;
	return has_url ? check_address(tape, object, package, problems)
		       : check_server(tape, object, package, problems);
}
