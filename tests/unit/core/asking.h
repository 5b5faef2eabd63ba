/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "core/state.h"

/*
 * A whole service, its bus, and a client on that bus, in one loop. JSON is written with
 * ' in place of ", and files are those of config_fixture.h: toolboxes go to box.d/.
 */

/* The service under test. */
extern struct service *service;

/* For fixtures. The service starts with the configuration and the toolboxes there are by then; as
 * its own bus, or as a client of one. */
void asking_set_up(void);
void asking_start(void);
void asking_start_as_client(void);
void asking_tear_down(void);

/* Write the manifest box.d/@name. */
void write_box(const char *name, const char *manifest);

/* Send a request, without waiting. @data and @context: the text of objects. */
void send_request(const char *topic, const char *data, const char *context);

/* Serve until a message with this topic has come that was not given before; its data as JSON text,
 * good until the next call. */
const char *wait_for(const char *topic);

/* Send and wait for the response; its data. */
const char *ask_for(const char *topic, const char *data);

/* Whether @text holds the JSON @part. */
void expect_part(const char *text, const char *part);

/* Messages with this topic that have come and were not given. */
unsigned int n_unseen(const char *topic);
