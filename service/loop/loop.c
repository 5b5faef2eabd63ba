/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/loop.h"

#include <errno.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "loop/inside.h"
#include "util/log.h"

/*
 * The loop itself: the libwebsockets context, the epoll set that it serves as one raw file, and the
 * sources in that set.
 *
 *   poll() in lws_service ──▶ RAW_RX_FILE ──▶ epoll_wait(…, 0) ──▶ one batch of events
 *                                                                    │ each: is its source alive?
 *                                                                    ▼ yes
 *                                                                  function(data, events)
 *
 * A callback may free a source that has an event further back in the same batch. The set forgets
 * the descriptor at once, but the batch was already fetched: loop_source_free() therefore looks
 * through it and clears the event.
 *
 * An event that does not fit in the batch is not lost: everything is level-triggered, so the set
 * stays readable and poll() returns at once.
 */

/* Bytes of one read for libwebsockets; sizes from 4 kB to 256 kB differ by less than 15%. */
#define LOOP_SERVICE_BUFFER_BYTES (64u << 10)

static struct log_rate lws_log_rate;

/* libwebsockets' own words end in a line feed. They are ours to limit: peers can provoke them. */
static void log_lws_line(int level, const char *line)
{
	size_t length = strcspn(line, "\n");

	log_limited(&lws_log_rate, level == LLL_ERR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
		"libwebsockets: %.*s", (int)length, line);
}

static void serve_batch(struct loop *loop)
{
	int count = epoll_wait(loop->epoll_fd, loop->batch, LOOP_BATCH_EVENTS, 0);

	loop->batch_count = count > 0 ? count : 0;
	for (int i = 0; i < loop->batch_count; i++) {
		struct loop_source *source = loop->batch[i].data.ptr;

		loop->batch[i].data.ptr = NULL;
		if (source)
			source->function(source->data, loop->batch[i].events);
	}
	loop->batch_count = 0;
}

static int on_lws(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
	(void)user;
	(void)in;
	(void)size;
	if (reason == LWS_CALLBACK_RAW_RX_FILE)
		serve_batch(lws_context_user(lws_get_context(wsi)));
	return 0;
}

/* Of the process, as OpenSSL's state is. */
static bool wants_tls;

void loop_want_tls(void)
{
	wants_tls = true;
}

static const struct lws_protocols loop_protocols[] = {
	{.name = "loop", .callback = on_lws},
	{0},
};

/* No vhost of its own making: each layer brings the one it needs. */
static struct lws_context *create_context(struct loop *loop, unsigned int fd_max)
{
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
			   (wants_tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0),
		.fd_limit_per_thread = fd_max,
		.pt_serv_buf_size = LOOP_SERVICE_BUFFER_BYTES,
		.user = loop,
	};

	lws_set_log_level(LLL_ERR | LLL_WARN, log_lws_line);
	return lws_create_context(&info);
}

/* Let libwebsockets serve the epoll set, as a file that is only ever read (a raw file loses write
 * requests in 4.1.6). */
static int adopt_epoll(struct loop *loop)
{
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.vhost_name = "loop",
		.http_proxy_address = LOOP_NO_PROXY,
		.protocols = loop_protocols,
	};
	lws_sock_file_fd_type fd = {.filefd = loop->epoll_fd};
	struct lws_vhost *vhost = lws_create_vhost(loop->lws, &info);

	if (!vhost)
		return -ENOMEM;
	if (!lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, fd, "loop", NULL))
		return -ENOMEM;
	return 0;
}

int loop_new(unsigned int fd_max, struct loop **ret_loop)
{
	cleanup(loop_cleanup) struct loop *loop = calloc(1, sizeof(*loop));
	int error;

	if (!loop)
		return -ENOMEM;
	loop->timers.fd = -1;
	loop_signals_open(loop);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return -errno;
	error = loop_timers_open(loop);
	if (error)
		return error;
	loop->lws = create_context(loop, fd_max);
	if (!loop->lws)
		return -ENOMEM;
	error = adopt_epoll(loop);
	if (error)
		return error;
	*ret_loop = take_ptr(loop);
	return 0;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	if (loop->serves_log) {
		loop_source_free(loop->log_source);
		log_finish();
	}
	loop_children_close(loop);
	loop_signals_close(loop);
	loop_timers_close(loop);
	if (loop->lws)
		lws_context_destroy(loop->lws);
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	free(loop);
}

static void on_log_writable(void *data, uint32_t events)
{
	struct loop *loop = data;

	(void)events;
	if (log_flush())
		loop_source_free(take_ptr(loop->log_source));
}

/* Where it cannot be watched, the next line tries again. */
static void on_log_waits(void *data)
{
	struct loop *loop = data;

	if (!loop->log_source)
		loop_add_fd(loop, log_fd(), EPOLLOUT, on_log_writable, loop, &loop->log_source);
}

void loop_serve_log(struct loop *loop)
{
	loop->serves_log = true;
	log_defer(on_log_waits, loop);
}

struct lws_context *loop_lws(struct loop *loop)
{
	return loop->lws;
}

static void on_run_timeout(void *data)
{
	struct loop *loop = data;

	loop->is_timed_out = true;
}

static int serve(struct loop *loop)
{
	while (!loop->is_stopped && !loop->is_timed_out)
		if (lws_service(loop->lws, 0) < 0)
			return -EIO;
	return loop->is_stopped ? 0 : -ETIME;
}

int loop_run(struct loop *loop, int timeout_ms)
{
	struct loop_timer timer = {0};
	int error;

	loop->is_timed_out = false;
	error = loop_timer_init(&timer, loop, on_run_timeout, loop);
	if (error)
		return error;
	if (timeout_ms >= 0)
		loop_timer_arm(&timer, (uint64_t)timeout_ms);
	error = serve(loop);
	loop_timer_deinit(&timer);
	loop->is_stopped = false;
	return error;
}

void loop_stop(struct loop *loop)
{
	loop->is_stopped = true;
}

static int control(struct loop_source *source, int operation, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = source};

	if (epoll_ctl(source->loop->epoll_fd, operation, source->fd, &event) < 0)
		return -errno;
	return 0;
}

int loop_add_fd(struct loop *loop, int fd, uint32_t events, loop_fd_function function, void *data,
	struct loop_source **ret_source)
{
	cleanup_free struct loop_source *source = malloc(sizeof(*source));
	int error;

	if (!source)
		return -ENOMEM;
	*source = (struct loop_source){.loop = loop, .fd = fd, .function = function, .data = data};
	error = control(source, EPOLL_CTL_ADD, events);
	if (error)
		return error;
	*ret_source = take_ptr(source);
	return 0;
}

int loop_source_set_events(struct loop_source *source, uint32_t events)
{
	return control(source, EPOLL_CTL_MOD, events);
}

void loop_source_free(struct loop_source *source)
{
	if (!source)
		return;
	for (int i = 0; i < source->loop->batch_count; i++)
		if (source->loop->batch[i].data.ptr == source)
			source->loop->batch[i].data.ptr = NULL;
	control(source, EPOLL_CTL_DEL, 0);
	free(source);
}
