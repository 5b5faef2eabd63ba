/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"

#define ALIVE_PART 2 /* the divisor of the watchdog's time: one late turn does no harm */

static struct sockaddr_un manager;
static socklen_t manager_size; /* 0: there is no manager */
static uint64_t alive_interval_ms;

static void take_socket(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;

	if (length < 2 || length >= sizeof(manager.sun_path) || !strchr("/@", path[0]))
		return;
	manager.sun_family = AF_UNIX;
	memcpy(manager.sun_path, path, length);
	/* An abstract name begins with a NUL, written '@'. */
	if (path[0] == '@')
		manager.sun_path[0] = '\0';
	manager_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static void take_watchdog(void)
{
	const char *interval_us = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");

	if (!interval_us || (pid && strtol(pid, NULL, 10) != (long)getpid()))
		return;
	alive_interval_ms = strtoull(interval_us, NULL, 10) / US_PER_MS / ALIVE_PART;
}

void notify_init(void)
{
	take_socket();
	take_watchdog();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

static void send_state(const char *state)
{
	cleanup_close int fd = -1;

	if (manager_size == 0)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
			      (const struct sockaddr *)&manager, manager_size) < 0)
		log_warning("Cannot notify systemd of %s: %m", state);
}

void notify_ready(void)
{
	send_state("READY=1");
}

void notify_not_enabled(const char *status)
{
	char state[256];

	snprintf(state, sizeof(state), "READY=1\nSTATUS=%s", status);
	send_state(state);
}

void notify_reloading(void)
{
	char state[64];

	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%llu",
		(unsigned long long)(clock_now_ns() / NS_PER_US));
	send_state(state);
}

void notify_extend(uint64_t ms)
{
	char state[64];

	snprintf(state, sizeof(state), "EXTEND_TIMEOUT_USEC=%llu",
		(unsigned long long)ms * US_PER_MS);
	send_state(state);
}

void notify_stopping(void)
{
	send_state("STOPPING=1");
}

void notify_alive(void)
{
	send_state("WATCHDOG=1");
}

uint64_t notify_alive_interval_ms(void)
{
	return manager_size ? alive_interval_ms : 0;
}
