/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.h"
#include "guest.h"
#include "host/parts.h"
#include "util/clock.h"

/* A host that crashes, hangs, floods or lies: it is ended, once, with the reason. */

#define LIMIT 300

/* Wait for the end of the child @pid; the test's own limit is what bounds that. */
static const struct host_call no_arguments = {.arguments = "{}", .size = 2};

static void expect_end(pid_t pid)
{
	siginfo_t how = {0};

	cr_assert_eq(waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT), 0);
	cr_expect_eq(how.si_status, SIGKILL);
}

static void expect_signal(const char *tool, const char *arguments, int signal)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	guest_call(&guest, tool, arguments);
	cr_expect_eq(guest.n_answers, 0, "%s", tool);
	cr_expect_eq(guest.n_ends, 1, "%s", tool);
	cr_expect_eq(guest.end.reason, HOST_SIGNALED, "%s: reason %d", tool, guest.end.reason);
	cr_expect_eq(guest.end.signal, signal, "%s: signal %d", tool, guest.end.signal);
	guest_stop(&guest);
}

static void expect_malformed(const char *tool, const char *arguments)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	guest_call(&guest, tool, arguments);
	cr_expect_eq(guest.n_answers, 0, "%s %s", tool, arguments);
	cr_expect_eq(guest.n_ends, 1, "%s %s", tool, arguments);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED, "%s %s: reason %d", tool, arguments,
		guest.end.reason);
	cr_expect_eq(host_invoke(guest.host, 9, &no_arguments), -EPIPE, "%s: an ended host", tool);
	guest_stop(&guest);
}

static void stop_guest(struct guest *guest)
{
	pid_t pid = host_pid(guest->host);
	siginfo_t stopped;

	kill(pid, SIGSTOP);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &stopped, WSTOPPED | WNOWAIT), 0);
}

Test(host, reports_the_signal_that_ended_it, .timeout = LIMIT)
{
	expect_signal("segfault", "{}", SIGSEGV);
	expect_signal("abort", "{}", SIGABRT);
	expect_signal("crash", "{\"signal\":8}", SIGFPE);
	expect_signal("crash", "{\"signal\":13}", SIGPIPE);
	expect_signal("crash", "{\"signal\":9}", SIGKILL);
}

/* Much less than the minute for which the last close of the descriptor waits. */
#define PATIENCE_MS 20000

/* Listen at a free port of the loopback, and never accept. Return the socket. */
static int listen_and_wait(char ret_arguments[32])
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(name);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_eq(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	cr_assert_eq(listen(fd, 1), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&name, &size), 0);
	snprintf(ret_arguments, 32, "{\"port\":%u}", (unsigned int)ntohs(name.sin_port));
	return fd;
}

Test(host, that_sends_a_descriptor_is_ended_and_does_not_hold_the_loop, .timeout = LIMIT)
{
	uint64_t start_ms = clock_now_ms();
	char arguments[32];
	int listener = listen_and_wait(arguments);

	expect_malformed("send_descriptor", arguments);
	cr_expect_lt(clock_now_ms() - start_ms, PATIENCE_MS);
	close(listener);
}

Test(host, whose_descriptor_is_unread_does_not_hold_the_loop, .timeout = LIMIT)
{
	uint64_t start_ms = clock_now_ms();
	struct guest guest = {0};
	siginfo_t how;
	char arguments[32];
	int listener = listen_and_wait(arguments);

	guest_start(&guest, "misbehave", NULL);
	guest_send(&guest, "send_descriptor", arguments);
	cr_assert_eq(waitid(P_PID, (id_t)host_pid(guest.host), &how, WSTOPPED), 0);
	guest_stop(&guest);
	cr_expect_lt(clock_now_ms() - start_ms, PATIENCE_MS);
	close(listener);
}

Test(host, survives_an_overflow_of_its_stack, .timeout = LIMIT)
{
	expect_signal("overflow_stack", "{}", SIGSEGV);
}

Test(host, reports_the_status_a_tool_exits_with, .timeout = LIMIT)
{
	static const int statuses[] = {0, 3};

	for (size_t i = 0; i < 2; i++) {
		struct guest guest = {0};
		char arguments[32];

		snprintf(arguments, sizeof(arguments), "{\"status\":%d}", statuses[i]);
		guest_start(&guest, "misbehave", NULL);
		guest_call(&guest, "exit", arguments);
		cr_expect_eq(guest.n_answers, 0);
		cr_expect_eq(guest.n_ends, 1);
		cr_expect_eq(guest.end.reason, HOST_EXITED);
		cr_expect_eq(guest.end.exit_code, statuses[i]);
		guest_stop(&guest);
	}
}

