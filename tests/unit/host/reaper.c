/* SPDX-License-Identifier: Apache-2.0 */
#include "host/reaper.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "guest.h"
#include "host/parts.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* The end of a host that is no longer needed. */

static struct guest guest;
static struct reaper reaper;
static unsigned int n_left;

static void has_left(void *data, const struct host_exit *end)
{
	cr_expect_eq(end->reason, HOST_LINGERED);
	cr_expect_eq(data, &guest);
	n_left++;
	loop_stop(guest.loop);
}

static void set_up(void)
{
	reaper_init(&reaper, has_left, &guest);
}

static void tear_down(void)
{
	reaper_deinit(&reaper);
	guest_stop(&guest);
}

TestSuite(reaper, .init = set_up, .fini = tear_down, .timeout = 60);

/* Start the plugin of the tests, which ends in the way @how. */
static void start(const char *how)
{
	cleanup(buffer_deinit) struct buffer load = {0};

	buffer_printf(&load,
		"{\"kind\":\"plugin\",\"toolbox_id\":\"test\",\"library\":\"%s\","
		"\"config\":{\"end\":\"%s\"}}",
		TEST_PLUGGED_LIBRARY, how);
	guest_start_load(&guest, buffer_terminate(&load), NULL);
	cr_assert_not_null(guest.loaded.data, "it was not loaded");
}

static void has_ended(void *data, const struct host_exit *end)
{
	guest.n_ends++;
	guest.end = *end;
	cr_expect_eq(data, &guest);
	loop_stop(guest.loop);
}

/* Dismiss it, and wait for its end. */
static void dismiss(void)
{
	host_dismiss(guest.host, has_ended, &guest);
	guest_wait(&guest);
	cr_expect_eq(guest.n_ends, 1);
}

Test(reaper, runs_what_a_toolbox_has_to_do_at_its_end)
{
	start("exit");
	dismiss();
	cr_expect_eq(guest.end.reason, HOST_EXITED, "%d", guest.end.reason);
	cr_expect_eq(guest.end.exit_code, 7, "the status of its deinit()");
}

Test(reaper, ends_with_status_0_when_all_went_well)
{
	start("");
	dismiss();
	cr_expect_eq(guest.end.reason, HOST_EXITED, "%d", guest.end.reason);
	cr_expect_eq(guest.end.exit_code, 0, "%d", guest.end.exit_code);
}

/* Nothing is read any more, so nothing there can be wrong. */
Test(reaper, does_not_read_the_ring)
{
	start("");
	atomic_store(&guest.host->ring.memory->written, UINT32_MAX);
	dismiss();
	cr_expect_eq(guest.end.reason, HOST_EXITED, "%d", guest.end.reason);
	cr_expect_eq(guest.end.exit_code, 0, "%d", guest.end.exit_code);
}

Test(reaper, reports_a_crash_at_the_end)
{
	char words[128];

	start("abort");
	dismiss();
	host_describe_exit(&guest.end, words, sizeof(words));
	cr_expect_str_eq(words, "its host died (SIGABRT)");
}

Test(reaper, kills_a_host_that_does_not_exit)
{
	uint64_t start_ms;
	char words[128];

	start("hang");
	start_ms = clock_now_ms();
	dismiss();
	cr_expect_geq(clock_now_ms() - start_ms, HOST_DISMISS_MS);
	cr_expect_eq(guest.end.reason, HOST_LINGERED, "%d", guest.end.reason);
	host_describe_exit(&guest.end, words, sizeof(words));
	cr_expect_str_eq(words, "its host was killed because it took more than 500 ms");
}

Test(reaper, is_too_late_for_a_call)
{
	static const struct host_call call = {.arguments = "{}", .size = 2};

	start("");
	host_dismiss(guest.host, has_ended, &guest);
	cr_expect_eq(host_invoke(guest.host, 1, &call), -EPIPE);
	cr_expect_eq(host_send_bus_message(guest.host, "{}", 2), -EPIPE);
	guest_wait(&guest);
}

Test(reaper, goes_on_for_all_of_them_at_once)
{
	struct host *first;
	uint64_t start_ms;

	start("hang");
	first = take_ptr(guest.host);
	start("hang");
	start_ms = clock_now_ms();
	reaper_take(&reaper, first);
	reaper_take(&reaper, take_ptr(guest.host));
	cr_expect_not(reaper_is_empty(&reaper));
	while (n_left < 2)
		guest_wait(&guest);
	cr_expect(reaper_is_empty(&reaper));
	cr_expect_lt(clock_now_ms() - start_ms, UINT64_C(2) * HOST_DISMISS_MS);
}

Test(reaper, kills_the_hosts_that_are_left)
{
	siginfo_t how = {0};
	pid_t pid;

	start("hang");
	pid = host_pid(guest.host);
	reaper_take(&reaper, take_ptr(guest.host));
	reaper_deinit(&reaper);
	cr_expect(reaper_is_empty(&reaper));
	cr_assert_eq(waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT), 0);
	cr_expect_eq(how.si_status, SIGKILL);
	cr_expect_eq(n_left, 0);
}

Test(reaper, ignores_what_is_still_sent)
{
	const struct guest_options options = {.has_bus = true};

	guest_start(&guest, "misbehave", &options);
	guest_send(&guest, "send_frame", "{\"size\":2,\"kind\":9,\"id\":0,\"payload\":\"{}\"}");
	host_dismiss(guest.host, has_ended, &guest);
	guest_wait(&guest);
	cr_expect_eq(guest.n_bus_messages + guest.n_answers, 0);
	cr_expect_eq(guest.end.reason, HOST_EXITED);
	cr_expect_eq(guest.end.exit_code, 0);
}

Test(reaper, ends_a_guard_with_what_it_guards)
{
	const struct guest_options options = {.has_guard = true};
	int child = 0;

	guest_start(&guest, "misbehave", &options);
	cr_assert_eq(sscanf(guest_call(&guest, "leave_child", "{\"is_detached\":true}"),
			     "{\"result\":%d}", &child),
		1);
	dismiss();
	cr_expect_eq(guest.end.reason, HOST_EXITED, "%d", guest.end.reason);
	cr_expect_eq(guest.end.exit_code, 0);
	cr_expect_eq(kill(child, 0), -1);
	cr_expect_eq(errno, ESRCH);
}
