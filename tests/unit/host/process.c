/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "host/process.h"
#include "wire/wire.h"
#include "util/cleanup.h"
#include "util/environment.h"
#include "util/file/file.h"

/* The process of a host: inheritance, privileges, end. */

#define LIMIT             300
#define STATUS_BYTES_MAX  65536
#define LIBRARY_BYTES_MAX (64 << 20)

static const char load[] =
	"{\"kind\":\"native\",\"library\":\"libm.so.6\",\"tools\":[{\"symbol\":\"cbrt\","
	"\"parameters\":[{\"name\":\"x\",\"type\":\"f64\"}],"
	"\"returns\":{\"type\":\"f64\"}}]}";

static const struct sealed_file *const no_libraries[WIRE_LIBRARIES_MAX];
static const struct ring no_ring;

/* Send a LOAD frame with @text, and wait for its answer. Write the payload to @ret_loaded. */
static void load_text_over(int wire, const char *text, struct buffer *ret_loaded)
{
	cleanup(buffer_deinit) struct buffer frame = {0};
	struct wire_header answer;

	wire_write(&frame, WIRE_LOAD, 0, text, strlen(text), NULL, 0);
	cr_assert_eq(send(wire, frame.data, frame.size, 0), (ssize_t)frame.size);
	cr_assert_eq(recv(wire, &answer, sizeof(answer), MSG_WAITALL), sizeof(answer));
	cr_expect_eq(answer.kind, WIRE_LISTENER);
	cr_assert_eq(recv(wire, &answer, sizeof(answer), MSG_WAITALL), sizeof(answer));
	cr_expect_eq(answer.kind, WIRE_LOADED);
	cr_assert(buffer_reserve(ret_loaded, answer.size + 1));
	cr_assert_eq(recv(wire, ret_loaded->data, answer.size, MSG_WAITALL), (ssize_t)answer.size);
	ret_loaded->size = answer.size;
	cr_assert(buffer_terminate(ret_loaded));
}

static void load_over(int wire)
{
	cleanup(buffer_deinit) struct buffer loaded = {0};

	load_text_over(wire, load, &loaded);
}

/* The value of the line @key of the process's status, a number of base @base. */
static unsigned long long status_of(pid_t pid, const char *key, int base)
{
	struct buffer text = {0};
	unsigned long long value = 0;
	char path[64];
	char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	cr_assert_eq(file_read(path, STATUS_BYTES_MAX, &text), 0);
	cr_assert(buffer_terminate(&text));
	line = strstr(text.data, key);
	cr_assert(line, "no %s in %s", key, path);
	value = strtoull(line + strlen(key), NULL, base);
	buffer_deinit(&text);
	return value;
}

