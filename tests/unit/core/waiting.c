/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/waiting.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/endpoint.h"
#include "scarce.h"

/*
 * The waiting room by itself: requests are texts, and serving one notes its text. A request that is
 * to wait again names the reason in `again`.
 */

#define STEP_MS   10
#define WAIT_MS   60000
#define FOREVER   UINT64_MAX
#define BOOK_SIZE (64u << 20)

static struct loop *loop;
static struct bus bus;
static struct account *alice;
static struct account *bob;
static struct waiting_room room;
static struct limit_hold hold;
static struct request_scope scope;
static char served[4096];
static int again = -1;

static void note_served(void *data, struct waiting_request *request)
{
	size_t length = strlen(served);

	cr_assert_eq(data, &room);
	cr_assert_lt(length + request->text.message.size + 1, sizeof(served));
	memcpy(served + length, request->text.message.text, request->text.message.size);
	memcpy(served + length + request->text.message.size, " ", 2);
	scope.waited = request;
	if (again >= 0)
		waiting_begin(&room, &scope, (enum waiting_reason)again, WAIT_MS);
	scope.waited = NULL;
	loop_stop(loop);
}

static struct account *make_account(const char *holder)
{
	struct account *account = account_new(&bus.book);

	cr_assert(account);
	if (holder)
		account_set_holder(account, holder);
	return account;
}

static void set_up(void)
{
	cr_assert_eq(loop_new(&loop), 0);
	bus.book.bytes_max = BOOK_SIZE;
	alice = make_account("10.0.0.1");
	bob = make_account("10.0.0.2");
	bus.sender = alice;
	cr_assert_eq(waiting_init(&room, loop, note_served, &room), 0);
	room.bus = &bus;
	room.hold = &hold;
}

static void tear_down(void)
{
	waiting_deinit(&room);
	cr_expect_eq(bus.book.held, 0);
	account_unref(alice);
	account_unref(bob);
	request_scope_deinit(&scope);
	loop_free(loop);
}

TestSuite(waiting, .init = set_up, .fini = tear_down);

/* Let a new request of @source with the text @text wait. */
static struct waiting_request *wait_as(
	const char *source, enum waiting_reason reason, const char *text, uint64_t wait_ms)
{
	scope.text = (struct request_text){.message = {text, strlen(text)}};
	scope.caller.source = (struct text_view){source, strlen(source)};
	return waiting_begin(&room, &scope, reason, wait_ms);
}

static struct waiting_request *wait_for(
	enum waiting_reason reason, const char *text, uint64_t wait_ms)
{
	return wait_as("s", reason, text, wait_ms);
}

/* Let requests of @source wait until one is refused; return how many do. */
static uint32_t fill(const char *source)
{
	uint32_t n = 0;

	while (wait_as(source, WAITING_CHANGE, "x", WAIT_MS))
		n++;
	return n;
}

static void expect_served(const char *texts)
{
	cr_expect_str_eq(served, texts);
	served[0] = '\0';
}

Test(waiting, serves_a_queue_in_the_order_of_its_requests)
{
	wait_for(WAITING_CATALOGUE, "one", FOREVER);
	wait_for(WAITING_CHANGE, "other", WAIT_MS);
	wait_for(WAITING_CATALOGUE, "two", FOREVER);
	cr_expect_eq(room.queues[WAITING_CATALOGUE].n, 2);
	waiting_serve_queue(&room, WAITING_CATALOGUE, 0);
	expect_served("one two ");
	cr_expect_eq(room.n, 1);
	waiting_serve_all(&room, -ECANCELED);
	expect_served("other ");
	cr_expect_eq(room.n, 0);
}

Test(waiting, serves_first_the_request_whose_time_is_over_first)
{
	wait_for(WAITING_CHANGE, "patient", WAIT_MS);
	wait_for(WAITING_CHANGE, "hurried", 1);
	wait_for(WAITING_CHECK, "soon", 1);
	while (room.n > 1)
		loop_run(loop, STEP_MS);
	cr_expect(strstr(served, "hurried ") && strstr(served, "soon "), "%s", served);
	cr_expect_not(strstr(served, "patient "));
}

