/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "bus/envelope.h"
#include "core/answer.h"
#include "core/request.h"
#include "registry/catalogue.h"

/* Toolboxes made from manifests, and requests, both written with ' in place of ". */

/* The toolbox whose id is @id, with these tools. One reference, the caller's. */
struct toolbox *make_box(const char *id, const char *tools);

/* The catalogue of these toolboxes, up to NULL; their references are taken over. */
struct catalogue *make_catalogue(struct toolbox *first, ...) __attribute__((sentinel));

/* A tool `name` that takes what @parameters say. */
#define BOX_TOOL(name, parameters)                                                                 \
	"{'name':'" name "','native':{'symbol':'f','parameters':[" parameters "],"                 \
	"'returns':{'type':'i32'}}}"

/* A request that was read, and the answer to it that is being written. */
struct asked {
	char *frame;
	struct bus_envelope envelope;
	struct request request;
	struct answer answer;
};

/* Read a request with these members of data. */
void ask(struct asked *asked, const char *members);

/* The members of the answer so far are @expected. */
void expect_answer(const struct asked *asked, const char *expected);

void asked_deinit(struct asked *asked);
