/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "config/config.h"
#include "core/bus/interests.h"
#include "core/call/calls.h"
#include "json/tape.h"
#include "loop/loop.h"
#include "message/envelope.h"
#include "runner/executor.h"
#include "util/buffer.h"
#include "util/list.h"

/*
 * The calls of kind bus, as the files of this folder share them: the executor (runner/executor.h),
 * and a run for each call.
 *
 *   begin          first with its           its time has        a reply, or
 *                  topics and session       come                nothing to wait for
 *    ─────▶ HELD ───────────────────▶ DUE ─────────────▶ SENT ─────────────────────▶ finished
 *             │                        │                  │
 *             └──── the bus is away, no room, denied ─────┴──▶ ENDING ──▶ finished in the next turn
 *                                                         │
 *                                    late, cancelled ─────┴──▶ CLOSING ──▶ gone
 *
 * A reply has its topic, and the session of our message. Most replies also return our context, and
 * so the mark of the call in it: then no other call can take it. A reply without a mark belongs to
 * the only run that has its topic and session on the bus; to keep it so, a run without an answer
 * keeps its place for BUS_LATE_MS, and one with an unmarked answer for BUS_DOUBLE_MS: in this time
 * its late or doubled reply is dropped.
 *
 * The messages of a toolbox pay as the messages of a host do (core/proxy.h): a run beyond its pace
 * waits while its deadline runs.
 */

#define BUS_LATE_MS    1000
#define BUS_DOUBLE_MS  20
#define BUS_UNASKED_MS 200

/* The time before each message for opening or closing a question once more: ovos-core 2 takes
 * the messages in several threads, and the state of an earlier one may replace the state of a later
 * one. */
#define BUS_ASK_AGAIN_MS 150

/* The price of a message, and how much may be owed: 100 a second, 500 at once. */
#define BUS_MESSAGE_MS 10
#define BUS_BURST_MS   5000

/* The most bytes of a frame that is read as a reply, and of what is collected for one call; and the
 * most messages collected for a call. */
#define BUS_REPLY_BYTES     (1u << 20)
#define BUS_COLLECTED_BYTES (256u << 10)
#define BUS_COLLECTED_MAX   256

/* The member of the context with the mark of a call. */
#define BUS_MARK "toolboxd_call"

/* The skill that toolboxd is for the assistant while it asks a person. */
#define BUS_ASK_ID "toolboxd"

/* The interests of a run: its replies and collected topics, or the topics around a question. */
#define BUS_RUN_INTERESTS 20

enum bus_run_state {
	BUS_RUN_HELD,    /* runs before it have its reply topic and session */
	BUS_RUN_DUE,     /* the timer is armed for its messages */
	BUS_RUN_SENT,    /* its messages are sent */
	BUS_RUN_ENDING,  /* its end is reported in the next turn of the loop */
	BUS_RUN_CLOSING, /* its call is over; its replies are for no other call yet */
};

/* The messages of one toolbox. */
struct bus_pace {
	struct list link;
	uint64_t paid_ms;  /* the time until which its messages are paid for */
	uint64_t sent_ms;  /* when a message was sent last */
	uint64_t other_ms; /* the same, of a tool other than @tool */
	uint32_t tool;     /* the last tool to send */
	unsigned int n_runs;
	char id[];
};

/* A message of ours with a topic of interest to its run: the bus returns it to us. */
struct bus_echo {
	uint64_t topic;  /* hash of its topic */
	uint64_t digest; /* digest of its data, in canonical form; 0: it has come back */
};

/* One call on the bus. */
struct bus_run {
	struct list link; /* in calls->runs, or calls->spare */
	struct bus_calls *calls;
	struct runner_call *call;   /* NULL: it is over */
	const struct bus_call *bus; /* part of its tool; valid while there is a call */
	struct bus_pace *pace;
	enum bus_run_state state;
	struct loop_timer timer;
	bool wants_reply;
	bool is_paid;            /* its pace has the price of its messages */
	bool is_sent;            /* its messages were sent */
	bool is_asked;           /* a question is open, and has to be closed */
	struct buffer *messages; /* complete, to be sent */
	size_t n_messages;
	size_t capacity;
	char mark[CALL_ID_BYTES];
	struct buffer session; /* its session_id, decoded */
	struct bus_echo echoes[BUS_CALL_MESSAGES_MAX];
	size_t n_echoes;
	struct interest interests[BUS_RUN_INTERESTS];
	size_t n_interests;
	struct buffer collected; /* the elements of an array, without brackets */
	size_t n_collected;
	enum call_outcome outcome; /* ENDING */
	struct buffer reason;      /* ENDING: text */
};

struct bus_calls {
	struct executor executor;
	struct loop *loop;
	struct bus *bus; /* borrowed; set once it is open */
	const struct config *config;
	struct conversations *conversations; /* core/voice/conversation.h */
	bool is_own_bus; /* the bus is ours: a message is on its way when it is sent */
	struct list runs;
	struct list spare;
	size_t n_spare;
	struct list paces;
	struct interests interests;
	struct loop_timer again; /* armed: the question is opened or closed once more */
	struct bus_run *asking;  /* the run with the open question, or NULL */
	size_t reopened;         /* the messages that have opened it once more */
	/* memory, used again */
	struct json_tape arguments;
	struct json_tape caller;
	struct json_tape sent;
	struct json_tape result_tape;
	struct buffer result;
	struct buffer context;
	struct buffer scratch;
	char note[2 * BUS_TOPIC_BYTES];
};

/* End @run in the next turn of the loop, with @outcome and the text of @format. */
void bus_run_end_later(struct bus_run *run, enum call_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* End the call of @run with @result, and keep its place for @guard_ms if its messages were sent. */
void bus_run_finish(struct bus_run *run, const struct call_result *result, uint64_t guard_ms);

/* End the question of @run without an answer. */
void bus_run_end_silent(struct bus_run *run);

/* Keep the place of the closing @run for @guard_ms more; 0: give it up. */
void bus_run_keep(struct bus_run *run, uint64_t guard_ms);
