/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json/writer.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/process/ending.h"
#include "util/process/send_fd.h"
#include "worker/sandbox/syscalls.h"
#include "worker/sandbox/trace_calls.h"

#define REASON_BYTES 96

/* The packet at the beginning of a trace, with the listener. There is no other, and no code of the
 * toolbox has run before. */
struct beginning {
	char reason[REASON_BYTES]; /* reason for tracing nothing, or "" */
	struct landlock_rules rules;
};

struct tracer {
	pid_t host;
	int handover; /* -1: the packet has come, or its sender has ended */
	int listener; /* -1: nothing waits */
	int report;
	struct beginning beginning;
	char *told[TRACE_LINES_MAX]; /* the written lines */
	size_t n_told;
	bool is_full;
};

/* ── the report ──────────────────────────────────────────────────────────────────────────────── */

/* Write the object in @line, which this frees, unless it was written before. */
static void report(struct tracer *tracer, struct buffer *line)
{
	char *text;

	buffer_append_string(line, "}\n");
	text = buffer_take(line, NULL);
	for (size_t i = 0; text && i < tracer->n_told; i++)
		if (strcmp(tracer->told[i], text) == 0)
			free(take_ptr(text));
	if (!text || tracer->is_full) {
		free(text);
		return;
	}
	/* The last place is for {"more"}. */
	if (tracer->n_told == TRACE_LINES_MAX - 1) {
		free(text);
		text = strdup("{\"more\":true}\n");
		tracer->is_full = true;
	}
	if (text && file_write_all(tracer->report, text, strlen(text)) == 0)
		tracer->told[tracer->n_told++] = text;
	else
		free(text);
}

/* Append @path, with `self` for the number of @process or of this process in /proc. */
static void write_path(struct buffer *line, const char *key, const char *path, pid_t process)
{
	const pid_t pids[] = {process, getpid()};
	char self[PATH_MAX];
	char prefix[32];

	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		int size = snprintf(prefix, sizeof(prefix), "/proc/%d/", pids[i]);

		if (strncmp(path, prefix, (size_t)size) != 0)
			continue;
		snprintf(self, sizeof(self), "/proc/self/%s", path + size);
		path = self;
	}
	json_write_member_text(line, key, path);
}

/* Report @use if a rule is missing for it. */
static void judge(struct tracer *tracer, const struct trace_use *use, pid_t process)
{
	const uint64_t read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
	uint64_t denied =
		use->rights ? landlock_denied(&tracer->beginning.rules, use->place, use->rights)
			    : 0;
	bool is_read = (denied & ~read) == 0;
	struct buffer line = {0};

	if (!denied)
		return;
	buffer_printf(&line, "{\"access\":\"%s\"", is_read ? "read" : "write");
	write_path(&line, "path", use->path, process);
	write_path(&line, "name", use->place, process);
	write_path(&line, "given", use->given, process);
	if (faccessat(AT_FDCWD, use->place, is_read ? R_OK : W_OK, AT_EACCESS) < 0)
		buffer_append_string(&line, ",\"permissions\":false");
	report(tracer, &line);
}

static void report_unreadable(struct tracer *tracer, int error)
{
	struct buffer line = {0};

	buffer_append_string(&line, "{");
	json_write_member_text(&line, "unreadable", strerrordesc_np(-error));
	report(tracer, &line);
}

static void report_beginning(struct tracer *tracer, const char *reason)
{
	struct buffer line = {0};

	buffer_printf(&line, "{\"traced\":%s", *reason ? "false" : "true");
	if (*reason)
		json_write_member_text(&line, "reason", reason);
	report(tracer, &line);
}

/* ── the tracer ──────────────────────────────────────────────────────────────────────────────── */

