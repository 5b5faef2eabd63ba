/* SPDX-License-Identifier: Apache-2.0 */
#include "sessions.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guard.h"
#include "output.h"
#include "reply.h"
#include "program.h"

/* A session that nobody has called for so long is ended. */
#define IDLE_MS ((uint64_t)30 * 60 * 1000)

_Static_assert(OUTPUT_UNREAD_MAX >> 20 == 16 && IDLE_MS / 60000 == 30, "as the outputs have it");

/* The time between SIGTERM and SIGKILL. */
#define TERM_MS 200

#define KILLED UINT64_MAX

/* How often calls without a session of their own are looked at: they may be cancelled. */
#define CANCEL_LOOK_MS 250

/* The most input that a program has not read. */
#define INPUT_MAX ((size_t)1 << 20)

/* The most reads of one program before others have their turn. */
#define READS_MAX 32

/* The time that a call keeps for its answer. */
#define ANSWER_MS 500

#define EVENTS_MAX 64

/* The exit code of a program that a signal has ended, or that was never started. */
#define NO_EXIT_CODE (-1)

struct session {
	int64_t id;     /* 0: the place is free */
	bool is_listed; /* callers may come back to it */
	char *identity;
	char *caller;
	char *command;
	struct program program; /* descriptors are -1 once closed */
	bool has_tty;
	bool has_ended;
	int exit_code;
	uint64_t began_ns;
	uint64_t touched_ms; /* the last call */
	uint64_t kill_ms;    /* when SIGKILL follows SIGTERM; 0: it does not, KILLED: it has */
	struct output output;
	char *input; /* not read by the program yet */
	size_t input_size;
	bool ends_input; /* after that, it has no more */
	char line[SESSION_LINE_BYTES + 1];
};

struct waiter {
	bool is_used;
	struct toolbox_call call;
	struct session *session;
	uint64_t due_ms;
	struct session_wait wait;
};

/* The kinds of events, in the low bits of an event's data; the id of its session is above. */
enum event { EVENT_OUTPUT, EVENT_EXIT, EVENT_INPUT, EVENT_KINDS = 4 };

static struct {
	pthread_mutex_t lock;
	struct toolbox_call host; /* of init(): for what belongs to no call */
	int epoll;
	int wake;
	bool is_in_use;
	struct session items[SESSIONS_MAX];
	struct waiter waiters[SESSIONS_MAX];
} sessions = {.lock = PTHREAD_MUTEX_INITIALIZER, .epoll = -1, .wake = -1};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t now_ms(void)
{
	return now_ns() / 1000000;
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

static struct session *find_id(int64_t id)
{
	for (size_t i = 0; id != 0 && i < SESSIONS_MAX; i++)
		if (sessions.items[i].id == id)
			return &sessions.items[i];
	return NULL;
}

/* Return the session @id if it belongs to the caller of @call. */
static struct session *find_owned(struct toolbox_call call, int64_t id)
{
	struct session *session = find_id(id);

	if (!session || !session->is_listed ||
		strcmp(session->identity, toolbox_identity(call)) != 0 ||
		strcmp(session->caller, toolbox_session(call)) != 0)
		return NULL;
	return session;
}

/* Return whether the session may not be lost by a stop of the process. */
static bool is_alive(const struct session *session)
{
	return session->id != 0 && (!session->has_ended || session->program.output >= 0 ||
					   (session->is_listed && output_unread(&session->output)));
}

static void note_use(void)
{
	bool is_in_use = false;

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		is_in_use = is_in_use || is_alive(&sessions.items[i]);
	if (is_in_use == sessions.is_in_use)
		return;
	sessions.is_in_use = is_in_use;
	toolbox_use(sessions.host, is_in_use);
}

static void close_input(struct session *session)
{
	if (session->has_tty)
		session->program.input = -1;
	close_fd(&session->program.input);
	free(session->input);
	session->input = NULL;
	session->input_size = 0;
}

/* Free the place of @session, whose program has ended. What it has left in the session ends. */
static void drop_session(struct session *session)
{
	program_end(session->program.pid);
	close_input(session);
	close_fd(&session->program.output);
	close_fd(&session->program.pidfd);
	output_free(&session->output);
	free(session->identity);
	free(session->caller);
	free(session->command);
	*session = (struct session){0};
}

static bool is_waited_for(const struct session *session)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (sessions.waiters[i].is_used && sessions.waiters[i].session == session)
			return true;
	return false;
}

