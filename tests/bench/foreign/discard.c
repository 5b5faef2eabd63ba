/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "websocket.h"

/*
 * bus-discard URL: a client of a bus that throws every message away unread, with a socket and
 * nothing else: the least that a client can do. Prints "ready", and at SIGTERM how many messages it
 * has had. Exit status 1 when the bus ends the connection.
 */

static volatile sig_atomic_t is_ending;

static void end(int signal)
{
	(void)signal;
	is_ending = 1;
}

int main(int count, char **arguments)
{
	/* The signal interrupts a read that waits. */
	const struct sigaction action = {.sa_handler = end};
	cleanup(websocket_close) struct websocket websocket = {.fd = -1};
	unsigned long long messages = 0;
	const char *text;
	size_t size;

	if (count != 2) {
		fputs("usage: bus-discard URL\n", stderr);
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	if (websocket_open(&websocket, arguments[1]) < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	while (!is_ending && websocket_receive(&websocket, -1, &text, &size) > 0)
		messages++;
	printf("%llu\n", messages);
	if (!is_ending)
		fputs("bus-discard: the bus has ended the connection\n", stderr);
	return is_ending ? EXIT_SUCCESS : EXIT_FAILURE;
}
