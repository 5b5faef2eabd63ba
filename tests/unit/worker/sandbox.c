/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../scratch.h"
#include "guest.h"

/*
 * The table of classes (docs/sandbox.md), cell by cell, from inside a host: the toolbox `probe`
 * tries each access and returns its errno. Restrictions that the host reports as missing here
 * (older kernel, sanitizers, valgrind) are printed and skipped; all others must match the table.
 */

#define LIMIT 300

#define COMPUTE      "{\"class\":\"compute\",\"read\":[],\"write\":[]}"
#define NET          "{\"class\":\"net\"}"
#define NET_UNIX     "{\"class\":\"net\",\"unix\":true}"
#define COMPUTE_UNIX "{\"class\":\"compute\",\"unix\":true}"
#define COMMAND      "{\"class\":\"command\"}"
#define NONE         "{\"class\":\"none\"}"

/* How long a descendant may live after its host was given up. */
#define SWEEP_MS 200

static bool has_landlock(const struct guest *guest)
{
	return !strstr(guest->loaded.data, "no landlock");
}

static bool has_seccomp(const struct guest *guest)
{
	return !strstr(guest->loaded.data, "system calls are not restricted");
}

static void start(struct guest *guest, const char *sandbox)
{
	const struct guest_options options = {
		.sandbox = sandbox, .has_guard = strcmp(sandbox, COMMAND) == 0};

	guest_start(guest, "probe", &options);
	if (!has_landlock(guest) || !has_seccomp(guest))
		fprintf(stderr, "%s: not restricted here: %s\n", sandbox, guest->loaded.data);
}

/* Return the result of the attempt @tool: 0 or an errno. */
static int attempt(struct guest *guest, const char *tool, const char *arguments)
{
	const char *answer = guest_call(guest, tool, arguments);
	int result = -1;

	cr_assert_eq(sscanf(answer, "{\"result\":%d", &result), 1, "%s: %s", tool, answer);
	return result;
}

static int attempt_path(struct guest *guest, const char *tool, const char *path)
{
	char arguments[512];

	snprintf(arguments, sizeof(arguments), "{\"path\":\"%s\"}", path);
	return attempt(guest, tool, arguments);
}

static int attempt_pid(struct guest *guest, const char *tool, pid_t pid)
{
	char arguments[64];

	snprintf(arguments, sizeof(arguments), "{\"pid\":%d}", pid);
	return attempt(guest, tool, arguments);
}

static int attempt_signal(struct guest *guest, pid_t pid)
{
	char arguments[64];

	snprintf(arguments, sizeof(arguments), "{\"pid\":%d,\"number\":0}", pid);
	return attempt(guest, "signal_process", arguments);
}

