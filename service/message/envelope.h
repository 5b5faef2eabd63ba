/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The envelope of a message (OVOS-MSG-1): `{"type": …, "data": …, "context": …}`.
 *
 *   frame bytes ──bus_topic_scan──▶ topic: wanted? no: drop the frame
 *                                     │ yes
 *               ──bus_envelope_read─▶ the whole text checked; tapes over data and context
 *               ──bus_response_begin▶ `{"type": "TOPIC.response", "context": {…}, "data": `
 *
 * A response returns the context of its request byte for byte: numbers, escapes and unknown keys
 * stay as they were sent. Only the routing pair (source, destination) is derived, by MSG-1 §5.
 */

/* The longest topic that is read, with its NUL */
#define BUS_TOPIC_BYTES 256

enum bus_envelope_status {
	BUS_E_MALFORMED = 1, /* not a message; its sender is answered when its topic is ours */
	BUS_E_NO_TOPIC,      /* (scan) the bytes contain no usable `type` */
	BUS_E_INCOMPLETE,    /* (scan) the bytes end before `type` is found */
};

/*
 * Find `type` among the top-level keys; if there are two, the first counts. Nothing is built and
 * nothing else is checked. Return 0 with the decoded topic in @ret_topic (not NUL-terminated) and
 * its size in *ret_size (1 to BUS_TOPIC_BYTES - 1). Return BUS_E_NO_TOPIC if there is no `type`, if
 * it is not a string, is empty or does not fit, or if the text is not an object. Return
 * BUS_E_INCOMPLETE if more bytes of the frame may still contain it.
 */
int bus_topic_scan(
	const char *text, size_t size, char ret_topic[BUS_TOPIC_BYTES], size_t *ret_size);

/* A mistake in a message: "'data' must be JSON: at byte 57: expected …". */
struct bus_fault {
	const char
		*part; /* "type", "data", "context", "context.session" or "message"; NULL: nothing
			     is wrong */
	const char *expected;
	const char *reason; /* the message of the reader, or NULL */
	size_t offset;      /* from the beginning of the text, in bytes */
};

/* Append the text of @fault, without a period. */
void bus_fault_write(const struct bus_fault *fault, struct buffer *out);

struct bus_envelope {
	const char *text;            /* borrowed: the message */
	char topic[BUS_TOPIC_BYTES]; /* decoded, NUL-terminated */
	size_t topic_size;
	struct json_tape data;    /* its root is always an object: an empty one for absent or
				     null */
	struct json_tape context; /* as data */
	struct json_tape args;    /* after bus_envelope_fill(): the value of `args`, … */
	bool has_args;            /* … if there is one */
	const struct json_tape
		*given; /* after bus_envelope_give(): the tape with `args`, or NULL */
	uint32_t given_token;
	struct json_tape scratch;
	uint32_t source; /* tokens of members of the context, JSON_NONE: absent */
	uint32_t destination;
	uint32_t session; /* an object, or null */
	int data_status;  /* 0, or JSON_E_DUPLICATE_KEY, JSON_E_NUL_IN_KEY, JSON_E_DEPTH or
			    JSON_E_TOKENS: then data has only what answers the message */
	struct json_error data_error;
	struct bus_fault fault; /* after BUS_E_MALFORMED */
	uint32_t values_max;    /* the most values of all members together, with the keys inside of
				them; 0: any number. Set by the owner */
	uint32_t values_left;
	bool is_skimmed;       /* only a part was read */
	struct buffer skimmed; /* the text of skimmed or unreadable data */
	struct buffer skimmed_context;
};

/*
 * Read a whole frame. @envelope is zeroed but for values_max, or was used before: its memory is
 * reused. The tapes borrow @text. @depth_max counts from the roots of data and context. A context
 * with too many values is malformed; of an unused member, the excess values are not looked at.
 * Return 0, BUS_E_MALFORMED or -ENOMEM. After BUS_E_MALFORMED the topic comes from
 * bus_topic_scan(), or has the size 0, and data and context are parts fit for return to the sender:
 * `name`, `call_id`, `toolbox_id` and `profile`, or the session and the routing pair, when the
 * whole cannot be read.
 */
int bus_envelope_read(
	struct bus_envelope *envelope, const char *text, size_t size, uint32_t depth_max);

/*
 * As bus_envelope_read(), for a message not worth the time of a full read: of its data, and of a
 * long context, all but the first short members, together up to some KiB, are neither kept nor
 * checked; members beside data and context are not checked. These parts suffice for an answer.
 */
int bus_envelope_skim(
	struct bus_envelope *envelope, const char *text, size_t size, uint32_t depth_max);

/*
 * Fill @envelope with a request for @topic that came by another door, without a context. @data is
 * the text of an object without its member `args`, and @args is the text of the value of `args`
 * (NULL: absent). @is_skim: @args is not read, or, without it, @data is skimmed. Else as
 * bus_envelope_read(); the offset of a fault in @args counts from the beginning of @args.
 */
int bus_envelope_fill(struct bus_envelope *envelope, const char *topic,
	const struct text_view *data, const struct text_view *args, bool is_skim,
	uint32_t depth_max);

/* Give @envelope, which is filled without arguments, the value at @token of @tape as `args`: the
 * door has read it. The tape is borrowed. data_status has the bound that the value exceeds. */
void bus_envelope_give(struct bus_envelope *envelope, const struct json_tape *tape, uint32_t token,
	uint32_t depth_max);

/* Return whether the message has the mark of a twin: programs of OVOS send a message under the new
 * name of its topic, and then its twin under the old name. A mark is no proof: a reply keeps the
 * keys of a context (OVOS-MSG-1 §5.2), so messages about a twin have its mark, too. Code that may
 * take a message twice without harm does not look at marks. */
bool bus_envelope_is_twin(const struct bus_envelope *envelope);

/* The same for twins of a message to one skill, as `skill:stop` and `skill.stop` are. */
bool bus_envelope_is_skill_twin(const struct bus_envelope *envelope);

void bus_envelope_deinit(struct bus_envelope *envelope);

/* Free the memory of large tapes. @envelope must be read again before use. */
void bus_envelope_recycle(struct bus_envelope *envelope);
