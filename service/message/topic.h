/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The topic of a message, found without reading the rest. */

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

/* Decode the JSON string at @quoted (@size bytes with its quotes, unchecked) as a topic. Return 0,
 * or BUS_E_NO_TOPIC if it is empty, too long or has broken escapes. */
int bus_topic_decode(
	const char *quoted, size_t size, char ret_topic[BUS_TOPIC_BYTES], size_t *ret_size);
