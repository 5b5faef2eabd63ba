/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "bus/account.h"
#include "bus/intake.h"
#include "message/response.h"
#include "message/spares.h"
#include "util/cleanup.h"

#define FRAME_BYTES 1000

static unsigned int looks;

static bool wants_ours(void *data, const char *topic, size_t size)
{
	(void)data;
	looks++;
	return size == 4 && memcmp(topic, "ours", 4) == 0;
}

static struct intake_rules rules_for(bool (*wants)(void *, const char *, size_t))
{
	return (struct intake_rules){
		.wants = wants, .frame_bytes = FRAME_BYTES, .gather_bytes = FRAME_BYTES * 2};
}

static enum intake_result take(
	struct intake *intake, struct intake_rules *rules, const char *piece, bool is_last)
{
	const char *text;
	size_t size;

	return intake_take(intake, rules, piece, strlen(piece), is_last, &text, &size);
}

/* Take @text in pieces of @step bytes; return the result of the last one. */
static enum intake_result take_in_steps(struct intake *intake, struct intake_rules *rules,
	const char *text, size_t step, const char **ret_text, size_t *ret_size)
{
	enum intake_result result = INTAKE_MORE;
	size_t size = strlen(text);

	for (size_t at = 0; at < size; at += step) {
		bool is_last = at + step >= size;

		cr_assert_eq(result, INTAKE_MORE);
		result = intake_take(intake, rules, text + at, is_last ? size - at : step, is_last,
			ret_text, ret_size);
	}
	return result;
}

Test(bus_intake, takes_a_frame_in_one_piece_where_it_lies)
{
	static const char text[] = "{\"type\": \"ours\"}";
	struct intake_rules rules = rules_for(wants_ours);
	struct intake intake = {0};
	const char *found;
	size_t size;

	cr_assert_eq(intake_take(&intake, &rules, text, sizeof(text) - 1, true, &found, &size),
		INTAKE_WHOLE);
	cr_assert_eq(found, text);
	cr_assert_eq(size, sizeof(text) - 1);
	intake_reset(&intake, &rules);
	cr_assert_eq(rules.gathered, 0);
}

Test(bus_intake, gathers_a_frame_in_pieces_of_any_size)
{
	static const char text[] =
		"{\"data\": {\"a\": [1, 2, 3]}, \"type\": \"ours\", \"x\": \"\"}";
	struct intake_rules rules = rules_for(wants_ours);
	struct intake intake = {0};

	for (size_t step = 1; step < sizeof(text); step++) {
		const char *found;
		size_t size;

		cr_assert_eq(take_in_steps(&intake, &rules, text, step, &found, &size),
			INTAKE_WHOLE, "step %zu", step);
		cr_assert_eq(size, sizeof(text) - 1);
		cr_assert_eq(memcmp(found, text, size), 0);
		intake_reset(&intake, &rules);
		cr_assert_eq(rules.gathered, 0);
	}
}

Test(bus_intake, keeps_nothing_of_a_foreign_frame)
{
	struct intake_rules rules = rules_for(wants_ours);
	struct intake intake = {0};

	cr_assert_eq(take(&intake, &rules, "{\"type\": \"theirs\", ", false), INTAKE_FOREIGN);
	cr_assert_null(intake.message.data);
	cr_assert_eq(take(&intake, &rules, "{\"type\": \"ours\"}", false), INTAKE_MORE);
	cr_assert_eq(take(&intake, &rules, "{\"type\": \"ours\"}", true), INTAKE_MORE);
	cr_assert_null(intake.message.data);
	cr_assert_eq(take(&intake, &rules, "{\"type\": \"ours\"}", true), INTAKE_WHOLE);
	intake_reset(&intake, &rules);
	cr_assert_eq(take(&intake, &rules, "{\"type\": \"theirs\"}", true), INTAKE_FOREIGN);
	cr_assert_eq(rules.gathered, 0);
}

Test(bus_intake, tells_of_a_frame_without_a_topic_once)
{
	struct intake_rules rules = rules_for(wants_ours);
	struct intake intake = {0};

	cr_assert_eq(take(&intake, &rules, "42", true), INTAKE_NO_TOPIC);
	cr_assert_eq(take(&intake, &rules, "", true), INTAKE_NO_TOPIC);
	cr_assert_eq(take(&intake, &rules, "{\"data\": ", true), INTAKE_NO_TOPIC);
	cr_assert_eq(take(&intake, &rules, "[1, ", false), INTAKE_NO_TOPIC);
	cr_assert_eq(take(&intake, &rules, "2]", true), INTAKE_MORE);
	cr_assert_eq(take(&intake, &rules, "{\"data\":", false), INTAKE_MORE);
	cr_assert_eq(take(&intake, &rules, "{}}", true), INTAKE_NO_TOPIC);
	cr_assert_eq(rules.gathered, 0);
}