Test(host, is_killed_whatever_its_tool_is_busy_with, .timeout = LIMIT)
{
	static const char *const tools[] = {"hang", "spin", "ignore_signals"};

	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		struct guest guest = {0};
		pid_t pid;

		guest_start(&guest, "misbehave", NULL);
		pid = host_pid(guest.host);
		guest_send(&guest, tools[i], "{}");
		host_free(guest.host);
		guest.host = NULL;
		expect_end(pid);
		cr_expect_eq(guest.n_ends, 0, "%s: host_free is silent", tools[i]);
		guest_stop(&guest);
	}
}

Test(host, leaves_no_descriptor, .timeout = LIMIT)
{
	size_t before = descriptors_count();

	for (int i = 0; i < 2; i++) {
		struct guest guest = {0};

		guest_start(&guest, "misbehave", NULL);
		guest_call(&guest, i == 0 ? "behave" : "exit", i == 0 ? "{\"value\":1}" : "{}");
		guest_stop(&guest);
	}
	descriptors_expect(before);
}

Test(host, is_killed_where_its_group_cannot_be, .timeout = LIMIT)
{
	struct guest guest = {0};
	pid_t pid;

	guest_start(&guest, "misbehave", NULL);
	pid = host_pid(guest.host);
	guest_send(&guest, "leave_group", "{\"hangs\":true}");
	host_free(guest.host);
	guest.host = NULL;
	expect_end(pid);
	guest_stop(&guest);
}

Test(host, is_ended_for_bytes_that_are_no_frame, .timeout = LIMIT)
{
	expect_malformed("write_wire", "{\"text\":\"HTTP/1.1 200 OK\\r\\n\\r\\n\"}");
}

Test(host, is_ended_for_frames_that_may_not_come, .timeout = LIMIT)
{
	static const char *const frames[] = {
		/* a kind that does not exist, and each that only the daemon may send */
		"{\"size\":0,\"kind\":0,\"id\":1}",
		"{\"size\":0,\"kind\":4294967295,\"id\":1}",
		"{\"size\":2,\"kind\":1,\"id\":1,\"payload\":\"{}\"}",
		"{\"size\":2,\"kind\":4,\"id\":1,\"payload\":\"{}\"}",
		/* frames that belong to loading */
		"{\"size\":2,\"kind\":2,\"id\":0,\"payload\":\"{}\"}",
		"{\"size\":2,\"kind\":3,\"id\":0,\"payload\":\"{}\"}",
		/* the answer to a call that does not run */
		"{\"size\":2,\"kind\":5,\"id\":2,\"payload\":\"{}\"}",
		"{\"size\":2,\"kind\":6,\"id\":0,\"payload\":\"no\"}",
		/* results that are not JSON, or that no call has */
		"{\"size\":0,\"kind\":5,\"id\":1}",
		"{\"size\":1,\"kind\":5,\"id\":1,\"payload\":\"{\"}",
		"{\"size\":4,\"kind\":5,\"id\":1,\"payload\":\"{} x\"}",
		"{\"size\":13,\"kind\":5,\"id\":1,\"payload\":\"{\\\"a\\\":1,\\\"a\\\":2}\"}",
		/* a frame that is no answer, of a size over any limit */
		"{\"size\":4294967295,\"kind\":2,\"id\":1}",
	};

	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		expect_malformed("send_frame", frames[i]);
}

Test(host, is_ended_for_text_that_is_not_utf8, .timeout = LIMIT)
{
	expect_malformed("fail_in_latin1", "{\"id\":1}");
}

Test(host, is_ended_for_two_answers_to_one_call, .timeout = LIMIT)
{
	struct guest guest = {0};

	/* The faker's answer comes first; the host's own finds no call, now or at the next one. */
	guest_start(&guest, "misbehave", NULL);
	guest_call(&guest, "send_frame",
		"{\"size\":2,\"kind\":5,\"id\":1,\"payload\":\"{}\",\"afterwards\":0}");
	if (guest.n_ends == 0)
		guest_wait(&guest);
	cr_expect_leq(guest.n_answers, 1);
	cr_expect_eq(guest.n_ends, 1);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED);
	guest_stop(&guest);
}