/* Open a socket on the loopback that can be sent to. */
static int listen_on(int type, unsigned int *ret_port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert(type == SOCK_DGRAM || listen(fd, 1) == 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static int attempt_port(struct guest *guest, const char *how, unsigned int port)
{
	char arguments[64];

	snprintf(arguments, sizeof(arguments), "{\"how\":\"%s\",\"port\":%u}", how, port);
	return attempt(guest, "reach", arguments);
}

static void expect_processes_denied(struct guest *guest)
{
	cr_expect_eq(attempt_path(guest, "run_program", "/bin/true"), EPERM);
	cr_expect_eq(attempt(guest, "fork_child", "{}"), EPERM);
	cr_expect_eq(attempt_pid(guest, "trace", getpid()), EPERM);
	cr_expect_eq(attempt_signal(guest, getpid()), EPERM);
	cr_expect_eq(attempt_signal(guest, -1), EPERM);
	cr_expect_eq(attempt_pid(guest, "limit_process", getpid()), EPERM);
	cr_expect_eq(attempt(guest, "outlive_parent", "{}"), EPERM);
	cr_expect_eq(attempt(guest, "use_io_uring", "{}"), EPERM);
	cr_expect_eq(
		attempt(guest, "at_load", "{\"what\":\"exec\"}"), EPERM, "constructors run inside");
}

static void expect_own_affairs_allowed(struct guest *guest)
{
	cr_expect_eq(attempt(guest, "start_thread", "{}"), 0);
	cr_expect_eq(attempt_signal(guest, 0), 0, "a process may signal itself");
	cr_expect_eq(attempt_pid(guest, "limit_process", 0), 0);
	cr_expect_eq(attempt_path(guest, "open_to_read", "/dev/null"), 0);
	cr_expect_eq(attempt_path(guest, "open_to_write", "/dev/null"), 0);
	cr_expect_eq(attempt_path(guest, "open_to_read", "/dev/urandom"), 0);
	cr_expect_eq(attempt_path(guest, "open_to_read", "/etc/ld.so.cache"), 0);
	cr_expect_eq(attempt(guest, "hour_in", "{\"zone\":\"UTC0\"}"), 0);
	if (access("/usr/share/zoneinfo/Asia/Tokyo", R_OK) == 0)
		cr_expect_eq(attempt(guest, "hour_in", "{\"zone\":\"Asia/Tokyo\"}"), 9);
}

static void expect_files_denied(struct guest *guest)
{
	char path[64];

	scratch_write("secret", "x");
	cr_expect_eq(attempt_path(guest, "open_to_read", scratch_path("secret")), EACCES);
	cr_expect_eq(attempt_path(guest, "open_to_write", scratch_path("secret")), EACCES);
	cr_expect_eq(attempt_path(guest, "open_to_read", scratch_folder), EACCES);
	cr_expect_eq(attempt_path(guest, "make_file", scratch_path("new")), EACCES);
	cr_expect_eq(attempt_path(guest, "make_folder", scratch_path("folder")), EACCES);
	cr_expect_neq(attempt_path(guest, "cut_file", scratch_path("secret")), 0);
	cr_expect_eq(attempt_path(guest, "open_to_read", "/etc/passwd"), EACCES);
	cr_expect_eq(attempt_path(guest, "open_to_read", "/etc/shadow"), EACCES);
	cr_expect_eq(attempt(guest, "at_load", "{\"what\":\"read\"}"), EACCES);
	snprintf(path, sizeof(path), "/proc/%d/environ", getpid());
	cr_expect_eq(attempt_path(guest, "open_to_read", path), EACCES);
	snprintf(path, sizeof(path), "/proc/%d/mem", getpid());
	cr_expect_eq(attempt_path(guest, "open_to_write", path), EACCES);
}

Test(sandbox, of_compute_has_no_files_but_libraries, .timeout = LIMIT, .init = scratch_set_up,
	.fini = scratch_tear_down)
{
	struct guest guest = {0};

	start(&guest, COMPUTE);
	expect_own_affairs_allowed(&guest);
	if (has_landlock(&guest)) {
		expect_files_denied(&guest);
		cr_expect_eq(attempt(&guest, "look_up_user", "{\"name\":\"root\"}"), EACCES,
			"softly: libc is told, nothing dies");
	}
	if (has_seccomp(&guest))
		cr_expect_eq(attempt_path(&guest, "change_mode", scratch_folder), EPERM);
	guest_stop(&guest);
}

Test(sandbox, of_compute_starts_and_touches_no_process, .timeout = LIMIT)
{
	struct guest guest = {0};

	start(&guest, COMPUTE);
	if (has_seccomp(&guest))
		expect_processes_denied(&guest);
	guest_stop(&guest);
}

Test(sandbox, of_compute_has_no_network, .timeout = LIMIT)
{
	struct guest guest = {0};
	unsigned int port;
	int tcp = listen_on(SOCK_STREAM, &port);
	unsigned int udp_port;
	int udp = listen_on(SOCK_DGRAM, &udp_port);

	start(&guest, COMPUTE);
	if (has_seccomp(&guest)) {
		cr_expect_eq(attempt_port(&guest, "tcp", port), EPERM);
		cr_expect_eq(attempt_port(&guest, "udp", udp_port), EPERM);
		cr_expect_eq(attempt_port(&guest, "unix", port), EPERM);
	}
	guest_stop(&guest);
	close(tcp);
	close(udp);
}

Test(sandbox, of_net_is_that_of_compute_with_network, .timeout = LIMIT, .init = scratch_set_up,
	.fini = scratch_tear_down)
{
	struct guest guest = {0};
	unsigned int port;
	int tcp = listen_on(SOCK_STREAM, &port);
	unsigned int udp_port;
	int udp = listen_on(SOCK_DGRAM, &udp_port);

	start(&guest, NET);
	cr_expect_eq(attempt_port(&guest, "tcp", port), 0);
	cr_expect_eq(attempt_port(&guest, "udp", udp_port), 0);
	if (access("/etc/resolv.conf", R_OK) == 0)
		cr_expect_eq(attempt_path(&guest, "open_to_read", "/etc/resolv.conf"), 0);
	if (access("/etc/ssl/certs", R_OK) == 0)
		cr_expect_eq(attempt_path(&guest, "open_to_read", "/etc/ssl/certs"), 0);
	cr_expect_eq(attempt(&guest, "resolve", "{\"name\":\"localhost\"}"), 0,
		"without the netlink socket that libc would like to have");
	if (has_seccomp(&guest))
		cr_expect_eq(attempt_port(&guest, "unix", port), EPERM);
	expect_own_affairs_allowed(&guest);
	if (has_landlock(&guest))
		expect_files_denied(&guest);
	if (has_seccomp(&guest))
		expect_processes_denied(&guest);
	guest_stop(&guest);
	close(tcp);
	close(udp);
}

/* The server of an abstract socket may be a bus that starts programs for its clients. */
Test(sandbox, of_net_reaches_no_abstract_socket_of_others, .timeout = LIMIT)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct guest guest = {0};
	unsigned int port = (unsigned int)getpid() & 0xffff;
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "probe-%u", port);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_eq(
		bind(fd, (const struct sockaddr *)&address,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)),
		0);
	cr_assert_eq(listen(fd, 1), 0);
	start(&guest, NET_UNIX);
	if (has_landlock(&guest) && !strstr(guest.loaded.data, "abstract"))
		cr_expect_eq(attempt_port(&guest, "unix", port), EPERM);
	else
		cr_expect_eq(attempt_port(&guest, "unix", port), 0);
	guest_stop(&guest);
	close(fd);
}