Test(bus_intake, discards_a_frame_over_the_limit_as_it_arrives)
{
	struct intake_rules rules = rules_for(NULL);
	struct intake intake = {0};
	char piece[FRAME_BYTES + 2];

	memset(piece, 'x', sizeof(piece));
	piece[FRAME_BYTES + 1] = '\0';
	cr_assert_eq(take(&intake, &rules, piece, true), INTAKE_OVERSIZED);
	piece[FRAME_BYTES] = '\0';
	cr_assert_eq(take(&intake, &rules, piece, true), INTAKE_WHOLE, "exactly the limit passes");
	intake_reset(&intake, &rules);
	cr_assert_eq(take(&intake, &rules, piece, false), INTAKE_MORE);
	cr_assert_eq(take(&intake, &rules, "y", false), INTAKE_OVERSIZED);
	cr_assert_eq(rules.gathered, 0);
	cr_assert_eq(take(&intake, &rules, piece, false), INTAKE_MORE);
	cr_assert_eq(take(&intake, &rules, "z", true), INTAKE_MORE);
	cr_assert_eq(take(&intake, &rules, "next", true), INTAKE_WHOLE);
	intake_reset(&intake, &rules);
}

Test(bus_intake, discards_what_finds_no_room_beside_other_unfinished_frames)
{
	struct intake_rules rules = rules_for(NULL);
	struct intake intakes[3] = {0};
	char piece[FRAME_BYTES + 1];

	memset(piece, 'x', sizeof(piece));
	piece[FRAME_BYTES] = '\0';
	cr_assert_eq(take(&intakes[0], &rules, piece, false), INTAKE_MORE);
	cr_assert_eq(take(&intakes[1], &rules, piece, false), INTAKE_MORE);
	cr_assert_eq(take(&intakes[2], &rules, "z", false), INTAKE_CROWDED);
	cr_assert_eq(take(&intakes[2], &rules, "z", true), INTAKE_MORE);
	cr_assert_eq(take(&intakes[2], &rules, piece, true), INTAKE_WHOLE, "needs no room");
	intake_reset(&intakes[2], &rules);
	intake_reset(&intakes[0], &rules);
	cr_assert_eq(take(&intakes[2], &rules, "z", false), INTAKE_MORE);
	intake_reset(&intakes[1], &rules);
	intake_reset(&intakes[2], &rules);
	cr_assert_eq(rules.gathered, 0);
}

Test(bus_intake, looks_for_the_topic_a_few_times_however_many_pieces_come)
{
	struct intake_rules rules = {
		.wants = wants_ours, .frame_bytes = 1 << 20, .gather_bytes = 1 << 20};
	cleanup(buffer_deinit) struct buffer text = {0};
	struct intake intake = {0};
	const char *found;
	size_t size;

	buffer_append_string(&text, "{\"data\": \"");
	for (int i = 0; i < 100000; i++)
		buffer_append_char(&text, 'x');
	buffer_append_string(&text, "\", \"type\": \"ours\"}");
	looks = 0;
	cr_assert_eq(take_in_steps(&intake, &rules, buffer_terminate(&text), 1, &found, &size),
		INTAKE_WHOLE);
	cr_assert_eq(looks, 1, "wants() is asked once");
	intake_reset(&intake, &rules);
}

Test(bus_intake, makes_a_frame_that_can_be_sent)
{
	struct intake_rules rules = rules_for(NULL);
	struct intake intake = {0};
	const char *text;
	struct frame *frame;
	size_t size;

	cr_assert_eq(take_in_steps(&intake, &rules, "gathered", 3, &text, &size), INTAKE_WHOLE);
	frame = intake_frame(&intake, text, size);
	intake_reset(&intake, &rules);
	cr_assert_eq(frame->size, 8);
	cr_assert_eq(memcmp(frame_text(frame), "gathered", 8), 0);
	frame_unref(frame);
	frame = intake_frame(&intake, "alone", 5);
	cr_assert_eq(memcmp(frame_text(frame), "alone", 5), 0);
	frame_unref(frame);
}

static struct frame *frame_of(const char *text)
{
	struct intake intake = {0};

	return intake_frame(&intake, text, strlen(text));
}

Test(bus_frame, of_a_short_message_leaves_its_memory_to_the_next_ones)
{
	static char text[SPARES_BYTES - BUS_MESSAGE_ROOM_BYTES];
	struct frame *frames[SPARES_MAX + 1];

	memset(text, 'a', sizeof(text) - 1);
	for (unsigned int i = 0; i <= SPARES_MAX; i++)
		frames[i] = frame_of(text);
	for (unsigned int i = 0; i <= SPARES_MAX; i++)
		frame_unref(frames[i]);
	cr_assert_eq(spares_of_thread.count, SPARES_MAX);
	for (unsigned int i = SPARES_MAX; i-- > 0;) {
		struct frame *frame = frame_of("short");

		cr_assert_eq(frame, frames[i]);
		cr_assert_eq(memcmp(frame_text(frame), "short", 5), 0);
	}
	cr_assert_eq(spares_of_thread.count, 0);
	for (unsigned int i = 0; i < SPARES_MAX; i++)
		frame_unref(frames[i]);
}

