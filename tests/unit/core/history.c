/* SPDX-License-Identifier: Apache-2.0 */
#include "core/history/history.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kept.h"
#include "json/writer.h"
#include "util/cleanup.h"

TestSuite(history, .init = kept_set_up, .fini = kept_tear_down);

/* Add a call of @source that took @duration_us; of no tool when @name is not NULL. */
static void add_call(const char *source, const char *name, uint64_t duration_us, int code)
{
	struct call *call = calls_new(&kept.calls, name ? NULL : &kept.box->tools[0]);
	cleanup(buffer_deinit) struct buffer reason = {0};

	cr_assert(call);
	json_write_text(&call->source, source);
	if (name)
		json_write_text(&call->name, name);
	if (code >= 0)
		json_write_text(&reason, "its reason");
	history_add(&kept.history, call, duration_us, code, &reason);
	calls_close(&kept.calls, call);
}

static void expect_part(
	const struct call_summary *summary, enum summary_part part, const char *expected)
{
	struct text_view text = call_summary_part(summary, part);

	cr_expect_eq(text.size, strlen(expected));
	if (text.size == strlen(expected) && text.size > 0)
		cr_expect_eq(memcmp(text.text, expected, text.size), 0, "%s", expected);
}

Test(history, is_empty_at_first)
{
	cr_expect_null(history_at(&kept.history, 0));
	cr_expect_null(history_at(&kept.history, HISTORY_CALLS));
}

Test(history, keeps_the_last_calls_and_forgets_the_others)
{
	for (uint64_t i = 0; i < 3 * HISTORY_CALLS + 7; i++)
		add_call("me", NULL, i, -1);
	for (size_t i = 0; i < HISTORY_CALLS; i++)
		cr_expect_eq(history_at(&kept.history, i)->duration_us, 3 * HISTORY_CALLS + 6 - i);
	cr_expect_null(history_at(&kept.history, HISTORY_CALLS));
}

Test(history, has_a_fixed_size)
{
	const struct call_summary *slots = kept.history.slots;

	for (size_t i = 0; i < 2 * HISTORY_CALLS; i++)
		add_call("me", NULL, 0, ANSWER_TIMEOUT);
	cr_expect_eq(kept.history.slots, slots);
	cr_expect_leq(sizeof(*slots) * HISTORY_CALLS, 1000 * 1024);
}

Test(history, describes_calls)
{
	add_call("me", NULL, 3, -1);
	add_call(NULL, "no\"pe", 0, ANSWER_UNKNOWN_TOOL);
	expect_part(history_at(&kept.history, 1), SUMMARY_NAME, "\"add\"");
	expect_part(history_at(&kept.history, 1), SUMMARY_TOOLBOX, "\"box\"");
	expect_part(history_at(&kept.history, 1), SUMMARY_SOURCE, "\"me\"");
	expect_part(history_at(&kept.history, 1), SUMMARY_CALL_ID, "");
	expect_part(history_at(&kept.history, 1), SUMMARY_TEXT, "");
	cr_expect_eq(history_at(&kept.history, 1)->state, SUMMARY_DONE);
	expect_part(history_at(&kept.history, 0), SUMMARY_NAME, "\"no\\\"pe\"");
	expect_part(history_at(&kept.history, 0), SUMMARY_TOOLBOX, "");
	expect_part(history_at(&kept.history, 0), SUMMARY_SOURCE, "");
	expect_part(history_at(&kept.history, 0), SUMMARY_TEXT, "\"its reason\"");
	cr_expect_eq(history_at(&kept.history, 0)->code, ANSWER_UNKNOWN_TOOL);
}

/* Every place of the bound in a long run of @unit, which is one character. */
static void expect_whole_units(const char *unit)
{
	for (size_t shift = 0; shift < 8; shift++) {
		cleanup(buffer_deinit) struct buffer source = {0};
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		struct text_view text;

		for (size_t i = 0; i < shift; i++)
			buffer_append_char(&source, '.');
		for (size_t i = 0; i < 200; i++)
			buffer_append_string(&source, unit);
		add_call(buffer_terminate(&source), NULL, 0, -1);
		text = call_summary_part(history_at(&kept.history, 0), SUMMARY_SOURCE);
		cr_expect_leq(text.size, SUMMARY_SOURCE_BYTES);
		cr_expect_gt(text.size, SUMMARY_SOURCE_BYTES - 8);
		cr_expect_eq(json_tape_read(&tape, text.text, text.size, 1, NULL), 0, "%.*s",
			(int)text.size, text.text);
		cr_expect_eq(memcmp(text.text + text.size - 4, "…\"", 4), 0);
		cr_expect(history_at(&kept.history, 0)->is_source_cut);
		cr_expect(call_summary_has(history_at(&kept.history, 0), SUMMARY_SOURCE,
			&(struct text_view){source.data, strlen(source.data)}));
	}
}

