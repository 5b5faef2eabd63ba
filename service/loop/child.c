/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop/inside.h"
#include "loop/loop.h"

/*
 * Children: each is watched through a pidfd, which becomes readable when the process ends.
 *
 *   loop_add_child ──▶ watched ──ends──▶ reaped, freed, function called
 *                         │
 *                loop_child_forget ──▶ forgotten ──ends──▶ reaped, freed
 *
 * Where the kernel (or valgrind 3.19) has no pidfd_open, SIGCHLD tells that some child has ended,
 * and each is asked. Signals of one kind merge, so it is never taken for one certain child.
 */

struct loop_child {
	struct loop *loop;
	struct loop_child *next;
	pid_t pid;
	int fd; /* pidfd, or -1 */
	struct loop_source *source;
	loop_child_function function; /* NULL: forgotten */
	void *data;
};

static void child_unlink(struct loop_child *child)
{
	struct loop_child **link = &child->loop->children;

	while (*link && *link != child)
		link = &(*link)->next;
	if (*link)
		*link = child->next;
}

/* Of one that is on no list. */
static void child_free(struct loop_child *child)
{
	loop_source_free(child->source);
	if (child->fd >= 0)
		close(child->fd);
	free(child);
}

/* Reap the child if it has ended, and tell. Whether it had. */
static bool reap(struct loop_child *child)
{
	loop_child_function function = child->function;
	void *data = child->data;
	int status = 0;
	pid_t pid = waitpid(child->pid, &status, WNOHANG);

	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	child_unlink(child);
	child_free(child);
	if (function)
		function(data, status);
	return true;
}

static void on_pidfd(void *data, uint32_t events)
{
	(void)events;
	reap(data);
}

/* A callback may free or add children, so after each one the list is looked at from its start. */
static void on_sigchld(void *data, int signal)
{
	struct loop *loop = data;
	struct loop_child *child = loop->children;

	(void)signal;
	while (child) {
		struct loop_child *next = child->next;

		if (child->fd < 0 && reap(child))
			next = loop->children;
		child = next;
	}
}

/* The child may have ended before SIGCHLD was ours to take: one is raised for it. */
static int watch_by_signal(struct loop_child *child)
{
	int error = loop_add_signal(child->loop, SIGCHLD, on_sigchld, child->loop);

	if (error && error != -EEXIST)
		return error;
	return raise(SIGCHLD) == 0 ? 0 : -errno;
}

static int watch(struct loop_child *child)
{
	child->fd = pidfd_open(child->pid, 0);
	if (child->fd >= 0)
		return loop_add_fd(
			child->loop, child->fd, EPOLLIN, on_pidfd, child, &child->source);
	return errno == ENOSYS ? watch_by_signal(child) : -errno;
}

int loop_add_child(struct loop *loop, pid_t pid, loop_child_function function, void *data,
	struct loop_child **ret_child)
{
	struct loop_child *child;
	int error;

	if (pid <= 0)
		return -EINVAL; /* to waitpid(2) it would mean a group, or anybody */
	child = malloc(sizeof(*child));
	if (!child)
		return -ENOMEM;
	*child = (struct loop_child){
		.loop = loop, .pid = pid, .fd = -1, .function = function, .data = data};
	error = watch(child);
	if (error) {
		child_free(child);
		return error;
	}
	child->next = loop->children;
	loop->children = child;
	*ret_child = child;
	return 0;
}

/* Until it is reaped, which only we do, its pid cannot belong to anybody else. */
int loop_child_signal(struct loop_child *child, int signal)
{
	int result = child->fd >= 0 ? pidfd_send_signal(child->fd, signal, NULL, 0)
				    : kill(child->pid, signal);

	return result < 0 ? -errno : 0;
}

void loop_child_forget(struct loop_child *child)
{
	if (child)
		child->function = NULL;
}

void loop_children_close(struct loop *loop)
{
	struct loop_child *child = loop->children;

	while (child) {
		struct loop_child *next = child->next;

		child_free(child);
		child = next;
	}
	loop->children = NULL;
}
