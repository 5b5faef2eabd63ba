/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/command.h"

/*
 * A command of toolboxctl in the process of a test, and a service in a process of its own, which
 * sends prepared messages over a real bus. JSON is written with ' in place of ".
 *
 *   test ── command_run("list -- …") ──▶ ctl_list() ──▶ bus ──▶ the prepared message for its topic
 */

/* A message that the service sends after a request with the topic @request. */
struct prepared {
	const char *request;
	const char *data;
	const char *topic; /* NULL: it is the response; else a message before it */
};

/* Start a service that has these messages, up to one without a request. A response is used once,
 * the last one of its topic for ever. */
void answering_start(const struct prepared *messages);

/* For fixtures: end the service. */
void answering_stop(void);

/* Return the URL of its bus. */
const char *answering_url(void);

/* Return the requests so far, each a line "TOPIC DATA", with ' in place of ". */
const char *answering_requests(void);

/* A function of ctl/command.h. */
typedef int (*command_function)(const struct ctl_options *options);

/* Run @command with the words of @line, which one space separates. Return its exit status. Its
 * output and its complaints are kept for the next call. */
int command_run(command_function command, const char *line);

extern char command_output[];
extern char command_complaints[];

/* Run @command, and expect the exit status, the whole output and all complaints. Complaints are
 * written without "toolboxctl: ". */
void expect_command(command_function command, const char *line, int status, const char *output,
	const char *complaints);

/* Expect @part in the output, or in the complaints, of the last command. */
void expect_output(const char *part);
void expect_complaint(const char *part);

/* Capture what @function writes to stdout and to stderr, as command_run() does. */
void capture_begin(void);
void capture_end(void);
