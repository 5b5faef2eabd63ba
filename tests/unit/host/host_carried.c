/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "guest.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* A host that carries several calls: its answers have no order, and one for each call. The native
 * host of these tests runs them one after the other, and ends at a CANCEL. */

#define LIMIT 300

#define FRAME(kind, id)                                                                            \
	"{\"size\":2,\"kind\":" kind ",\"id\":" id ",\"payload\":\"{}\",\"afterwards\":0}"

static const struct guest_options carries = {.carries = true};

static void wait_for_end(struct guest *guest)
{
	while (guest->n_ends == 0)
		guest_wait(guest);
}

Test(host_carried, takes_answers_and_progress_in_any_order_and_each_once, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &carries);
	guest_send(&guest, "send_frame", FRAME("5", "2"));
	guest_send(&guest, "behave", "{\"value\":1}");
	guest_send(&guest, "hang", "{}");
	wait_for_end(&guest);
	cr_expect_eq(guest.n_answers, 2, "the second answer of a call is none");
	cr_expect_eq(guest.answered_id, 1, "after that of the second call");
	cr_expect_eq(guest.end.reason, HOST_MALFORMED);
	guest_stop(&guest);
}

Test(host_carried, has_so_many_calls_at_a_time, .timeout = LIMIT)
{
	static const struct host_call one_more = {.arguments = "{}", .size = 2};
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &carries);
	kill(host_pid(guest.host), SIGSTOP);
	for (unsigned int i = 0; i < HOST_CARRIED_MAX; i++)
		guest_send(&guest, "behave", "{\"value\":1}");
	cr_expect_eq(host_invoke(guest.host, HOST_CARRIED_MAX + 1, &one_more), -EBUSY);
	kill(host_pid(guest.host), SIGCONT);
	while (guest.n_answers < HOST_CARRIED_MAX && guest.n_ends == 0)
		guest_wait(&guest);
	cr_expect_eq(guest.n_answers, HOST_CARRIED_MAX);
	guest_stop(&guest);
}

Test(host_carried, takes_no_call_while_it_has_much_to_read, .timeout = LIMIT)
{
	static const struct host_call one_more = {.arguments = "{}", .size = 2};
	struct guest guest = {0};
	struct buffer arguments = {0};

	guest_start(&guest, "misbehave", &carries);
	kill(host_pid(guest.host), SIGSTOP);
	buffer_append_string(&arguments, "{\"value\":1}");
	while (arguments.size < 2 * HOST_FULL_BYTES)
		buffer_append_char(&arguments, ' ');
	guest_send(&guest, "behave", buffer_terminate(&arguments));
	cr_expect_eq(host_invoke(guest.host, 2, &one_more), -EBUSY);
	cr_expect_eq(guest.n_relieved, 0);
	kill(host_pid(guest.host), SIGCONT);
	guest_wait(&guest);
	cr_expect_eq(guest.n_answers, 1);
	cr_expect_eq(guest.n_relieved, 1);
	guest_send(&guest, "behave", "{\"value\":1}");
	guest_wait(&guest);
	cr_expect_eq(guest.n_answers, 2);
	buffer_deinit(&arguments);
	guest_stop(&guest);
}

Test(host_carried, drops_the_answer_of_a_call_that_was_cancelled, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &carries);
	kill(host_pid(guest.host), SIGSTOP);
	guest_send(&guest, "behave", "{\"value\":1}");
	guest_send(&guest, "behave", "{\"value\":2}");
	host_cancel(guest.host, 1, false);
	kill(host_pid(guest.host), SIGCONT);
	wait_for_end(&guest);
	cr_expect_eq(guest.answered_id, 2);
	cr_expect_eq(guest.n_answers, 1);
	cr_expect_eq(guest.end.reason, HOST_EXITED, "the native host knows no CANCEL");
	guest_stop(&guest);
}

Test(host_carried, takes_one_answer_without_a_call_for_each_cancel, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &carries);
	kill(host_pid(guest.host), SIGSTOP);
	guest_send(&guest, "send_frame", FRAME("5", "77"));
	guest_send(&guest, "behave", "{\"value\":2}");
	host_cancel(guest.host, 1, true);
	kill(host_pid(guest.host), SIGCONT);
	wait_for_end(&guest);
	cr_expect_eq(guest.n_answers, 0);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED);
	guest_stop(&guest);
}

