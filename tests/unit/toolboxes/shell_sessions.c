/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sessions.h"

/* Sessions of a shell whose time passes when a test lets it. */

#ifdef TEST_CLOCK

#define MINUTE_S 60

static atomic_long ahead_s;

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = __real_clock_gettime(clock, ret);

	ret->tv_sec += atomic_load(&ahead_s);
	return r;
}

/* ── the host ────────────────────────────────────────────────────────────────────────────────── */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int n_replies;
	bool is_in_use;
	char text[4096]; /* the last answer */
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static const char *caller(struct toolbox_call call, enum toolbox_caller what)
{
	(void)call;
	return what == TOOLBOX_CALLER_IDENTITY ? "me" : "session";
}

static uint32_t ms_left(struct toolbox_call call)
{
	(void)call;
	return UINT32_MAX;
}

static int keep(struct toolbox_call call)
{
	(void)call;
	return TOOLBOX_OK;
}

static int open_value(struct toolbox_call call, const char *key)
{
	(void)call;
	(void)key;
	return TOOLBOX_OK;
}

static int put_string(struct toolbox_call call, const char *key, const char *text, size_t size)
{
	(void)call;
	(void)size;
	if (strcmp(key, "text") == 0)
		snprintf(seen.text, sizeof(seen.text), "%s", text);
	return TOOLBOX_OK;
}

static int put_json(struct toolbox_call call, const char *key, const char *json, size_t size)
{
	(void)size;
	(void)json;
	return open_value(call, key);
}

static int reply(struct toolbox_call call)
{
	(void)call;
	pthread_mutex_lock(&seen.lock);
	seen.n_replies++;
	pthread_cond_broadcast(&seen.changed);
	pthread_mutex_unlock(&seen.lock);
	return TOOLBOX_OK;
}

static int fail(struct toolbox_call call, const char *text)
{
	snprintf(seen.text, sizeof(seen.text), "%s", text);
	return reply(call);
}

static int use(struct toolbox_call call, bool is_in_use)
{
	(void)call;
	pthread_mutex_lock(&seen.lock);
	seen.is_in_use = is_in_use;
	pthread_cond_broadcast(&seen.changed);
	pthread_mutex_unlock(&seen.lock);
	return TOOLBOX_OK;
}

static const struct toolbox_host host = {
	.api_version = TOOLBOX_API_VERSION,
	.size = sizeof(host),
	.caller = caller,
	.ms_left = ms_left,
	.keep = keep,
	.put_string = put_string,
	.put_json = put_json,
	.open_object = open_value,
	.open_array = open_value,
	.close = keep,
	.reply = reply,
	.fail = fail,
	.use = use,
};

static const struct toolbox_call call = {.host = &host, .id = 1};
static const struct session_wait at_once = {.tool = "write_stdin", .chars_max = 2000};

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

/* Wait for the answer number @n. */
static const char *answer(unsigned int n)
{
	pthread_mutex_lock(&seen.lock);
	while (seen.n_replies < n)
		pthread_cond_wait(&seen.changed, &seen.lock);
	pthread_mutex_unlock(&seen.lock);
	return seen.text;
}

/* Begin a session that runs @command, and return its id. */
static int64_t begin(const char *command)
{
	char *const argv[] = {"/bin/sh", "-c", (char *)command, NULL};
	const char *id;
	struct text why = {0};

	cr_assert(sessions_init(call));
	cr_assert(sessions_begin(call, argv, command, "/", false, &at_once, &why), "%s",
		text_string(&why));
	id = strstr(answer(1), "session ID ");
	cr_assert(id, "%s", seen.text);
	return atoll(id + strlen("session ID "));
}

static const char *poll_session(int64_t id)
{
	unsigned int n = seen.n_replies;
	struct text why = {0};

	cr_assert(sessions_write(call, id, "", 0, "", &at_once, &why), "%s", text_string(&why));
	return answer(n + 1);
}

/* Let @minutes pass once the loop is through with the last answer, and the loop notice it. */
static void pass(long minutes)
{
	struct text why = {0};
	char line[SESSION_LINE_BYTES + 1];
	char *none;

	cr_assert_not(sessions_find(call, 0, &none, line));
	atomic_fetch_add(&ahead_s, minutes * MINUTE_S);
	cr_assert_not(sessions_write(call, 0, "", 0, "", &at_once, &why));
	text_free(&why);
}

static void wait_until_unused(void)
{
	pthread_mutex_lock(&seen.lock);
	while (seen.is_in_use)
		pthread_cond_wait(&seen.changed, &seen.lock);
	pthread_mutex_unlock(&seen.lock);
}

/* Wait for the end of a child, which stays a zombie. */
static void wait_for_end(pid_t pid)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

	cr_assert_geq(end.fd, 0);
	cr_assert_eq(poll(&end, 1, -1), 1);
	close(end.fd);
}

TestSuite(shell_sessions, .timeout = 60);

Test(shell_sessions, that_nobody_calls_for_half_an_hour_are_ended)
{
	int64_t id = begin("echo pid $$; exec sleep 1000");
	const char *pid;

	while (!(pid = strstr(seen.text, "pid ")))
		poll_session(id);
	for (int i = 0; i < 3; i++) {
		pass(29);
		cr_assert(strstr(poll_session(id), "Process running"), "%s", seen.text);
	}
	pass(30);
	wait_for_end(atoi(pid + strlen("pid ")));
	cr_expect(strstr(poll_session(id), "nobody has used it for 30 minutes"), "%s", seen.text);
	cr_expect(strstr(seen.text, "exited with code -1"), "%s", seen.text);
	wait_until_unused();
}

Test(shell_sessions, that_have_ended_keep_their_output_for_half_an_hour)
{
	int64_t id = begin("read line; echo much more than an answer has");
	struct text why = {0};
	char line[SESSION_LINE_BYTES + 1];
	char *command;
	const struct session_wait short_answer = {.tool = "write_stdin", .chars_max = 1};

	cr_assert(sessions_write(call, id, "\n", 1, "", &short_answer, &why));
	/* The half hour begins when the loop has noticed the end of the program. */
	while (sessions_find(call, id, &command, line)) {
		free(command);
		pass(30);
	}
	wait_until_unused();
}

#endif
