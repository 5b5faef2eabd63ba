/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/mcp/configuration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "json/member.h"
#include "json/number.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/environment.h"
#include "util/file/file.h"
#include "util/text/base64.h"

/* The part of the host's time that the server has. */
#define START_PERCENT 95

/* A shorter value is no secret by its name alone. */
#define NAMED_BYTES 8

/* Append the file or the variable @name (mcp_secret_function). */
static int read_secret(void *data, bool is_file, const char *name, struct buffer *value)
{
	const char *text;

	(void)data;
	if (is_file)
		return file_read(name, MCP_SECRET_BYTES, value);
	text = getenv(name);
	if (!text)
		return -ENOENT;
	if (strlen(text) > MCP_SECRET_BYTES)
		return -EFBIG;
	buffer_append_string(value, text);
	return buffer_status(value);
}

/* Mask the text after a user and a colon in @value, which is base64. 0 or -ENOMEM. */
static int add_password(struct mcp_secrets *secrets, const char *value)
{
	size_t size = base64_decoded_size(value, strlen(value));
	cleanup_free char *text = malloc(size + 1);
	const char *colon;

	if (!text)
		return -ENOMEM;
	base64_decode(value, strlen(value), text);
	colon = memchr(text, ':', size);
	return colon ? mcp_secrets_add(secrets, colon + 1, (size_t)(text + size - colon) - 1) : 0;
}

/* Mask the value of @entry, `NAME=VALUE` or `NAME: VALUE`, if it is a secret by its name: the lists
 * of other programs have secrets in clear. 0 or -ENOMEM. */
static int add_named(struct mcp_secrets *secrets, const char *entry)
{
	static const char *const schemes[] = {"Bearer ", "Token ", "Basic "};
	size_t name_size = strcspn(entry, "=:");
	const char *value = entry + name_size + (entry[name_size] != '\0');
	int r = 0;

	if (!mcp_names_secret(entry, name_size))
		return 0;
	value += strspn(value, " ");
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (strncasecmp(value, schemes[i], strlen(schemes[i])) == 0)
			value += strlen(schemes[i]);
	if (strlen(value) < NAMED_BYTES)
		return 0;
	if (value > entry && value[-1] == ' ' && base64_is_valid(value, strlen(value)))
		r = add_password(secrets, value);
	return r ? r : mcp_secrets_add(secrets, value, strlen(value));
}

/* Write the variable @entry of the manifest with its secrets to *ret_entry. 0, -ENOMEM, or
 * MCP_E_MISSING with the @reason. */
static int expand_variable(
	struct mcp_secrets *secrets, const char *entry, char **ret_entry, struct buffer *reason)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	const char *value = strchr(entry, '=') + 1;
	int r;

	buffer_append(&out, entry, (size_t)(value - entry));
	r = mcp_secrets_expand(secrets, value, false, read_secret, NULL, &out, reason);
	if (r)
		return r;
	*ret_entry = buffer_take(&out, NULL);
	return *ret_entry ? add_named(secrets, *ret_entry) : -ENOMEM;
}