Test(process, has_default_signals_and_no_way_to_privileges, .timeout = LIMIT)
{
	/* glibc spawns with the two signals that are its own ignored. */
	const unsigned long long of_glibc = 3ULL << (__SIGRTMIN - 1);
	const struct guest_options options = {.sandbox = "{\"class\":\"compute\"}"};
	struct guest guest = {0};
	sigset_t all;

	/* As in a daemon, which ignores the one and reads the others by a signalfd. */
	signal(SIGPIPE, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	guest_start(&guest, "behave", &options);
	cr_expect_eq(status_of(host_pid(guest.host), "\nSigBlk:\t", 16), 0);
	cr_expect_eq(status_of(host_pid(guest.host), "\nSigIgn:\t", 16) & ~of_glibc, 0);
	cr_expect_eq(status_of(host_pid(guest.host), "\nNoNewPrivs:\t", 10), 1);
	guest_stop(&guest);
}

Test(process, has_five_descriptors_whoever_forgot_to_close_his, .timeout = LIMIT)
{
	cleanup_close int forgotten = open("/dev/null", O_RDONLY);
	struct guest guest = {0};

	cr_assert_geq(forgotten, 0);
	guest_start(&guest, "behave", NULL);
	cr_expect_str_eq(guest_call(&guest, "open_descriptors", "{}"), "{\"result\":5}");
	guest_stop(&guest);
}

#define LOW_FDS 4
#define HIGH_FD 100

static void lift(int *fd)
{
	int lifted = fcntl(*fd, F_DUPFD_CLOEXEC, HIGH_FD);

	cr_assert_geq(lifted, 0);
	close(*fd);
	*fd = lifted;
}

/* Start a host while the low descriptors in the set @closed are free. */
static void expect_started_without(unsigned int closed)
{
	struct process process = {0};
	int kept[LOW_FDS];
	int r;

	for (int fd = 0; fd < LOW_FDS; fd++) {
		kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
		if (closed & 1u << fd)
			close(fd);
	}
	r = process_spawn(TEST_HOST_PROGRAM, "test", no_libraries, &no_ring, &process);
	if (r == 0) {
		lift(&process.wire);
		lift(&process.output);
	}
	for (int fd = 0; fd < LOW_FDS; fd++) {
		if (kept[fd] >= 0)
			dup2(kept[fd], fd);
		close(kept[fd]);
	}
	cr_assert_eq(r, 0);
	load_over(process.wire);
	close(process.wire);
	close(process.output);
}

Test(process, is_given_its_descriptors_even_where_ours_are_closed, .timeout = LIMIT)
{
	for (unsigned int closed = 0; closed < 1u << LOW_FDS; closed++)
		expect_started_without(closed);
}

/* Return a sealed copy of a library, as the daemon makes one. */
static int make_sealed(const char *path)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	int fd = memfd_create("foreign", MFD_ALLOW_SEALING);

	cr_assert_geq(fd, 0);
	cr_assert_eq(file_read(path, LIBRARY_BYTES_MAX, &bytes), 0);
	cr_assert_eq(write(fd, bytes.data, bytes.size), (ssize_t)bytes.size);
	cr_assert_eq(
		fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
		0);
	lift(&fd);
	return fd;
}

/* A parent of the daemon may have left them open: systemd keeps descriptors for a service. */
Test(process, takes_no_copy_of_a_library_that_the_daemon_has_inherited, .timeout = LIMIT)
{
	static const char text[] = "{\"kind\":\"native\",\"library\":\"" TEST_TOOLBOX_DIR
				   "/libtest_behave.so\",\"tools\":[]}";
	cleanup(buffer_deinit) struct buffer loaded = {0};
	cleanup_close int foreign = make_sealed(TEST_TOOLBOX_DIR "/libtest_behave.so");
	struct process process = {0};
	int kept[WIRE_LIBRARIES_MAX];
	int r;

	for (int i = 0; i < WIRE_LIBRARIES_MAX; i++) {
		kept[i] = fcntl(WIRE_LIBRARY_FD + i, F_DUPFD_CLOEXEC, HIGH_FD);
		dup2(foreign, WIRE_LIBRARY_FD + i);
	}
	r = process_spawn(TEST_HOST_PROGRAM, "test", no_libraries, &no_ring, &process);
	for (int i = 0; i < WIRE_LIBRARIES_MAX; i++) {
		close(WIRE_LIBRARY_FD + i);
		if (kept[i] >= 0)
			dup2(kept[i], WIRE_LIBRARY_FD + i);
		close(kept[i]);
	}
	cr_assert_eq(r, 0);
	load_text_over(process.wire, text, &loaded);
	cr_expect(strstr(loaded.data, "\"sealed\":false"), "%s", loaded.data);
	close(process.wire);
	close(process.output);
}

/* The whole environment of the process, as the kernel was given it. */
static void read_environment(pid_t pid, struct buffer *ret_text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	cr_assert_eq(file_read(path, STATUS_BYTES_MAX, ret_text), 0);
	buffer_append_char(ret_text, '\0');
}

Test(process, is_given_little_of_our_environment, .timeout = LIMIT)
{
	static const char expected[] = "PATH=/bin\0HOME=/home\0TZ=UTC\0TOOLBOXD_SYSROOT=/copy\0";
	cleanup(buffer_deinit) struct buffer environment = {0};
	struct process process;

	clearenv();
	setenv("SECRET", "x", 1);
	setenv("HOME", "/home", 1);
	setenv("TZ", "UTC", 1);
	setenv("PATH", "/bin", 1);
	setenv("TOOLBOXD_SYSROOT", "/copy", 1);
	cr_assert_eq(process_spawn(TEST_HOST_PROGRAM, "test", no_libraries, &no_ring, &process), 0);
	load_over(process.wire);
	read_environment(process.pid, &environment);
	cr_expect_eq(environment_compare(environment.data, expected), 0);
	close(process.wire);
	close(process.output);
}

