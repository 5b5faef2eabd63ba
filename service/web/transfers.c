/* SPDX-License-Identifier: Apache-2.0 */
#include "web/transfers.h"

#include <stdlib.h>
#include <sys/epoll.h>

/* A socket of libcurl's on the loop. */
struct transfer_socket {
	struct transfers *transfers;
	curl_socket_t fd;
	struct loop_source *source;
};

/* Let libcurl act on @fd, and report the ended transfers. */
static void act_on_socket(struct transfers *transfers, curl_socket_t fd, int events)
{
	const struct library *curl = transfers->curl;
	CURLMsg *message;
	int n;

	curl->multi_socket_action(transfers->multi, fd, events, &n);
	while ((message = curl->multi_info_read(transfers->multi, &n))) {
		void *transfer;

		if (message->msg == CURLMSG_DONE &&
			curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer) ==
				CURLE_OK)
			transfers->done(transfer, message->data.result);
	}
}

static void on_socket(void *data, uint32_t events)
{
	const struct transfer_socket *socket = data;
	int actions = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
		      (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
		      (events & EPOLLERR ? CURL_CSELECT_ERR : 0);

	act_on_socket(socket->transfers, socket->fd, actions);
}

static void on_timer(void *data)
{
	act_on_socket(data, CURL_SOCKET_TIMEOUT, 0);
}

static int forget_socket(
	struct transfers *transfers, curl_socket_t fd, struct transfer_socket *socket)
{
	if (socket)
		loop_source_free(socket->source);
	free(socket);
	transfers->curl->multi_assign(transfers->multi, fd, NULL);
	return 0;
}

/* Watch @fd as libcurl wants it (CURLMOPT_SOCKETFUNCTION). */
static int watch_socket(CURL *easy, curl_socket_t fd, int wanted, void *data, void *assigned)
{
	struct transfers *transfers = data;
	struct transfer_socket *socket = assigned;
	uint32_t events =
		(wanted & CURL_POLL_IN ? EPOLLIN : 0) | (wanted & CURL_POLL_OUT ? EPOLLOUT : 0);

	(void)easy;
	if (wanted == CURL_POLL_REMOVE)
		return forget_socket(transfers, fd, socket);
	if (socket)
		return loop_source_set_events(socket->source, events) < 0 ? -1 : 0;
	socket = calloc(1, sizeof(*socket));
	if (!socket)
		return -1;
	socket->transfers = transfers;
	socket->fd = fd;
	if (loop_add_fd(transfers->loop, fd, events, on_socket, socket, &socket->source) < 0 ||
		transfers->curl->multi_assign(transfers->multi, fd, socket) != CURLM_OK) {
		forget_socket(transfers, fd, socket);
		return -1;
	}
	return 0;
}

/* Act after @wait_ms, or never (CURLMOPT_TIMERFUNCTION). */
static int set_timer(CURLM *multi, long wait_ms, void *data)
{
	struct transfers *transfers = data;

	(void)multi;
	if (wait_ms < 0)
		loop_timer_disarm(&transfers->timer);
	else
		loop_timer_arm(&transfers->timer, (uint64_t)wait_ms);
	return 0;
}

bool transfers_init(struct transfers *transfers, const struct library *curl, struct loop *loop,
	void (*done)(void *transfer, CURLcode code))
{
	*transfers = (struct transfers){.curl = curl, .loop = loop, .done = done};
	transfers->multi = curl->multi_init();
	return transfers->multi &&
	       loop_timer_init(&transfers->timer, loop, on_timer, transfers) == 0 &&
	       curl->multi_setopt(transfers->multi, CURLMOPT_SOCKETFUNCTION, watch_socket) ==
		       CURLM_OK &&
	       curl->multi_setopt(transfers->multi, CURLMOPT_SOCKETDATA, transfers) == CURLM_OK &&
	       curl->multi_setopt(transfers->multi, CURLMOPT_TIMERFUNCTION, set_timer) ==
		       CURLM_OK &&
	       curl->multi_setopt(transfers->multi, CURLMOPT_TIMERDATA, transfers) == CURLM_OK;
}

void transfers_deinit(struct transfers *transfers)
{
	if (transfers->multi)
		transfers->curl->multi_cleanup(transfers->multi);
	loop_timer_deinit(&transfers->timer);
	*transfers = (struct transfers){0};
}

void transfers_set_certificates(const struct transfers *transfers, CURL *easy)
{
	const char *file = getenv("SSL_CERT_FILE");
	const char *folder = getenv("SSL_CERT_DIR");

	if (file && *file)
		transfers->curl->easy_setopt(easy, CURLOPT_CAINFO, file);
	if (folder && *folder)
		transfers->curl->easy_setopt(easy, CURLOPT_CAPATH, folder);
}