/* Return a free place, where the session has been that ended longest ago, or NULL. */
static struct session *find_place(void)
{
	struct session *oldest = NULL;

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *session = &sessions.items[i];

		if (session->id == 0)
			return session;
		if (session->has_ended && !is_waited_for(session) &&
			(!oldest || session->touched_ms < oldest->touched_ms))
			oldest = session;
	}
	if (oldest)
		drop_session(oldest);
	return oldest;
}

/* Return an id that nobody guesses; 0: there are no random numbers. */
static int64_t make_id(void)
{
	uint32_t number = 0;

	while (number == 0 || find_id(number)) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return 0;
		number &= INT32_MAX;
	}
	return number;
}

/* ── waiting calls ───────────────────────────────────────────────────────────────────────────── */

/* Write the lines of an answer, with @size bytes of output, of @n unread characters. */
static void write_lines(const struct session *session, size_t n, size_t size, struct text *out)
{
	unsigned int chunk = 0;

	if (getrandom(&chunk, sizeof(chunk), 0) != sizeof(chunk))
		chunk = (unsigned int)now_ns();
	text_printf(out, "Chunk ID: %06x\n", chunk & 0xFFFFFF);
	text_printf(out, "Wall time: %.4f seconds\n", (double)(now_ns() - session->began_ns) / 1e9);
	if (session->has_ended)
		text_printf(out, "Process exited with code %d\n", session->exit_code);
	else
		text_printf(out, "Process running with session ID %lld\n", (long long)session->id);
	text_printf(out, "Original token count: %zu\nOutput:\n", (n + 3) / 4);
	output_show(&session->output, size, out);
}

/* Write how to go on when @left characters are left. */
static void write_rest(const struct session *session, size_t left, struct text *out)
{
	if (left > 0 && session->is_listed)
		text_printf(out,
			"\n[%zu more characters: write_stdin with session_id %lld goes on]", left,
			(long long)session->id);
	else if (left > 0)
		text_printf(out, "\n[%zu more characters are left out]", left);
}

static int fail_late(struct waiter *waiter, const struct session *session, size_t size)
{
	struct text out = {0};
	int status;

	text_printf(&out, "%s failed: command timed out after %llums\n", waiter->wait.tool,
		(unsigned long long)waiter->wait.timeout_ms);
	output_show(&session->output, size, &out);
	status = toolbox_fail(waiter->call, out.has_failed ? "out of memory" : text_string(&out));
	text_free(&out);
	return status;
}

static int reply_lines(
	struct waiter *waiter, const struct session *session, size_t n, size_t size, size_t left)
{
	struct text structured = {0};
	struct text out = {0};
	int status;

	write_lines(session, n, size, &out);
	write_rest(session, left, &out);
	text_put(&structured, "{");
	if (session->has_ended)
		text_printf(&structured, "\"exit_code\":%d", session->exit_code);
	if (session->is_listed && (!session->has_ended || left > 0))
		text_printf(&structured, "%s\"session_id\":%lld", session->has_ended ? "," : "",
			(long long)session->id);
	text_put(&structured, "}");
	status = reply_content(waiter->call, &out, text_string(&structured));
	text_free(&structured);
	text_free(&out);
	return status;
}

/* Answer the call of @waiter, of @session. Output is forgotten when the answer was not too late. */
static void reply_waiter(struct waiter *waiter, struct session *session)
{
	bool is_late = waiter->wait.timeout_ms > 0 && session->kill_ms > 0;
	bool is_whole = session->has_ended && session->program.output < 0;
	size_t size;
	size_t left;
	size_t n = output_count(&session->output, is_whole, waiter->wait.chars_max, &size, &left);
	int status = is_late ? fail_late(waiter, session, size)
			     : reply_lines(waiter, session, n, size, left);

	waiter->is_used = false;
	if (status == TOOLBOX_OK)
		output_forget(&session->output, size);
}

