/* SPDX-License-Identifier: Apache-2.0 */
#include "config/agent/agent.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config_fixture.h"

/* The section of toolbox-agent. */

static struct config_agent agent;
static bool is_closed;
static unsigned int n_mistakes;

static void set_up(void)
{
	config_set_up();
	unsetenv("TOOLBOX_AGENT_KEY");
	unsetenv("OPENAI_API_KEY");
}

static void tear_down(void)
{
	config_agent_deinit(&agent);
	config_tear_down();
}

TestSuite(config_agent, .timeout = 60, .init = set_up, .fini = tear_down);

static void count_mistake(void *data, const struct diagnostic *diagnostic)
{
	(void)data;
	(void)diagnostic;
	n_mistakes++;
}

static int read_agent(void)
{
	const struct config_flags flags = {0};

	config_agent_deinit(&agent);
	n_mistakes = 0;
	return config_read_agent(&flags, count_mistake, NULL, &agent, &is_closed);
}

Test(config_agent, has_defaults)
{
	cr_assert_eq(read_agent(), 0);
	cr_expect_null(agent.base_url);
	cr_expect_null(agent.key);
	cr_expect_not(agent.speaks);
	cr_expect(agent.matches_first);
	cr_expect(agent.masks_results);
	cr_expect_eq(agent.tools_max, 32);
	cr_expect_eq(agent.max_rounds, 8);
	cr_expect_eq(agent.turn_ms, 120000);
	cr_expect_eq(agent.max_history_messages, 50);
	cr_expect_eq(agent.max_history_tokens, 0);
	cr_expect_eq(agent.result_max_chars, 16000);
	cr_expect_not(agent.listen.is_fallback);
	cr_expect_not(is_closed);
	cr_expect_eq(n_mistakes, 0);
}

Test(config_agent, is_read_from_its_section)
{
	write_user_file("{\"lang\": \"de-de\", \"toolboxd\": {\"agent\": {\"base_url\": "
			"\"https://x/v1\", \"model\": \"m\", \"temperature\": 0.50, \"listen\": "
			"\"fallback\", \"words\": {\"en\": {\"error\": \"Oh.\"}}, "
			"\"follow_up\": true}}}");
	cr_assert_eq(read_agent(), 0);
	cr_expect_str_eq(agent.base_url, "https://x/v1");
	cr_expect_str_eq(agent.model, "m");
	cr_expect_str_eq(agent.temperature, "0.50");
	cr_expect(agent.listen.is_fallback);
	cr_expect_eq(agent.listen.priority, CONFIG_AGENT_PRIORITY);
	cr_expect_str_eq(agent.words, "{\"en\":{\"error\":\"Oh.\"}}");
	cr_expect(agent.follows_up);
	cr_expect_str_eq(agent.lang, "de-de");
}

Test(config_agent, may_have_another_priority)
{
	write_user_file("{\"toolboxd\": {\"agent\": {\"listen\": {\"as\": \"fallback\", "
			"\"priority\": 3}}}}");
	cr_assert_eq(read_agent(), 0);
	cr_expect_eq(agent.listen.priority, 3);
}

Test(config_agent, reports_unknown_keys_and_uses_no_wrong_ones)
{
	write_user_file("{\"toolboxd\": {\"agent\": {\"modell\": \"m\", \"turn_ms\": 1, "
			"\"base_url\": \"ftp://x\"}}}");
	cr_assert_eq(read_agent(), 0);
	cr_expect_eq(n_mistakes, 3);
	cr_expect_eq(agent.turn_ms, 120000);
	cr_expect_null(agent.base_url);
	cr_expect_not(is_closed);
}

Test(config_agent, is_closed_by_a_file_that_cannot_be_read)
{
	write_user_file("{");
	cr_assert_eq(read_agent(), 0);
	cr_expect(is_closed);
}

/* Write the key, and name its file. */
static void write_key(const char *text, mode_t mode)
{
	char section[512];

	write_file("key", text);
	cr_assert_eq(chmod(in_folder("key"), mode), 0);
	snprintf(section, sizeof(section),
		"{\"toolboxd\": {\"agent\": {\"api_key_file\": \"%s\"}}}", in_folder("key"));
	write_user_file(section);
}

Test(config_agent, reads_a_key_that_only_its_owner_can_read)
{
	write_key("sk-1\n", 0600);
	cr_assert_eq(read_agent(), 0);
	cr_expect_str_eq(agent.key, "sk-1");
}

Test(config_agent, refuses_a_key_that_others_can_read)
{
	write_key("sk-1\n", 0640);
	cr_expect_eq(read_agent(), -EPERM);
}

Test(config_agent, reads_a_credential_that_its_group_can_read)
{
	char folder[512];

	write_key("sk-1\n", 0440);
	snprintf(folder, sizeof(folder), "%s", in_folder("key"));
	*strrchr(folder, '/') = '\0';
	setenv("CREDENTIALS_DIRECTORY", folder, 1);
	cr_assert_eq(read_agent(), 0);
	cr_expect_str_eq(agent.key, "sk-1");
	write_key("sk-1\n", 0444);
	cr_expect_eq(read_agent(), -EPERM);
}

Test(config_agent, refuses_an_empty_key)
{
	write_key("\n", 0600);
	cr_expect_eq(read_agent(), -EINVAL);
}

Test(config_agent, takes_a_key_of_the_environment)
{
	setenv("OPENAI_API_KEY", "sk-2", 1);
	cr_assert_eq(read_agent(), 0);
	cr_expect_str_eq(agent.key, "sk-2");
	setenv("TOOLBOX_AGENT_KEY", "sk-3", 1);
	cr_assert_eq(read_agent(), 0);
	cr_expect_str_eq(agent.key, "sk-3");
}