Test(host, counts_an_answer_that_was_sent_just_before_its_end, .timeout = LIMIT)
{
	static const char *const ways[] = {"1", "3"};
	static const enum host_reason reasons[] = {HOST_EXITED, HOST_SIGNALED};

	for (size_t i = 0; i < 2; i++) {
		struct guest guest = {0};
		char arguments[128];

		snprintf(arguments, sizeof(arguments),
			"{\"size\":8,\"kind\":5,\"id\":1,\"payload\":\"{\\\"a\\\": 1}\","
			"\"afterwards\":%s}",
			ways[i]);
		guest_start(&guest, "misbehave", NULL);
		cr_expect_str_eq(guest_call(&guest, "send_frame", arguments), "{\"a\": 1}");
		if (guest.n_ends == 0)
			guest_wait(&guest);
		cr_expect_eq(guest.n_answers, 1);
		cr_expect_eq(guest.n_ends, 1);
		cr_expect_eq(guest.end.reason, reasons[i]);
		guest_stop(&guest);
	}
}

Test(host, reports_its_exit_when_an_answer_was_cut_short, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	guest_call(&guest, "send_frame",
		"{\"size\":100,\"kind\":5,\"id\":1,\"payload\":\"{}\",\"afterwards\":1}");
	cr_expect_eq(guest.n_answers, 0);
	cr_expect_eq(guest.n_ends, 1);
	cr_expect_eq(guest.end.reason, HOST_EXITED);
	cr_expect_eq(guest.end.exit_code, 7);
	guest_stop(&guest);
}

Test(host, is_ended_when_it_closes_its_socket_and_lives_on, .timeout = LIMIT)
{
	expect_malformed("close_wire", "{\"hangs\":true}");
	expect_malformed("shut_wire", "{}");
}

Test(host, is_ended_when_it_writes_into_its_ring_itself, .timeout = LIMIT)
{
	/* more than the ring holds, and 100 bytes that are no frame */
	expect_malformed("write_ring", "{\"bytes\":100000}");
	expect_malformed("write_ring", "{\"bytes\":100}");
	/* no host has to keep more for it than it holds */
	expect_malformed("promise_in_ring", "{\"id\":1}");
	expect_malformed("wake_for_nothing", "{}");
}

/* The answer waits nowhere in the process, which another call breaks. */
Test(host, loses_no_answer_when_the_next_call_ends_it, .timeout = LIMIT)
{
	static const char *const next[] = {"abort", "close_everything", "segfault"};

	for (size_t i = 0; i < sizeof(next) / sizeof(*next); i++) {
		struct guest guest = {0};

		guest_start(&guest, "misbehave", NULL);
		stop_guest(&guest);
		for (unsigned int call = 0; call < 3; call++)
			guest_send(&guest, "behave", "{\"value\":1}");
		guest_send(&guest, next[i], "{}");
		loop_run(guest.loop, 0);
		kill(host_pid(guest.host), SIGCONT);
		while (guest.n_ends == 0)
			guest_wait(&guest);
		cr_expect_geq(guest.n_answers, 3, "%s: %u", next[i], guest.n_answers);
		guest_stop(&guest);
	}
}

/* Answers come at once, while the next call hangs. */
Test(host, is_not_late_with_an_answer_before_a_call_that_hangs, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	stop_guest(&guest);
	for (unsigned int call = 0; call < 3; call++)
		guest_send(&guest, "behave", "{\"value\":1}");
	guest_send(&guest, "hang", "{}");
	loop_run(guest.loop, 0);
	kill(host_pid(guest.host), SIGCONT);
	while (guest.n_answers < 3)
		guest_wait(&guest);
	cr_expect_eq(guest.n_ends, 0);
	guest_stop(&guest);
}

/* Answers too large for the ring, and what follows them. */
Test(host, keeps_the_order_of_large_and_small_answers, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	for (unsigned int round = 0; round < 20; round++) {
		unsigned int before = guest.n_answers;

		for (unsigned int call = 0; call < 6; call++)
			guest_send(&guest, call % 3 == 2 ? "long_text" : "behave",
				call % 3 == 2 ? "{\"size\":20000}" : "{\"value\":1}");
		while (guest.n_answers < before + 6 && guest.n_ends == 0)
			guest_wait(&guest);
		cr_assert_eq(guest.n_answers, before + 6);
	}
	guest_stop(&guest);
}