Test(host_carried, is_ended_when_it_does_not_end_a_call, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &carries);
	kill(host_pid(guest.host), SIGSTOP);
	guest_send(&guest, "behave", "{\"value\":1}");
	host_cancel(guest.host, 1, true);
	wait_for_end(&guest);
	cr_expect_eq(guest.n_answers, 0);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED);
	cr_expect_str_eq(guest.message.data, "did not end a call that was cancelled");
	guest_stop(&guest);
}

Test(host_carried, reports_that_its_toolbox_is_stale, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &carries);
	cr_expect_eq(guest_call(&guest, "send_frame", FRAME("14", "0"))[0], '{');
	cr_expect_eq(guest.n_stale, 1);
	guest_send(&guest, "send_frame", FRAME("14", "1"));
	wait_for_end(&guest);
	cr_expect_eq(guest.n_stale, 1);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED, "it is not about a call");
	guest_stop(&guest);
}

Test(host_carried, is_the_only_one_that_may_be_stale, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	guest_call(&guest, "send_frame", FRAME("14", "0"));
	cr_expect_eq(guest.n_stale, 0);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED);
	guest_stop(&guest);
}

/* As FRAME, of the kind USE. */
#define USE(payload, size)                                                                         \
	"{\"size\":" size ",\"kind\":17,\"id\":0,\"payload\":\"" payload "\",\"afterwards\":0}"

Test(host_carried, reports_that_it_is_in_use, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &carries);
	cr_expect_not(host_is_in_use(guest.host));
	guest_call(&guest, "send_frame", USE("{\\\"is_in_use\\\":true}", "18"));
	cr_expect_eq(guest.n_uses, 1);
	cr_expect(host_is_in_use(guest.host));
	guest_call(&guest, "send_frame", USE("{\\\"is_in_use\\\":1}", "15"));
	cr_expect_not(host_is_in_use(guest.host), "it is no boolean");
	guest_send(&guest, "send_frame", USE("[]", "2"));
	wait_for_end(&guest);
	cr_expect_eq(guest.n_uses, 2);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED, "it is no object");
	guest_stop(&guest);
}

Test(host_carried, is_the_only_one_that_may_be_in_use, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	guest_call(&guest, "send_frame", USE("{}", "2"));
	cr_expect_eq(guest.n_uses, 0);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED);
	guest_stop(&guest);
}

#define NOTE(payload, size)                                                                        \
	"{\"size\":" size ",\"kind\":16,\"id\":0,\"payload\":\"" payload "\",\"afterwards\":0}"

Test(host_carried, has_its_last_note_for_a_while, .timeout = LIMIT)
{
	struct guest guest = {0};
	cleanup(buffer_deinit) struct buffer arguments = {0};
	uint64_t begin_ns;

	guest_start(&guest, "misbehave", &carries);
	cr_expect_null(host_note(guest.host, 0));
	guest_call(&guest, "send_frame", NOTE("one", "3"));
	begin_ns = clock_now_ns();
	cr_expect_str_eq(host_note(guest.host, 0), "one");
	cr_expect_null(host_note(guest.host, begin_ns));
	buffer_append_string(&arguments, "{\"size\":1000,\"kind\":16,\"id\":0,\"payload\":\"");
	for (int i = 0; i < 1000; i++)
		buffer_append_char(&arguments, 'x');
	buffer_append_string(&arguments, "\",\"afterwards\":0}");
	guest_call(&guest, "send_frame", buffer_terminate(&arguments));
	cr_expect_eq(strspn(host_note(guest.host, begin_ns), "x"), HOST_NOTE_BYTES / 4 - 1);
	cr_expect_eq(strlen(host_note(guest.host, begin_ns)), HOST_NOTE_BYTES / 4 - 1);
	guest_stop(&guest);
}

Test(host_carried, is_the_only_one_that_may_have_a_note, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	guest_call(&guest, "send_frame", NOTE("one", "3"));
	cr_expect_eq(guest.end.reason, HOST_MALFORMED);
	guest_stop(&guest);
}

Test(host_carried, goes_on_when_it_is_replaced, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &carries);
	guest_call(&guest, "send_frame", USE("{}", "2"));
	host_replace(guest.host);
	cr_expect_str_eq(guest_call(&guest, "behave", "{\"value\":1}"), "{\"result\":1}");
	guest_stop(&guest);
}
