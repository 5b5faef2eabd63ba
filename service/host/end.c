/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/parts.h"
#include "util/thread.h"

/* A host ends once: with the first reason, with all processes of its group, and with one call of
 * ended(). Its memory is left to host_free(). */

static void *close_beside(void *data)
{
	close((int)(intptr_t)data);
	return NULL;
}

/* In a thread for each, since one that waits holds up no other. Without a thread it is closed
 * here. */
void host_close_later(int fd)
{
	pthread_t thread;

	if (thread_start(&thread, close_beside, (void *)(intptr_t)fd) < 0)
		close(fd);
	else
		pthread_detach(thread);
}

/* Close @wire: beside the loop if something was not read. */
static void close_wire(int wire)
{
	int size = 0;

	/* Nothing more can be sent from here on. */
	shutdown(wire, SHUT_RD);
	if (ioctl(wire, FIONREAD, &size) < 0 || size > 0)
		host_close_later(wire);
	else
		close(wire);
}

/* Kill the leader and its group: a leader may have left its group, and children may be left in
 * it. */
static void kill_all(struct host *host)
{
	if (!host->child)
		return;
	if (host->has_guard) {
		/* A killed guard could not kill the others; a guard stopped by its toolbox must
		 * wake up. The toolbox may stop it again: then its processes are leftovers of
		 * ours (loop_adopt()). */
		loop_child_signal(host->child, SIGTERM);
		loop_child_signal(host->child, SIGCONT);
		loop_child_kill_after(host->child, HOST_GUARD_MS);
		return;
	}
	loop_child_signal(host->child, SIGKILL);
	kill(-host->pid, SIGKILL);
}

/* End the process and give back everything but memory. */
static void shut_host(struct host *host)
{
	host_move(host, HOST_ENDED);
	kill_all(host);
	loop_child_forget(host->child);
	host->child = NULL;
	loop_source_free(host->source);
	host->source = NULL;
	loop_source_free(host->wakes);
	host->wakes = NULL;
	ring_deinit(&host->ring);
	host_close_listener(host);
	loop_timer_deinit(&host->timer);
	loop_timer_deinit(&host->hold);
	loop_task_cancel(&host->sending);
	output_deinit(&host->output);
	if (host->wire >= 0)
		close_wire(host->wire);
	host->wire = -1;
}

void host_free_memory(struct host *host)
{
	wire_reader_deinit(&host->reader);
	wire_reader_deinit(&host->answers);
	buffer_deinit(&host->unsent);
	buffer_deinit(&host->head);
	json_tape_deinit(&host->tape);
	free(host);
}

void host_free(struct host *host)
{
	if (!host)
		return;
	if (host->state != HOST_ENDED)
		shut_host(host);
	host->is_freed = true;
	if (host->n_inside == 0)
		host_free_memory(host);
}

void host_end(struct host *host, const struct host_exit *exit)
{
	char refused[REFUSAL_TEXT_BYTES];
	char printed[OUTPUT_LINE_BYTES + 1];
	struct host_exit whole = *exit;

	memcpy(refused, host->refused, sizeof(refused));
	whole.refused = *refused ? refused : NULL;
	output_finish(&host->output);
	memcpy(printed, host->output.line, host->output.last_size);
	printed[host->output.last_size] = '\0';
	whole.printed = host->output.last_size > 0 ? printed : NULL;
	shut_host(host);
	host->handler.ended(host->data, &whole);
}

void host_end_malformed(struct host *host, const char *text)
{
	host_end(host, &(struct host_exit){.reason = HOST_MALFORMED, .message = text});
}

void host_end_killed(struct host *host)
{
	host_end(host, &(struct host_exit){.reason = HOST_SIGNALED, .signal = SIGKILL});
}

void host_end_by_status(struct host *host, int status)
{
	if (WIFSIGNALED(status))
		host_end(host,
			&(struct host_exit){.reason = HOST_SIGNALED, .signal = WTERMSIG(status)});
	else
		host_end(host, &(struct host_exit){
				       .reason = HOST_EXITED, .exit_code = WEXITSTATUS(status)});
}

void host_describe_exit(const struct host_exit *exit, char *ret_text, size_t size)
{
	size_t length;

	switch (exit->reason) {
	case HOST_EXITED:
		snprintf(ret_text, size, "its host ended with exit status %d", exit->exit_code);
		break;
	case HOST_SIGNALED:
		snprintf(ret_text, size, "its host died (%s)", host_signal_name(exit->signal));
		break;
	case HOST_MALFORMED:
		snprintf(ret_text, size, "its host sent a malformed frame: %s",
			exit->message ? exit->message : "no reason given");
		break;
	case HOST_TOO_LARGE:
		snprintf(ret_text, size, "its host sent %zu bytes, %zu are allowed", exit->actual,
			exit->max);
		break;
	case HOST_REFUSED:
		snprintf(ret_text, size, "it cannot be loaded: %s", exit->message);
		break;
	case HOST_TOO_SLOW:
		snprintf(ret_text, size, "its host did not start in time");
		break;
	case HOST_LINGERED:
		snprintf(ret_text, size, "its host was killed because it took more than %d ms",
			HOST_DISMISS_MS);
		break;
	}
	length = strlen(ret_text);
	if (exit->refused)
		snprintf(ret_text + length, size - length, HOST_REFUSED_FORMAT, exit->refused);
}