/* Add what this process has, and the manifest does not name. */
static int inherit_environment(struct mcp_configuration *configuration, size_t n_variables)
{
	for (char **entry = environ; *entry; entry++) {
		if (environment_names(configuration->command.environment, *entry))
			continue;
		configuration->environment[n_variables] = strdup(*entry);
		if (!configuration->environment[n_variables++] ||
			add_named(&configuration->secrets, *entry) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int make_environment(const struct driver_load *load, uint32_t token,
	struct mcp_configuration *configuration, struct diagnostics *problems)
{
	const char *own = configuration->command.environment;
	cleanup(buffer_deinit) struct buffer reason = {0};
	size_t n_inherited = 0;
	size_t n_variables = 0;

	while (environ[n_inherited])
		n_inherited++;
	configuration->environment =
		calloc(environment_count(own) + n_inherited + 1, sizeof(char *));
	if (!configuration->environment)
		return -ENOMEM;
	for (const char *entry = own; entry && *entry; entry = environment_next(entry)) {
		int r = expand_variable(&configuration->secrets, entry,
			&configuration->environment[n_variables], &reason);

		if (r == MCP_E_MISSING && buffer_terminate(&reason))
			return driver_refuse(problems, load->tape, token, "the variable %.*s: %s",
				(int)strcspn(entry, "="), entry, reason.data);
		if (r)
			return -ENOMEM;
		n_variables++;
	}
	return inherit_environment(configuration, n_variables);
}

static int make_arguments(struct mcp_configuration *configuration)
{
	const struct text_list *given = &configuration->command.arguments;

	configuration->arguments = calloc(given->n_items + 1, sizeof(char *));
	if (!configuration->arguments)
		return -ENOMEM;
	memcpy(configuration->arguments, given->items, given->n_items * sizeof(char *));
	return 0;
}

/* ── over HTTP ───────────────────────────────────────────────────────────────────────────────── */

/* Append the string at @token with its secrets. 0, DRIVER_E_REFUSED, or -ENOMEM. */
static int expand_text(const struct driver_load *load, uint32_t token,
	struct mcp_configuration *configuration, struct diagnostics *problems, struct buffer *out)
{
	cleanup_free char *text = json_string_dup(load->tape, token, NULL);
	cleanup(buffer_deinit) struct buffer reason = {0};
	int r = text ? mcp_secrets_expand(
			       &configuration->secrets, text, true, read_secret, NULL, out, &reason)
		     : -ENOMEM;

	if (r == MCP_E_MISSING && buffer_terminate(&reason))
		return driver_refuse(problems, load->tape, token, "%s", reason.data);
	return r ? -ENOMEM : buffer_status(out);
}

/* Read the object @headers (JSON_NONE: none). */
static int read_headers(const struct driver_load *load, uint32_t headers,
	struct mcp_configuration *configuration, struct diagnostics *problems)
{
	const struct json_tape *tape = load->tape;
	size_t n = 0;
	int r = 0;

	configuration->headers = calloc(
		(headers != JSON_NONE ? json_count(tape, headers) : 0u) + 1u, sizeof(char *));
	if (!configuration->headers)
		return -ENOMEM;
	if (headers == JSON_NONE)
		return 0;
	for (uint32_t key = json_first(tape, headers); r == 0 && key < json_end(tape, headers);
		key = json_next_key(tape, key)) {
		cleanup(buffer_deinit) struct buffer line = {0};

		json_string_decode(tape, key, &line);
		buffer_append_string(&line, ": ");
		r = expand_text(load, key + 1, configuration, problems, &line);
		if (r == 0)
			configuration->headers[n] = buffer_take(&line, NULL);
		r = r || configuration->headers[n++] ? r : -ENOMEM;
		r = r ? r : add_named(&configuration->secrets, configuration->headers[n - 1]);
	}
	return r;
}

/* Read the text at @token with its secrets. 0, DRIVER_E_REFUSED, or -ENOMEM. */
static int read_text(const struct driver_load *load, uint32_t token,
	struct mcp_configuration *configuration, struct diagnostics *problems, char **ret_text)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = expand_text(load, token, configuration, problems, &text);

	if (r)
		return r;
	*ret_text = buffer_take(&text, NULL);
	return *ret_text ? 0 : -ENOMEM;
}

/* Read {"url", "headers"?, "proxy"?, "ca"?} at @object. */
static int read_address(const struct driver_load *load, uint32_t object,
	struct mcp_configuration *configuration, struct diagnostics *problems)
{
	uint32_t proxy = json_find(load->tape, object, "proxy");
	uint32_t ca = json_find(load->tape, object, "ca");
	int r = read_text(load, json_find(load->tape, object, "url"), configuration, problems,
		&configuration->url);

	if (r == 0 && proxy != JSON_NONE)
		r = read_text(load, proxy, configuration, problems, &configuration->proxy);
	if (r == 0 && ca != JSON_NONE) {
		configuration->ca = json_string_dup(load->tape, ca, NULL);
		r = configuration->ca ? 0 : -ENOMEM;
	}
	if (r)
		return r;
	return read_headers(
		load, json_find(load->tape, object, "headers"), configuration, problems);
}

/* ── tools ───────────────────────────────────────────────────────────────────────────────────── */

/* Read {"name", "pin", "reads"?} at @object. */
static int read_listed_tool(const struct json_tape *tape, uint32_t object, struct listed_tool *tool)
{
	uint32_t name = json_find(tape, object, "name");
	uint32_t pin = json_find(tape, object, "pin");

	if (name == JSON_NONE || pin == JSON_NONE)
		return -EPROTO;
	tool->only_reads = json_find(tape, object, "reads") != JSON_NONE;
	tool->name = json_string_dup(tape, name, NULL);
	tool->pin = json_string_dup(tape, pin, NULL);
	return tool->name && tool->pin ? 0 : -ENOMEM;
}

static int compare_listed_tools(const void *a, const void *b, void *tools)
{
	const struct listed_tool *const items = tools;

	return strcmp(items[*(const uint32_t *)a].name, items[*(const uint32_t *)b].name);
}

static int sort_tools(struct mcp_configuration *configuration)
{
	cleanup_free uint32_t *order = calloc(configuration->n_tools + 1u, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < configuration->n_tools; i++)
		order[i] = i;
	qsort_r(order, configuration->n_tools, sizeof(*order), compare_listed_tools,
		configuration->tools);
	for (uint32_t i = 0; i < configuration->n_tools; i++)
		configuration->tools[i].by_name = order[i];
	return 0;
}

static int read_tools(const struct json_tape *tape, struct mcp_configuration *configuration)
{
	uint32_t tools = json_find(tape, 0, "tools");
	int r = 0;

	configuration->is_described = tools != JSON_NONE;
	if (!configuration->is_described)
		return 0;
	configuration->tools = calloc(json_count(tape, tools) + 1u, sizeof(*configuration->tools));
	if (!configuration->tools)
		return -ENOMEM;
	for (uint32_t at = json_first(tape, tools); r == 0 && at < json_end(tape, tools);
		at = json_next(tape, at))
		r = read_listed_tool(tape, at, &configuration->tools[configuration->n_tools++]);
	return r ? r : sort_tools(configuration);
}

struct listed_tool *mcp_configuration_find(
	const struct mcp_configuration *configuration, const char *name)
{
	uint32_t first = 0;
	uint32_t end = configuration->n_tools;

	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		struct listed_tool *tool =
			&configuration->tools[configuration->tools[middle].by_name];
		int order = strcmp(name, tool->name);

		if (order == 0)
			return tool;
		if (order < 0)
			end = middle;
		else
			first = middle + 1;
	}
	return NULL;
}

/* ── the whole ───────────────────────────────────────────────────────────────────────────────── */

/* Read {"argv", "cwd", "env"?} at @object. */
static int read_command(const struct driver_load *load, uint32_t object,
	struct mcp_configuration *configuration, struct diagnostics *problems)
{
	struct command_mistake mistake;
	int r = command_read(load->tape, object, &configuration->command, &mistake);

	if (r == COMMAND_E_MALFORMED)
		return driver_refuse(problems, load->tape, mistake.token, "%s", mistake.expected);
	r = r ? r : make_arguments(configuration);
	return r ? r : make_environment(load, object, configuration, problems);
}

/* LOAD frame: {"start_timeout_ms": of this host, "mcp": the server, "legacy"?: true,
 * "resources"?: true, "digest"?: of the list, "tools"?: [{"name", "pin", "reads"?}, …]} */
int mcp_configuration_read(const struct driver_load *load,
	struct mcp_configuration *ret_configuration, struct diagnostics *problems)
{
	const struct json_tape *tape = load->tape;
	uint32_t server = json_find(tape, 0, "mcp");
	uint32_t digest = json_find(tape, 0, "digest");
	uint64_t start_timeout_ms;
	int r;

	if (server == JSON_NONE ||
		!json_read_u64(tape, json_find(tape, 0, "start_timeout_ms"), &start_timeout_ms))
		return -EPROTO;
	/* The rest is for the reason: the daemon has to get it before it ends this host. */
	ret_configuration->start_ms = start_timeout_ms * START_PERCENT / 100;
	ret_configuration->is_legacy = json_member_is_true(tape, 0, "legacy");
	ret_configuration->has_resources = json_member_is_true(tape, 0, "resources");
	if (digest != JSON_NONE && json_number_u64(tape, digest, &ret_configuration->list) != 0)
		return -EPROTO;
	if (json_find(tape, server, "url") != JSON_NONE)
		r = read_address(load, server, ret_configuration, problems);
	else
		r = read_command(load, server, ret_configuration, problems);
	return r ? r : read_tools(tape, ret_configuration);
}

/* Overwrite and free the texts of @list, and it. */
static void free_texts(char **list)
{
	for (char **text = list; text && *text; text++) {
		explicit_bzero(*text, strlen(*text));
		free(*text);
	}
	free(list);
}

void mcp_configuration_deinit(struct mcp_configuration *configuration)
{
	free_texts(configuration->environment);
	free_texts(configuration->headers);
	free(configuration->url);
	free(configuration->proxy);
	free(configuration->ca);
	free(configuration->arguments);
	for (uint32_t i = 0; i < configuration->n_tools; i++) {
		free(configuration->tools[i].name);
		free(configuration->tools[i].pin);
		free(configuration->tools[i].schema);
	}
	free(configuration->tools);
	mcp_secrets_deinit(&configuration->secrets);
	command_deinit(&configuration->command);
}