/* Take a waiting call, and let it go on. */
static void take_call(struct tracer *tracer)
{
	static struct trace_use uses[TRACE_USES_MAX];
	struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	struct seccomp_notif call = {0};
	size_t n;
	int r;

	/* This does not wait: a call killed meanwhile leaves its place in the count. */
	if (ioctl(tracer->listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
		return;
	r = trace_calls_read(&call, uses, &n);
	/* Else the number may mean another process by now. */
	if (ioctl(tracer->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		judge(tracer, &uses[i], (pid_t)call.pid);
	if (r)
		report_unreadable(tracer, r);
	answer.id = call.id;
	ioctl(tracer->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Receive the beginning, or the end of a host that never got there. */
static void take_beginning(struct tracer *tracer)
{
	int fds[PASS_FDS_MAX];
	size_t n_fds;
	ssize_t n = pass_receive_all(
		tracer->handover, &tracer->beginning, sizeof(tracer->beginning), 0, fds, &n_fds);

	if (n == (ssize_t)sizeof(tracer->beginning)) {
		if (n_fds > 0)
			tracer->listener = fds[0];
		report_beginning(tracer, tracer->beginning.reason);
	}
	/* The host waits for this: the report has its beginning before any call can end. */
	close(take_fd(tracer->handover));
}

/* Serve the host until it has ended, and end as it did. */
__attribute__((noreturn)) static void trace(struct tracer *tracer)
{
	int host = pidfd_open(tracer->host, 0);
	siginfo_t end = {.si_code = CLD_EXITED, .si_status = EXIT_FAILURE};

	for (bool has_ended = host < 0; !has_ended;) {
		struct pollfd sources[] = {{host, POLLIN, 0}, {tracer->handover, POLLIN, 0},
			{tracer->listener, POLLIN, 0}};

		if (poll(sources, 3, -1) < 0)
			continue;
		if (sources[1].revents)
			take_beginning(tracer);
		if (sources[2].revents & POLLIN)
			take_call(tracer);
		else if (sources[2].revents)
			close(take_fd(tracer->listener));
		has_ended = sources[0].revents != 0;
	}
	if (host < 0)
		kill(tracer->host, SIGKILL);
	TEMP_FAILURE_RETRY(waitid(P_PID, (id_t)tracer->host, &end, WEXITED));
	ending_end_like(&end);
}

/* ── the host ────────────────────────────────────────────────────────────────────────────────── */

/* Set up the host, in the new process. The tracer must still be its parent. It may read the memory
 * of the host: other processes of the user may, too. */
static int become_host(pid_t tracer)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0)
		return -errno;
	return getppid() == tracer ? 0 : -ESRCH;
}

int trace_split(const char *report_file, int wire_fd, int *ret_tracer)
{
	static struct tracer tracer = {.listener = -1};
	cleanup_close int file = open(report_file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
	pid_t self = getpid();
	int sockets[2];

	if (file < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	tracer.host = fork();
	if (tracer.host < 0) {
		close(sockets[0]);
		close(sockets[1]);
		return -errno;
	}
	close(sockets[tracer.host == 0]);
	if (tracer.host == 0) {
		*ret_tracer = sockets[0];
		return become_host(self);
	}
	tracer.handover = sockets[1];
	tracer.report = take_fd(file);
	close(wire_fd);
	trace(&tracer);
}

/* Send the beginning, and wait until it is in the report. */
static int hand_over(int tracer, const struct beginning *beginning, int listener)
{
	int r = pass_send(tracer, beginning, sizeof(*beginning), listener);
	char end;

	while (r == 0 && recv(tracer, &end, sizeof(end), 0) < 0 && errno == EINTR)
		;
	return r;
}

int trace_begin(int tracer, const struct landlock_rules *rules)
{
	struct beginning beginning = {.rules = *rules};
	cleanup_close int listener = -1;
	size_t n;
	const int *numbers = trace_calls_numbers(&n);
	int r = syscalls_trace(numbers, n, &listener);

	return r ? r : hand_over(tracer, &beginning, listener);
}

void trace_decline(int tracer, const char *reason)
{
	struct beginning beginning = {0};

	snprintf(beginning.reason, sizeof(beginning.reason), "%s", reason);
	hand_over(tracer, &beginning, -1);
}
