/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/offline/private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/service.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "policy/hex.h"
#include "util/log.h"
#include "util/process/guarded.h"

/* A port that is free, of the host and the path of bus_address_default. */
#define ANY_PORT "ws://" BUS_DEFAULT_HOST ":0" BUS_DEFAULT_PATH

/* The time in which the service takes a port. */
#define START_MS 10000

/* The time in which it ends in order. */
#define STOP_MS 3000

/* ── the service ─────────────────────────────────────────────────────────────────────────────── */

/* Serve with @flags until a signal ends it, after the address of the bus was written to @out.
 * Return 0 or a negative errno; -EADDRINUSE: its port is taken. */
static int serve_privately(const struct config_flags *flags, const struct paths *paths, int out)
{
	cleanup(config_deinit) struct config config = {0};
	cleanup(loop_cleanup) struct loop *loop = NULL;
	cleanup(service_cleanup) struct service *service = NULL;
	cleanup(mistakes_deinit) struct mistakes mistakes = {0};
	struct bus_address address;
	const struct service_options options = {
		.flags = flags, .paths = paths, .mistakes = &mistakes, .is_bus = true};
	int r;

	log_shape(terminal_shape_finding);
	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_PLAIN);
	r = config_read(flags, mistakes_take, &mistakes, &config);
	mistakes_end(&mistakes);
	if (r != 0)
		return r < 0 ? r : -EINVAL;
	log_setup(config.log_level, config.log_format);
	address = config.bus;
	memcpy(address.token, config.embedded_token, sizeof(address.token));
	r = loop_new(&loop);
	r = r ? r : loop_adopt(loop, guarded_has_mark);
	r = r ? r : service_new(loop, &options, &config, &service);
	if (r < 0)
		return r;
	address.port = service_address(service)->port;
	if (write(out, &address, sizeof(address)) < 0)
		return -errno;
	return loop_run(loop, -1);
}

/* Serve, on any port if the port of @flags is taken and @moves. Return the exit status. */
static int serve_somewhere(struct config_flags *flags, bool moves, int out)
{
	struct paths paths;
	int r;

	if (paths_find(&paths) < 0) {
		terminal_complain(
			"cannot find toolbox-host, last looked for at %s", paths.host_program);
		return EXIT_FAILURE;
	}
	r = serve_privately(flags, &paths, out);
	if (r == -EADDRINUSE && moves) {
		flags->bus = ANY_PORT;
		r = serve_privately(flags, &paths, out);
	}
	if (r < 0)
		terminal_complain("cannot serve: %s", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Become the service, in the new process; it ends with its parent. */
__attribute__((noreturn)) static void become_service(
	struct config_flags *flags, bool moves, int out, pid_t parent)
{
	int r = EXIT_FAILURE;

	/* Other processes of the user cannot read the configuration from its memory. LeakSanitizer
	 * traces its own process. */
#ifndef TOOLBOXD_SANITIZED
	prctl(PR_SET_DUMPABLE, 0);
#endif
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent)
		r = serve_somewhere(flags, moves, out);
	exit(r);
}

/* ── its parent ──────────────────────────────────────────────────────────────────────────────── */

/* Read the address. -EPIPE: the service has ended, after a complaint. */
static int read_address(int in, struct bus_address *ret_address)
{
	struct pollfd source = {in, POLLIN, 0};
	int n = poll(&source, 1, START_MS);

	if (n <= 0)
		return n < 0 ? -errno : -ETIME;
	return read(in, ret_address, sizeof(*ret_address)) == (ssize_t)sizeof(*ret_address)
		       ? 0
		       : -EPIPE;
}

static int start(struct config_flags *flags, bool moves, struct private_service *private)
{
	pid_t parent = getpid();
	int pipes[2];

	flags->is_second = true;
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	cleanup_close int in = pipes[0];
	cleanup_close int out = pipes[1];

	fflush(NULL);
	private->pid = fork();
	if (private->pid == 0)
		become_service(flags, moves, out, parent);
	if (private->pid < 0)
		return -errno;
	close(take_fd(out));
	return read_address(in, &private->address);
}

/* Start a service; @moves to any port when its own is taken. */
static int start_or_complain(
	struct config_flags *flags, bool moves, struct private_service **ret_private)
{
	cleanup(private_service_cleanup) struct private_service *private =
		calloc(1, sizeof(*private));
	int r = -ENOMEM;

	if (private) {
		private->pid = -1;
		r = start(flags, moves, private);
	}
	if (r == 0) {
		*ret_private = take_ptr(private);
		return 0;
	}
	if (r != -EPIPE)
		terminal_complain("cannot start a service: %s", strerror(-r));
	return CTL_USAGE;
}

int private_expect_folder(const char *path)
{
	struct stat status;

	if (!path || (stat(path, &status) == 0 && S_ISDIR(status.st_mode)))
		return 0;
	terminal_complain("--toolbox-dir: %s: %s", path,
		stat(path, &status) == 0 ? "is not a folder" : strerror(errno));
	return CTL_USAGE;
}

int private_service_start(const struct config_flags *flags, struct private_service **ret_private)
{
	struct config_flags mine = *flags;
	char token[HEX_ID_CHARS + 1];

	if (hex_write_id(token) < 0) {
		terminal_complain("the system has no random bytes");
		return CTL_ERROR;
	}
	mine.bus = ANY_PORT;
	mine.private = token;
	mine.log_level = log_level_names[LOG_LEVEL_ERROR];
	return start_or_complain(&mine, false, ret_private);
}

/* Return whether the embedded bus can be there without another device noticing. */
static bool is_here(const struct bus_address *address)
{
	return !address->is_tls && (strcmp(address->host, BUS_DEFAULT_HOST) == 0 ||
					   strcmp(address->host, "localhost") == 0 ||
					   strcmp(address->host, "::1") == 0);
}

int private_service_start_open(
	const struct config_flags *flags, struct private_service **ret_private)
{
	struct config_flags mine = *flags;
	struct bus_address address;

	/* The service reports the mistakes of the configuration. */
	if (config_read_bus(flags, NULL, NULL, &address) != 0 || !is_here(&address))
		mine.bus = ANY_PORT;
	mine.log_level = log_level_names[LOG_LEVEL_INFO];
	return start_or_complain(&mine, true, ret_private);
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
