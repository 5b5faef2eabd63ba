/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/tape.h"
#include "loop/loop.h"
#include "message/envelope.h"
#include "util/buffer.h"
#include "util/list.h"

/*
 * Requests to the tool service, in the name of a person:
 *
 *   asking_send ─▶ {"type": TOPIC, "data": …, "context": {"source": …, "session": …,
 *                   "via": "toolbox-agent", "toolbox_agent": "KEY-7"}}
 *                                                             │ the context comes back
 *   asking_take ◀─ {"type": TOPIC.response, "context": {…, "toolbox_agent": "KEY-7"}}
 *
 * A request not answered in ASKING_PATIENCE_MS is followed by `mycroft.toolboxd.is_alive`;
 * without an answer to this either, the service is away, and every open request ends without a
 * response. While it is away, new requests have only ASKING_AWAY_MS.
 */

/* The member of the context with our number. */
#define ASKING_MEMBER "toolbox_agent"

#define ASKING_PATIENCE_MS 3000
#define ASKING_AWAY_MS     300
#define ASKING_KEY_BYTES   17

struct asking {
	struct loop *loop;
	/* Send a message, which is taken over (bus_send()). */
	int (*send)(void *data, struct buffer *message);
	void *data;
	char key[ASKING_KEY_BYTES]; /* hexadecimal, unique to this process */
	uint64_t n_requests;
	struct list open;
	struct loop_timer timer; /* the end of the patience */
	bool is_probing;         /* is_alive has been asked */
	bool is_away;
};

/* Take the response: the object at the root of @response; NULL: the service is away. */
typedef void (*asked_function)(void *data, const struct json_tape *response);

/* A request that is open, embedded in its owner. A zeroed or ended one is idle. */
struct asked {
	struct list link; /* initialised by asking_send() */
	struct asking *asking;
	const char *topic;
	uint64_t number;
	asked_function function;
	void *data;
};

/* Fill the zeroed @asking. 0 or a negative errno. */
int asking_init(struct asking *asking, struct loop *loop,
	int (*send)(void *data, struct buffer *message), void *data);

/* Forget all open requests. Takes a zeroed struct. */
void asking_deinit(struct asking *asking);

/* Return whether @asked is open. */
static inline bool asked_is_open(const struct asked *asked)
{
	return asked->asking != NULL;
}

/* Send the request @topic (a constant) with @data, the text of an object, in the name of @person,
 * members of a context. @asked (idle) is open until @function was called, later, or asked_forget().
 * 0; -ENOMEM; or the error of sending. */
int asking_send(struct asking *asking, struct asked *asked, const char *topic,
	const struct buffer *person, const struct buffer *data, asked_function function,
	void *function_data);

/* The same without a response. */
void asking_notify(struct asking *asking, const char *topic, const struct buffer *person,
	const struct buffer *data);

/* Let no function be called for @asked. */
void asked_forget(struct asked *asked);

/* Return whether a message with this topic may be a response. */
bool asking_wants(const struct asking *asking, const char *topic, size_t size);

/* Take the message in @envelope, if it is a response to an open request. */
void asking_take(struct asking *asking, const struct bus_envelope *envelope);

/* End every open request: the bus is lost. */
void asking_lose(struct asking *asking);