static struct waiter *find_waiter_place(void)
{
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < SESSIONS_MAX; i++) {
			struct waiter *waiter = &sessions.waiters[i];

			/* The call of a waiter may be gone since long. */
			if (round > 0 && waiter->is_used && waiter->session->is_listed &&
				toolbox_is_cancelled(waiter->call))
				waiter->is_used = false;
			if (!waiter->is_used)
				return waiter;
		}
	return NULL;
}

/* Let @call wait for @session. Return the waiter; NULL with @why: there is no room. */
static struct waiter *add_waiter(struct toolbox_call call, struct session *session,
	const struct session_wait *wait, struct text *why)
{
	struct waiter *waiter = find_waiter_place();
	uint32_t left_ms = toolbox_ms_left(call);
	uint64_t yield_ms = wait->timeout_ms ? wait->timeout_ms : wait->yield_ms;

	if (!waiter || toolbox_keep(call) != TOOLBOX_OK) {
		text_put(why, "too many calls wait");
		return NULL;
	}
	left_ms = left_ms > ANSWER_MS ? left_ms - ANSWER_MS : 0;
	if (yield_ms > left_ms)
		yield_ms = left_ms;
	*waiter = (struct waiter){true, call, session, now_ms() + yield_ms, *wait};
	/* The words for a late command name the time that it had. */
	if (wait->timeout_ms > 0)
		waiter->wait.timeout_ms = yield_ms > 0 ? yield_ms : 1;
	return waiter;
}

/* ── the loop ────────────────────────────────────────────────────────────────────────────────── */

static void wake_loop(void)
{
	uint64_t one = 1;

	/* A full counter wakes the loop, too. */
	if (write(sessions.wake, &one, sizeof(one)) < 0)
		return;
}

static bool watch(const struct session *session, int fd, uint32_t events, enum event kind)
{
	struct epoll_event event = {.events = events,
		.data = {.u64 = (uint64_t)session->id * EVENT_KINDS + (unsigned int)kind}};

	return epoll_ctl(sessions.epoll, EPOLL_CTL_ADD, fd, &event) == 0 || errno == EEXIST;
}

/* End the program of @session, and say why in its output. */
static void end_session(struct session *session, const char *why)
{
	output_note(&session->output, why);
	close_fd(&session->program.output);
	if (session->has_tty)
		session->program.input = -1;
	program_signal_all(session->program.pid, SIGKILL);
}

/* Read what the program of @session has put out. */
static void read_output(struct session *session, unsigned int reads_max)
{
	for (unsigned int i = 0; session->program.output >= 0 && i < reads_max; i++) {
		size_t room;
		char *space = output_space(&session->output, &room);
		ssize_t n;

		if (!space) {
			end_session(session, "\n[exec output truncated: exceeded 16 MiB; process "
					     "terminated]");
			return;
		}
		n = read(session->program.output, space, room);
		if (n > 0) {
			output_added(&session->output, (size_t)n);
			continue;
		}
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		/* No process has the other side of the terminal, but its own may open it again. To
		 * close this side would hang up on it. */
		if (session->has_tty && !session->has_ended)
			epoll_ctl(sessions.epoll, EPOLL_CTL_DEL, session->program.output, NULL);
		else
			close_fd(&session->program.output);
		return;
	}
}

