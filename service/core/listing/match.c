/* SPDX-License-Identifier: Apache-2.0 */
#include "core/listing/match.h"

#include "core/listing/match_arguments.h"
#include "core/request/answer.h"
#include "core/request/checks.h"
#include "core/voice/number_words.h"
#include "util/clock.h"

/* The number of short triggers between two looks at the clock. */
#define TRIGGERS_PER_LOOK 16

/* One search. */
struct search {
	struct regex_scratch *scratch;
	const struct text_view *text;
	match_function takes;
	void *data;
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

/* Take @trigger of @tool, which matches, or remember it if it is the first. The check of arguments
 * is long: the clock is looked at after it. */
static void take_trigger(struct search *search, const struct tool *tool, size_t trigger)
{
	struct match *match = search->match;

	match->is_complete = search->takes(search->data, tool, trigger);
	if (match->is_complete || !match->tool) {
		match->tool = tool;
		match->trigger = trigger;
	}
	search->n_tried = TRIGGERS_PER_LOOK;
}

/* Try the triggers of @tool until one is taken. Returns 0 or MATCH_E_TOO_COSTLY. */
static int try_tool(struct search *search, const struct tool *tool)
{
	struct match *match = search->match;

	for (size_t i = 0; i < tool->triggers.n_items && !match->is_complete; i++) {
		enum regex_result result;

		if (is_time_up(search))
			return MATCH_E_TOO_COSTLY;
		result = regex_match(&tool->triggers.items[i], search->scratch, search->text->text,
			search->text->size);
		if (result == REGEX_MATCHES)
			take_trigger(search, tool, i);
		if (result == REGEX_TOO_COSTLY && !match->costly) {
			match->costly = tool;
			match->costly_trigger = i;
		}
	}
	return 0;
}

int match_find(const struct catalogue *catalogue, struct regex_scratch *scratch,
	const struct text_view *text, uint64_t most_ns, match_function takes, void *data,
	struct match *ret_match)
{
	struct search search = {
		.scratch = scratch,
		.text = text,
		.takes = takes,
		.data = data,
		.start_ns = clock_thread_ns(),
		.most_ns = most_ns,
		.match = ret_match,
	};
	int r = 0;

	*ret_match = (struct match){0};
	for (size_t i = 0; r == 0 && !ret_match->is_complete && i < catalogue_n_tools(catalogue);
		i++)
		r = try_tool(&search, catalogue_tool(catalogue, i));
	if (ret_match->tool || regex_scratch_was_long(scratch))
		ret_match->spent_ns = clock_thread_ns() - search.start_ns;
	return r;
}

/* ── arguments ───────────────────────────────────────────────────────────────────────────────── */

/* A search, as far as the arguments of its matches need it. */
struct arguments_search {
	struct request_scope *scope;
	const struct config_limits *limits;
	const struct text_view *text;
	const struct number_language *language;
	struct buffer *args;
};

/* Return whether the groups of @trigger are good arguments of @tool (match_function). */
static bool fit_arguments(void *data, const struct tool *tool, size_t trigger)
{
	const struct arguments_search *search = data;

	return match_arguments_fit(search->scope, search->limits, tool, trigger, search->text,
		search->language, search->args);
}

static void log_costly(struct matcher *matcher, const struct match *match)
{
	const struct config_limits *limits = &matcher->config->limits;

	if (match->costly)
		log_limited(&matcher->costly, LOG_LEVEL_WARNING,
			"Trigger %zu of the tool %s/%s took more than %u steps "
			"(limits.pattern_steps) or %u ms and counts as no match",
			match->costly_trigger, match->costly->toolbox->id, match->costly->name,
			limits->pattern_steps, (unsigned int)(REGEX_NS_MAX / NS_PER_MS));
}

int match_words(struct matcher *matcher, struct request_scope *scope, const struct text_view *text,
	struct text_view language, uint64_t most_ns, struct match *ret_match,
	struct buffer *ret_args)
{
	struct arguments_search search = {
		.scope = scope,
		.limits = &matcher->config->limits,
		.text = text,
		.language = number_words_find(language),
		.args = ret_args,
	};
	int r = match_find(
		scope->view, scope->scratch, text, most_ns, fit_arguments, &search, ret_match);

	log_costly(matcher, ret_match);
	/* The arguments of the first match were replaced by others. */
	if (r == 0 && ret_match->tool && !ret_match->is_complete)
		fit_arguments(&search, ret_match->tool, ret_match->trigger);
	return r;
}

void match_charge(struct matcher *matcher, const struct request_scope *scope, uint64_t spent_ns)
{
	if (checks_charge(matcher->bus, scope, spent_ns))
		matcher->was_costly = true;
}

/* ── the topic ───────────────────────────────────────────────────────────────────────────────── */

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

bool match_request(struct matcher *matcher, struct request_scope *scope, struct match *ret_match,
	struct buffer *ret_args, struct answer *answer)
{
	const struct text_view *utterance = &scope->request.utterance;
	struct text_view language = request_scope_language(scope, matcher->config->lang);
	int r;

	if (utterance->size > MATCH_UTTERANCE_BYTES_MAX) {
		refuse_length(utterance->size, answer);
		return false;
	}
	if (matcher->was_costly && !checks_admit(matcher->bus, scope, answer))
		return false;
	r = match_words(
		matcher, scope, utterance, language, MATCH_MS_MAX * NS_PER_MS, ret_match, ret_args);
	match_charge(matcher, scope, ret_match->spent_ns);
	if (r == MATCH_E_TOO_COSTLY)
		refuse_time(ret_match, answer);
	else if (buffer_status(ret_args) < 0)
		answer_error_format(answer, ANSWER_UNAVAILABLE,
			"RuntimeError: The service is unavailable: out of memory");
	return !answer_is_error(answer);
}

void match_write(const struct match *match, const struct buffer *args, struct answer *answer)
{
	answer_member_text(answer, "name", match->tool ? match->tool->name : NULL);
	if (!match->tool)
		return;
	answer_member_text(answer, "toolbox_id", match->tool->toolbox->id);
	buffer_append_buffer(answer_member(answer, "args"), args);
	answer_member_boolean(answer, "complete", match->is_complete);
	match_arguments_write_missing(match->tool, args, answer_member(answer, "missing"));
}
