/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "json/reader.h"
#include "json/scan.h"
#include "util/cleanup.h"

/*
 * The members of a JSON object, found one after the other, without checking their values:
 *
 *   {  "type"  :  "x"  ,  "data"  :  {…}  }
 *    └────────────────┘└──────────────────┘
 *     one step          one step           END
 */

/* The longest escape of one byte, \u0041. */
#define ESCAPED_BYTE_SIZE 6

enum member_kind {
	MEMBER_TYPE,
	MEMBER_DATA,
	MEMBER_CONTEXT,
	MEMBER_OTHER,
};

struct member {
	enum member_kind kind;
	const char *key; /* with its quotes, unchecked */
	size_t key_size;
	const char *value; /* without white space around it, unchecked, at least one byte */
	size_t value_size;
	const char *whole; /* the value as it came, where a part of it was skimmed */
	size_t whole_size;
};

struct members {
	const char *text;
	size_t size;
	size_t at;
	bool is_first;
};

enum members_status {
	MEMBERS_END = 1,    /* the object is closed; members->at is after it */
	MEMBERS_INCOMPLETE, /* the text ends inside the object or before it */
	MEMBERS_BROKEN,     /* not an object */
};

static inline bool members_escaped_key_is(const char *quoted, size_t size, const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t text_size = strlen(text);

	if (size > 2 + text_size * ESCAPED_BYTE_SIZE)
		return false;
	if (json_tape_read(&tape, quoted, size, 1, NULL) != 0)
		return false;
	return json_string_equals(&tape, 0, text, text_size);
}

/* Return whether the JSON string at @quoted (@size bytes with its quotes, unchecked) decodes to
 * @text, whose length is counted by the compiler. An invalid string does not. */
static inline bool members_key_is(const char *quoted, size_t size, const char *text)
{
	size_t text_size = strlen(text);

	if (size == text_size + 2 && memcmp(quoted + 1, text, text_size) == 0)
		return true;
	return size > text_size + 2 && memchr(quoted, '\\', size) &&
	       members_escaped_key_is(quoted, size, text);
}

static inline enum member_kind members_kind(const char *key, size_t size)
{
	if (members_key_is(key, size, "type"))
		return MEMBER_TYPE;
	if (members_key_is(key, size, "data"))
		return MEMBER_DATA;
	if (members_key_is(key, size, "context"))
		return MEMBER_CONTEXT;
	return MEMBER_OTHER;
}

/* Start on the @size bytes at @text. Return 0, MEMBERS_INCOMPLETE or MEMBERS_BROKEN. */
static inline int members_begin(struct members *members, const char *text, size_t size)
{
	size_t at = json_scan_space(text, size, 0);

	if (at == size)
		return MEMBERS_INCOMPLETE;
	if (text[at] != '{')
		return MEMBERS_BROKEN;
	*members = (struct members){.text = text, .size = size, .at = at + 1, .is_first = true};
	return 0;
}

/* Step over white space to the byte that must come next. */
static inline int members_expect_byte(struct members *members, char byte)
{
	members->at = json_scan_space(members->text, members->size, members->at);
	if (members->at == members->size)
		return MEMBERS_INCOMPLETE;
	return members->text[members->at] == byte ? 0 : MEMBERS_BROKEN;
}

/* The comma before a member (the first has none), or the end. */
static inline int members_separate(struct members *members)
{
	int r = members_expect_byte(members, '}');

	if (r == 0) {
		members->at++;
		return MEMBERS_END;
	}
	if (r == MEMBERS_INCOMPLETE || members->is_first)
		return r == MEMBERS_INCOMPLETE ? r : 0;
	r = members_expect_byte(members, ',');
	if (r == 0)
		members->at++;
	return r;
}

static inline int members_take_key(struct members *members, struct member *member)
{
	int r = members_expect_byte(members, '"');
	size_t end;

	if (r)
		return r;
	end = json_scan_string(members->text, members->size, members->at);
	if (end == 0)
		return MEMBERS_INCOMPLETE;
	member->key = members->text + members->at;
	member->key_size = end - members->at;
	member->kind = members_kind(member->key, member->key_size);
	members->at = end;
	r = members_expect_byte(members, ':');
	if (r == 0)
		members->at++;
	return r;
}

static inline int members_take_value(struct members *members, struct member *member)
{
	size_t at = json_scan_space(members->text, members->size, members->at);
	size_t end = json_scan_value(members->text, members->size, at);

	if (end == 0)
		return MEMBERS_INCOMPLETE;
	member->value = member->whole = members->text + at;
	member->value_size = member->whole_size = end - at;
	members->at = end;
	return 0;
}

/* Read the next member. Return 0 or a members_status. */
static inline int members_next(struct members *members, struct member *ret_member)
{
	struct member member;
	int r = members_separate(members);

	if (r == 0)
		r = members_take_key(members, &member);
	if (r == 0)
		r = members_take_value(members, &member);
	if (r)
		return r;
	members->is_first = false;
	*ret_member = member;
	return 0;
}