/* Let the program have as much of the input as it takes. */
static void write_input(struct session *session)
{
	while (session->program.input >= 0 && session->input_size > 0) {
		ssize_t n = write(session->program.input, session->input, session->input_size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		/* It reads no more: what comes is ignored. */
		if (n < 0) {
			close_input(session);
			return;
		}
		session->input_size -= (size_t)n;
		memmove(session->input, session->input + n, session->input_size);
	}
	if (session->ends_input && session->input_size == 0)
		close_input(session);
}

/* Watch for room in the input while some waits. */
static void watch_input(struct session *session)
{
	struct epoll_event event = {.events = EPOLLOUT,
		.data = {.u64 = (uint64_t)session->id * EVENT_KINDS + EVENT_INPUT}};
	int fd = session->program.input;

	if (fd < 0)
		return;
	if (session->has_tty) {
		event.events = EPOLLIN | (session->input_size > 0 ? EPOLLOUT : 0u);
		event.data.u64 = (uint64_t)session->id * EVENT_KINDS + EVENT_OUTPUT;
		epoll_ctl(sessions.epoll, EPOLL_CTL_MOD, fd, &event);
	} else if (session->input_size > 0) {
		epoll_ctl(sessions.epoll, EPOLL_CTL_ADD, fd, &event);
	} else {
		epoll_ctl(sessions.epoll, EPOLL_CTL_DEL, fd, NULL);
	}
}

static void note_exit(struct session *session)
{
	siginfo_t status = {0};

	/* It stays a zombie: no other process gets its number while the session has a place. */
	if (waitid(P_PIDFD, (id_t)session->program.pidfd, &status, WEXITED | WNOHANG | WNOWAIT) <
		0) {
		if (errno != ECHILD)
			return;
		session->program.pid = -1;
	}
	if (session->program.pid > 0 && status.si_pid == 0)
		return;
	session->exit_code = status.si_code == CLD_EXITED ? status.si_status : NO_EXIT_CODE;
	session->has_ended = true;
	session->touched_ms = now_ms();
	close_fd(&session->program.pidfd);
	/* What the program has put out is all there; others may go on. */
	read_output(session, OUTPUT_UNREAD_MAX / 4096);
	close_input(session);
	if (session->has_tty)
		close_fd(&session->program.output);
}

static void take_event(const struct epoll_event *event)
{
	struct session *session = find_id((int64_t)(event->data.u64 / EVENT_KINDS));

	if (!session)
		return;
	if (event->data.u64 % EVENT_KINDS == EVENT_EXIT) {
		note_exit(session);
		return;
	}
	if (event->events & (EPOLLOUT | EPOLLERR)) {
		write_input(session);
		watch_input(session);
	}
	if (event->data.u64 % EVENT_KINDS == EVENT_OUTPUT)
		read_output(session, READS_MAX);
}

static void answer_waiter(struct waiter *waiter)
{
	struct session *session = waiter->session;

	/* A terminal that was left for a moment is not watched. */
	read_output(session, READS_MAX);
	reply_waiter(waiter, session);
	session->touched_ms = now_ms();
	/* After SIGTERM, what the program has left has its time. */
	if (!session->is_listed && session->has_ended &&
		(session->kill_ms == 0 || session->kill_ms == KILLED))
		drop_session(session);
}

/* Answer the calls whose time has come, and return when the next one is due. */
static uint64_t look_at_waiters(uint64_t now, uint64_t next_ms)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct waiter *waiter = &sessions.waiters[i];
		struct session *session = waiter->session;

		if (!waiter->is_used)
			continue;
		if (session->has_ended || (waiter->due_ms <= now && waiter->wait.timeout_ms == 0)) {
			answer_waiter(waiter);
			continue;
		}
		/* The command of a call that nobody can come back to ends with the call. */
		if (!session->is_listed && session->kill_ms == 0 &&
			(waiter->due_ms <= now || toolbox_is_cancelled(waiter->call))) {
			session->kill_ms = now + TERM_MS;
			program_signal_all(session->program.pid, SIGTERM);
		}
		if (!session->is_listed && now + CANCEL_LOOK_MS < next_ms)
			next_ms = now + CANCEL_LOOK_MS;
		if (waiter->due_ms > now && waiter->due_ms < next_ms)
			next_ms = waiter->due_ms;
	}
	return next_ms;
}

/* Kill what SIGTERM has not ended. */
static void kill_late(struct session *session)
{
	if (session->has_ended && !is_waited_for(session)) {
		drop_session(session);
		return;
	}
	program_signal_all(session->program.pid, SIGKILL);
	session->kill_ms = KILLED;
}

