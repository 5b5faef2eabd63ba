/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/offline/private.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "core/reload/mistakes.h"
#include "core/service.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "loop/loop.h"
#include "util/log.h"
#include "util/paths.h"
#include "util/process/guarded.h"

/* The most descriptors that libwebsockets serves: one client. */
#define FD_MAX 64

/* The time in which the service takes a port. */
#define START_MS 10000

/* The time in which it ends in order. */
#define STOP_MS 3000

/* ── the service ─────────────────────────────────────────────────────────────────────────────── */

/* Other processes of the user cannot read the configuration from its memory. LeakSanitizer traces its own
 * process. */
static void hide_secrets(void)
{
#ifndef TOOLBOXD_SANITIZED
	prctl(PR_SET_DUMPABLE, 0);
#endif
}

/* Serve until a signal ends it, after the port was written to @out. Return the exit status. */
static int serve(const struct config_flags *flags, const struct bus_address *address, int out)
{
	cleanup(config_deinit) struct config config = {0};
	cleanup(loop_cleanup) struct loop *loop = NULL;
	cleanup(service_cleanup) struct service *service = NULL;
	cleanup(mistakes_deinit) struct mistakes mistakes = {0};
	struct paths paths;
	const struct service_options options = {
		.flags = flags, .paths = &paths, .mistakes = &mistakes, .is_bus = true};
	int r;

	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	r = config_read(flags, mistakes_take, &mistakes, &config);
	mistakes_end(&mistakes);
	if (r != 0)
		return EXIT_FAILURE;
	config.bus = *address;
	memcpy(config.embedded_token, address->token, sizeof(config.embedded_token));
	if (paths_find(&paths) < 0) {
		terminal_complain(
			"cannot find toolbox-host, last looked for at %s", paths.host_program);
		return EXIT_FAILURE;
	}
	r = loop_new(FD_MAX, &loop);
	r = r ? r : loop_adopt(loop, guarded_has_mark);
	r = r ? r : service_new(loop, &options, &config, &service);
	if (r == 0 && write(out, &service_address(service)->port, sizeof(uint16_t)) < 0)
		r = -errno;
	if (r < 0) {
		terminal_complain("cannot serve: %s", strerror(-r));
		return EXIT_FAILURE;
	}
	close(out);
	return loop_run(loop, -1) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Become the service, in the new process; it ends with its parent. */
__attribute__((noreturn)) static void become_service(
	const struct config_flags *flags, const struct bus_address *address, int out, pid_t parent)
{
	int r = EXIT_FAILURE;

	hide_secrets();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent)
		r = serve(flags, address, out);
	exit(r);
}

/* ── its parent ──────────────────────────────────────────────────────────────────────────────── */

static int make_token(struct bus_address *address)
{
	uint64_t chance[2];

	if (getrandom(chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
		return -EIO;
	snprintf(address->token, sizeof(address->token), "%016" PRIx64 "%016" PRIx64, chance[0],
		chance[1]);
	return 0;
}

/* Read the port. -EPIPE: the service has ended, after a complaint. */
static int read_port(int in, uint16_t *ret_port)
{
	struct pollfd source = {in, POLLIN, 0};
	int n = poll(&source, 1, START_MS);

	if (n <= 0)
		return n < 0 ? -errno : -ETIME;
	return read(in, ret_port, sizeof(*ret_port)) == (ssize_t)sizeof(*ret_port) ? 0 : -EPIPE;
}

static int start(const struct config_flags *flags, struct private_service *private)
{
	pid_t parent = getpid();
	int pipes[2];
	int r = make_token(&private->address);

	private->address.port = 0;
	if (r == 0 && pipe2(pipes, O_CLOEXEC) < 0)
		r = -errno;
	if (r)
		return r;
	cleanup_close int in = pipes[0];
	cleanup_close int out = pipes[1];

	fflush(NULL);
	private->pid = fork();
	if (private->pid == 0)
		become_service(flags, &private->address, out, parent);
	if (private->pid < 0)
		return -errno;
	close(take_fd(out));
	return read_port(in, &private->address.port);
}

int private_service_start(const struct config_flags *flags, struct private_service **ret_private)
{
	cleanup(private_service_cleanup) struct private_service *private =
		calloc(1, sizeof(*private));
	int r = -ENOMEM;

	if (private) {
		private->pid = -1;
		private->address = bus_address_default;
		r = start(flags, private);
	}
	if (r == 0) {
		*ret_private = take_ptr(private);
		return 0;
	}
	if (r != -EPIPE)
		terminal_complain("cannot start a service: %s", strerror(-r));
	return CTL_USAGE;
}

void private_service_free(struct private_service *private)
{
	struct pollfd end = {-1, POLLIN, 0};

	if (!private)
		return;
	if (private->pid > 0) {
		end.fd = pidfd_open(private->pid, 0);
		kill(private->pid, SIGTERM);
		if (end.fd < 0 || poll(&end, 1, STOP_MS) <= 0)
			kill(private->pid, SIGKILL);
		waitpid(private->pid, NULL, 0);
		if (end.fd >= 0)
			close(end.fd);
	}
	free(private);
}