Test(host, ends_when_it_cannot_be_asked_any_more, .timeout = LIMIT)
{
	static const char *const calls[][2] = {{"close_wire", "{\"hangs\":false}"},
		{"close_everything", "{}"}, {"replace_wire", "{}"}, {"close_wake", "{}"},
		{"fill_wake", "{}"}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct guest guest = {0};

		guest_start(&guest, "misbehave", NULL);
		guest_send(&guest, calls[i][0], calls[i][1]);
		while (guest.n_ends == 0)
			guest_wait(&guest);
		cr_expect_eq(guest.n_answers, 1, "%s: its answer is in the ring", calls[i][0]);
		/* It exits by itself, or too late. */
		if (guest.end.reason != HOST_MALFORMED) {
			cr_expect_eq(guest.end.reason, HOST_EXITED);
			cr_expect_eq(guest.end.exit_code, 1);
		}
		guest_stop(&guest);
	}
}

Test(host, reports_an_answer_over_the_limit_with_both_sizes, .timeout = LIMIT)
{
	static const struct guest_options options = {.output_max = 1000};
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &options);
	/* {"result":"…"} */
	guest_call(&guest, "long_text", "{\"size\":987}");
	cr_expect_eq(guest.n_answers, 1);
	guest_call(&guest, "long_text", "{\"size\":988}");
	cr_expect_eq(guest.n_answers, 1);
	cr_expect_eq(guest.n_ends, 1);
	cr_expect_eq(guest.end.reason, HOST_TOO_LARGE);
	cr_expect_eq(guest.end.actual, 1001);
	cr_expect_eq(guest.end.max, 1000);
	guest_stop(&guest);
}

Test(host, takes_no_memory_for_a_limit_that_is_passed, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	guest_call(&guest, "send_frame", "{\"size\":4294967295,\"kind\":5,\"id\":1}");
	cr_expect_eq(guest.end.reason, HOST_TOO_LARGE);
	cr_expect_eq(guest.end.actual, UINT32_MAX);
	guest_stop(&guest);
}

Test(host, fails_a_call_whose_text_is_not_utf8, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	cr_expect_str_eq(
		guest_call(&guest, "not_utf8", "{}"), "not_utf8 returned text that is not UTF-8");
	cr_expect_str_eq(
		guest_call(&guest, "surrogate", "{}"), "surrogate returned text that is not UTF-8");
	cr_expect_str_eq(guest_call(&guest, "no_text", "{}"), "no_text returned NULL");
	cr_expect_str_eq(guest_call(&guest, "behave", "{\"value\":1}"), "{\"result\":1}");
	guest_stop(&guest);
}

Test(host, goes_on_with_spoiled_signals_and_without_descriptors, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	cr_expect_str_eq(guest_call(&guest, "spoil_signals", "{}"), "{}");
	cr_expect_str_eq(guest_call(&guest, "take_all_descriptors", "{}"), "{}");
	cr_expect_str_eq(guest_call(&guest, "behave", "{\"value\":1}"), "{\"result\":1}");
	guest_stop(&guest);
}

Test(host, reads_all_that_a_toolbox_prints_and_goes_on, .timeout = LIMIT)
{
	static const struct guest_options options = {.stderr_max = 500};
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &options);
	cr_expect_str_eq(guest_call(&guest, "print", "{\"fd\":1,\"bytes\":3000000}"), "{}");
	cr_expect_str_eq(guest_call(&guest, "print", "{\"fd\":2,\"bytes\":3000000}"), "{}");
	cr_expect_str_eq(guest_call(&guest, "print_junk", "{}"), "{}");
	cr_expect_eq(guest.n_ends, 0);
	guest_stop(&guest);
}

Test(host, takes_what_is_left_of_its_group_with_it, .timeout = LIMIT)
{
	struct guest guest = {0};
	pid_t pid, child;

	/* An orphan becomes our child, so that its end can be seen. */
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	guest_start(&guest, "misbehave", NULL);
	cr_assert_eq(sscanf(guest_call(&guest, "leave_child", "{}"), "{\"result\":%d}", &child), 1);
	pid = host_pid(guest.host);
	host_free(guest.host);
	guest.host = NULL;
	expect_end(pid);
	expect_end(child);
	guest_stop(&guest);
}

