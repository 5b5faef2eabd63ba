/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/file/file.h"
#include "util/process/spawn.h"
#include "worker/sandbox/guard.h"

/* Size of one read; a pipe holds no more. */
#define READ_BYTES 65536u

/* Size of one read of progress, and what is still read of it when the program has ended. */
#define PROGRESS_BYTES 4096u
#define PROGRESS_READS 16

/* A program with a longer run is watched for its end, perhaps before the end of its stdout. */
#define WATCH_MS 100

#define NEVER UINT64_MAX

/* A larger buffer is freed after its call. */
#define KEEP_BYTES (256u << 10)

/* Linux 6.3; older kernels refuse unknown flags. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x8u
#endif

/* The events polled for by the host. */
enum source {
	OUTPUT,
	ERRORS,
	PROGRESS,
	EXIT,
	N_SOURCES,
};

struct running {
	struct command_run *run;
	pid_t pid;
	struct pollfd sources[N_SOURCES]; /* fd < 0: finished */
	size_t n_passed;                  /* bytes of stderr written to the log */
	char last_passed;                 /* the last of them */
	uint64_t until_ms; /* when others have to have closed stdout, at the latest */
	uint64_t next_ms;  /* when to watch for the end; then when `until` has come */
	bool has_ended;    /* the program */
	bool is_held;      /* others had stdout open for too long after the end */
};

static void close_sources(struct running *running)
{
	for (size_t i = 0; i < N_SOURCES; i++)
		if (running->sources[i].fd >= 0)
			close(running->sources[i].fd);
}

static void end_source(struct running *running, enum source source)
{
	close(running->sources[source].fd);
	running->sources[source].fd = -1;
}

/* ── starting ────────────────────────────────────────────────────────────────────────────────── */

