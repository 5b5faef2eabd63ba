/* SPDX-License-Identifier: Apache-2.0 */
#include <libwebsockets.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * bus-discard PORT: a client of the bus at 127.0.0.1:PORT that throws every frame away unread: the
 * least that a program with libwebsockets can do. Prints "ready" once it is there, and at SIGTERM
 * how many frames it has had. Exit status 1 when the bus ends the connection.
 */

/* As a client of the daemon's has it (service/bus/client.c). */
#define RX_BYTES (64u << 10)

static volatile sig_atomic_t is_ending;
static bool is_lost;
static unsigned long long frames;

static int on_lws(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
	(void)user;
	(void)in;
	(void)size;
	switch (reason) {
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		puts("ready");
		fflush(stdout);
		break;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		frames += lws_is_final_fragment(wsi) && !lws_remaining_packet_payload(wsi);
		break;
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
	case LWS_CALLBACK_CLIENT_CLOSED:
		is_lost = true;
		break;
	default:
		break;
	}
	return 0;
}

static const struct lws_protocols protocols[] = {
	{.name = "discard", .callback = on_lws, .rx_buffer_size = RX_BYTES},
	{0},
};

static void end(int signal)
{
	(void)signal;
	is_ending = 1;
}

static struct lws_context *connect_to(int port)
{
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = protocols,
		.pt_serv_buf_size = RX_BYTES,
		.fd_limit_per_thread = 64,
		/* None: if left out, $http_proxy would count. */
		.http_proxy_address = ":0",
		.gid = -1,
		.uid = -1,
	};
	struct lws_client_connect_info to = {
		.address = "127.0.0.1",
		.host = "127.0.0.1",
		.port = port,
		.path = "/core",
		.local_protocol_name = "discard",
	};

	lws_set_log_level(LLL_ERR, NULL);
	to.context = lws_create_context(&info);
	if (to.context && !lws_client_connect_via_info(&to)) {
		lws_context_destroy(to.context);
		return NULL;
	}
	return to.context;
}

int main(int argc, char **argv)
{
	struct lws_context *context;

	if (argc != 2) {
		fputs("usage: bus-discard PORT\n", stderr);
		return 2;
	}
	signal(SIGTERM, end);
	context = connect_to(atoi(argv[1]));
	while (context && !is_ending && !is_lost && lws_service(context, 0) >= 0)
		;
	printf("%llu\n", frames);
	if (!is_ending)
		fputs("bus-discard: the bus has ended the connection\n", stderr);
	return is_ending ? EXIT_SUCCESS : EXIT_FAILURE;
}
