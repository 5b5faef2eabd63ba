/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bus/envelope.h"

/*
 * The members of a message's outermost object, one after the other, found without checking their
 * values. The topic scan and the reading of an envelope share this.
 */

enum bus_member_kind {
	BUS_MEMBER_TYPE,
	BUS_MEMBER_DATA,
	BUS_MEMBER_CONTEXT,
	BUS_MEMBER_OTHER,
};

struct bus_member {
	enum bus_member_kind kind;
	const char *key; /* with its quotes, unchecked */
	size_t key_size;
	const char *value; /* without white space around it, unchecked, at least one byte */
	size_t value_size;
};

struct bus_members {
	const char *text;
	size_t size;
	size_t at;
	bool is_first;
};

enum bus_members_status {
	BUS_MEMBERS_END = 1,    /* the object is closed; members->at is after it */
	BUS_MEMBERS_INCOMPLETE, /* the text ends inside the object or before it */
	BUS_MEMBERS_BROKEN,     /* not an object */
};

/* Start on the @size bytes at @text. Return 0, BUS_MEMBERS_INCOMPLETE or BUS_MEMBERS_BROKEN. */
int bus_members_begin(struct bus_members *members, const char *text, size_t size);

/* Read the next member. Return 0 or any status above. */
int bus_members_next(struct bus_members *members, struct bus_member *ret_member);

/* Return whether the JSON string at @quoted (@size bytes with its quotes, unchecked) decodes to
 * @text. An invalid string does not. */
bool bus_string_is(const char *quoted, size_t size, const char *text);
