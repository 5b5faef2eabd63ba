/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_BYTES ((size_t)4 << 20)

static int listener;
static const char *const *script;
static const char *long_text;
static size_t long_size;
static char *requests[SCRIPT_MAX];
static char *bodies[SCRIPT_MAX];
static atomic_uint n_requests;

/* Read a request: its head, and as many bytes as Content-Length wants. */
static void read_request(int fd, unsigned int i)
{
	char *text = calloc(1, REQUEST_BYTES);
	size_t size = 0;
	size_t wanted = 0;

	while (wanted == 0 || size < wanted) {
		ssize_t n = recv(fd, text + size, REQUEST_BYTES - 1 - size, 0);
		char *end;

		if (n <= 0)
			break;
		size += (size_t)n;
		end = strstr(text, "\r\n\r\n");
		if (wanted == 0 && end) {
			const char *length = strcasestr(text, "content-length:");

			wanted = (size_t)(end + 4 - text) +
				 (length ? strtoul(length + strlen("content-length:"), NULL, 10)
					 : 0);
			bodies[i] = end + 4;
		}
	}
	requests[i] = text;
}

static void *serve(void *data)
{
	(void)data;
	for (unsigned int i = 0; i < SCRIPT_MAX && script[i]; i++) {
		int fd = accept(listener, NULL, NULL);
		bool is_held = strncmp(script[i], SCRIPT_HELD, strlen(SCRIPT_HELD)) == 0;
		const char *text = script[i] + (is_held ? strlen(SCRIPT_HELD) : 0);
		size_t size = strlen(text);

		if (fd < 0)
			break;
		read_request(fd, i);
		atomic_fetch_add(&n_requests, 1);
		if (long_text) {
			text = long_text;
			size = long_size;
		}
		while (size > 0) {
			ssize_t n = send(fd, text, size, MSG_NOSIGNAL);

			if (n <= 0)
				break;
			text += n;
			size -= (size_t)n;
		}
		if (!is_held)
			close(fd);
	}
	close(listener);
	return NULL;
}

unsigned int script_start(const char *const *responses)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(name);
	pthread_t thread;

	script = responses;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&name, size), 0);
	cr_assert_eq(listen(listener, SCRIPT_MAX), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	cr_assert_eq(pthread_create(&thread, NULL, serve, NULL), 0);
	pthread_detach(thread);
	return ntohs(name.sin_port);
}

void script_set_long(const char *text, size_t size)
{
	long_text = text;
	long_size = size;
}

unsigned int script_n_requests(void)
{
	return atomic_load(&n_requests);
}

const char *script_body(unsigned int i)
{
	return bodies[i];
}

const char *script_head(unsigned int i)
{
	return requests[i];
}
