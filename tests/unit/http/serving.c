/* SPDX-License-Identifier: Apache-2.0 */
#include "serving.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "asking.h"
#include "config/http_tokens.h"
#include "config_fixture.h"
#include "http/door.h"
#include "quotes.h"
#include "util/cleanup.h"
#include "util/text/text.h"

#define RESPONSE_BYTES (1u << 20)
#define TURNS_MAX      60000

#define LIBM                                                                                       \
	"{'kind':'native','library':'libm.so.6','description':'Mathematics.','tools':["            \
	"{'name':'sqrt','description':'A root.','risk':'read','triggers':['root of .*'],"          \
	"'native':{'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],"                      \
	"'returns':{'type':'f64'}}},"                                                              \
	"{'name':'pow','description':'A power.','native':{'symbol':'pow','parameters':["           \
	"{'name':'x','type':'f64'},{'name':'y','type':'f64'}],'returns':{'type':'f64'}}}]}"
#define LIBC                                                                                       \
	"{'kind':'native','library':'libc.so.6','tools':[{'name':'wait','risk':'read',"            \
	"'native':{'symbol':'usleep','parameters':[{'name':'us','type':'u32'}],"                   \
	"'returns':{'type':'i32'}}}]}"

static struct http_door *door;
static const char *used_token;
static uint16_t port;
static int port_holder = -1; /* bound to the port, which no other socket gets */

char http_response[RESPONSE_BYTES];
char http_body[RESPONSE_BYTES];

void serving_set_up(void)
{
	asking_set_up();
	write_box("libm.json", LIBM);
	write_box("libc.json", LIBC);
}

void serving_tear_down(void)
{
	http_door_free(door);
	close(port_holder);
	asking_tear_down();
}

static bool is_ready(void)
{
	return service->reload.is_ready;
}

/* Return a free port, and hold it: a listener that has SO_REUSEADDR as the holder can bind to it,
 * and the kernel chooses it for no other socket (socket(7)). */
static uint16_t hold_port(void)
{
	const int on = 1;
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(name);

	port_holder = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(setsockopt(port_holder, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	cr_assert_eq(bind(port_holder, (struct sockaddr *)&name, sizeof(name)), 0);
	cr_assert_eq(getsockname(port_holder, (struct sockaddr *)&name, &size), 0);
	return ntohs(name.sin_port);
}

/* Append an element of http.tokens. */
static void append_token(struct buffer *out, const char *name, const char *token, const char *more)
{
	unsigned char digest[HTTP_TOKEN_DIGEST_BYTES];
	char digits[2 * HTTP_TOKEN_DIGEST_BYTES + 1];

	http_token_digest(token, strlen(token), digest);
	text_write_hex(digest, sizeof(digest), digits);
	buffer_printf(out, "{'name':'%s','token_sha256':'%s'%s}", name, digits, more);
}

void serving_use_token(const char *token)
{
	used_token = token;
}

void serving_start(const char *members)
{
	serving_start_http("", members);
}

void serving_start_http(const char *http_members, const char *members)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	char *json;

	port = hold_port();
	buffer_printf(&text, "{'toolboxd':{'http':{'listen':['unix:%s','127.0.0.1:%u'],'tokens':[",
		in_folder("http"), (unsigned int)port);
	append_token(&text, "operator", OPERATOR_TOKEN, ",'admin':true");
	buffer_append_char(&text, ',');
	append_token(&text, "guest", GUEST_TOKEN, ",'profile':'guests'");
	buffer_printf(&text, "]%s},'profiles':{'guests':{'tool_names':['libm/sqrt']}}%s}}",
		http_members, members);
	json = quoted(buffer_terminate(&text));
	write_user_file(json);
	free(json);
	asking_start();
	cr_assert_eq(http_door_new(service->loop, service, &door), 0);
	for (int turn = 0; !is_ready(); turn++) {
		cr_assert_lt(turn, TURNS_MAX);
		asking_step();
	}
}

static int connect_over_tcp(void)
{
	struct sockaddr_in name = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_eq(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0, "%s", strerror(errno));
	return fd;
}

static int connect_over_unix(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(name.sun_path, sizeof(name.sun_path), "%s", in_folder("http"));
	cr_assert_eq(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0, "%s", strerror(errno));
	return fd;
}

static int connect_to_door(void)
{
	return used_token ? connect_over_tcp() : connect_over_unix();
}

static void send_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return; /* it is refused, and the response has the reason */
		bytes += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
		if (n < 0)
			asking_step();
	}
}

