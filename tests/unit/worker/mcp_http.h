/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"
#include "worker/mcp/http.h"

/*
 * The driver for servers over HTTP, a server that gives written answers, and the daemon's end of
 * the wire. JSON is written with ' in place of ".
 */

#define OK           "HTTP/1.1 200 OK\r\n"
#define IS_JSON      "Content-Type: application/json\r\n"
#define IS_EVENT     "Content-Type: text/event-stream\r\n"
#define JSON(body)   OK IS_JSON "\r\n" body
#define EVENTS(body) OK IS_EVENT "\r\n" body

#define RESPONSE(id, result) "{'jsonrpc':'2.0','id':" id ",'result':" result "}"

/* The beginning of a session of the legacy era. */
#define BEGUN                                                                                      \
	RESPONSE("1", "{'protocolVersion':'2025-06-18','capabilities':{'tools':{}},"               \
		      "'serverInfo':{'name':'x','version':'1'}}")

/* The tools that callers see: the first one only reads. */
#define TOOL(name)                                                                                 \
	"{'name':'" name "','inputSchema':{'type':'object','properties':"                          \
	"{'a':{'type':'integer','x-mcp-header':'First'}}}}"
#define TOOLS      "[" TOOL("reads") "," TOOL("writes") "]"
#define LISTED(id) RESPONSE(id, "{'tools':" TOOLS "}")
#define READS      0
#define WRITES     1

#define ACCEPTED "HTTP/1.1 202 x\r\n\r\n"

/* The rows of a session of the legacy era up to its list. */
#define LEGACY_SESSION                                                                             \
	{.in = "'initialize'", .answer = JSON(BEGUN)},                                             \
		{.in = "'notifications/", .answer = ACCEPTED},                                     \
	{                                                                                          \
		.in = "'tools/list'", .answer = JSON(LISTED("2"))                                  \
	}

/* Requests with @in get @answer, and then the end of their connection, unless it @stays open. */
struct script {
	const char *in;
	const char *answer;
	unsigned int times; /* so often; 0: each time */
	bool stays;
	size_t body; /* so many bytes, with spaces after the written ones */
};

/* The initialisation of a suite, and its end. */
void server_set_up(void);
void server_tear_down(void);

/* Answer by the first of the rows of @script, up to one without `in`, that fits. */
void server_use(const struct script *script);

/* Load the toolbox of the server with these members of the LOAD frame, and these of the server.
 * Return the result of the driver's load(); server_refused() has its reason. */
int server_load(const char *members, const char *more);
int server_load_within(unsigned int start_ms, const char *members, const char *more);
const char *server_refused(void);

/* Load it with TOOLS, beside these members. */
void server_load_tools(const char *members, const char *more);

/* Begin a call as the driver's begin() does, and end it as cancel() does. */
void server_call(uint64_t id, uint32_t tool);
void server_cancel(uint64_t id);

/* End the driver. */
void server_unload(void);

/* Let the driver work until a frame comes, and expect it. */
void server_expect(enum wire_kind kind, uint64_t id, const char *payload);

/* Let the driver work until another request has come whose connection stays open. */
void server_await(void);

/* Let the driver work once, without a wait. */
void server_turn(void);

/* Wait until the driver has closed the connection @at of those that stay open. */
void server_await_close(size_t at);

/* Return the loaded driver. */
struct http *server_driver(void);

/* End the server. Return how many of the requests so far had @part. */
unsigned int server_count(const char *part);