Test(host, ends_though_a_child_holds_its_socket, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	guest_call(&guest, "leave_child_and_exit", "{}");
	cr_expect_eq(guest.n_ends, 1);
	cr_expect_eq(guest.end.reason, HOST_EXITED);
	cr_expect_eq(guest.end.exit_code, 0);
	guest_stop(&guest);
}

Test(host, takes_some_calls_ahead_and_runs_them_in_order, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	kill(host_pid(guest.host), SIGSTOP);
	for (unsigned int i = 0; i < HOST_CALLS_MAX; i++)
		guest_send(&guest, "behave", "{\"value\":1}");
	cr_expect_eq(host_invoke(guest.host, HOST_CALLS_MAX + 1, &no_arguments), -EBUSY);
	kill(host_pid(guest.host), SIGCONT);
	while (guest.n_answers < HOST_CALLS_MAX && guest.n_ends == 0)
		guest_wait(&guest);
	cr_expect_eq(guest.n_answers, HOST_CALLS_MAX);
	guest_stop(&guest);
}

#define FDS_MAX 64

/* Return the first stream socket of the family AF_UNIX from @from on. */
static int find_socket(int from)
{
	int domain = 0;
	int type = 0;
	socklen_t size = sizeof(int);

	for (; from < FDS_MAX; from++)
		if (getsockopt(from, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
			getsockopt(from, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
			domain == AF_UNIX && type == SOCK_STREAM)
			break;
	return from;
}

static int wire;

static int count_unread(void)
{
	int size = 0;

	cr_assert_eq(ioctl(wire, SIOCOUTQ, &size), 0);
	return size;
}

static void call_again(struct guest *guest)
{
	cr_expect_eq(count_unread(), 0, "sent before the last answer was taken");
	if (guest->n_answers < HOST_CALLS_MAX)
		guest_send(guest, "behave", "{\"value\":1}");
}

/* Return the bytes of all answers that its process has put into the ring. */
static uint32_t count_answered(const struct guest *guest)
{
	return atomic_load(&guest->host->ring.memory->written);
}

/* The first call of an idle host goes at once, and later ones at the end of the turn. */
Test(host, is_sent_the_calls_of_a_turn_together, .timeout = LIMIT)
{
	struct guest guest = {0};
	int before = find_socket(0);
	int one;

	guest_start(&guest, "misbehave", NULL);
	wire = find_socket(0);
	wire = wire == before ? find_socket(before + 1) : wire;
	stop_guest(&guest);
	guest_send(&guest, "behave", "{\"value\":1}");
	one = count_unread();
	cr_expect_gt(one, 0);
	guest_send(&guest, "behave", "{\"value\":1}");
	guest_send(&guest, "behave", "{\"value\":1}");
	cr_expect_eq(count_unread(), one, "sent before the turn ended");
	loop_run(guest.loop, 0);
	cr_expect_gt(count_unread(), one);
	kill(host_pid(guest.host), SIGCONT);
	while (guest.n_answers < 3 && guest.n_ends == 0)
		guest_wait(&guest);
	cr_expect_eq(guest.n_answers, 3);
	guest_stop(&guest);
}

Test(host, is_sent_the_calls_together_that_follow_its_answers, .timeout = LIMIT)
{
	struct guest guest = {0};
	int before = find_socket(0);
	uint32_t answer;

	guest_start(&guest, "misbehave", NULL);
	wire = find_socket(0);
	wire = wire == before ? find_socket(before + 1) : wire;
	guest_send(&guest, "behave", "{\"value\":1}");
	while ((answer = count_answered(&guest)) == 0)
		sched_yield();
	guest_wait(&guest);
	stop_guest(&guest);
	for (unsigned int i = 0; i < 3; i++)
		guest_send(&guest, "behave", "{\"value\":1}");
	loop_run(guest.loop, 0);
	kill(host_pid(guest.host), SIGCONT);
	while (count_answered(&guest) < 4 * answer)
		sched_yield();
	stop_guest(&guest);
	guest.answered = call_again;
	guest_wait(&guest);
	guest.answered = NULL;
	cr_expect_eq(guest.n_answers, 4);
	cr_expect_gt(count_unread(), 0);
	kill(host_pid(guest.host), SIGCONT);
	while (guest.n_answers < 7 && guest.n_ends == 0)
		guest_wait(&guest);
	cr_expect_eq(guest.n_answers, 7);
	guest_stop(&guest);
}

Test(host, is_ended_for_an_answer_out_of_turn, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	guest_send(&guest, "send_frame",
		"{\"size\":2,\"kind\":5,\"id\":2,\"payload\":\"{}\",\"afterwards\":0}");
	guest_send(&guest, "behave", "{\"value\":1}");
	guest_wait(&guest);
	cr_expect_eq(guest.n_answers, 0);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED);
	guest_stop(&guest);
}

Test(host, takes_no_call_ahead_while_it_reads_nothing, .timeout = LIMIT)
{
	const size_t size = 4u << 20;
	struct guest guest = {0};
	struct buffer arguments = {0};

	guest_start(&guest, "misbehave", NULL);
	kill(host_pid(guest.host), SIGSTOP);
	buffer_append_string(&arguments, "{\"value\":1}");
	while (arguments.size < size)
		buffer_append_char(&arguments, ' ');
	guest_send(&guest, "behave", buffer_terminate(&arguments));
	cr_expect_eq(host_invoke(guest.host, 2, &no_arguments), -EBUSY);
	kill(host_pid(guest.host), SIGCONT);
	guest_wait(&guest);
	cr_expect_eq(guest.n_answers, 1);
	buffer_deinit(&arguments);
	guest_stop(&guest);
}

static void ignore_end(void *data, const struct host_exit *end)
{
	(void)data;
	(void)end;
}

Test(host, reports_a_program_that_is_missing, .timeout = LIMIT)
{
	static const struct host_handler handler = {.ended = ignore_end};
	struct host_options options = {.program = "/nowhere/toolbox-host",
		.toolbox_id = "test",
		.load = "{}",
		.load_size = 2,
		.start_timeout_ms = 1000};
	const char *preload = getenv("LD_PRELOAD");
	struct host *host = NULL;
	struct loop *loop;
	int r;

	cr_assert_eq(loop_new(&loop), 0);
	r = host_spawn(loop, &options, &handler, NULL, &host);
	/* Valgrind spawns by a plain fork, which does not report the fate of the child. */
	if (preload && strstr(preload, "vgpreload"))
		cr_expect_eq(r, 0);
	else
		cr_expect_eq(r, -ENOENT);
	host_free(host);
	loop_free(loop);
}

Test(host, is_not_started_with_more_to_load_than_a_frame_holds, .timeout = LIMIT)
{
	static const struct host_handler handler;
	struct host_options options = {.program = TEST_HOST_PROGRAM,
		.toolbox_id = "test",
		.load = "{}",
		.load_size = JSON_SIZE_MAX + 1,
		.start_timeout_ms = 1000};
	struct host *host = NULL;
	struct loop *loop;

	cr_assert_eq(loop_new(&loop), 0);
	cr_expect_eq(host_spawn(loop, &options, &handler, NULL, &host), -EMSGSIZE);
	cr_expect_null(host);
	host_free(host);
	loop_free(loop);
}

Test(host, is_ended_when_loading_takes_too_long, .timeout = LIMIT)
{
	static const struct guest_options options = {.start_timeout_ms = 50};
	struct guest guest = {0};

	guest_start_load(&guest,
		"{\"kind\":\"native\",\"library\":\"" TEST_STUCK_LIBRARY "\",\"tools\":[]}",
		&options);
	cr_expect_eq(guest.n_loaded, 0);
	cr_expect_eq(guest.n_ends, 1);
	cr_expect_eq(guest.end.reason, HOST_TOO_SLOW);
	guest_stop(&guest);
}

Test(host, ends_for_a_load_frame_that_is_not_json, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start_load(&guest, "nonsense", NULL);
	cr_expect_eq(guest.n_ends, 1);
	cr_expect_eq(guest.end.reason, HOST_EXITED);
	cr_expect_eq(guest.end.exit_code, 1);
	guest_stop(&guest);
}

Test(host, names_every_signal)
{
	cr_expect_str_eq(host_signal_name(SIGSEGV), "SIGSEGV");
	cr_expect_str_eq(host_signal_name(SIGKILL), "SIGKILL");
	cr_expect_str_eq(host_signal_name(SIGSTKFLT), "SIGSTKFLT");
	cr_expect_str_eq(host_signal_name(64), "SIG64");
	cr_expect_str_eq(host_signal_name(0), "SIG?");
	cr_expect_str_eq(host_signal_name(65), "SIG?");
}
