/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/notify.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../scratch.h"
#include "logged.h"
#include "util/clock.h"

/* A systemd that a test plays by the socket of its protocol. */

static int manager = -1;
static char received[512];

static void set_up(void)
{
	scratch_set_up();
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	cr_assert_geq(manager, 0);
}

static void tear_down(void)
{
	close(manager);
	scratch_tear_down();
}

TestSuite(notify, .init = set_up, .fini = tear_down);

/* Listen at @path, with '@' in place of a NUL at its beginning. */
static void listen_at(const char *path)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	size_t length = strlen(path);

	memcpy(name.sun_path, path, length);
	if (path[0] == '@')
		name.sun_path[0] = '\0';
	cr_assert_eq(bind(manager, (struct sockaddr *)&name,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
		0);
	setenv("NOTIFY_SOCKET", path, 1);
}

/* Return the datagram that was sent, "" for none. */
static const char *receive(void)
{
	ssize_t size = recv(manager, received, sizeof(received) - 1, 0);

	received[size > 0 ? size : 0] = '\0';
	return received;
}

Test(notify, sends_each_state_in_a_datagram)
{
	unsigned long long before_us = clock_now_ns() / NS_PER_US;
	unsigned long long at_us = 0;

	listen_at(scratch_path("notify"));
	notify_init();
	notify_ready();
	cr_expect_str_eq(receive(), "READY=1");
	notify_not_enabled("nothing is enabled");
	cr_expect_str_eq(receive(), "READY=1\nSTATUS=nothing is enabled");
	notify_reloading();
	cr_expect_eq(
		sscanf(receive(), "RELOADING=1\nMONOTONIC_USEC=%llu", &at_us), 1, "%s", received);
	cr_expect(at_us >= before_us && at_us <= clock_now_ns() / NS_PER_US);
	notify_extend(1500);
	cr_expect_str_eq(receive(), "EXTEND_TIMEOUT_USEC=1500000");
	notify_stopping();
	cr_expect_str_eq(receive(), "STOPPING=1");
	notify_alive();
	cr_expect_str_eq(receive(), "WATCHDOG=1");
	cr_expect_str_eq(receive(), "");
}

Test(notify, takes_an_abstract_socket)
{
	char path[64];

	snprintf(path, sizeof(path), "@unit-notify-%d", (int)getpid());
	listen_at(path);
	notify_init();
	notify_ready();
	cr_expect_str_eq(receive(), "READY=1");
}

Test(notify, removes_the_variables_from_the_environment)
{
	listen_at(scratch_path("notify"));
	setenv("WATCHDOG_USEC", "1000000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	notify_init();
	cr_expect_null(getenv("NOTIFY_SOCKET"));
	cr_expect_null(getenv("WATCHDOG_USEC"));
	cr_expect_null(getenv("WATCHDOG_PID"));
}

Test(notify, sends_nothing_without_a_usable_socket)
{
	static const char *const paths[] = {NULL, "", "/", "@", "relative", "vsock:2:1234"};
	char longest[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1] = "/";

	logged_begin();
	memset(longest + 1, 'x', sizeof(longest) - 2);
	for (size_t i = 0; i <= sizeof(paths) / sizeof(*paths); i++) {
		const char *path = i < sizeof(paths) / sizeof(*paths) ? paths[i] : longest;

		if (path)
			setenv("NOTIFY_SOCKET", path, 1);
		setenv("WATCHDOG_USEC", "1000000", 1);
		notify_init();
		notify_ready();
		cr_expect_eq(notify_alive_interval_ms(), 0u, "%zu", i);
	}
	cr_expect_str_eq(logged_end(), "");
}

Test(notify, logs_a_manager_that_has_gone)
{
	listen_at(scratch_path("notify"));
	notify_init();
	unlink(scratch_path("notify"));
	logged_begin();
	notify_ready();
	cr_expect_str_eq(logged_end(),
		"WARN  Cannot notify systemd of READY=1: No such file or directory\n");
}

static uint64_t interval_with(const char *interval_us, const char *pid)
{
	char path[16];
	static int n;

	close(manager);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	snprintf(path, sizeof(path), "notify%d", n++);
	listen_at(scratch_path(path));
	setenv("WATCHDOG_USEC", interval_us, 1);
	if (pid)
		setenv("WATCHDOG_PID", pid, 1);
	notify_init();
	return notify_alive_interval_ms();
}

Test(notify, is_alive_twice_in_the_time_of_the_watchdog)
{
	char own[16];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	cr_expect_eq(interval_with("3000000", "1"), 0u, "the watchdog is for another process");
	cr_expect_eq(interval_with("3000000", NULL), 1500u);
	cr_expect_eq(interval_with("5000000", own), 2500u);
}
