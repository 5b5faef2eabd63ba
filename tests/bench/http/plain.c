/* SPDX-License-Identifier: Apache-2.0 */

/*
 * plain-http: libwebsockets alone, on a port of 127.0.0.1 that it prints. It answers each request
 * with one fixed body, so what a client measures is the transport.
 *
 *   plain-http          ──▶ request ─▶ response
 *   plain-http --hop    ──▶ request ─▶ the body goes to another process and comes back ─▶ response
 *
 * With --hop it is what isolation alone costs, where the tool does nothing.
 */

#include <libwebsockets.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char body[] = "{\"name\":\"add\",\"result\":{\"result\":3}}";

/* The socket of the other process, or -1. */
static int hop = -1;

/* Return what comes in as it came, until the end of the input. */
static int echo(int fd)
{
	char text[sizeof(body)];
	ssize_t size;

	while ((size = read(fd, text, sizeof(text))) > 0)
		if (write(fd, text, (size_t)size) != size)
			return 1;
	return 0;
}

/* Start the other process. Return 0 or -1. */
static int start_hop(void)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || (pid = fork()) < 0)
		return -1;
	close(pair[pid > 0]);
	if (pid == 0)
		_exit(echo(pair[1]));
	hop = pair[0];
	return 0;
}

/* Send the body to the other process, and take it back. */
static int make_hop(void)
{
	char text[sizeof(body)];

	if (hop < 0)
		return 0;
	return write(hop, body, sizeof(body)) == sizeof(body) &&
			       read(hop, text, sizeof(text)) == sizeof(text)
		       ? 0
		       : -1;
}

static int respond(struct lws *wsi)
{
	unsigned char head[LWS_PRE + 256];
	unsigned char *start = head + LWS_PRE;
	unsigned char *at = start;
	unsigned char *end = head + sizeof(head);
	unsigned char text[LWS_PRE + sizeof(body)];

	memcpy(text + LWS_PRE, body, sizeof(body) - 1);
	if (make_hop() ||
		lws_add_http_common_headers(
			wsi, 200, "application/json", sizeof(body) - 1, &at, end) ||
		lws_finalize_write_http_header(wsi, start, &at, end) ||
		lws_write(wsi, text + LWS_PRE, sizeof(body) - 1, LWS_WRITE_HTTP_FINAL) < 0)
		return -1;
	return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int on_http(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
	switch (reason) {
	case LWS_CALLBACK_HTTP:
		/* A request with a body has its response after it. */
		if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0)
			return 0;
		return respond(wsi);
	case LWS_CALLBACK_HTTP_BODY_COMPLETION:
		return respond(wsi);
	default:
		return lws_callback_http_dummy(wsi, reason, user, in, size);
	}
}

int main(int argc, char **argv)
{
	static const struct lws_protocols protocols[] = {
		{.name = "http", .callback = on_http}, {0}};
	struct lws_context_creation_info info = {
		.port = 0,
		.iface = "127.0.0.1",
		.protocols = protocols,
		.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DISABLE_IPV6,
	};
	struct lws_context *context;
	struct lws_vhost *vhost;

	if (argc > 1 && (strcmp(argv[1], "--hop") != 0 || start_hop() < 0))
		return 1;
	lws_set_log_level(LLL_ERR, NULL);
	context = lws_create_context(&info);
	vhost = context ? lws_create_vhost(context, &info) : NULL;
	if (!vhost)
		return 1;
	printf("%d\n", lws_get_vhost_listen_port(vhost));
	fflush(stdout);
	while (lws_service(context, 0) >= 0)
		continue;
	lws_context_destroy(context);
	return 0;
}