Test(history, cuts_between_characters_and_escapes)
{
	expect_whole_units("x");
	expect_whole_units("é");
	expect_whole_units("😀");
	expect_whole_units("\"");
	expect_whole_units("\\");
	expect_whole_units("\x01");
}

Test(history, keeps_the_longest_names_whole)
{
	char name[SUMMARY_NAME_BYTES];

	memset(name, 'n', sizeof(name));
	name[SUMMARY_NAME_BYTES - 2] = '\0';
	add_call("me", name, 0, ANSWER_UNKNOWN_TOOL);
	cr_expect_eq(call_summary_part(history_at(&kept.history, 0), SUMMARY_NAME).size,
		SUMMARY_NAME_BYTES);
	cr_expect_leq(TOOLBOX_ID_BYTES + 2, SUMMARY_TOOLBOX_BYTES);
	cr_expect_leq(TOOL_NAME_BYTES + 2, SUMMARY_NAME_BYTES);
}

Test(history, finds_texts_only_whole)
{
	static const struct text_view own = {"me", 2};
	static const struct text_view less = {"m", 1};

	add_call("me", NULL, 0, -1);
	cr_expect(call_summary_has(history_at(&kept.history, 0), SUMMARY_SOURCE, &own));
	cr_expect_not(call_summary_has(history_at(&kept.history, 0), SUMMARY_SOURCE, &less));
	cr_expect_not(call_summary_has(history_at(&kept.history, 0), SUMMARY_SESSION, &own));
}

/* ── ids ─────────────────────────────────────────────────────────────────────────────────────── */

Test(history, gives_ids_that_differ_at_their_front)
{
	bool is_used[1 << 12] = {false};
	unsigned int n_used = 0;

	for (uint64_t number = 1; number <= 1000; number++) {
		char id[CALL_ID_BYTES];
		char front[4] = "";

		call_id_format(0xC0FFEE, number, id);
		cr_expect_eq(strlen(id), 6, "%s", id);
		memcpy(front, id, 3);
		n_used += !is_used[strtoul(front, NULL, 16)];
		is_used[strtoul(front, NULL, 16)] = true;
	}
	cr_expect_gt(n_used, 980, "%u", n_used);
}

Test(history, gives_no_id_twice)
{
	cleanup_free bool *is_used = calloc(1 << 24, sizeof(*is_used));
	char id[CALL_ID_BYTES];

	cr_assert_not_null(is_used);
	for (uint64_t number = 0; number < 1 << 24; number += 97) {
		unsigned long value;

		call_id_format(7, number, id);
		value = strtoul(id, NULL, 16);
		cr_assert_not(is_used[value], "%s", id);
		is_used[value] = true;
	}
	call_id_format(7, (1 << 24) + 5, id);
	cr_expect_eq(strlen(id), 7, "%s", id);
	call_id_format(7, UINT64_MAX, id);
	cr_expect_eq(strlen(id), 16, "%s", id);
}

Test(history, finds_a_call_by_its_id)
{
	struct call *call = calls_new(&kept.calls, &kept.box->tools[0]);
	char id[CALL_ID_BYTES];

	cr_assert(calls_charge(&kept.calls, call, NULL, 10, &call->answer));
	calls_open(&kept.calls, call);
	call_id_format(call->process, call->runner_call.id, id);
	cr_expect_eq(calls_find_id(&kept.calls, &TEXT_VIEW(id)), call);
	cr_expect_null(calls_find_id(&kept.calls, &(struct text_view){id, 5}));
	cr_expect_null(calls_find_id(&kept.calls, &TEXT_VIEW("")));
	calls_close(&kept.calls, call);
	cr_expect_null(calls_find_id(&kept.calls, &TEXT_VIEW(id)));
}
