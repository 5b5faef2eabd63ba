/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/host.h"
#include "json/reader.h"
#include "loop/loop.h"
#include "util/buffer.h"

/*
 * A real toolbox-host with a toolbox of tests/toolboxes in it, and all that it told.
 */
struct guest {
	struct loop *loop;
	struct host *host;
	struct buffer manifest; /* its text, borrowed by the tape */
	struct json_tape tape;
	uint64_t call_id; /* of the last call */
	unsigned int n_loaded;
	unsigned int n_answers;
	unsigned int n_ends;
	struct buffer loaded; /* NUL-terminated */
	bool is_failure;
	enum host_answer_kind kind;
	unsigned int n_progress;
	struct buffer progress; /* the `text` of the last one, NUL-terminated */
	unsigned int n_said;
	unsigned int n_junk;  /* of that: what is no object */
	struct buffer said;   /* NUL-terminated */
	uint64_t hold_ms;     /* it is held so long for each that it says; 0: it is not */
	struct buffer answer; /* NUL-terminated */
	struct host_end end;
	struct buffer pointer; /* of the end; NUL-terminated */
	struct buffer message;
};

/* What tests ask for. Zero: what is usual. */
struct guest_options {
	size_t output_max;
	size_t stderr_max;
	uint64_t start_timeout_ms;
	const char *sandbox; /* JSON of the LOAD frame's member; NULL: left out */
	bool has_guard;
	bool has_bus;
};

/* Start a host with the toolbox @name, and wait until it is loaded or has ended. Ends the test when
 * neither comes in time. */
void guest_start(struct guest *guest, const char *name, const struct guest_options *options);

/* The same with the LOAD payload @load. May be called again, for one more host on the loop, when
 * the first one was taken. */
void guest_start_load(struct guest *guest, const char *load, const struct guest_options *options);

void guest_stop(struct guest *guest);

/* The index of the tool @name; ends the test when there is none. */
uint32_t guest_tool(const struct guest *guest, const char *name);

/* Send a call, without waiting. */
void guest_send(struct guest *guest, const char *tool, const char *arguments);

/* Serve until an answer or the end has come. */
void guest_wait(struct guest *guest);

/* Call and wait: the text of the answer, "" when the host ended instead. */
const char *guest_call(struct guest *guest, const char *tool, const char *arguments);
