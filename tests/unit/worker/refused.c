/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "guest.h"
#include "host/refusal.h"
#include "util/clock.h"

/* A host whose sandbox refuses a system call is named that call with the end of its call.
 * Sanitizers leave seccomp out; then nothing is refused. */

#define LIMIT 60

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define COMPUTE "{\"class\":\"compute\"}"

static bool has_listener(const struct guest *guest)
{
	return !strstr(guest->loaded.data, "system calls are not restricted") &&
	       !strstr(guest->loaded.data, "no seccomp listener");
}

static void start(struct guest *guest)
{
	const struct guest_options options = {.sandbox = COMPUTE};

	guest_start(guest, "probe", &options);
	if (has_listener(guest))
		return;
	fprintf(stderr, "no call is named here: %s\n", guest->loaded.data);
	guest_stop(guest);
	cr_skip_test("no call is refused, or named");
}

static void expect_refused(struct guest *guest, uint32_t times, const char *refused)
{
	char arguments[64];
	char answer[64];

	snprintf(arguments, sizeof(arguments), "{\"times\":%u}", times);
	snprintf(answer, sizeof(answer), "{\"result\":%d}", times > 0 ? EPERM : 0);
	cr_expect_str_eq(guest_call(guest, "ask_for_sockets", arguments), answer);
	cr_expect_str_eq(guest->refused.data, refused);
}

TestSuite(refused, .timeout = LIMIT);

Test(refused, is_named_with_the_call_that_it_was_refused_in)
{
	struct guest guest = {0};

	start(&guest);
	expect_refused(&guest, 2, "socket(AF_ALG, SOCK_SEQPACKET)");
	expect_refused(&guest, 0, "");
	guest_stop(&guest);
}

Test(refused, is_named_while_a_library_is_loaded)
{
	struct guest guest = {0};

	start(&guest);
	cr_expect(guest.refused.size > 0, "a constructor of the library runs a program");
	guest_stop(&guest);
}

Test(refused, is_named_with_a_crash)
{
	struct guest guest = {0};
	char text[128];

	start(&guest);
	cr_expect_str_eq(guest_call(&guest, "abort_without_socket", "{}"), "");
	cr_expect_eq(guest.end.signal, SIGABRT);
	cr_expect_str_eq(guest.refused.data, "socket(AF_NETLINK, SOCK_RAW, 4)");
	guest.end.refused = guest.refused.data;
	host_describe_exit(&guest.end, text, sizeof(text));
	cr_expect_str_eq(text,
		"its host died (SIGABRT) (the sandbox refused: socket(AF_NETLINK, SOCK_RAW, 4))");
	guest_stop(&guest);
}

/* A host may have several calls: each has its own refusal, never another call's. */
Test(refused, is_named_once_for_each_call)
{
	struct guest guest = {0};

	start(&guest);
	for (int i = 0; i < 100; i++) {
		guest_send(&guest, "ask_for_sockets", "{\"times\":0}");
		guest_send(&guest, "ask_for_sockets", "{\"times\":1}");
		guest_send(&guest, "ask_for_sockets", "{\"times\":1}");
		guest_wait(&guest);
		cr_expect_str_eq(guest.refused.data, "", "round %d", i);
		for (int j = 0; j < 2; j++) {
			guest_wait(&guest);
			cr_expect_str_eq(guest.refused.data, "socket(AF_ALG, SOCK_SEQPACKET)",
				"round %d", i);
		}
	}
	guest_stop(&guest);
}

/* It waits for each window but the first. */
Test(refused, more_often_than_is_allowed_waits)
{
	struct guest guest = {0};
	uint64_t begun_ms;

	start(&guest);
	begun_ms = clock_now_ms();
	expect_refused(&guest, 3 * HOST_REFUSALS_MAX, "socket(AF_ALG, SOCK_SEQPACKET)");
	cr_expect_geq(clock_now_ms() - begun_ms, 2 * HOST_REFUSAL_WINDOW_MS);
	guest_stop(&guest);
}

static void on_dismissed_end(void *data, const struct host_exit *end)
{
	struct guest *guest = data;

	guest->end = *end;
	guest->n_ends++;
	loop_stop(guest->loop);
}

/* It cannot be held, so it is no longer asked: it ends in order, and at once. */
Test(refused, by_a_dismissed_host_costs_it_no_time)
{
	struct guest guest = {0};

	start(&guest);
	guest_send(&guest, "ask_for_sockets", "{\"times\":100000}");
	host_dismiss(guest.host, on_dismissed_end, &guest);
	guest_wait(&guest);
	cr_expect_eq(guest.n_ends, 1);
	cr_expect_eq(guest.end.reason, HOST_EXITED);
	cr_expect_eq(guest.end.exit_code, 0);
	guest_stop(&guest);
}

static void expect_text(
	const char *expected, int number, uint64_t first, uint64_t second, uint64_t third)
{
	const struct seccomp_data call = {
		.nr = number, .arch = ARCHITECTURE, .args = {first, second, third}};
	char text[REFUSAL_TEXT_BYTES];

	refusal_describe(&call, text);
	cr_expect_str_eq(text, expected);
}

Test(refused, is_described_by_what_decides)
{
	const struct seccomp_data other = {.nr = SYS_getpid, .arch = 1};
	char text[REFUSAL_TEXT_BYTES];

	expect_text("execve", SYS_execve, 1, 2, 3);
	expect_text("socket(AF_INET, SOCK_STREAM)", SYS_socket, AF_INET,
		SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	expect_text("socket(77, 9, 4294967295)", SYS_socket, 77, 9, UINT64_MAX);
	expect_text("socketpair(AF_UNIX, SOCK_DGRAM)", SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0);
	expect_text("ioctl(…, 0x5412)", SYS_ioctl, 0, TIOCSTI, 0);
	expect_text("fcntl(…, 8)", SYS_fcntl, 0, 8, 0);
	expect_text("prctl(4294967295)", SYS_prctl, UINT64_MAX, 0, 0);
	expect_text("system call 100000", 100000, 0, 0, 0);
	refusal_describe(&other, text);
	cr_expect_str_eq(text, "a system call of another architecture");
}