/* Every arrow of the drawing, and no other. */
Test(waiting, may_wait_again_for_another_reason)
{
	static const bool may[WAITING_REASONS][WAITING_REASONS] = {
		[WAITING_CATALOGUE] = {false, true, true, true, true},
		[WAITING_CHECK] = {false, false, true, true, true},
		[WAITING_CHANGE] = {false, true, true, true},
		[WAITING_LINE] = {false, true, true, false},
	};
	struct waiting_request request = {.has_line = true};

	for (unsigned int from = 0; from < WAITING_REASONS; from++)
		for (unsigned int to = 0; to < WAITING_REASONS; to++) {
			request.reason = from;
			cr_expect_eq(
				waiting_may(&request, to), may[from][to], "%u to %u", from, to);
			cr_expect(waiting_may(NULL, to));
		}
	request.is_cancelled = true;
	cr_expect_not(waiting_may(&request, WAITING_CHANGE));
	request = (struct waiting_request){.reason = WAITING_LINE};
	cr_expect_not(waiting_may(&request, WAITING_CHANGE), "its line is not written");
}

Test(waiting, keeps_the_place_of_a_request_that_waits_again)
{
	wait_for(WAITING_CHANGE, "one", WAIT_MS);
	wait_for(WAITING_CHANGE, "two", WAIT_MS);
	again = WAITING_CHANGE;
	waiting_serve_queue(&room, WAITING_CHANGE, 0);
	expect_served("one two ");
	again = WAITING_LINE;
	waiting_serve_queue(&room, WAITING_CHANGE, 0);
	expect_served("one two ");
	cr_expect_eq(room.queues[WAITING_LINE].n, 2);
	cr_expect_eq(room.n, 2);
	cr_expect_eq(alice->held, 6);
	again = -1;
	waiting_serve_queue(&room, WAITING_LINE, 0);
	expect_served("one two ");
	cr_expect_eq(room.n, 0);
	cr_expect_eq(alice->held, 0);
}

Test(waiting, leaves_places_to_other_holders_and_sources)
{
	uint32_t n = fill("a");

	cr_expect_eq(n, WAITING_MAX / 4);
	cr_expect_eq(fill("b"), WAITING_MAX / 8);
	cr_expect_eq(fill("c"), WAITING_MAX / 16);
	/* A second connection of the same address. */
	bus.sender = make_account("10.0.0.1");
	cr_expect_eq(fill("a"), 0);
	account_unref(bus.sender);
	bus.sender = bob;
	n = (WAITING_MAX - room.n) / 4;
	cr_expect_eq(fill("a"), n);
}

Test(waiting, leaves_bytes_to_other_sources)
{
	size_t size = BOOK_SIZE / 16;
	cleanup_free char *text = calloc(1, size + 1);

	memset(text, 'x', size);
	/* An account has a quarter of the book, and a source half of that. */
	cr_expect(wait_as("a", WAITING_CHANGE, text, WAIT_MS));
	cr_expect(wait_as("a", WAITING_CHANGE, text, WAIT_MS));
	cr_expect_not(wait_as("a", WAITING_CHANGE, text, WAIT_MS));
	cr_expect(wait_as("b", WAITING_CHANGE, text, WAIT_MS));
	cr_expect(wait_as("c", WAITING_CHANGE, text, WAIT_MS));
	cr_expect_not(wait_as("d", WAITING_CHANGE, text, WAIT_MS), "the account has no more");
	bus.sender = bob;
	cr_expect(wait_as("a", WAITING_CHANGE, text, WAIT_MS));
}

Test(waiting, takes_one_request_of_a_source_that_is_larger_than_its_share)
{
	size_t size = BOOK_SIZE / 5;
	cleanup_free char *text = calloc(1, size + 1);

	memset(text, 'x', size);
	cr_expect(wait_for(WAITING_CHANGE, text, WAIT_MS));
	cr_expect_not(wait_for(WAITING_CHANGE, "x", WAIT_MS));
}

