/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/members.h"

#include <string.h>

#include "json/reader.h"
#include "json/scan.h"

/*
 *   {  "type"  :  "x"  ,  "data"  :  {…}  }
 *    └────────────────┘└──────────────────┘
 *     one step          one step           END
 */

/* The longest escape of one byte, \u0041. */
#define ESCAPED_BYTE_SIZE 6

static bool escaped_string_is(const char *quoted, size_t size, const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t text_size = strlen(text);

	if (size > 2 + text_size * ESCAPED_BYTE_SIZE)
		return false;
	if (json_tape_read(&tape, quoted, size, 1, NULL) != 0)
		return false;
	return json_string_equals(&tape, 0, text, text_size);
}

bool bus_string_is(const char *quoted, size_t size, const char *text)
{
	size_t text_size = strlen(text);

	if (size == text_size + 2 && memcmp(quoted + 1, text, text_size) == 0)
		return true;
	return size > text_size + 2 && memchr(quoted, '\\', size) &&
	       escaped_string_is(quoted, size, text);
}

static enum bus_member_kind kind_of(const char *key, size_t size)
{
	if (bus_string_is(key, size, "type"))
		return BUS_MEMBER_TYPE;
	if (bus_string_is(key, size, "data"))
		return BUS_MEMBER_DATA;
	if (bus_string_is(key, size, "context"))
		return BUS_MEMBER_CONTEXT;
	return BUS_MEMBER_OTHER;
}

int bus_members_begin(struct bus_members *members, const char *text, size_t size)
{
	size_t at = json_scan_space(text, size, 0);

	if (at == size)
		return BUS_MEMBERS_INCOMPLETE;
	if (text[at] != '{')
		return BUS_MEMBERS_BROKEN;
	*members = (struct bus_members){.text = text, .size = size, .at = at + 1, .is_first = true};
	return 0;
}

/* Step over white space to the byte that must come next. */
static int expect(struct bus_members *members, char byte)
{
	members->at = json_scan_space(members->text, members->size, members->at);
	if (members->at == members->size)
		return BUS_MEMBERS_INCOMPLETE;
	return members->text[members->at] == byte ? 0 : BUS_MEMBERS_BROKEN;
}

/* The comma before a member (the first has none), or the end. */
static int separate(struct bus_members *members)
{
	int r = expect(members, '}');

	if (r == 0) {
		members->at++;
		return BUS_MEMBERS_END;
	}
	if (r == BUS_MEMBERS_INCOMPLETE || members->is_first)
		return r == BUS_MEMBERS_INCOMPLETE ? r : 0;
	r = expect(members, ',');
	if (r == 0)
		members->at++;
	return r;
}

static int take_key(struct bus_members *members, struct bus_member *member)
{
	int r = expect(members, '"');
	size_t end;

	if (r)
		return r;
	end = json_scan_string(members->text, members->size, members->at);
	if (end == 0)
		return BUS_MEMBERS_INCOMPLETE;
	member->key = members->text + members->at;
	member->key_size = end - members->at;
	member->kind = kind_of(member->key, member->key_size);
	members->at = end;
	r = expect(members, ':');
	if (r == 0)
		members->at++;
	return r;
}

static int take_value(struct bus_members *members, struct bus_member *member)
{
	size_t at = json_scan_space(members->text, members->size, members->at);
	size_t end = json_scan_value(members->text, members->size, at);

	if (end == 0)
		return BUS_MEMBERS_INCOMPLETE;
	member->value = members->text + at;
	member->value_size = end - at;
	members->at = end;
	return 0;
}

int bus_members_next(struct bus_members *members, struct bus_member *ret_member)
{
	struct bus_member member;
	int r = separate(members);

	if (r == 0)
		r = take_key(members, &member);
	if (r == 0)
		r = take_value(members, &member);
	if (r)
		return r;
	members->is_first = false;
	*ret_member = member;
	return 0;
}
