/* SPDX-License-Identifier: Apache-2.0 */
#include "host/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* The size of one read: a toolbox that floods takes turns with the others. */
#define CHUNK_BYTES 16384

/* The lines that one host may log at once, and every ten seconds: the tracebacks of a few mistakes,
 * for their author. */
#define LINES_BURST 100

static void log_line(struct output *output)
{
	/* A NUL would end the line for the log. */
	for (size_t i = 0; i < output->line_size; i++)
		if (output->line[i] == '\0')
			output->line[i] = '?';
	if (output->tail)
		output_tail_add(output->tail, output->line, output->line_size);
	log_limited(&output->rate, LOG_LEVEL_INFO, "toolbox '%s': %.*s", output->toolbox_id,
		(int)output->line_size, output->line);
}

static void end_line(struct output *output)
{
	if (output->line_size == 0)
		return;
	log_line(output);
	output->last_size = output->line_size;
	output->line_size = 0;
}

/* Log that the rest is not logged, once per call. */
static void cut_output(struct output *output)
{
	end_line(output);
	if (!output->is_cut)
		log_info("toolbox '%s': more than %zu bytes of output in one call: the rest is not "
			 "logged",
			output->toolbox_id, output->bytes_max);
	output->is_cut = true;
}

static void take_bytes(struct output *output, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (output->bytes++ >= output->bytes_max) {
			cut_output(output);
			return;
		}
		if (bytes[i] == '\n') {
			end_line(output);
			continue;
		}
		if (output->line_size == OUTPUT_LINE_BYTES)
			end_line(output);
		output->line[output->line_size++] = bytes[i];
	}
}

static void stop_watching(struct output *output)
{
	loop_source_free(output->source);
	output->source = NULL;
}

/* Read once. Returns false when nothing is there, or at the end of the pipe. */
static bool read_some(struct output *output)
{
	char bytes[CHUNK_BYTES];
	ssize_t got = read(output->fd, bytes, sizeof(bytes));

	if (got > 0) {
		take_bytes(output, bytes, (size_t)got);
		return true;
	}
	if (got == 0 || (errno != EAGAIN && errno != EINTR))
		stop_watching(output);
	return false;
}

static void on_output(void *data, uint32_t events)
{
	(void)events;
	read_some(data);
}

int output_init(struct output *output, struct loop *loop, int fd, const char *toolbox_id,
	struct output_tail *tail, size_t bytes_max)
{
	*output = (struct output){
		.fd = fd, .tail = tail, .bytes_max = bytes_max, .rate = {.burst = LINES_BURST}};
	output->toolbox_id = strdup(toolbox_id);
	if (!output->toolbox_id)
		return -ENOMEM;
	return loop_add_fd(loop, fd, EPOLLIN, on_output, output, &output->source);
}

void output_finish(struct output *output)
{
	if (output->source)
		while (output->bytes < output->bytes_max && read_some(output))
			;
	if (output->toolbox_id)
		end_line(output);
}

void output_deinit(struct output *output)
{
	output_finish(output);
	stop_watching(output);
	if (output->fd >= 0)
		close(output->fd);
	free(output->toolbox_id);
	*output = (struct output){.fd = -1};
}
