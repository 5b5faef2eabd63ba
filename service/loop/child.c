/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loop/inside.h"
#include "loop/loop.h"
#include "util/assert.h"
#include "util/process/children.h"
#include "util/log.h"

/*
 * Children: each is watched through a pidfd, which becomes readable when the process ends.
 *
 *   loop_add_child ──▶ watched ──ends──▶ reaped, freed, function called
 *                         │
 *                loop_child_forget ──▶ forgotten ──ends──▶ reaped, freed
 *
 * Where the kernel (or valgrind 3.19) has no pidfd_open, SIGCHLD reports the end of some child, and
 * on_sigchld() asks each child. Signals of one kind merge, so a signal never means one certain
 * child.
 *
 * Orphans, made children by loop_adopt(), are not watched: SIGCHLD makes the loop look at the list
 * of all children.
 *
 *   a child ends ──SIGCHLD──▶ each unwatched child ──┬─ has ended  ─▶ reaped
 *                                                    └─ a leftover ─▶ killed
 *
 * The kernel moves the children of an ending process to us before it sends the SIGCHLD. So each
 * killed leftover shows its own leftovers.
 */

/* Looks at the leftovers when the loop is freed, one each millisecond. */
#define LOOKS_MAX 100

struct loop_child {
	struct loop *loop;
	struct loop_child *next;
	pid_t pid;
	int fd; /* pidfd, or -1 */
	struct loop_source *source;
	loop_child_function function; /* NULL: forgotten */
	void *data;
	struct loop_timer timer; /* it is killed then */
};

static void unlink_child(struct loop_child *child)
{
	struct loop_child **link = &child->loop->children;

	while (*link && *link != child)
		link = &(*link)->next;
	if (*link)
		*link = child->next;
}

/* Free a child on no list. */
static void free_child(struct loop_child *child)
{
	loop_source_free(child->source);
	loop_timer_deinit(&child->timer);
	if (child->fd >= 0)
		close(child->fd);
	free(child);
}

/* If the child has ended, reap and free it, call its function and return true. */
static bool reap_child(struct loop_child *child)
{
	loop_child_function function = child->function;
	void *data = child->data;
	int status = 0;
	pid_t pid = waitpid(child->pid, &status, WNOHANG);

	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	unlink_child(child);
	free_child(child);
	if (function)
		function(data, status);
	return true;
}

static void on_pidfd(void *data, uint32_t events)
{
	(void)events;
	reap_child(data);
}

static bool is_watched(const struct loop *loop, pid_t pid)
{
	const struct loop_child *child = loop->children;

	while (child && child->pid != pid)
		child = child->next;
	return child;
}

struct judgement {
	const struct loop *loop;
	int n_leftovers;
};

/* Kill a leftover, and reap an ended child. Until then no other process can have its pid. */
static void judge_child(void *data, pid_t pid)
{
	struct judgement *judgement = data;

	if (is_watched(judgement->loop, pid))
		return;
	if (judgement->loop->is_leftover(pid)) {
		kill(pid, SIGKILL);
		judgement->n_leftovers++;
	}
	waitpid(pid, NULL, WNOHANG);
}

/* Judge the unwatched children. Return the number of leftovers. */
static int judge_children(const struct loop *loop)
{
	struct judgement judgement = {.loop = loop};
	int r = children_visit(judge_child, &judgement);

	if (r < 0)
		log_warning("Processes that were left cannot be listed: %s", strerror(-r));
	return judgement.n_leftovers;
}

/* Reap each child that has ended. A callback may free or add children, so the walk begins anew
 * after each. */
static void on_sigchld(void *data, int signal)
{
	struct loop *loop = data;
	struct loop_child *child = loop->children;

	(void)signal;
	while (child) {
		struct loop_child *next = child->next;

		if (child->fd < 0 && reap_child(child))
			next = loop->children;
		child = next;
	}
	if (loop->is_leftover)
		judge_children(loop);
}

/* Take SIGCHLD. A child may have ended before that signal was ours to take, so raise one. */
static int watch_signal(struct loop *loop)
{
	int r = loop_add_signal(loop, SIGCHLD, on_sigchld, loop);

	if (r < 0 && r != -EEXIST)
		return r;
	return raise(SIGCHLD) == 0 ? 0 : -errno;
}

static int watch_child(struct loop_child *child)
{
	child->fd = pidfd_open(child->pid, 0);
	if (child->fd >= 0)
		return loop_add_fd(
			child->loop, child->fd, EPOLLIN, on_pidfd, child, &child->source);
	return errno == ENOSYS ? watch_signal(child->loop) : -errno;
}

/* Kill the present leftovers, and their leftovers. */
static void end_leftovers(struct loop *loop)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; i < LOOKS_MAX && judge_children(loop) > 0; i++)
		nanosleep(&pause, NULL);
}

static void close_children(struct loop *loop)
{
	struct loop_child *child = loop->children;

	if (loop->is_leftover)
		end_leftovers(loop);
	while (child) {
		struct loop_child *next = child->next;

		free_child(child);
		child = next;
	}
}

/* Only we reap the child, and until then no other process can have its pid. */
int loop_child_signal(struct loop_child *child, int signal)
{
	int r = child->fd >= 0 ? pidfd_send_signal(child->fd, signal, NULL, 0)
			       : kill(child->pid, signal);

	return r < 0 ? -errno : 0;
}

static void kill_late(void *data)
{
	loop_child_signal(data, SIGKILL);
}

int loop_add_child(struct loop *loop, pid_t pid, loop_child_function function, void *data,
	struct loop_child **ret_child)
{
	struct loop_child *child;
	int r;

	if (pid <= 0)
		return -EINVAL; /* to waitpid(2) it would mean a group, or any child */
	child = malloc(sizeof(*child));
	if (!child)
		return -ENOMEM;
	*child = (struct loop_child){
		.loop = loop, .pid = pid, .fd = -1, .function = function, .data = data};
	r = loop_timer_init(&child->timer, loop, kill_late, child);
	r = r ? r : watch_child(child);
	if (r) {
		free_child(child);
		return r;
	}
	loop->close_children = close_children;
	child->next = loop->children;
	loop->children = child;
	*ret_child = child;
	return 0;
}

void loop_child_forget(struct loop_child *child)
{
	if (child)
		child->function = NULL;
}

void loop_child_kill_after(struct loop_child *child, uint64_t timeout_ms)
{
	loop_timer_arm(&child->timer, timeout_ms);
}

int loop_adopt(struct loop *loop, bool (*is_leftover)(pid_t pid))
{
	/* A parent ignoring SIGCHLD gets none. */
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	check(is_leftover && !loop->is_leftover);
	loop->is_leftover = is_leftover;
	loop->close_children = close_children;
	return watch_signal(loop);
}
