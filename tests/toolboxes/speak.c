/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A library that uses its host's socket like the hosts with the bus: it sends the messages given to
 * it, and receives the messages passed on by the daemon. In a call the host itself does not read.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "own_ring.h"
#include "wire/wire.h"

char *converse(const char *said, uint32_t n_answers);
uint32_t repeat(const char *said, uint32_t times);
uint32_t say_bytes(uint32_t size);
void leave(const char *said, uint32_t times);
void report(uint64_t id);

static void write_all(const void *bytes, size_t size)
{
	for (const char *at = bytes; size > 0;) {
		ssize_t n = write(WIRE_FD, at, size);

		if (n < 0)
			abort();
		at += n;
		size -= (size_t)n;
	}
}

static void read_all(void *bytes, size_t size)
{
	for (char *at = bytes; size > 0;) {
		ssize_t n = read(WIRE_FD, at, size);

		if (n <= 0)
			exit(0);
		at += n;
		size -= (size_t)n;
	}
}

static void emit(const char *text, size_t size)
{
	struct wire_header header = {.size = (uint32_t)size, .kind = WIRE_EMIT};

	leave_ring();
	write_all(&header, sizeof(header));
	write_all(text, size);
}

/* Send each line of @said, then receive so many messages. Return a line for each. */
char *converse(const char *said, uint32_t n_answers)
{
	char *heard = strdup("");

	for (size_t size; (size = strcspn(said, "\n")) > 0; said += size + (said[size] == '\n'))
		emit(said, size);
	while (n_answers-- > 0) {
		struct wire_header header;
		size_t before = strlen(heard);

		read_all(&header, sizeof(header));
		if (header.kind != WIRE_MESSAGE)
			abort();
		heard = realloc(heard, before + header.size + 2);
		read_all(heard + before, header.size);
		memcpy(heard + before + header.size, "\n", 2);
	}
	return heard;
}

/* Send the same message so many times; 0: without an end. */
uint32_t repeat(const char *said, uint32_t times)
{
	for (uint32_t i = 0; times == 0 || i < times; i++)
		emit(said, strlen(said));
	return times;
}

/* Send a message of so many bytes. */
uint32_t say_bytes(uint32_t size)
{
	static const char head[] = "{\"type\":\"large\",\"data\":{\"x\":\"";
	static const char tail[] = "\"}}";
	char *text = malloc(size + 1);

	memset(text, 'x', size);
	memcpy(text, head, sizeof(head) - 1);
	memcpy(text + size - sizeof(tail) + 1, tail, sizeof(tail));
	emit(text, size);
	free(text);
	return size;
}

/* Send the same message so many times, and exit. */
void leave(const char *said, uint32_t times)
{
	repeat(said, times);
	_exit(0);
}

/* Report the progress of the call @id, without an end. */
void report(uint64_t id)
{
	static const char text[] = "{\"progress\":0.5}";
	struct wire_header header = {.size = sizeof(text) - 1, .kind = WIRE_PROGRESS, .id = id};

	for (;;) {
		write_all(&header, sizeof(header));
		write_all(text, header.size);
	}
}
