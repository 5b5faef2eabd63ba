/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp_http.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mcp/client/pin.h"
#include "quotes.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/text/text.h"
#include "worker/driver.h"

#define REQUESTS_MAX 256

static struct {
	int listener;
	unsigned int port;
	pthread_t thread;
	bool is_over;
	pthread_mutex_t lock; /* for the members below */
	struct script rows[32];
	char *requests[REQUESTS_MAX];
	size_t n_requests;
	int open[REQUESTS_MAX]; /* connections that stay open */
	size_t n_open;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *driver;
static struct diagnostics problems;
static int daemon_end = -1, host_end = -1;
static int stays[2]; /* a pipe with a byte for each request whose connection stays open */

/* ── the server ──────────────────────────────────────────────────────────────────────────────── */

/* Read a request with its body from @fd. NULL: the connection has ended. */
static char *read_request(int fd)
{
	struct buffer request = {0};

	for (;;) {
		char *place = buffer_reserve(&request, 4096);
		ssize_t n = recv(fd, place, 4096, 0);
		const char *head, *length;

		if (n <= 0)
			break;
		request.size += (size_t)n;
		head = strstr(buffer_terminate(&request), "\r\n\r\n");
		length = strstr(request.data, "Content-Length: ");
		if (head && request.size >= (size_t)(head + 4 - request.data) +
						    (length ? strtoul(length + 16, NULL, 10) : 0))
			return buffer_take(&request, NULL);
	}
	buffer_deinit(&request);
	return NULL;
}

/* Note @request, and return the row for it, or one with no answer. */
static struct script choose(char *request)
{
	struct script chosen = {0};

	pthread_mutex_lock(&server.lock);
	if (server.n_requests < REQUESTS_MAX)
		server.requests[server.n_requests++] = request;
	for (struct script *row = server.rows; row->in && !chosen.in; row++) {
		cleanup_free char *in = quoted(row->in);

		if (!strstr(request, in) || row->times == UINT32_MAX)
			continue;
		chosen = *row;
		row->times = row->times == 1 ? UINT32_MAX : row->times - (row->times > 0);
	}
	pthread_mutex_unlock(&server.lock);
	return chosen;
}

static void answer_one(int fd)
{
	char *request = read_request(fd);
	struct script row = request ? choose(request) : (struct script){0};
	cleanup_free char *answer = row.answer ? strdup(row.answer) : NULL;
	char *body = answer ? strstr(answer, "\r\n\r\n") : NULL;

	if (body)
		swap_quotes(body);
	if (answer)
		file_write_all(fd, answer, strlen(answer));
	if (row.body > 0) {
		size_t size = row.body - strlen(body + 4);
		cleanup_free char *spaces = malloc(size);

		memset(spaces, ' ', size);
		file_write_all(fd, spaces, size);
	}
	if (row.stays) {
		server.open[server.n_open++] = fd;
		file_write_all(stays[1], "x", 1);
	} else {
		close(fd);
	}
}

static void *serve(void *data)
{
	int fd;

	(void)data;
	while ((fd = accept4(server.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		answer_one(fd);
	return NULL;
}

void server_use(const struct script *script)
{
	size_t n = 0;

	pthread_mutex_lock(&server.lock);
	while (script[n].in)
		n++;
	cr_assert_lt(n, sizeof(server.rows) / sizeof(*server.rows));
	memcpy(server.rows, script, (n + 1) * sizeof(*script));
	pthread_mutex_unlock(&server.lock);
}

void server_set_up(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(server.listener, (struct sockaddr *)&address, size), 0);
	cr_assert_eq(listen(server.listener, 64), 0);
	cr_assert_eq(getsockname(server.listener, (struct sockaddr *)&address, &size), 0);
	server.port = ntohs(address.sin_port);
	cr_assert_eq(pipe2(stays, O_CLOEXEC), 0);
	cr_assert_eq(pthread_create(&server.thread, NULL, serve, NULL), 0);
}

static void end_server(void)
{
	if (server.is_over)
		return;
	server.is_over = true;
	shutdown(server.listener, SHUT_RDWR);
	pthread_join(server.thread, NULL);
	close(server.listener);
}

unsigned int server_count(const char *part)
{
	cleanup_free char *json = quoted(part);
	unsigned int n = 0;

	end_server();
	for (size_t i = 0; i < server.n_requests; i++)
		n += strstr(server.requests[i], json) != NULL;
	return n;
}

void server_tear_down(void)
{
	server_unload();
	end_server();
	for (size_t i = 0; i < server.n_requests; i++)
		free(server.requests[i]);
	for (size_t i = 0; i < server.n_open; i++)
		close(server.open[i]);
	diagnostics_deinit(&problems);
	close(daemon_end);
	close(host_end);
	close(stays[0]);
	close(stays[1]);
}

/* ── the driver ──────────────────────────────────────────────────────────────────────────────── */

int server_load_within(unsigned int start_ms, const char *members, const char *more)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *text = NULL;
	cleanup_free char *json = NULL;
	int ends[2];

	server_unload();
	diagnostics_deinit(&problems);
	problems = (struct diagnostics){0};
	close(daemon_end);
	close(host_end);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	daemon_end = ends[0];
	host_end = ends[1];
	cr_assert_geq(asprintf(&text,
			      "{'start_timeout_ms':%u,%s'mcp':{'url':'http://127.0.0.1:%u/mcp'%s}}",
			      start_ms, members, server.port, more),
		0);
	json = quoted(text);
	cr_assert_eq(json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0);
	return mcp_http_driver.load(
		&(struct driver_load){
			.tape = &tape, .wire = host_end, .text = json, .text_size = strlen(json)},
		&driver, &problems);
}

int server_load(const char *members, const char *more)
{
	return server_load_within(20000, members, more);
}

const char *server_refused(void)
{
	return problems.n_items > 0 ? problems.items[0].text : "";
}

/* Write the pin of the tool @element. */
static void write_pin(const char *element, char ret_pin[2 * MCP_PIN_BYTES + 1])
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *json = quoted(element);
	unsigned char bytes[MCP_PIN_BYTES];

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(mcp_pin(&tape, 0, bytes), 0);
	text_write_hex(bytes, sizeof(bytes), ret_pin);
}

void server_load_tools(const char *members, const char *more)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *list = quoted(TOOLS);
	cleanup_free char *all = NULL;
	char reads[2 * MCP_PIN_BYTES + 1];
	char writes[2 * MCP_PIN_BYTES + 1];
	uint64_t digest = 0;

