/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/asking.h"
#include "agent/history.h"
#include "agent/model/model.h"
#include "agent/tools.h"
#include "agent/turn/calls.h"
#include "agent/turn/speech.h"
#include "agent/words/words.h"
#include "config/agent/agent.h"
#include "loop/loop.h"
#include "util/buffer.h"

/*
 * One turn of a conversation, from an utterance to its answer.
 *
 *            no match                 tools                  calls
 *   MATCHING ────────▶ LISTING ─────▶ (SEARCHING) ─▶ MODEL ────────▶ FINDING, CALLING
 *      │ a trigger has                                 ▲  │ text           │ results
 *      ▼ all arguments                                 └──┼────────────────┘
 *   DESCRIBING ─▶ CALLING ─▶ faces ───────────────────────┴──▶ end
 *
 * The end is one of answer, limit, cancelled and error. A cancel, a loss of the bus and the end of
 * the time may come in every state: what waits is forgotten, calls are cancelled, and the history
 * gets a message for each call, marked.
 */

enum turn_finish {
	TURN_ANSWER,
	TURN_LIMIT,
	TURN_CANCELLED,
	TURN_ERROR,
};

extern const char *const turn_finish_names[];

/* The time of a silence in a call after which `wait` is spoken. */
#define TURN_WAIT_MS 1500

/* The most questions to persons in a turn. */
#define TURN_QUESTIONS_MAX 32

/* The longest id of a question. */
#define TURN_QUESTION_BYTES 64

/* The longest prefix of our call ids, with its NUL. */
#define TURN_PREFIX_BYTES 64

/* The parts around a turn, all borrowed. */
struct turn_parts {
	struct loop *loop;
	const struct config_agent *config;
	struct asking *asking;
	struct model *model;
	struct history *history;
	bool *has_told_away; /* the person knows of the absent server */
};

/* The utterance and the wishes of the asker. The buffers are taken over. */
struct turn_wishes {
	struct buffer utterance;
	struct buffer person;  /* members of the context of requests (asking_send()) */
	struct buffer lang;    /* a tag, or empty */
	struct buffer profile; /* or empty */
	struct buffer system;  /* or empty: the configuration's */
	bool streams;
	bool speaks;
};

struct turn;

struct turn_handler {
	/* A part of the answer has come. */
	void (*delta)(void *data, const char *text, size_t size);
	/* A sentence is to be spoken. */
	void (*say)(void *data, const char *sentence, size_t size, bool expects_answer);
	/* The turn is over, and may be freed. */
	void (*ended)(void *data);
};

enum turn_state {
	TURN_MATCHING,
	TURN_DESCRIBING, /* the matched tool */
	TURN_LISTING,
	TURN_SEARCHING, /* tools that fit the utterance */
	TURN_MODEL,
	TURN_FINDING, /* tools, for the model */
	TURN_CALLING,
	TURN_ENDED,
};

struct turn {
	struct turn_parts parts;
	const struct turn_handler *handler;
	void *data; /* for the handler */
	struct turn_wishes wishes;
	enum turn_state state;
	struct asked asked;
	struct model_request *request;
	struct tools tools;
	struct turn_calls calls;
	struct call_counts counts;
	struct turn_speech speech;
	struct buffer matched_args;     /* the arguments of the matched tool, as JSON */
	bool is_matched;                /* no model is asked */
	bool is_last;                   /* the present request has no tools: the last word */
	char prefix[TURN_PREFIX_BYTES]; /* the beginning of call ids */
	struct loop_timer timer;        /* the end of its time */
	struct loop_timer wait;         /* the end of a silence */
	struct loop_timer start;        /* the first step */
	bool has_waited;                /* `wait` was spoken */
	uint64_t left_ms;               /* the rest of its time, while a person is waited for */
	uint64_t due_ms;
	uint64_t called_ms;                                      /* when the batch was sent */
	char questions[TURN_QUESTIONS_MAX][TURN_QUESTION_BYTES]; /* waiting approvals; "": none */
	bool is_asking;                                          /* a call asks the person */

	/* the outcome */
	enum turn_finish finish;
	struct buffer answer;
	struct buffer called; /* the members of `calls` */
	struct reply_usage usage;
	unsigned int n_rounds;
	bool is_truncated;
	char reason[MODEL_REASON_BYTES]; /* why it is an error or a limit; "": no reason */
};

/* Begin a turn, whose first step comes later, from the loop. @handler gets @data. Each turn has a
 * @number of its own. Return NULL without memory. */
struct turn *turn_new(const struct turn_parts *parts, struct turn_wishes *wishes,
	const struct turn_handler *handler, void *data, uint64_t number);

/* End the turn by a cancel; ended() is called. */
void turn_cancel(struct turn *turn);

/* The bus is lost: end the turn. */
void turn_lose_bus(struct turn *turn);

/* The question @id about the call @call_id, perhaps a call of this turn, waits for a person, or was
 * decided. */
void turn_take_question(struct turn *turn, struct text_view call_id, struct text_view id);
void turn_take_decision(struct turn *turn, struct text_view id);

/* A call of this turn asks the person, or no longer. */
void turn_set_asking(struct turn *turn, bool is_asking);

/* Return whether a person is waited for. */
bool turn_waits_for_person(const struct turn *turn);

/* Append the members of the response. */
void turn_write(const struct turn *turn, struct buffer *out);

/* Free @turn, which may be NULL, without an end. */
void turn_free(struct turn *turn);

void turn_wishes_deinit(struct turn_wishes *wishes);
