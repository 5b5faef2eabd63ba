/* SPDX-License-Identifier: Apache-2.0 */
#include "core/listing/match.h"

#include "core/listing/match_arguments.h"
#include "core/request/answer.h"
#include "json/writer.h"
#include "util/clock.h"

/* The number of short triggers between two looks at the clock. */
#define TRIGGERS_PER_LOOK 16

/* One search. */
struct search {
	struct regex_scratch *scratch;
	const char *text;
	size_t size;
	uint64_t start_ns;
	uint64_t most_ns;
	unsigned int n_tried; /* since the last look at the clock */
	struct match *match;
};

static bool is_time_up(struct search *search)
{
	bool was_long = regex_scratch_was_long(search->scratch);

	if (++search->n_tried < TRIGGERS_PER_LOOK && !was_long)
		return false;
	search->n_tried = 0;
	search->match->spent_ns = clock_thread_ns() - search->start_ns;
	return search->match->spent_ns > search->most_ns;
}

/* Try the triggers of @tool. Returns 0, with the match set if one is found, or
 * MATCH_E_TOO_COSTLY. */
static int try_tool(struct search *search, const struct tool *tool)
{
	struct match *match = search->match;

	for (size_t i = 0; i < tool->triggers.n_items; i++) {
		enum regex_result result;

		if (is_time_up(search))
			return MATCH_E_TOO_COSTLY;
		result = regex_match(
			&tool->triggers.items[i], search->scratch, search->text, search->size);
		if (result == REGEX_MATCHES) {
			match->tool = tool;
			match->trigger = i;
			return 0;
		}
		if (result == REGEX_TOO_COSTLY && !match->costly) {
			match->costly = tool;
			match->costly_trigger = i;
		}
	}
	return 0;
}

int match_find(const struct catalogue *catalogue, struct regex_scratch *scratch, const char *text,
	size_t size, uint64_t most_ns, struct match *ret_match)
{
	struct search search = {
		.scratch = scratch,
		.text = text,
		.size = size,
		.start_ns = clock_thread_ns(),
		.most_ns = most_ns,
		.match = ret_match,
	};
	int r = 0;

	*ret_match = (struct match){0};
	for (size_t i = 0; r == 0 && !ret_match->tool && i < catalogue_n_tools(catalogue); i++)
		r = try_tool(&search, catalogue_tool(catalogue, i));
	if (regex_scratch_was_long(scratch))
		ret_match->spent_ns = clock_thread_ns() - search.start_ns;
	return r;
}

/* ── the topic ───────────────────────────────────────────────────────────────────────────────── */

static void log_costly(
	struct log_rate *rate, const struct match *match, const struct config_limits *limits)
{
	if (match->costly)
		log_limited(rate, LOG_LEVEL_WARNING,
			"Trigger %zu of the tool %s/%s took more than %u steps "
			"(limits.pattern_steps) or %u ms and counts as no match",
			match->costly_trigger, match->costly->toolbox->id, match->costly->name,
			limits->pattern_steps, (unsigned int)(REGEX_NS_MAX / NS_PER_MS));
}

static void refuse_length(size_t size, struct answer *answer)
{
	answer_error_format(answer, ANSWER_TOO_LARGE,
		"RuntimeError: The utterance has %zu bytes; at most %d can be matched", size,
		MATCH_UTTERANCE_BYTES_MAX);
	answer_member_number(answer, "actual", size);
	answer_member_number(answer, "max", MATCH_UTTERANCE_BYTES_MAX);
}

static void refuse_time(const struct match *match, struct answer *answer)
{
	uint64_t spent_ms = match->spent_ns / NS_PER_MS;

	answer_error_format(answer, ANSWER_TOO_LARGE,
		"RuntimeError: Matching the utterance took %llu ms before all triggers were tried; "
		"at most %d ms are spent on one",
		(unsigned long long)spent_ms, MATCH_MS_MAX);
	answer_member_number(answer, "actual", spent_ms);
	answer_member_number(answer, "max", MATCH_MS_MAX);
}

/* Write @match. Return the time for the arguments. */
static uint64_t write_match(struct request_scope *scope, const struct config_limits *limits,
	const struct match *match, struct answer *answer)
{
	answer_member_text(answer, "name", match->tool ? match->tool->name : NULL);
	if (!match->tool)
		return 0;
	answer_member_text(answer, "toolbox_id", match->tool->toolbox->id);
	return match_arguments_write(scope, limits, match->tool, match->trigger, answer);
}

uint64_t match_answer(struct request_scope *scope, const struct config_limits *limits,
	struct log_rate *costly, struct answer *answer)
{
	const struct text_view *utterance = &scope->request.utterance;
	struct match match;
	int r;

	if (utterance->size > MATCH_UTTERANCE_BYTES_MAX) {
		refuse_length(utterance->size, answer);
		return 0;
	}
	r = match_find(scope->view, scope->scratch, utterance->text, utterance->size,
		MATCH_MS_MAX * NS_PER_MS, &match);
	log_costly(costly, &match, limits);
	if (r == MATCH_E_TOO_COSTLY)
		refuse_time(&match, answer);
	else
		match.spent_ns += write_match(scope, limits, &match, answer);
	return match.spent_ns;
}
