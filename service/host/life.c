/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/parts.h"
#include "host/process.h"
#include "util/environment.h"

/*
 * The life of a host: its process is started and given its environment and LOAD; later it is
 * dismissed, exits, or is ended by its timer.
 *
 * A host that sends too much to the bus, or has too many calls refused, is held: its socket and its
 * ring are not read for a while, and what was read is kept. Then the host itself waits, in its own
 * send, and nothing is lost.
 */

/* The reads after a process has ended: more than a socket holds. A child that it has left could go
 * on sending for ever. */
#define LEFT_READS_MAX 256

const char *host_note(const struct host *host, uint64_t since_ns)
{
	return host->note[0] && host->noted_ns >= since_ns ? host->note : NULL;
}

bool host_is_in_use(const struct host *host)
{
	return host->is_in_use;
}

static void on_hold(void *data)
{
	host_watch_wire(data);
	host_take_ring(data);
}

static void on_timer(void *data)
{
	struct host *host = data;

	if (host->state == HOST_DISMISSED)
		host_end(host, &(struct host_exit){.reason = HOST_LINGERED});
	else if (host->is_failed)
		host_end_killed(host);
	else if (host->source && host->state == HOST_STARTING)
		host_end(host, &(struct host_exit){.reason = HOST_TOO_SLOW});
	else if (host->source)
		host_end_malformed(host, "did not end a call that was cancelled");
	else
		host_end_malformed(host, "closed its socket and kept running");
}

static void on_exit_status(void *data, int status)
{
	struct host *host = data;

	/* Kill the leftover processes: as long as the group has members, no other process group
	 * gets its number. */
	kill(-host->pid, SIGKILL);
	host->child = NULL;
	host_enter(host);
	loop_timer_disarm(&host->hold);
	host_take_ring(host);
	for (int i = 0; host_take_received(host) && host->source && i < LEFT_READS_MAX; i++)
		if (host_receive(host) < 0)
			break;
	if (host_leave(host) && host->state != HOST_ENDED)
		host_end_by_status(host, status);
}

void host_dismiss(
	struct host *host, void (*ended)(void *data, const struct host_exit *exit), void *data)
{
	host_move(host, HOST_DISMISSED);
	host->handler = (struct host_handler){.ended = ended};
	host->data = data;
	loop_source_free(host->source);
	host->source = NULL;
	loop_source_free(host->wakes);
	host->wakes = NULL;
	loop_timer_disarm(&host->hold);
	/* The host may still send: its frames are not read, and it gets no error. */
	shutdown(host->wire, SHUT_WR);
	loop_timer_arm(&host->timer, HOST_DISMISS_MS);
}

/* Start the process and watch it. On failure host_free frees the parts that are there. */
static int set_up(struct host *host, const struct host_options *options)
{
	struct process process;
	int r = loop_timer_init(&host->timer, host->loop, on_timer, host);

	loop_task_init(&host->sending, host->loop, host_send_gathered, host);
	if (r == 0)
		r = loop_timer_init(&host->hold, host->loop, on_hold, host);
	if (r)
		return r;
	r = options->has_ring ? ring_init(&host->ring) : 0;
	r = r ? r
	      : process_spawn(options->program, options->toolbox_id, options->libraries,
			&host->ring, &process);
	if (r)
		return r;
	host->pid = process.pid;
	host->wire = process.wire;
	/* It starts nothing before it has read LOAD. */
	if (options->yields)
		process_yield(host->pid);
	r = loop_add_child(host->loop, host->pid, on_exit_status, host, &host->child);
	if (r) {
		close(process.output);
		kill(host->pid, SIGKILL);
		waitpid(host->pid, NULL, 0);
		return r;
	}
	r = output_init(&host->output, host->loop, process.output, options->toolbox_id,
		options->tail, options->stderr_max);
	if (r)
		return r;
	return host_watch(host);
}

static int transmit_environment(struct host *host, const char *environment)
{
	struct iovec text = {(void *)environment, environment_size(environment)};

	if (environment_count(environment) == 0)
		return 0;
	return host_transmit(host, WIRE_ENVIRONMENT, 0, (struct iovec){NULL, 0}, text);
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
	host->listener = -1;
	host->output.fd = -1;
	host->carries = options->carries;
	host->calls_max = options->carries ? HOST_CARRIED_MAX : HOST_CALLS_MAX;
	host->has_guard = options->has_guard;
	host->has_bus = options->has_bus;
	host->reader.payload_max = options->output_max;
	host->answers.payload_max =
		options->output_max < RING_BYTES ? options->output_max : RING_BYTES;
	host->values_max = options->values_max;
	r = set_up(host, options);
	if (r)
		return r;
	r = transmit_environment(host, options->environment);
	r = r ? r : host_transmit(host, WIRE_LOAD, 0, (struct iovec){NULL, 0}, load);
	if (r && r != -EPIPE)
		return r;
	check(handler->ended && (!options->has_bus || handler->bus_message));
	loop_timer_arm(&host->timer, options->start_timeout_ms);
	*ret_host = take_ptr(host);
	return 0;
}
