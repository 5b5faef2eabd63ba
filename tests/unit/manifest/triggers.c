/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/triggers.h"

#include <criterion/criterion.h>
#include <string.h>

#include "manifest_fixture.h"

static struct triggers triggers;
static struct regex_scratch *scratch;

static void set_up(void)
{
	triggers = (struct triggers){0};
	scratch = regex_scratch_new();
	cr_assert(scratch);
}

static void tear_down(void)
{
	triggers_deinit(&triggers);
	regex_scratch_free(scratch);
}

TestSuite(triggers, .init = set_up, .fini = tear_down);

static enum regex_result match(const char *expression, const char *utterance)
{
	struct buffer reason = {0};
	int r = triggers_add(&triggers, expression, strlen(expression), &reason);

	cr_assert_eq(r, 0, "%s: %s", expression, reason.data);
	buffer_deinit(&reason);
	return regex_match(
		&triggers.items[triggers.n_items - 1], scratch, utterance, strlen(utterance));
}

static void expect_no_expression(const char *expression, size_t size, const char *message)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	size_t before = triggers.n_items;

	cr_assert_eq(triggers_add(&triggers, expression, size, &reason), TRIGGERS_E_REFUSED, "%s",
		expression);
	cr_expect_str_eq(reason.data, message);
	cr_expect_eq(triggers.n_items, before);
}

Test(triggers, are_searched_for_anywhere_in_the_utterance)
{
	cr_expect_eq(match("plus", "what is two plus two"), REGEX_MATCHES);
	cr_expect_eq(match("^plus", "what is two plus two"), REGEX_DIFFERS);
	cr_expect_eq(match("what is .* plus .*", "tell me what is 2 plus 2"), REGEX_MATCHES);
	cr_expect_eq(match("minus", "what is two plus two"), REGEX_DIFFERS);
}

Test(triggers, take_upper_and_lower_case_as_the_same_in_any_script)
{
	cr_expect_eq(match("Turn ON", "tURN on the light"), REGEX_MATCHES);
	cr_expect_eq(match("GRÖSSE", "grösse"), REGEX_MATCHES);
	cr_expect_eq(match("ΦΩΣ", "φωσ"), REGEX_MATCHES);
	cr_expect_eq(match("СВЕТ", "свет"), REGEX_MATCHES);
}

Test(triggers, know_words_of_any_script)
{
	cr_expect_eq(match("\\bgr\\b", "größer"), REGEX_DIFFERS);
	cr_expect_eq(match("^\\w+$", "größer"), REGEX_MATCHES);
	cr_expect_eq(match("^.$", "ß"), REGEX_MATCHES);
}

Test(triggers, are_expressions_of_pcre2_not_of_ecma)
{
	cr_expect_eq(match("(?i:x)(?>y+)z", "xyyz"), REGEX_MATCHES);
	cr_expect_eq(match("(?<n>a)(?P=n)", "aa"), REGEX_MATCHES);
}

Test(triggers, give_up_on_what_takes_too_many_steps, .timeout = 60)
{
	regex_scratch_limit(scratch, 1000);
	cr_expect_eq(match("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), REGEX_TOO_COSTLY);
	cr_expect_eq(match("^a+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), REGEX_MATCHES);
}

Test(triggers, that_are_no_expressions_are_told_with_the_place)
{
	expect_no_expression("", 0, "must not be empty: it would mean every utterance");
	expect_no_expression("what is (.*", 11,
		"must be a regular expression (PCRE2): missing closing parenthesis, at character "
		"11, after 'what is (.*'");
	expect_no_expression("*", 1,
		"must be a regular expression (PCRE2): quantifier does not follow a repeatable "
		"item");
	expect_no_expression("größer als wie lange heißt *das [",
		strlen("größer als wie lange heißt *das ["),
		"must be a regular expression (PCRE2): missing terminating ] for character class, "
		"at character 33, after '… wie lange heißt *das ['");
	expect_no_expression("éééééééééééééé[", strlen("éééééééééééééé["),
		"must be a regular expression (PCRE2): missing terminating ] for character class, "
		"at character 15, after '…ééééééééééé['");
	expect_no_expression("a\\Cb", 4,
		"must be a regular expression (PCRE2): using \\C is disabled by the application, "
		"at character 3, after 'a\\C'");
	expect_no_expression("\xff", 1,
		"must be a regular expression (PCRE2): UTF-8 error: illegal byte (0xfe or 0xff)");
}

Test(triggers, are_bounded_in_length_and_number)
{
	char text[TRIGGER_BYTES_MAX + 1];

	memset(text, 'a', sizeof(text));
	expect_no_expression(text, sizeof(text), "must have at most 1024 bytes, not 1025");
	for (int i = 0; i < TRIGGERS_MAX; i++)
		match("a", "a");
	expect_no_expression("a", 1, "must be at most 64 expressions");
}

/* ── in a manifest ───────────────────────────────────────────────────────────────────────────── */

TestSuite(triggers_of_a_tool, .init = manifest_set_up, .fini = manifest_tear_down);

Test(triggers_of_a_tool, belong_to_it)
{
	static const char utterance[] = "what is √9";
	const struct tool *tool =
		read_good(TOOL("'triggers':['root of','\\u221a ?[0-9]']," SQRT))->tools;
	struct regex_scratch *own = regex_scratch_new();

	cr_assert_eq(tool->triggers.n_items, 2);
	cr_expect_eq(regex_match(&tool->triggers.items[1], own, utterance, strlen(utterance)),
		REGEX_MATCHES);
	cr_expect_eq(regex_match(&tool->triggers.items[0], own, utterance, strlen(utterance)),
		REGEX_DIFFERS);
	regex_scratch_free(own);
}

Test(triggers_of_a_tool, refuse_the_toolbox_when_one_is_no_expression)
{
	expect_refused(TOOL("'triggers':['good','(bad']," SQRT), 1, "/tools/0/triggers/1",
		"must be a regular expression (PCRE2): missing closing parenthesis, at character "
		"4, after '(bad'");
}

Test(triggers_of_a_tool, have_groups_with_the_names_of_properties)
{
	read_good(TOOL("'triggers':['root of (?<x>.*)','(?:an|the) (x)']," SQRT));
	expect_refused(TOOL("'triggers':['root','root of (?<y>.*)']," SQRT), 1,
		"/tools/0/triggers/1",
		"the group 'y' is no property of the argument schema, which has x; give the group "
		"such a name, or none: (?:…)");
	expect_refused("{'kind':'command','tools':[{'name':'f','command':{'shell':'ls'},'triggers':"
		       "['(?<y>.*)']}]}",
		1, "/tools/0/triggers/0",
		"the group 'y' is no property of the argument schema, which has none; give the "
		"group such a name, or none: (?:…)");
}
