/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/loop.h"

#include <errno.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "loop/inside.h"
#include "util/assert.h"
#include "util/log.h"

/*
 * The loop itself: the libwebsockets context, and the epoll set that it serves as one raw file.
 *
 *   poll() in lws_service ──▶ RAW_RX_FILE ──▶ loop_serve_batch (loop/source.c)
 */

/* Bytes of one read for libwebsockets; sizes from 4 kB to 256 kB differ by less than 15%. */
#define LOOP_SERVICE_BUFFER_BYTES (64u << 10)

static struct log_rate lws_log_rate;

/* A line of libwebsockets' own log, which ends in a line feed. Peers can provoke such lines, so
 * their rate is limited. */
static void log_lws_line(int level, const char *line)
{
	size_t length = strcspn(line, "\n");

	log_limited(&lws_log_rate, level == LLL_ERR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
		"libwebsockets: %.*s", (int)length, line);
}

static int on_lws(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
	(void)user;
	(void)in;
	(void)size;
	if (reason == LWS_CALLBACK_RAW_RX_FILE)
		loop_serve_batch(lws_context_user(lws_get_context(wsi)));
	return 0;
}

/* Both belong to the process, as the state of OpenSSL does. */
static bool wants_tls;
static bool has_context;

void loop_want_tls(void)
{
	check(!has_context);
	wants_tls = true;
}

static const struct lws_protocols loop_protocols[] = {
	{.name = "loop", .callback = on_lws},
	{0},
};

/* The context has no vhost of its own: each layer adds the one that it needs. */
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

	has_context = true;
	lws_set_log_level(LLL_ERR | LLL_WARN, log_lws_line);
	return lws_create_context(&info);
}

/* Let libwebsockets serve the epoll set, as a file that it only reads (a raw file loses write
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
	int r;

	if (!loop)
		return -ENOMEM;
	loop->timers.fd = -1;
	loop_signals_open(loop);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return -errno;
	r = loop_timers_open(loop);
	if (r < 0)
		return r;
	loop->lws = create_context(loop, fd_max);
	if (!loop->lws)
		return -ENOMEM;
	r = adopt_epoll(loop);
	if (r < 0)
		return r;
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
	check(loop->n_sources == 0);
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

/* Watch stderr until it takes more. If that fails, the next line of the log tries again. */
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
	int r;

	loop->is_timed_out = false;
	r = loop_timer_init(&timer, loop, on_run_timeout, loop);
	if (r < 0)
		return r;
	if (timeout_ms >= 0)
		loop_timer_arm(&timer, (uint64_t)timeout_ms);
	r = serve(loop);
	loop_timer_deinit(&timer);
	loop->is_stopped = false;
	return r;
}

void loop_stop(struct loop *loop)
{
	loop->is_stopped = true;
}