/* Make a file in memory with the input, at its start. */
static int make_input(const struct command_run *run, int *ret_fd)
{
	cleanup_close int fd = memfd_create("arguments", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("arguments", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < run->input_size;) {
		ssize_t n = pwrite(fd, run->input + done, run->input_size - done, (off_t)done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	*ret_fd = take_fd(fd);
	return 0;
}

/* All descriptors of the host close on exec. These four are above 2, because the host has its own
 * 0, 1 and 2; any of them may be 3, which is therefore replaced last. */
static int set_actions(
	posix_spawn_file_actions_t *actions, const char *cwd, int input, const int outputs[3])
{
	int r = posix_spawn_file_actions_adddup2(actions, input, STDIN_FILENO);

	r = r ? r : posix_spawn_file_actions_adddup2(actions, outputs[OUTPUT], STDOUT_FILENO);
	r = r ? r : posix_spawn_file_actions_adddup2(actions, outputs[ERRORS], STDERR_FILENO);
	r = r ? r
	      : posix_spawn_file_actions_adddup2(actions, outputs[PROGRESS], COMMAND_PROGRESS_FD);
	return r || !cwd ? r : posix_spawn_file_actions_addchdir_np(actions, cwd);
}

/* Return 0 or a negative errno; the functions of posix_spawn return positive ones. */
static int spawn(const struct command_run *run, int input, const int outputs[3], pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return -r;
	r = set_actions(&actions, run->cwd, input, outputs);
	r = r ? r
	      : spawn_process(ret_pid, run->program, &actions, run->arguments, run->environment);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* Open the pipes. The ends of the program are -1 from the first failure on. */
static int open_pipes(struct running *running, int outputs[3])
{
	for (size_t i = 0; i < 3; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return -errno;
		running->sources[i].fd = ends[0];
		outputs[i] = ends[1];
	}
	return 0;
}

static int start(struct running *running)
{
	cleanup_close int input = -1;
	int outputs[3] = {-1, -1, -1};
	int r = make_input(running->run, &input);

	r = r ? r : open_pipes(running, outputs);
	r = r ? r : spawn(running->run, input, outputs, &running->pid);
	for (size_t i = 0; i < 3; i++)
		if (outputs[i] >= 0)
			close(outputs[i]);
	return r;
}

/* ── while it runs ───────────────────────────────────────────────────────────────────────────── */

/* Read once into @buffer. Return false at the end of file. */
static bool read_source(int fd, struct buffer *buffer)
{
	char *place = buffer_reserve(buffer, READ_BYTES);
	ssize_t n = place ? read(fd, place, READ_BYTES) : -1;

	if (place && n < 0 && errno == EINTR)
		return true;
	if (n > 0)
		buffer->size += (size_t)n;
	return n > 0;
}

static void take_output(struct running *running)
{
	struct command_run *run = running->run;

	if (!read_source(running->sources[OUTPUT].fd, &run->output))
		end_source(running, OUTPUT);
	else if (run->output.size > run->output_max)
		run->is_too_large = true;
}

/* Pass @size bytes of stderr on to ours, logged by the daemon, as long as the call may. */
static void pass_on(struct running *running, const char *bytes, size_t size)
{
	size_t room = running->run->errors_max - running->n_passed;

	size = size < room ? size : room;
	if (size == 0)
		return;
	file_write_all(STDERR_FILENO, bytes, size);
	running->n_passed += size;
	running->last_passed = bytes[size - 1];
}

/* Read stderr, pass it on, and keep its end: at twice the needed size, the older half is
 * dropped. */
static void take_errors(struct running *running)
{
	struct command_run *run = running->run;
	struct buffer *errors = &run->errors;
	size_t before = errors->size;

	if (!read_source(running->sources[ERRORS].fd, errors))
		end_source(running, ERRORS);
	pass_on(running, errors->data + before, errors->size - before);
	if (errors->size <= 2 * run->errors_max)
		return;
	memmove(errors->data, errors->data + errors->size - run->errors_max, run->errors_max);
	errors->size = run->errors_max;
}

/* Read once by @take what is left in the pipe of @source when the program has ended, and do not
 * wait for more: another process may hold the pipe. */
static void take_last(
	struct running *running, enum source source, void (*take)(struct running *running))
{
	struct pollfd *pipe = &running->sources[source];

	if (pipe->fd >= 0 && poll(pipe, 1, 0) > 0)
		take(running);
}

/* Read once. Return false at the end of file. */
static bool read_progress(struct running *running)
{
	char bytes[PROGRESS_BYTES];
	ssize_t n = read(running->sources[PROGRESS].fd, bytes, sizeof(bytes));

	if (n < 0 && errno == EINTR)
		return true;
	if (n > 0)
		command_progress_take(running->run->progress, bytes, (size_t)n);
	else
		end_source(running, PROGRESS);
	return n > 0;
}

/* Read the progress that came before the end. Another process may hold the pipe, and write on. */
static void take_last_progress(struct running *running)
{
	struct pollfd *source = &running->sources[PROGRESS];

	for (int i = 0; i < PROGRESS_READS && source->fd >= 0 && poll(source, 1, 0) > 0; i++)
		if (!read_progress(running))
			return;
}

/* Return how long to wait for an event, for poll(). */
static int left_ms(const struct running *running)
{
	uint64_t now_ms = running->next_ms == NEVER ? 0 : clock_now_ms();

	if (running->next_ms == NEVER)
		return -1;
	return running->next_ms > now_ms ? (int)(running->next_ms - now_ms) : 0;
}

static void watch_end(struct running *running)
{
	if (running->sources[EXIT].fd < 0)
		running->sources[EXIT].fd = pidfd_open(running->pid, 0);
	running->next_ms = NEVER;
}

/* Note the end of the program. Other holders of its stdout have some more time. */
static void note_end(struct running *running)
{
	uint64_t held_ms = clock_now_ms() + COMMAND_HELD_MS;

	end_source(running, EXIT);
	running->has_ended = true;
	running->next_ms = held_ms < running->until_ms ? held_ms : running->until_ms;
}

/* Act at the time next_ms. */
static void act_in_time(struct running *running)
{
	if (running->has_ended)
		running->is_held = true;
	else
		watch_end(running);
}

static bool is_over(const struct running *running)
{
	const struct pollfd *sources = running->sources;

	if (running->run->is_too_large || running->is_held)
		return true;
	return sources[OUTPUT].fd < 0 &&
	       (running->has_ended || (sources[ERRORS].fd < 0 && sources[PROGRESS].fd < 0));
}

/* Read until stdout is closed and the program has ended, or nothing is open, or others have held
 * stdout for too long. */
static void attend_program(struct running *running)
{
	struct pollfd *sources = running->sources;

	while (!is_over(running)) {
		int wait_ms;
		int n;

		/* Without stdout, the end of the program must be detected in another way. */
		if (sources[OUTPUT].fd < 0)
			watch_end(running);
		wait_ms = left_ms(running);
		n = poll(sources, N_SOURCES, wait_ms);
		if (wait_ms == 0 || n == 0)
			act_in_time(running);
		if (n <= 0)
			continue;
		if (sources[EXIT].revents)
			note_end(running);
		if (sources[ERRORS].revents)
			take_errors(running);
		if (sources[OUTPUT].revents)
			take_output(running);
		if (sources[PROGRESS].revents)
			read_progress(running);
	}
	take_last(running, ERRORS, take_errors);
	if (running->is_held)
		take_last(running, OUTPUT, take_output);
}

/* Wait until the program ends, and kill its group. Its number means this group until the program is
 * reaped. */
static void finish_program(struct running *running)
{
	struct command_run *run = running->run;
	siginfo_t info;

	if (run->is_too_large) {
		kill(running->pid, SIGKILL);
		kill(-running->pid, SIGKILL);
	}
	TEMP_FAILURE_RETRY(waitid(P_PID, (id_t)running->pid, &info, WEXITED | WNOWAIT));
	kill(-running->pid, SIGKILL);
	TEMP_FAILURE_RETRY(waitpid(running->pid, &run->status, 0));
}

/* End the processes outside of the group that hold stdout, and log that there were some. */
static void end_holders(void)
{
	static const char line[] =
		"the program has ended, and a process that it has left held its stdout open, and "
		"was ended; start one that is to stay by another way, such as systemd-run --user\n";

	guard_end_others();
	file_write_all(STDERR_FILENO, line, sizeof(line) - 1);
}

int command_run(struct command_run *run)
{
	struct running running = {
		.run = run,
		.sources = {{-1, POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}},
	};
	uint64_t now_ms = clock_now_ms();
	int r;

	running.until_ms = now_ms + run->patience_ms;
	running.next_ms = now_ms + WATCH_MS;
	buffer_reset(&run->output);
	buffer_reset(&run->errors);
	run->is_too_large = false;
	r = start(&running);
	if (r == 0) {
		attend_program(&running);
		finish_program(&running);
		take_last_progress(&running);
		/* The next call's line is another one. */
		if (running.n_passed > 0 && running.last_passed != '\n')
			file_write_all(STDERR_FILENO, "\n", 1);
		if (running.is_held)
			end_holders();
	}
	close_sources(&running);
	return r;
}

const char *command_run_errors(const struct command_run *run, size_t *ret_size)
{
	size_t size = run->errors.size < run->errors_max ? run->errors.size : run->errors_max;

	*ret_size = size;
	return size > 0 ? run->errors.data + run->errors.size - size : "";
}

void command_run_trim(struct command_run *run)
{
	buffer_recycle(&run->output, KEEP_BYTES);
	buffer_recycle(&run->errors, KEEP_BYTES);
}

void command_run_deinit(struct command_run *run)
{
	buffer_deinit(&run->output);
	buffer_deinit(&run->errors);
}