/* Read what is there onto the @size bytes that @text has. Return whether the end has come. */
static bool read_more(int fd, char *text, size_t *size)
{
	ssize_t n = recv(fd, text + *size, RESPONSE_BYTES - 1 - *size, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN))
		return true;
	*size += n > 0 ? (size_t)n : 0;
	text[*size] = '\0';
	if (n < 0)
		asking_step();
	return false;
}

static void read_all_of(int fd)
{
	size_t size = 0;

	http_response[0] = '\0';
	for (int turn = 0; !read_more(fd, http_response, &size); turn++)
		cr_assert_lt(turn, TURNS_MAX, "no end: %s", http_response);
	close(fd);
}

/* Put the chunks of @text together in http_body. */
static void join_chunks(const char *text)
{
	char *out = http_body;
	unsigned long size;
	char *end;

	while ((size = strtoul(text, &end, 16)) > 0) {
		text = strstr(end, "\r\n") + 2;
		memcpy(out, text, size);
		out += size;
		text += size + 2;
	}
	*out = '\0';
}

static int take_response(void)
{
	const char *head = strstr(http_response, "\r\n\r\n");
	int status = 0;

	cr_assert_eq(sscanf(http_response, "HTTP/1.1 %d ", &status), 1, "%s", http_response);
	cr_assert_not_null(head, "%s", http_response);
	if (memmem(http_response, (size_t)(head - http_response), "chunked", strlen("chunked")))
		join_chunks(head + 4);
	else
		strcpy(http_body, head + 4);
	return status;
}

int http_begin(const char *line, const char *fields, const char *body)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	char *json = quoted(body);
	int fd = connect_to_door();

	buffer_printf(&text, "%s HTTP/1.1\r\nHost: localhost\r\n%s", line, fields);
	if (used_token)
		buffer_printf(&text, "Authorization: Bearer %s\r\n", used_token);
	if (*body)
		buffer_printf(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			strlen(json));
	buffer_printf(&text, "\r\n%s", json);
	send_all(fd, text.data, text.size);
	free(json);
	return fd;
}

int http_ask(const char *line, const char *fields, const char *body)
{
	cleanup(buffer_deinit) struct buffer all = {0};

	buffer_printf(&all, "Connection: close\r\n%s", fields);
	read_all_of(http_begin(line, buffer_terminate(&all), body));
	return take_response();
}

const char *http_read_until(int fd, const char *part)
{
	size_t size = 0;

	http_response[0] = '\0';
	for (int turn = 0; !strstr(http_response, part); turn++) {
		cr_assert_lt(turn, TURNS_MAX, "no %s: %s", part, http_response);
		cr_assert_not(read_more(fd, http_response, &size), "an end before %s: %s", part,
			http_response);
	}
	return http_response;
}

static const char *send_and_read(const char *bytes, size_t size, bool is_all)
{
	int fd = connect_to_door();

	send_all(fd, bytes, size);
	if (is_all)
		shutdown(fd, SHUT_WR);
	read_all_of(fd);
	return http_response;
}

const char *http_raw(const char *bytes, size_t size)
{
	return send_and_read(bytes, size, true);
}

const char *http_send(const char *bytes, size_t size)
{
	return send_and_read(bytes, size, false);
}

void expect_answer(const char *line, int status, const char *body)
{
	cleanup_free char *json = quoted(body);
	int r = http_ask(line, "", "");

	cr_expect_eq(r, status, "%s: %s", line, http_response);
	cr_expect_str_eq(http_body, json, "%s: %s", line, http_body);
}

void expect_answer_part(const char *line, int status, const char *part)
{
	cleanup_free char *json = quoted(part);
	int r = http_ask(line, "", "");

	cr_expect_eq(r, status, "%s: %s", line, http_response);
	cr_expect(strstr(http_body, json), "%s: %s", line, http_body);
}

void expect_field(const char *field)
{
	char line[512];

	snprintf(line, sizeof(line), "\r\n%s\r\n", field);
	cr_expect(strcasestr(http_response, line), "%s\nis not in %s", field, http_response);
}