Test(process, has_the_locale_that_is_in_force_as_its_lang, .timeout = LIMIT)
{
	static const char expected[] = "PATH=/bin\0LANG=C.UTF-8\0";
	cleanup(buffer_deinit) struct buffer environment = {0};
	struct process process;

	clearenv();
	setenv("PATH", "/bin", 1);
	setenv("LANG", "C", 1);
	setenv("LC_CTYPE", "de_DE", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	cr_assert_eq(process_spawn(TEST_HOST_PROGRAM, "test", no_libraries, &no_ring, &process), 0);
	load_over(process.wire);
	read_environment(process.pid, &environment);
	cr_expect_eq(environment_compare(environment.data, expected), 0);
	close(process.wire);
	close(process.output);
}

Test(process, ends_in_order_when_its_wire_is_closed, .timeout = LIMIT)
{
	struct process process;
	int status;

	/* Under a sanitizer, status 0 also means that nothing leaked. */
	cr_assert_eq(process_spawn(TEST_HOST_PROGRAM, "test", no_libraries, &no_ring, &process), 0);
	load_over(process.wire);
	close(process.wire);
	cr_assert_eq(waitpid(process.pid, &status, 0), process.pid);
	cr_expect(WIFEXITED(status));
	cr_expect_eq(WEXITSTATUS(status), 0);
	close(process.output);
}

/* In a process of its own: start a host, send its pid, and end; leave a child that keeps the wire
 * open until the test lets go of @leash. */
static void be_a_daemon_that_ends(int tell, const int leash[2])
{
	struct process process;
	char end;

	if (process_spawn(TEST_HOST_PROGRAM, "test", no_libraries, &no_ring, &process))
		_exit(1);
	load_over(process.wire);
	if (fork() == 0) {
		close(leash[1]);
		_exit(read(leash[0], &end, 1) != 0);
	}
	_exit(write(tell, &process.pid, sizeof(process.pid)) < 0);
}

Test(process, ends_with_its_daemon, .timeout = LIMIT)
{
	siginfo_t how = {0};
	int leash[2], tell[2];
	pid_t daemon, host;

	/* Orphans become our children, so that their ends can be seen. */
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	cr_assert_eq(pipe2(leash, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(tell, O_CLOEXEC), 0);
	daemon = fork();
	if (daemon == 0)
		be_a_daemon_that_ends(tell[1], leash);
	cr_assert_eq(read(tell[0], &host, sizeof(host)), sizeof(host));
	cr_assert_eq(waitpid(daemon, NULL, 0), daemon);
	cr_assert_eq(waitid(P_PID, (id_t)host, &how, WEXITED), 0);
	cr_expect_eq(how.si_code, CLD_KILLED);
	cr_expect_eq(how.si_status, SIGKILL);
	close(leash[0]);
	close(leash[1]);
	close(tell[0]);
	close(tell[1]);
}

Test(process, loads_nothing_for_a_parent_that_did_not_make_its_wire, .timeout = LIMIT)
{
	int status;
	int sockets[2];
	pid_t between;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	between = fork();
	if (between == 0) {
		pid_t host = fork();

		if (host == 0) {
			dup2(sockets[1], WIRE_FD);
			execl(TEST_HOST_PROGRAM, "toolbox-host", "test", NULL);
			_exit(99);
		}
		waitpid(host, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
	}
	cr_assert_eq(waitpid(between, &status, 0), between);
	cr_expect_eq(WEXITSTATUS(status), 1);
	close(sockets[0]);
	close(sockets[1]);
}

Test(process, is_not_for_people, .timeout = LIMIT)
{
	pid_t host = fork();
	int status;

	if (host == 0) {
		close(WIRE_FD);
		execl(TEST_HOST_PROGRAM, "toolbox-host", "test", NULL);
		_exit(99);
	}
	cr_assert_eq(waitpid(host, &status, 0), host);
	cr_expect_eq(WEXITSTATUS(status), 2);
}
