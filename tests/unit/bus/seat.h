/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "loop/loop.h"
#include "util/buffer.h"

/* Endpoints on one loop: an embedded bus, its clients, and plain sockets. */

struct endpoint {
	struct bus *bus;
	struct loop *loop;
	bool (*wants)(void *data, const char *topic, size_t size);
	struct buffer received; /* every frame, each with a line feed after it */
	size_t bytes;           /* size of all frames */
	unsigned int frames;
	unsigned int stop_at_frames;
	bool stops_when_up;
	bool stops_when_down;
	bool stops_when_unreachable;
	const char *answer; /* sent once, when a frame is received */
};

/* A request that is granted. */
extern const char upgrade[];

/* Send a message. */
int say(struct endpoint *endpoint, const char *text);

/* Send a message of @size bytes. */
int say_bytes(struct endpoint *endpoint, size_t size);

/* Take a frame, for the endpoint @data. */
void on_frame(void *data, const char *text, size_t size);

/* Return the handler of an endpoint. */
struct bus_handler handler_of(const struct endpoint *endpoint);

/* Run until a callback stops the loop. */
void run(struct loop *loop);

struct loop *new_loop(void);

/* Serve a bus at @port (0: any). */
void embed_at(struct endpoint *endpoint, struct loop *loop, uint16_t port,
	const struct bus_limits *limits);

void embed(struct endpoint *endpoint, struct loop *loop);

/* Connect to @bus. */
void join(struct endpoint *endpoint, const struct endpoint *bus, const struct bus_limits *limits);

void leave(struct endpoint *endpoint);

/* Check the received frames, each with a line feed after it. */
void expect_received(struct endpoint *endpoint, const char *lines);

/* Open a plain socket to the bus and send @request. */
int dial(const struct endpoint *bus, const char *request);

/* Run until the bus has so many clients. */
void run_until_clients(struct endpoint *bus, uint32_t clients);

/* Serve a bus, and return a plain socket that has joined it. */
int embed_and_dial(struct endpoint *bus, struct loop *loop);

/* Send the frame of a text of @size bytes, as far as the socket takes it. */
void push_bytes(int fd, char *frame, size_t size, size_t *sent);