	write_pin(TOOL("reads"), reads);
	write_pin(TOOL("writes"), writes);
	cr_assert_eq(json_tape_read(&tape, list, strlen(list), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(mcp_list_digest(&tape, 0, &digest), 0);
	cr_assert_geq(
		asprintf(&all,
			"%s'digest':%" PRIu64 ",'tools':[{'name':'reads','pin':'%s','reads':true},"
			"{'name':'writes','pin':'%s'}],",
			members, digest, reads, writes),
		0);
	cr_assert_eq(server_load(all, more), 0, "%s", server_refused());
}

void server_call(uint64_t id, uint32_t tool)
{
	cr_assert_eq(mcp_http_driver.begin(driver, &(struct driver_call){.id = id,
							   .tool = tool,
							   .output_max = 1000,
							   .arguments = "{\"a\":1}",
							   .size = 7}),
		0);
}

void server_cancel(uint64_t id)
{
	cr_assert_eq(mcp_http_driver.cancel(driver, id, false), 0);
}

void server_await(void)
{
	char byte;

	cr_assert_eq(mcp_http_driver.attend(driver, stays[0]), 0);
	cr_assert_eq(read(stays[0], &byte, 1), 1);
}

void server_turn(void)
{
	char byte;

	cr_assert_eq(write(stays[1], "x", 1), 1);
	cr_assert_eq(mcp_http_driver.attend(driver, stays[0]), 0);
	cr_assert_eq(read(stays[0], &byte, 1), 1);
}

void server_await_close(size_t at)
{
	struct pollfd end = {.fd = server.open[at], .events = POLLIN};

	cr_assert_eq(poll(&end, 1, 30000), 1, "the connection stays open");
	cr_expect_leq(recv(end.fd, (char[1]){0}, 1, 0), 0);
}

struct http *server_driver(void)
{
	return driver;
}

void server_unload(void)
{
	mcp_http_driver.free(driver);
	driver = NULL;
}

void server_expect(enum wire_kind kind, uint64_t id, const char *payload)
{
	struct wire_header header = {0};
	char bytes[4096];
	cleanup_free char *json = quoted(payload);

	/* The driver works until its own frame can be read. */
	cr_assert_eq(mcp_http_driver.attend(driver, daemon_end), 0);
	cr_assert_eq(recv(daemon_end, &header, sizeof(header), MSG_WAITALL), sizeof(header));
	cr_assert_lt(header.size, sizeof(bytes));
	cr_assert_eq(recv(daemon_end, bytes, header.size, MSG_WAITALL), header.size);
	bytes[header.size] = '\0';
	cr_expect_eq(header.kind, kind, "%u: %s", header.kind, bytes);
	cr_expect_eq(header.id, id, "%s", bytes);
	cr_expect_str_eq(bytes, json, "%s", bytes);
}