/* Kill what has not ended by itself, and what nobody calls. Return when to look again. */
static uint64_t look_at_sessions(uint64_t now)
{
	uint64_t next_ms = now + IDLE_MS;

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *session = &sessions.items[i];
		uint64_t idle_ms = session->touched_ms + IDLE_MS;

		if (session->kill_ms > 0 && session->kill_ms <= now)
			kill_late(session);
		if (session->kill_ms > 0 && session->kill_ms < next_ms)
			next_ms = session->kill_ms;
		if (!is_alive(session) || is_waited_for(session))
			continue;
		if (idle_ms <= now && session->has_ended)
			drop_session(session);
		else if (idle_ms <= now) {
			end_session(
				session, "\n[session ended: nobody has used it for 30 minutes]");
			session->touched_ms = now;
		} else if (idle_ms < next_ms) {
			next_ms = idle_ms;
		}
	}
	return next_ms;
}

static void *run_loop(void *data)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t next_ms = now_ms();

	(void)data;
	for (;;) {
		uint64_t now = now_ms();
		int wait_ms = next_ms > now ? (int)(next_ms - now) : 0;
		int n = epoll_wait(sessions.epoll, events, EVENTS_MAX, wait_ms);

		pthread_mutex_lock(&sessions.lock);
		for (int i = 0; i < n; i++) {
			uint64_t count;

			if (events[i].data.u64 != 0)
				take_event(&events[i]);
			else if (read(sessions.wake, &count, sizeof(count)) < 0)
				continue;
		}
		now = now_ms();
		next_ms = look_at_waiters(now, look_at_sessions(now));
		note_use();
		pthread_mutex_unlock(&sessions.lock);
	}
	return NULL;
}

bool sessions_init(struct toolbox_call call)
{
	struct epoll_event event = {.events = EPOLLIN};
	pthread_attr_t attributes;
	pthread_t thread;
	bool is_good;

	sessions.host = call;
	signal(SIGPIPE, SIG_IGN);
	sessions.epoll = epoll_create1(EPOLL_CLOEXEC);
	sessions.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	is_good = sessions.epoll >= 0 && sessions.wake >= 0 &&
		  epoll_ctl(sessions.epoll, EPOLL_CTL_ADD, sessions.wake, &event) == 0 &&
		  pthread_attr_init(&attributes) == 0;
	if (is_good) {
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		is_good = pthread_create(&thread, &attributes, run_loop, NULL) == 0;
		pthread_attr_destroy(&attributes);
	}
	if (!is_good)
		toolbox_fail(call, "its loop cannot be started");
	return is_good;
}

/* ── for the tools ───────────────────────────────────────────────────────────────────────────── */

/* Fill @session for @call. Return false without memory or random numbers. */
static bool make_session(struct toolbox_call call, const char *command, bool has_tty,
	bool is_listed, struct session *session)
{
	int64_t id = make_id();

	*session = (struct session){
		.is_listed = is_listed,
		.identity = strdup(toolbox_identity(call)),
		.caller = strdup(toolbox_session(call)),
		.command = strdup(command),
		.program = {.pid = -1, .pidfd = -1, .output = -1, .input = -1},
		.has_tty = has_tty,
		.began_ns = now_ns(),
		.touched_ms = now_ms(),
	};
	if (id != 0 && session->identity && session->caller && session->command) {
		session->id = id;
		return true;
	}
	drop_session(session);
	return false;
}

/* Start the program of @session. A program that cannot start has said so, and ended. */
static void start_program(struct session *session, char *const *argv, const char *workdir)
{
	struct text why = {0};

	if (program_start(argv, workdir, session->has_tty, &session->program, &why)) {
		watch(session, session->program.output, EPOLLIN, EVENT_OUTPUT);
		watch(session, session->program.pidfd, EPOLLIN, EVENT_EXIT);
	} else {
		output_note(&session->output, "\n[exec error] ");
		output_note(&session->output, text_string(&why));
		session->has_ended = true;
		session->exit_code = NO_EXIT_CODE;
	}
	text_free(&why);
}

