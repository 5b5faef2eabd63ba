/* SPDX-License-Identifier: Apache-2.0 */
#include "core/history/call_log.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kept.h"
#include "core/history/history.h"
#include "json/writer.h"
#include "logged.h"
#include "util/cleanup.h"
#include "util/log.h"

TestSuite(call_log, .init = kept_set_up, .fini = kept_tear_down);

/* Return the line about a call of 1.5 ms, ended by @code, after the number of the call. */
static const char *line_of(
	const char *source, const char *call_id, int code, const char *parent, enum log_level level)
{
	struct call *call = calls_new(&kept.calls, &kept.box->tools[0]);
	static struct log_rate rates[ANSWER_CODES];
	cleanup(buffer_deinit) struct buffer reason = {0};
	const char *log;

	cr_assert(call);
	if (source)
		json_write_text(&call->source, source);
	if (call_id)
		json_write_text(&call->call_id, call_id);
	if (code >= 0)
		json_write_text(&reason, "its \"reason\"");
	history_add(&kept.history, call, 1500, code, &reason);
	calls_close(&kept.calls, call);
	for (size_t i = 0; i < ANSWER_CODES; i++)
		rates[i].burst = 100;
	log_setup(level, LOG_FORMAT_TEXT);
	logged_begin();
	call_log_write(rates, history_at(&kept.history, 0),
		parent ? TEXT_VIEW(parent) : (struct text_view){0});
	log = logged_end();
	return strstr(log, " box/add") ? strstr(log, " box/add") : log;
}

Test(call_log, has_a_line_for_each_failure)
{
	cr_expect_str_eq(line_of("me", "7", ANSWER_TIMEOUT, NULL, LOG_LEVEL_WARNING),
		" box/add for me: timeout (its \"reason\") after 1.5 ms\n");
	cr_expect_str_eq(line_of(NULL, NULL, ANSWER_BUSY, "00-1-2-01", LOG_LEVEL_WARNING),
		" box/add for ?: busy (its \"reason\") after 1.5 ms; trace 00-1-2-01\n");
	cr_expect_str_eq(line_of("a\\b\"c\n", NULL, ANSWER_BUSY, NULL, LOG_LEVEL_WARNING),
		" box/add for a\\b\"c\\n: busy (its \"reason\") after 1.5 ms\n");
	cr_expect_str_eq(line_of("me", "7", -1, NULL, LOG_LEVEL_INFO), "", "a result");
}

Test(call_log, has_more_for_its_author)
{
	const char *line = line_of("me", "7", -1, NULL, LOG_LEVEL_DEBUG);

	cr_expect_str_eq(
		line, " box/add for me: ok after 1.5 ms; call_id 7, session none, from the bus\n");
	line = line_of("me", NULL, ANSWER_BUSY, NULL, LOG_LEVEL_DEBUG);
	cr_expect_str_eq(line, " box/add for me: busy (its \"reason\") after 1.5 ms; call_id none, "
			       "session none, from the bus\n");
}

/* The mistakes of callers are no trouble of the service. */
Test(call_log, warns_of_what_its_operator_may_mend)
{
	static const enum answer_code of_callers[] = {ANSWER_BAD_REQUEST, ANSWER_MISSING_NAME,
		ANSWER_UNKNOWN_TOOL, ANSWER_AMBIGUOUS_TOOL, ANSWER_INVALID_ARGUMENTS,
		ANSWER_COOLDOWN, ANSWER_CANCELLED};

	for (int code = 0; code < ANSWER_CODES; code++) {
		bool is_of_caller = false;

		for (size_t i = 0; i < sizeof(of_callers) / sizeof(*of_callers); i++)
			is_of_caller |= of_callers[i] == (enum answer_code)code;
		cr_expect_eq(*line_of("me", NULL, code, NULL, LOG_LEVEL_WARNING) == '\0',
			is_of_caller, "%s", answer_code_name((enum answer_code)code));
		cr_expect_neq(*line_of("me", NULL, code, NULL, LOG_LEVEL_INFO), '\0');
	}
}
