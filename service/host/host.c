/* SPDX-License-Identifier: Apache-2.0 */
#include "host/host.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/host_inside.h"
#include "host/process.h"

/*
 * Three things are watched: the socket, the process (pidfd), and a timer.
 *
 *   a frame          is news of the call that runs, or its one answer, and behind the last call's
 *                    there is nothing, or the host is killed: until the next INVOKE it has nothing
 *                    to say
 *   the process ends what it had sent before still counts: the socket is read until it is empty,
 *                    then ended() tells the exit status
 *   end of file      comes a moment before the process's end, which will tell the reason; a process
 *                    that lives on HANG_UP_MS later has closed its socket, and is killed
 *   the timer        start_timeout_ms, later HANG_UP_MS or HOST_LEAVE_MS
 *
 * A host that says too much to the bus is held: its socket is not read for a while, and what was
 * read is kept. Then it waits itself, in its own send, and nothing of it is lost.
 *
 * In the steady state a call is one sendmsg, at most one recv, and no allocation: the reader's
 * buffer and the tape that checks a result are used again and again.
 */

#define HANG_UP_MS 100

/* Reads of what a process that is gone has left: more than a socket holds. A child of its that got
 * away could go on for ever. */
#define LEFT_READS_MAX 256

pid_t host_pid(const struct host *host)
{
	return host->pid;
}

/* The leader and its group: a leader may have left its group, its children may be left in it. */
static void kill_all(struct host *host)
{
	if (!host->child)
		return;
	if (host->has_guard) {
		/* Killed, it could not kill the others; stopped by its toolbox, it has to wake up.
		 */
		loop_child_signal(host->child, SIGTERM);
		loop_child_signal(host->child, SIGCONT);
		return;
	}
	loop_child_signal(host->child, SIGKILL);
	kill(-host->pid, SIGKILL);
}

/* Let go of everything but memory. */
static void shut(struct host *host)
{
	kill_all(host);
	loop_child_forget(host->child);
	host->child = NULL;
	loop_source_free(host->source);
	host->source = NULL;
	loop_timer_deinit(&host->timer);
	loop_timer_deinit(&host->hold);
	output_deinit(&host->output);
	if (host->wire >= 0)
		close(host->wire);
	host->wire = -1;
	host->state = HOST_ENDED;
}

void host_free(struct host *host)
{
	if (!host)
		return;
	if (host->freed)
		*host->freed = true;
	shut(host);
	wire_reader_deinit(&host->reader);
	buffer_deinit(&host->unsent);
	buffer_deinit(&host->head);
	json_tape_deinit(&host->tape);
	free(host);
}

void host_end(struct host *host, const struct host_end *why)
{
	shut(host);
	host->handler.ended(host->data, why);
}

void host_end_malformed(struct host *host, const char *what)
{
	host_end(host, &(struct host_end){.reason = HOST_MALFORMED, .message = what});
}

void host_end_killed(struct host *host)
{
	host_end(host, &(struct host_end){.reason = HOST_SIGNALED, .signal = SIGKILL});
}

static void end_by_status(struct host *host, int status)
{
	if (WIFSIGNALED(status))
		host_end(host,
			&(struct host_end){.reason = HOST_SIGNALED, .signal = WTERMSIG(status)});
	else
		host_end(host, &(struct host_end){
				       .reason = HOST_EXITED, .exit_code = WEXITSTATUS(status)});
}

/* Wait for what it says, and for room for what is unsent. */
static int watch(struct host *host)
{
	uint32_t events = (host_is_held(host) ? 0 : (uint32_t)EPOLLIN) |
			  (host->unsent.size > 0 ? (uint32_t)EPOLLOUT : 0);

	return host->source ? loop_source_set_events(host->source, events) : -EPIPE;
}

