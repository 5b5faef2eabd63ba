/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "json/reader.h"
#include "json/scan.h"
#include "util/cleanup.h"

/*
 * The members of a JSON object, found one after the other, without checking their values: for a
 * text with only a few wanted members, or a text refused by the reader.
 *
 *   {  "type"  :  "x"  ,  "data"  :  {…}  }
 *    └────────────────┘└──────────────────┘
 *     one step          one step           END
 */

/* The longest escape of one byte, \u0041. */
#define JSON_ESCAPED_BYTE_SIZE 6

struct json_member {
	const char *key; /* with its quotes, unchecked */
	size_t key_size;
	const char *value; /* without white space around it, unchecked, at least one byte */
	size_t value_size;
};

struct json_members {
	const char *text;
	size_t size;
	size_t at;
	bool is_first;
};

enum json_members_status {
	JSON_MEMBERS_END = 1,    /* the object is closed; members->at is after it */
	JSON_MEMBERS_INCOMPLETE, /* the text ends inside the object or before it */
	JSON_MEMBERS_BROKEN,     /* not an object */
};

static inline bool json_escaped_key_is(const char *quoted, size_t size, const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t text_size = strlen(text);

	if (size > 2 + text_size * JSON_ESCAPED_BYTE_SIZE)
		return false;
	if (json_tape_read(&tape, quoted, size, 1, NULL) != 0)
		return false;
	return json_string_equals(&tape, 0, text, text_size);
}

/* Return whether the JSON string at @quoted (@size bytes with its quotes) is @text, whose length is
 * counted by the compiler, without escapes. */
static inline bool json_raw_key_is(const char *quoted, size_t size, const char *text)
{
	size_t text_size = strlen(text);

	return size == text_size + 2 && memcmp(quoted + 1, text, text_size) == 0;
}

/* Return whether the JSON string at @quoted (@size bytes with its quotes, unchecked) decodes to
 * @text; an invalid string never does. */
static inline bool json_key_is(const char *quoted, size_t size, const char *text)
{
	return json_raw_key_is(quoted, size, text) ||
	       (size > strlen(text) + 2 && memchr(quoted, '\\', size) &&
		       json_escaped_key_is(quoted, size, text));
}

/* Start on the @size bytes at @text. Return 0, JSON_MEMBERS_INCOMPLETE or JSON_MEMBERS_BROKEN. */
static inline int json_members_begin(struct json_members *members, const char *text, size_t size)
{
	size_t at = json_scan_space(text, size, 0);

	if (at == size)
		return JSON_MEMBERS_INCOMPLETE;
	if (text[at] != '{')
		return JSON_MEMBERS_BROKEN;
	*members =
		(struct json_members){.text = text, .size = size, .at = at + 1, .is_first = true};
	return 0;
}

/* Step over white space to the required next byte. */
static inline int json_members_expect_byte(struct json_members *members, char byte)
{
	members->at = json_scan_space(members->text, members->size, members->at);
	if (members->at == members->size)
		return JSON_MEMBERS_INCOMPLETE;
	return members->text[members->at] == byte ? 0 : JSON_MEMBERS_BROKEN;
}

/* The comma before a member (but the first), or the end. */
static inline int json_members_separate(struct json_members *members)
{
	int r = json_members_expect_byte(members, '}');

	if (r == 0) {
		members->at++;
		return JSON_MEMBERS_END;
	}
	if (r == JSON_MEMBERS_INCOMPLETE || members->is_first)
		return r == JSON_MEMBERS_INCOMPLETE ? r : 0;
	r = json_members_expect_byte(members, ',');
	if (r == 0)
		members->at++;
	return r;
}

static inline int json_members_take_key(struct json_members *members, struct json_member *member)
{
	int r = json_members_expect_byte(members, '"');
	size_t end;

	if (r)
		return r;
	end = json_scan_string(members->text, members->size, members->at);
	if (end == 0)
		return JSON_MEMBERS_INCOMPLETE;
	member->key = members->text + members->at;
	member->key_size = end - members->at;
	members->at = end;
	r = json_members_expect_byte(members, ':');
	if (r == 0)
		members->at++;
	return r;
}

/* Read the key of the next member into @member; members->at is after its colon then. Return 0 or an
 * enum json_members_status. */
static inline int json_members_next_key(struct json_members *members, struct json_member *member)
{
	int r = json_members_separate(members);

	return r ? r : json_members_take_key(members, member);
}

/* Step over the value of @member, whose key was read: the bytes of the text from @at to @end. */
static inline void json_members_step(
	struct json_members *members, struct json_member *member, size_t at, size_t end)
{
	member->value = members->text + at;
	member->value_size = end - at;
	members->at = end;
	members->is_first = false;
}

/* Find the value of @member, whose key was read. Return 0 or JSON_MEMBERS_INCOMPLETE. */
static inline int json_members_find_value(struct json_members *members, struct json_member *member)
{
	size_t at = json_scan_space(members->text, members->size, members->at);
	size_t end = json_scan_value(members->text, members->size, at);

	if (end == 0)
		return JSON_MEMBERS_INCOMPLETE;
	json_members_step(members, member, at, end);
	return 0;
}

/* Read the next member. Return 0 or an enum json_members_status. */
static inline int json_members_next(struct json_members *members, struct json_member *ret_member)
{
	int r = json_members_next_key(members, ret_member);

	return r ? r : json_members_find_value(members, ret_member);
}