Test(waiting, forgets_the_requests_of_a_peer_that_need_no_answer)
{
	struct waiting_request *recorded = wait_for(WAITING_CHANGE, "recorded", WAIT_MS);

	recorded->call_number = 7;
	wait_for(WAITING_CATALOGUE, "early", FOREVER);
	wait_for(WAITING_CHECK, "long", WAIT_MS);
	wait_for(WAITING_CHANGE, "unknown", WAIT_MS);
	bus.sender = bob;
	wait_for(WAITING_CHANGE, "other", WAIT_MS);
	waiting_forget_peer(&room, alice);
	waiting_serve_all(&room, 0);
	expect_served("early recorded other ");
}

Test(waiting, serves_a_request_that_is_cancelled_at_once)
{
	wait_for(WAITING_CHANGE, "one", WAIT_MS);
	again = WAITING_CHANGE;
	waiting_cancel(wait_for(WAITING_CHANGE, "two", WAIT_MS));
	while (room.n > 1)
		loop_run(loop, STEP_MS);
	expect_served("two ");
}

static void keep_address(struct address *address)
{
	(void)address;
}

Test(waiting, serves_nothing_while_the_requests_of_an_address_are_cancelled)
{
	static const struct address_operations operations = {.free = keep_address};
	struct address mine = {.operations = &operations, .references = 1};
	struct address other = {.operations = &operations, .references = 1};
	const enum waiting_reason reasons[] = {WAITING_CHANGE, WAITING_INDEX, WAITING_CHANGE};

	for (size_t i = 0; i < 3; i++) {
		scope.address = i == 1 ? &other : &mine;
		cr_assert(wait_for(reasons[i], i == 1 ? "other" : "mine", WAIT_MS));
		scope.address = &mine;
		cr_assert(wait_for(reasons[i], "too", WAIT_MS));
	}
	scope.address = NULL;
	waiting_cancel_address(&room, &mine);
	cr_expect_str_eq(served, "");
	cr_expect_eq(room.n, 6);
	while (room.n > 1)
		loop_run(loop, STEP_MS);
	cr_expect_null(strstr(served, "other"), "%s", served);
	waiting_deinit(&room);
	cr_expect_eq(mine.references + other.references, 2);
	cr_assert_eq(waiting_init(&room, loop, note_served, &room), 0);
}

Test(waiting, frees_a_request_with_its_last_reference)
{
	struct waiting_request *request = waiting_ref(wait_for(WAITING_CHECK, "one", WAIT_MS));

	waiting_serve(request, 0);
	cr_expect_eq(room.n, 0);
	cr_expect_not(waiting_is_for(request, WAITING_CHECK));
	cr_expect_eq(alice->held, 3);
	waiting_unref(request);
	cr_expect_eq(alice->held, 0);
}

Test(waiting, keeps_the_parts_of_a_request_apart)
{
	char message[] = "{\"name\":\"add\"}";
	char args[] = "{\"a\":1}";
	struct waiting_request *request;

	scope.text = (struct request_text){.topic = "ovos.tools.invoke",
		.message = TEXT_VIEW(message),
		.args = TEXT_VIEW(args)};
	request = waiting_begin(&room, &scope, WAITING_CATALOGUE, FOREVER);
	cr_assert(request);
	memset(message, '#', strlen(message));
	memset(args, '#', strlen(args));
	cr_expect_str_eq(request->text.topic, "ovos.tools.invoke");
	cr_expect_eq(request->text.message.size, strlen(message));
	cr_expect_arr_eq(request->text.message.text, "{\"name\":\"add\"}", strlen(message));
	cr_expect_eq(request->text.args.size, strlen(args));
	cr_expect_arr_eq(request->text.args.text, "{\"a\":1}", strlen(args));
}

Test(waiting, refuses_a_request_without_memory)
{
	cr_assert(scarce_once_after(0));
	cr_expect_not(wait_for(WAITING_CHANGE, "one", WAIT_MS));
	cr_expect(scarce_has_failed());
	cr_expect_eq(room.n, 0);
}