static bool begin(struct toolbox_call call, char *const *argv, const char *command,
	const char *workdir, bool has_tty, const struct session_wait *wait, struct text *why)
{
	struct session *session = find_place();

	if (!session) {
		text_printf(why, "too many active sessions (max %d)", SESSIONS_MAX);
		return false;
	}
	if (!make_session(call, command, has_tty, wait->timeout_ms == 0, session)) {
		text_put(why, "out of memory");
		return false;
	}
	if (!add_waiter(call, session, wait, why)) {
		drop_session(session);
		return false;
	}
	start_program(session, argv, workdir);
	note_use();
	return true;
}

bool sessions_begin(struct toolbox_call call, char *const *argv, const char *command,
	const char *workdir, bool has_tty, const struct session_wait *wait, struct text *why)
{
	bool is_begun;

	pthread_mutex_lock(&sessions.lock);
	is_begun = begin(call, argv, command, workdir, has_tty, wait, why);
	pthread_mutex_unlock(&sessions.lock);
	wake_loop();
	return is_begun;
}

bool sessions_find(struct toolbox_call call, int64_t id, char **ret_command,
	char ret_line[SESSION_LINE_BYTES + 1])
{
	const struct session *session;

	pthread_mutex_lock(&sessions.lock);
	session = find_owned(call, id);
	*ret_command = session ? strdup(session->command) : NULL;
	if (session)
		memcpy(ret_line, session->line, sizeof(session->line));
	pthread_mutex_unlock(&sessions.lock);
	return *ret_command != NULL;
}

/* Append @chars to the input of @session. After the end of the program, nothing reads them. */
static bool add_input(struct session *session, const char *chars, size_t size, struct text *why)
{
	bool ends = !session->has_tty && size > 0 && chars[size - 1] == END_OF_INPUT;
	char *input;

	size -= ends;
	if (session->has_ended || session->program.input < 0 || session->ends_input)
		return true;
	if (size > INPUT_MAX - session->input_size) {
		text_printf(why,
			"the process has not read %zu bytes of its input: poll without chars until "
			"it does, then send at most %zu bytes at a time",
			session->input_size, INPUT_MAX);
		return false;
	}
	input = realloc(session->input, session->input_size + size + 1);
	if (!input) {
		text_put(why, "out of memory");
		return false;
	}
	session->input = input;
	memcpy(input + session->input_size, chars, size);
	session->input_size += size;
	session->ends_input = ends;
	write_input(session);
	watch_input(session);
	return true;
}

static bool write_to(struct toolbox_call call, int64_t id, const char *chars, size_t size,
	const char *line, const struct session_wait *wait, struct text *why)
{
	struct session *session = find_owned(call, id);
	struct waiter *waiter;

	if (!session) {
		text_printf(why, "session_id %lld not found", (long long)id);
		return false;
	}
	waiter = add_waiter(call, session, wait, why);
	if (!waiter)
		return false;
	if (size > 0 && !add_input(session, chars, size, why)) {
		waiter->is_used = false;
		return false;
	}
	session->touched_ms = now_ms();
	snprintf(session->line, sizeof(session->line), "%s", line);
	return true;
}

bool sessions_write(struct toolbox_call call, int64_t id, const char *chars, size_t size,
	const char *line, const struct session_wait *wait, struct text *why)
{
	bool is_written;

	pthread_mutex_lock(&sessions.lock);
	is_written = write_to(call, id, chars, size, line, wait, why);
	pthread_mutex_unlock(&sessions.lock);
	wake_loop();
	return is_written;
}

void sessions_end_all(void)
{
	pthread_mutex_lock(&sessions.lock);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (sessions.items[i].id != 0 && !sessions.items[i].has_ended)
			end_session(&sessions.items[i],
				"\n[session ended: the shell toolbox was changed or reconfigured]");
	pthread_mutex_unlock(&sessions.lock);
	wake_loop();
}