Test(sandbox, of_net_reaches_unix_sockets_if_the_toolbox_asks, .timeout = LIMIT,
	.init = scratch_set_up, .fini = scratch_tear_down)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct guest guest = {0};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", scratch_folder);
	cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(fd, 1), 0);
	start(&guest, NET_UNIX);
	cr_expect_eq(attempt_path(&guest, "reach_path", address.sun_path), 0);
	guest_stop(&guest);
	start(&guest, NET);
	if (has_seccomp(&guest))
		cr_expect_eq(attempt_path(&guest, "reach_path", address.sun_path), EPERM);
	guest_stop(&guest);
	close(fd);
}

Test(sandbox, of_compute_reaches_unix_sockets_and_no_network_if_the_toolbox_asks, .timeout = LIMIT,
	.init = scratch_set_up, .fini = scratch_tear_down)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct guest guest = {0};
	unsigned int port;
	int tcp = listen_on(SOCK_STREAM, &port);
	unsigned int udp_port;
	int udp = listen_on(SOCK_DGRAM, &udp_port);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", scratch_folder);
	cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(fd, 1), 0);
	start(&guest, COMPUTE_UNIX);
	cr_expect_eq(attempt_path(&guest, "reach_path", address.sun_path), 0);
	if (has_seccomp(&guest)) {
		cr_expect_eq(attempt_port(&guest, "tcp", port), EPERM);
		cr_expect_eq(attempt_port(&guest, "udp", udp_port), EPERM);
	}
	expect_own_affairs_allowed(&guest);
	if (has_landlock(&guest))
		expect_files_denied(&guest);
	if (has_seccomp(&guest))
		expect_processes_denied(&guest);
	guest_stop(&guest);
	close(fd);
	close(tcp);
	close(udp);
}

Test(sandbox, of_command_may_what_its_user_may_but_gain, .timeout = LIMIT, .init = scratch_set_up,
	.fini = scratch_tear_down)
{
	struct guest guest = {0};

	start(&guest, COMMAND);
	cr_expect_eq(attempt_path(&guest, "run_program", "/bin/true"), 0);
	cr_expect_eq(attempt(&guest, "fork_child", "{}"), 0);
	cr_expect_eq(attempt_path(&guest, "open_to_read", "/etc/passwd"), 0);
	cr_expect_eq(attempt_path(&guest, "make_file", scratch_path("new")), 0);
	cr_expect_eq(attempt_signal(&guest, getpid()), 0);
	cr_expect_eq(attempt(&guest, "gain_privileges_by_exec", "{}"), EPERM);
	guest_stop(&guest);
}

