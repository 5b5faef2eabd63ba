/* SPDX-License-Identifier: Apache-2.0 */
#include "config/agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields.h"
#include "config/secret_line.h"
#include "config/agent/section.h"
#include "json/member.h"
#include "util/array.h"
#include "util/cleanup.h"

#define FIELDS_OF struct config_agent
static const struct config_field agent_fields[] = {
	CONFIG_TEXT("base_url", base_url),
	CONFIG_TEXT("model", model),
	CONFIG_TEXT("system", system),
	CONFIG_TEXT("profile", profile),
	CONFIG_FLAG("speak", speaks, false),
	CONFIG_FLAG("follow_up", follows_up, false),
	CONFIG_FLAG("match_first", matches_first, true),
	CONFIG_NUMBER("tools_max", tools_max, 32),
	CONFIG_NUMBER("max_rounds", max_rounds, 8),
	CONFIG_NUMBER("turn_ms", turn_ms, 120000),
	CONFIG_NUMBER("max_history_messages", max_history_messages, 50),
	CONFIG_NUMBER("max_history_tokens", max_history_tokens, 0),
	CONFIG_FLAG("mask_tool_results", masks_results, true),
	CONFIG_NUMBER("result_max_chars", result_max_chars, 16000),
	CONFIG_TEXT("proxy", proxy),
	CONFIG_TEXT("api_key_file", key_file),
};

/* The members beside the section `agent`. */
static const struct config_field shared_fields[] = {
	CONFIG_INVERTED("enabled", is_disabled),
	CONFIG_WORD("log.level", log_level, log_level_names, LOG_LEVEL_INFO),
	CONFIG_WORD("log.format", log_format, log_format_names, LOG_FORMAT_TEXT),
};
#undef FIELDS_OF

/* Read the key from its file. */
static int read_key_file(const char *path, char **ret_key)
{
	struct buffer line = {0};
	int r = secret_line_read(path, secret_line_forbidden(path), CONFIG_AGENT_KEY_BYTES, &line);

	if (r == 0 && (line.size == 0 || memchr(line.data, '\0', line.size)))
		r = -EINVAL;
	if (r == 0) {
		*ret_key = strndup(line.data, line.size);
		r = *ret_key ? 0 : -ENOMEM;
	}
	secret_line_deinit(&line);
	return r;
}

/* Read the key from the environment. */
static int read_key_variable(char **ret_key)
{
	const char *value = getenv("TOOLBOX_AGENT_KEY");

	if (!value || !*value)
		value = getenv("OPENAI_API_KEY");
	if (!value || !*value)
		return 0;
	*ret_key = strdup(value);
	return *ret_key ? 0 : -ENOMEM;
}

static void read_agent_section(struct config_reader *reader, void *data)
{
	struct config_agent *agent = data;
	const struct json_tape *tape = &reader->tape;
	uint32_t toolboxd = config_find(tape, 0, "toolboxd");
	uint32_t section = config_find(tape, 0, "toolboxd.agent");

	if (config_fields_read(tape, section, agent_fields, ARRAY_SIZE(agent_fields), agent) < 0 ||
		config_fields_read(
			tape, toolboxd, shared_fields, ARRAY_SIZE(shared_fields), agent) < 0)
		reader->error = -ENOMEM;
	agent->listen = config_listen_read(
		tape, json_find_present(tape, section, "listen"), CONFIG_AGENT_PRIORITY);
	agent->temperature =
		config_reader_json(reader, json_find_present(tape, section, "temperature"));
	agent->words = config_reader_json(reader, json_find_present(tape, section, "words"));
	agent->bus = config_section_bus(reader);
	agent->lang = config_section_text(reader, "lang");
}

int config_read_agent(const struct config_flags *flags, diagnostic_function report, void *data,
	struct config_agent *ret_agent, bool *ret_closed)
{
	struct config_agent agent = {0};
	int r = config_section_read(flags, report, data, read_agent_section, &agent, ret_closed);

	if (r == 0)
		r = agent.key_file ? read_key_file(agent.key_file, &agent.key)
				   : read_key_variable(&agent.key);
	if (r == 0)
		*ret_agent = agent;
	else
		config_agent_deinit(&agent);
	return r;
}

void config_agent_deinit(struct config_agent *agent)
{
	config_fields_deinit(agent_fields, ARRAY_SIZE(agent_fields), agent);
	free(agent->temperature);
	free(agent->words);
	free(agent->lang);
	if (agent->key)
		explicit_bzero(agent->key, strlen(agent->key));
	free(agent->key);
	*agent = (struct config_agent){0};
}
