/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/parts.h"

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

static enum bus_part_kind kind_of(const char *key, size_t size)
{
	if (bus_string_is(key, size, "type"))
		return BUS_PART_TYPE;
	if (bus_string_is(key, size, "data"))
		return BUS_PART_DATA;
	if (bus_string_is(key, size, "context"))
		return BUS_PART_CONTEXT;
	return BUS_PART_OTHER;
}

int bus_parts_begin(struct bus_parts *parts, const char *text, size_t size)
{
	size_t at = json_scan_space(text, size, 0);

	if (at == size)
		return BUS_PARTS_INCOMPLETE;
	if (text[at] != '{')
		return BUS_PARTS_BROKEN;
	*parts = (struct bus_parts){.text = text, .size = size, .at = at + 1, .is_first = true};
	return 0;
}

/* Step over white space to the byte that must come next. */
static int expect(struct bus_parts *parts, char byte)
{
	parts->at = json_scan_space(parts->text, parts->size, parts->at);
	if (parts->at == parts->size)
		return BUS_PARTS_INCOMPLETE;
	return parts->text[parts->at] == byte ? 0 : BUS_PARTS_BROKEN;
}

/* The comma before a member (the first has none), or the end. */
static int separate(struct bus_parts *parts)
{
	int status = expect(parts, '}');

	if (status == 0) {
		parts->at++;
		return BUS_PARTS_END;
	}
	if (status == BUS_PARTS_INCOMPLETE || parts->is_first)
		return status == BUS_PARTS_INCOMPLETE ? status : 0;
	status = expect(parts, ',');
	if (status == 0)
		parts->at++;
	return status;
}

static int take_key(struct bus_parts *parts, struct bus_part *part)
{
	int status = expect(parts, '"');
	size_t end;

	if (status)
		return status;
	end = json_scan_string(parts->text, parts->size, parts->at);
	if (end == 0)
		return BUS_PARTS_INCOMPLETE;
	part->key = parts->text + parts->at;
	part->key_size = end - parts->at;
	part->kind = kind_of(part->key, part->key_size);
	parts->at = end;
	status = expect(parts, ':');
	if (status == 0)
		parts->at++;
	return status;
}

static int take_value(struct bus_parts *parts, struct bus_part *part)
{
	size_t at = json_scan_space(parts->text, parts->size, parts->at);
	size_t end = json_scan_value(parts->text, parts->size, at);

	if (end == 0)
		return BUS_PARTS_INCOMPLETE;
	part->value = parts->text + at;
	part->value_size = end - at;
	parts->at = end;
	return 0;
}

int bus_parts_next(struct bus_parts *parts, struct bus_part *ret_part)
{
	struct bus_part part;
	int status = separate(parts);

	if (status == 0)
		status = take_key(parts, &part);
	if (status == 0)
		status = take_value(parts, &part);
	if (status)
		return status;
	parts->is_first = false;
	*ret_part = part;
	return 0;
}