/* Start a host of class command with `read` or `write`, which are folders in the scratch folder. */
static void start_bound(struct guest *guest, const char *list, const char *folder)
{
	struct guest_options options = {.has_guard = true};
	char sandbox[256];

	scratch_write("secret", "x");
	scratch_write("mine/data", "x");
	scratch_write("other/data", "x");
	snprintf(sandbox, sizeof(sandbox), "{\"class\":\"command\",\"%s\":[\"%s/%s\"]}", list,
		scratch_folder, folder);
	options.sandbox = sandbox;
	guest_start(guest, "probe", &options);
	if (!has_landlock(guest))
		cr_skip_test("no landlock: files are not restricted");
}

Test(sandbox, of_command_reads_what_the_toolbox_names, .timeout = LIMIT, .init = scratch_set_up,
	.fini = scratch_tear_down)
{
	struct guest guest = {0};

	start_bound(&guest, "read", "mine");
	cr_expect_eq(attempt_path(&guest, "open_to_read", scratch_path("mine/data")), 0);
	cr_expect_eq(attempt_path(&guest, "open_to_read", "/etc/passwd"), 0);
	cr_expect_eq(attempt_path(&guest, "open_to_read", scratch_path("secret")), EACCES);
	cr_expect_eq(attempt_path(&guest, "make_file", scratch_path("new")), 0, "as the user may");
	cr_expect_eq(attempt_path(&guest, "move_to_parent", scratch_path("other/data")), 0);
	cr_expect_eq(attempt_path(&guest, "move_to_parent", scratch_path("mine/data")), EXDEV,
		"nothing can be moved to where it may be read");
	cr_expect_eq(attempt_path(&guest, "run_program", "/bin/true"), 0);
	cr_expect_str_eq(
		guest_call(&guest, "variable", "{\"name\":\"TMPDIR\"}"), "{\"result\":null}");
	guest_stop(&guest);
}