/* Send what is left; what cannot be sent at all is of no use any more, and its end will show. */
static void flush(struct host *host)
{
	const char *from = host->unsent.data + host->sent;
	size_t left = host->unsent.size - host->sent;
	ssize_t n = send(host->wire, from, left, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	host->sent += n < 0 ? left : (size_t)n;
	if (host->sent < host->unsent.size)
		return;
	buffer_deinit(&host->unsent);
	host->sent = 0;
	watch(host);
}

/* Keep the frame for flush(), but for the @sent bytes of it that are on their way. */
static int keep(struct host *host, const struct wire_header *header, const struct iovec *head,
	const struct iovec *body, size_t sent)
{
	int r;

	wire_write(&host->unsent, (enum wire_kind)header->kind, header->id, head->iov_base,
		head->iov_len, body->iov_base, body->iov_len);
	r = buffer_status(&host->unsent);
	if (r)
		return r;
	host->sent = sent;
	return watch(host);
}

/* Send a frame whose payload is @head, then @body, without copying what the socket takes at once.
 * Only to a host that has the bus anything can be unsent. */
static int transmit(
	struct host *host, enum wire_kind kind, uint64_t id, struct iovec head, struct iovec body)
{
	struct wire_header header = {
		.size = (uint32_t)(head.iov_len + body.iov_len), .kind = kind, .id = id};
	struct iovec parts[] = {{&header, sizeof(header)}, head, body};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
	ssize_t n;

	if (body.iov_len > JSON_SIZE_MAX - head.iov_len)
		return -EMSGSIZE;
	if (host->unsent.size > 0) {
		wire_write(&host->unsent, kind, id, head.iov_base, head.iov_len, body.iov_base,
			body.iov_len);
		return buffer_status(&host->unsent);
	}
	n = sendmsg(host->wire, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return errno == ECONNRESET ? -EPIPE : -errno;
	if (n == (ssize_t)(sizeof(header) + header.size))
		return 0;
	return keep(host, &header, &head, &body, n < 0 ? 0 : (size_t)n);
}

int host_invoke(struct host *host, uint64_t id, const struct host_call *call)
{
	struct wire_invoke invoke = {
		.tool = call->tool,
		.timeout_ms = call->timeout_ms,
		.output_max = (uint32_t)host->reader.payload_max,
		.stderr_max = (uint32_t)host->output.bytes_max,
		.caller_size = (uint32_t)call->caller_size,
	};
	int r;

	if (host->state == HOST_ENDED || !host->child || !host->source)
		return -EPIPE;
	if (host->state == HOST_STARTING || host->n_calls == HOST_CALLS_MAX ||
		host->unsent.size > 0)
		return -EBUSY;
	buffer_reset(&host->head);
	buffer_append(&host->head, &invoke, sizeof(invoke));
	buffer_append(&host->head, call->caller, call->caller_size);
	r = buffer_status(&host->head);
	if (r == 0)
		r = transmit(host, WIRE_INVOKE, id,
			(struct iovec){host->head.data, host->head.size},
			(struct iovec){(void *)call->arguments, call->size});
	if (r)
		return r;
	if (host->n_calls == 0)
		output_begin_call(&host->output);
	host->state = HOST_RUNNING;
	host->calls[host->n_calls++] = id;
	return 0;
}

uint64_t host_current(const struct host *host)
{
	return host->n_calls > 0 ? host->calls[0] : 0;
}

int host_tell(struct host *host, const char *text, size_t size)
{
	if (host->state == HOST_ENDED || !host->child || !host->source || !host->has_bus)
		return -EPIPE;
	if (host->unsent.size - host->sent + size > HOST_UNHEARD_BYTES)
		return -ENOBUFS;
	return transmit(
		host, WIRE_MESSAGE, 0, (struct iovec){NULL, 0}, (struct iovec){(void *)text, size});
}

/* Read once: 0 when something came, -EAGAIN, -ENOMEM, or -EPIPE at the end. */
static int receive(struct host *host)
{
	size_t size;
	char *space = wire_reader_space(&host->reader, &size);
	ssize_t n;

	if (!space)
		return -ENOMEM;
	n = recv(host->wire, space, size, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -EPIPE;
	wire_reader_received(&host->reader, (size_t)n);
	return n > 0 ? 0 : -EPIPE;
}

/* The end of the process should follow at once, and tells why; but not if only the socket ended. */
static void hang_up(struct host *host)
{
	loop_source_free(host->source);
	host->source = NULL;
	loop_timer_arm(&host->timer, HANG_UP_MS);
}

void host_hold(struct host *host, uint64_t hold_ms)
{
	if (!host->child || !host->source)
		return;
	loop_timer_arm(&host->hold, hold_ms);
	watch(host);
}

static void on_hold(void *data)
{
	watch(data);
	host_take_received(data);
}

/* While it is held only its hanging up is heard of; what it had sent before is read then. */
static void on_wire(void *data, uint32_t events)
{
	struct host *host = data;

	if ((events & EPOLLOUT) && host->unsent.size > 0)
		flush(host);
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	switch (receive(host)) {
	case 0:
		host_take_received(host);
		break;
	case -ENOMEM:
		host_end_killed(host);
		break;
	case -EPIPE:
		hang_up(host);
		break;
	}
}

static void on_timer(void *data)
{
	struct host *host = data;

	if (host->state == HOST_DISMISSED)
		host_end(host, &(struct host_end){.reason = HOST_LINGERED});
	else if (host->source)
		host_end(host, &(struct host_end){.reason = HOST_TOO_SLOW});
	else
		host_end_malformed(host, "closed its socket and went on");
}

static void on_exit_status(void *data, int status)
{
	struct host *host = data;
	bool is_freed = false;

	/* What it has left behind; its group keeps the number from being given to others until all
	 * of them are gone. */
	kill(-host->pid, SIGKILL);
	host->child = NULL;
	host->freed = &is_freed;
	loop_timer_disarm(&host->hold);
	for (int i = 0; host_take_received(host) && host->source && i < LEFT_READS_MAX; i++)
		if (receive(host) < 0)
			break;
	if (is_freed)
		return;
	host->freed = NULL;
	if (host->state != HOST_ENDED)
		end_by_status(host, status);
}

void host_dismiss(
	struct host *host, void (*ended)(void *data, const struct host_end *end), void *data)
{
	host->handler = (struct host_handler){.ended = ended};
	host->data = data;
	host->state = HOST_DISMISSED;
	loop_source_free(host->source);
	host->source = NULL;
	loop_timer_disarm(&host->hold);
	/* Its own words it may still send: they are for nobody, and no error to it. */
	shutdown(host->wire, SHUT_WR);
	loop_timer_arm(&host->timer, HOST_LEAVE_MS);
}

/* Put the parts together; what is there of them on failure is host_free's. */
static int set_up(struct host *host, const struct host_options *options)
{
	struct process process;
	int r = loop_timer_init(&host->timer, host->loop, on_timer, host);

	if (r == 0)
		r = loop_timer_init(&host->hold, host->loop, on_hold, host);
	if (r)
		return r;
	r = process_spawn(options->program, options->toolbox_id, options->environment, &process);
	if (r)
		return r;
	host->pid = process.pid;
	host->wire = process.wire;
	r = loop_add_child(host->loop, host->pid, on_exit_status, host, &host->child);
	if (r) {
		close(process.output);
		kill(host->pid, SIGKILL);
		waitpid(host->pid, NULL, 0);
		return r;
	}
	r = output_init(&host->output, host->loop, process.output, options->toolbox_id,
		options->stderr_max);
	if (r)
		return r;
	return loop_add_fd(host->loop, host->wire, EPOLLIN, on_wire, host, &host->source);
}

int host_spawn(struct loop *loop, const struct host_options *options,
	const struct host_handler *handler, void *data, struct host **ret_host)
{
	cleanup(host_cleanup) struct host *host = calloc(1, sizeof(*host));
	struct iovec load = {(void *)options->load, options->load_size};
	int r;

	if (!host)
		return -ENOMEM;
	host->loop = loop;
	host->handler = *handler;
	host->data = data;
	host->wire = -1;
	host->output.fd = -1;
	host->has_guard = options->has_guard;
	host->has_bus = options->has_bus;
	host->reader.payload_max = options->output_max;
	r = set_up(host, options);
	if (r)
		return r;
	r = transmit(host, WIRE_LOAD, 0, (struct iovec){NULL, 0}, load);
	if (r && r != -EPIPE)
		return r;
	loop_timer_arm(&host->timer, options->start_timeout_ms);
	*ret_host = take_ptr(host);
	return 0;
}