Test(bus_frame, of_a_tiny_message_is_charged_with_its_memory)
{
	static char text[SPARES_BYTES - BUS_MESSAGE_ROOM_BYTES];
	struct account_book book = {.bytes_max = 1 << 20};
	struct account *account = account_new(&book);
	struct frame *frame;

	memset(text, 'a', sizeof(text) - 1);
	frame = frame_of("tiny");
	frame_charge(frame, account, 0);
	cr_expect_geq(account->queued, malloc_usable_size(frame));
	cr_expect_lt(account->queued, SPARES_BYTES);
	frame_unref(frame);
	frame_unref(frame_of(text));
	frame = frame_of("tiny");
	cr_assert_eq(spares_of_thread.count, 0);
	frame_charge(frame, account, 0);
	cr_expect_geq(account->queued, SPARES_BYTES);
	frame_unref(frame);
	cr_expect_eq(account->queued, 0);
	account_unref(account);
}

#ifdef __SANITIZE_ADDRESS__
Test(bus_frame, of_a_short_message_is_freed_for_the_sanitizer)
{
	static char text[SPARES_BYTES - BUS_MESSAGE_ROOM_BYTES];
	struct frame *frame;

	memset(text, 'a', sizeof(text) - 1);
	frame = frame_of(text);
	cr_assert(!__asan_address_is_poisoned(frame));
	frame_unref(frame);
	cr_assert_eq(spares_of_thread.count, 1);
	cr_assert(__asan_address_is_poisoned(frame));
	frame_unref(frame_of("tiny"));
}
#endif

Test(bus_frame, of_a_longer_message_gives_its_memory_back)
{
	static char text[SPARES_BYTES];

	memset(text, 'a', sizeof(text) - 1);
	frame_unref(frame_of(text));
	cr_assert_eq(spares_of_thread.count, 0);
	frame_unref(frame_of("tiny"));
	cr_assert_eq(spares_of_thread.count, 0);
}

Test(bus_frame_queue, holds_references_in_order_up_to_its_bytes)
{
	size_t cost = 5 + FRAME_OVERHEAD_BYTES;
	struct frame_queue queue = {0};
	struct frame *frame = frame_of("12345");

	for (uint32_t i = 0; i < 100; i++)
		cr_assert_eq(frame_queue_push(&queue, frame, cost * 100), 0);
	cr_assert_eq(frame_queue_push(&queue, frame, cost * 100), -ENOBUFS);
	cr_assert_eq(queue.bytes, cost * 100);
	cr_assert_eq(frame->references, 101);
	cr_assert_eq(frame_queue_clear(&queue), 100);
	cr_assert_eq(frame->references, 1);
	cr_assert_eq(queue.bytes, 0);
	cr_assert_eq(frame_queue_push(&queue, frame, cost - 1), -ENOBUFS);
	frame_unref(frame);
	frame_unref(NULL);
}

Test(intake, aborts_when_it_was_not_reset_after_a_whole_frame, .signal = SIGABRT)
{
	struct intake_rules rules = rules_for(NULL);
	struct intake intake = {0};

	cr_assert_eq(take(&intake, &rules, "{}", true), INTAKE_WHOLE);
	take(&intake, &rules, "{}", true);
}

static struct intake *larger;

static void abandon_larger(void *data, const struct intake *intake, size_t size)
{
	cr_assert_neq(larger, intake);
	cr_assert_gt(size, 0);
	intake_abandon(larger, data);
}

Test(bus_intake, lets_a_larger_unfinished_frame_pay_for_the_room_of_another)
{
	struct intake_rules rules = rules_for(NULL);
	struct intake large = {0};
	struct intake newcomer = {0};
	char text[FRAME_BYTES + 1];

	memset(text, 'x', FRAME_BYTES);
	text[FRAME_BYTES] = '\0';
	rules.gather_bytes = FRAME_BYTES;
	rules.data = &rules;
	rules.make_room = abandon_larger;
	larger = &large;
	cr_assert_eq(take(&large, &rules, text, false), INTAKE_MORE);
	cr_assert_eq(take(&newcomer, &rules, "some", false), INTAKE_MORE);
	cr_assert_eq(rules.gathered, 4);
	cr_assert_eq(take(&large, &rules, "its rest is skipped", true), INTAKE_MORE);
	cr_assert_eq(take(&newcomer, &rules, " text", true), INTAKE_WHOLE);
	intake_reset(&newcomer, &rules);
	cr_assert_eq(take(&large, &rules, "next", true), INTAKE_WHOLE);
	intake_reset(&large, &rules);
	intake_abandon(&large, &rules);
	cr_assert_eq(rules.gathered, 0);
}