Test(sandbox, of_command_with_rules_attaches_to_no_other, .timeout = LIMIT, .init = scratch_set_up,
	.fini = scratch_tear_down)
{
	struct guest guest = {0};
	char environment[64];
	char memory[64];
	pid_t other = fork();

	if (other == 0) {
		pause();
		_exit(0);
	}
	snprintf(environment, sizeof(environment), "/proc/%d/environ", other);
	snprintf(memory, sizeof(memory), "/proc/%d/mem", other);
	start(&guest, COMMAND);
	cr_expect_eq(attempt_path(&guest, "open_to_read", environment), 0, "as the user may");
	guest_stop(&guest);
	start_bound(&guest, "read", "mine");
	cr_expect_eq(attempt_path(&guest, "open_to_read", memory), EACCES);
	cr_expect_eq(attempt_pid(&guest, "trace", other), EPERM);
	guest_stop(&guest);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

/* Copy the path of the host's own folder, from its TMPDIR. */
static void find_folder(struct guest *guest, char *ret_path)
{
	const char *answer = guest_call(guest, "variable", "{\"name\":\"TMPDIR\"}");

	cr_assert_eq(sscanf(answer, "{\"result\":\"%255[^\"]", ret_path), 1, "%s", answer);
}

/* Return whether the folder is removed within SWEEP_MS. */
static bool is_removed(const char *path)
{
	const struct timespec step = {.tv_nsec = 1000000};

	for (int waited_ms = 0; waited_ms < SWEEP_MS; waited_ms++) {
		if (access(path, F_OK) < 0)
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

Test(sandbox, of_command_writes_what_the_toolbox_names, .timeout = LIMIT, .init = scratch_set_up,
	.fini = scratch_tear_down)
{
	struct guest guest = {0};
	char folder[256];
	char path[300];

	start_bound(&guest, "write", "mine");
	cr_expect_eq(attempt_path(&guest, "open_to_write", scratch_path("mine/data")), 0);
	cr_expect_eq(attempt_path(&guest, "make_file", scratch_path("mine/new")), 0);
	cr_expect_eq(attempt_path(&guest, "make_file", scratch_path("new")), EACCES);
	cr_expect_eq(attempt_path(&guest, "open_to_write", scratch_path("other/data")), EACCES);
	cr_expect_eq(attempt_path(&guest, "open_to_read", scratch_path("other/data")), EACCES);
	cr_expect_neq(attempt_path(&guest, "move_to_parent", scratch_path("mine/data")), 0);
	cr_expect_eq(attempt_path(&guest, "open_to_read", "/etc/passwd"), 0);
	cr_expect_eq(attempt_path(&guest, "open_to_write", "/dev/null"), 0);
	cr_expect_eq(attempt_path(&guest, "run_program", "/bin/true"), 0);
	find_folder(&guest, folder);
	snprintf(path, sizeof(path), "%s/new", folder);
	cr_expect_eq(attempt_path(&guest, "make_file", path), 0);
	cr_expect_eq(attempt_path(&guest, "keep_folder", path), 0);
	guest_stop(&guest);
	cr_expect(is_removed(folder), "with the folder in it");
	start_bound(&guest, "write", "mine");
	find_folder(&guest, folder);
	guest_call(&guest, "abort_process", "{}");
	cr_expect(is_removed(folder), "after a crash, too");
	guest_stop(&guest);
}

Test(sandbox, of_none_is_none, .timeout = LIMIT)
{
	struct guest guest = {0};

	start(&guest, NONE);
	cr_expect_eq(attempt_path(&guest, "run_program", "/bin/true"), 0);
	cr_expect_eq(attempt_path(&guest, "open_to_read", "/etc/passwd"), 0);
	cr_expect_eq(attempt(&guest, "gain_privileges_by_exec", "{}"), 0);
	guest_stop(&guest);
}

Test(sandbox, lets_read_and_write_what_the_toolbox_names, .timeout = LIMIT, .init = scratch_set_up,
	.fini = scratch_tear_down)
{
	struct guest guest = {0};
	char sandbox[256];

	scratch_write("in/data", "x");
	scratch_write("out/data", "x");
	snprintf(sandbox, sizeof(sandbox),
		"{\"class\":\"compute\",\"read\":[\"%s/in\"],\"write\":[\"%s/out\"]}",
		scratch_folder, scratch_folder);
	start(&guest, sandbox);
	cr_expect_eq(attempt_path(&guest, "open_to_read", scratch_path("in/data")), 0);
	cr_expect_eq(attempt_path(&guest, "open_to_write", scratch_path("out/data")), 0);
	cr_expect_eq(attempt_path(&guest, "open_to_read", scratch_path("out/data")), 0);
	cr_expect_eq(attempt_path(&guest, "make_file", scratch_path("out/new")), 0);
	cr_expect_eq(attempt_path(&guest, "make_folder", scratch_path("out/folder")), 0);
	if (has_landlock(&guest)) {
		cr_expect_eq(
			attempt_path(&guest, "open_to_write", scratch_path("in/data")), EACCES);
		cr_expect_eq(attempt_path(&guest, "open_to_read", scratch_folder), EACCES);
	}
	guest_stop(&guest);
}

Test(sandbox, refuses_a_path_that_is_not_there, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start_load(&guest,
		"{\"kind\":\"native\",\"library\":\"libm.so.6\",\"tools\":[],\"sandbox\":{"
		"\"class\":\"net\","
		"\"read\":[\"/usr\",\"/nowhere/at/all\"]}}",
		NULL);
	if (guest.n_loaded > 0 && !has_landlock(&guest))
		cr_skip_test("no landlock: paths are not looked at");
	cr_assert_eq(guest.end.reason, HOST_REFUSED);
	cr_expect_str_eq(guest.pointer.data, "/sandbox/read/1");
	cr_expect(
		strstr(guest.message.data, "No such file or directory"), "%s", guest.message.data);
	guest_stop(&guest);
}

Test(sandbox, keeps_the_signal_of_a_tool_that_aborts, .timeout = LIMIT)
{
	static const char *const classes[] = {COMPUTE, NET, COMMAND, NONE};

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		struct guest guest = {0};

		start(&guest, classes[i]);
		guest_call(&guest, "abort_process", "{}");
		cr_expect_eq(guest.end.reason, HOST_SIGNALED, "%s", classes[i]);
		cr_expect_eq(guest.end.signal, SIGABRT, "%s", classes[i]);
		guest_stop(&guest);
	}
}

Test(sandbox, hides_the_environment_of_the_daemon, .timeout = LIMIT)
{
	struct guest guest = {0};

	setenv("TOOLBOXD_TEST_SECRET", "hunter2", 1);
	start(&guest, COMPUTE);
	cr_expect_str_eq(guest_call(&guest, "variable", "{\"name\":\"TOOLBOXD_TEST_SECRET\"}"),
		"{\"result\":null}");
	guest_stop(&guest);
}

Test(sandbox, limits_the_address_space, .timeout = LIMIT)
{
	struct guest guest = {0};
	const struct guest_options options = {.sandbox = COMPUTE ",\"memory_mb\":256"};

	guest_start(&guest, "probe", &options);
	cr_expect_eq(attempt(&guest, "allocate", "{\"mebibytes\":100}"), 0);
	if (!strstr(guest.loaded.data, "sanitizers"))
		cr_expect_eq(attempt(&guest, "allocate", "{\"mebibytes\":300}"), ENOMEM);
	guest_stop(&guest);
}

/* Return whether the process has ended; its new parent need not have reaped it. */
static bool is_gone(pid_t pid)
{
	char path[64];
	char state = 'Z';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(file);
	return state == 'Z' || state == 'X';
}

/* Return whether the process ends within SWEEP_MS. */
static bool goes(pid_t pid)
{
	const struct timespec step = {.tv_nsec = 1000000};

	for (int waited_ms = 0; waited_ms < SWEEP_MS; waited_ms++) {
		if (is_gone(pid))
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

Test(sandbox, of_command_leaves_no_descendant, .timeout = LIMIT)
{
	struct guest guest = {0};
	int pid;

	start(&guest, COMMAND);
	pid = attempt(&guest, "leave_descendant", "{}");
	cr_assert_gt(pid, 0);
	cr_assert(!is_gone(pid), "it has to be there before it can be swept");
	guest_stop(&guest);
	cr_expect(goes(pid));
}

Test(sandbox, of_command_leaves_no_descendant_of_a_host_that_crashes, .timeout = LIMIT)
{
	struct guest guest = {0};
	int pid;

	start(&guest, COMMAND);
	pid = attempt(&guest, "leave_descendant", "{}");
	cr_assert_gt(pid, 0);
	guest_call(&guest, "abort_process", "{}");
	cr_expect_eq(guest.end.signal, SIGABRT);
	cr_expect(goes(pid));
	guest_stop(&guest);
}

/* A process of the test plays the daemon's part. */
static void expect_gone_with_daemon(const char *sandbox, bool has_descendant)
{
	int pids[2] = {0};
	int ends[2];
	pid_t daemon;

	cr_assert_eq(pipe(ends), 0);
	daemon = fork();
	if (daemon == 0) {
		struct guest guest = {0};

		start(&guest, sandbox);
		pids[0] = host_pid(guest.host);
		pids[1] = has_descendant ? attempt(&guest, "leave_descendant", "{}") : pids[0];
		_exit(write(ends[1], pids, sizeof(pids)) == sizeof(pids) && raise(SIGKILL));
	}
	cr_assert_eq(read(ends[0], pids, sizeof(pids)), (ssize_t)sizeof(pids));
	waitpid(daemon, NULL, 0);
	cr_expect(goes(pids[0]), "%s: the host", sandbox);
	cr_expect(goes(pids[1]), "%s: its descendant", sandbox);
	close(ends[0]);
	close(ends[1]);
}

Test(sandbox, of_any_class_ends_with_the_daemon, .timeout = LIMIT)
{
	expect_gone_with_daemon(COMPUTE, false);
	expect_gone_with_daemon(NET, false);
	expect_gone_with_daemon(COMMAND, true);
	expect_gone_with_daemon(NONE, false);
}

/* Make this process and its hosts live on a kernel without landlock. */
static void forget_landlock(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(steps) / sizeof(*steps), steps};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		cr_skip_test("this kernel has no seccomp");
}

Test(sandbox, lists_every_restriction_that_is_missing, .timeout = LIMIT)
{
	const char *calls = "; system calls are not restricted (built with sanitizers)";
	struct guest guest = {0};
	char expected[128];

	forget_landlock();
	start(&guest, COMPUTE);
	snprintf(expected, sizeof(expected),
		"\"missing\":\"files are not restricted (no landlock)%s\"",
		has_seccomp(&guest) ? "" : calls);
	cr_expect(strstr(guest.loaded.data, expected), "%s", guest.loaded.data);
	if (has_seccomp(&guest))
		expect_processes_denied(&guest);
	guest_stop(&guest);
}
