/* SPDX-License-Identifier: Apache-2.0 */
#include "json/canonical.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "util/cleanup.h"

/* A member of an object, by its decoded key. */
struct member {
	const char *key;
	size_t size;
	uint32_t token; /* the key */
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left;
	const struct member *b = right;
	int order = memcmp(a->key, b->key, a->size < b->size ? a->size : b->size);

	return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* Fill in the sorted @members of the object at @index. Keys with escapes are decoded into @decoded,
 * which must outlive them. */
static void sort_members(const struct json_tape *tape, uint32_t index, struct buffer *decoded,
	struct member *members)
{
	size_t n = 0;
	size_t start = 0;

	json_each_key(key, tape, index) {
		members[n] =
			(struct member){json_bytes(tape, key), json_at(tape, key)->length, key};
		if (json_at(tape, key)->flags & JSON_ESCAPED) {
			start = decoded->size;
			json_string_decode(tape, key, decoded);
			members[n].key = NULL;
			members[n].size = decoded->size - start;
		}
		n++;
	}
	/* The buffer no longer moves. */
	start = 0;
	for (size_t i = 0; i < n && buffer_status(decoded) == 0; i++) {
		if (members[i].key)
			continue;
		members[i].key = decoded->data ? decoded->data + start : "";
		start += members[i].size;
	}
	if (buffer_status(decoded) == 0)
		qsort(members, n, sizeof(*members), compare_members);
}

static void write_sorted_object(struct buffer *out, const struct json_tape *tape, uint32_t index)
{
	uint32_t n = json_count(tape, index);
	cleanup(buffer_deinit) struct buffer decoded = {0};
	cleanup_free struct member *members = calloc((size_t)n + 1, sizeof(*members));

	if (!members) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	sort_members(tape, index, &decoded, members);
	buffer_fail_with(out, &decoded);
	buffer_append_char(out, '{');
	for (uint32_t i = 0; i < n && buffer_status(out) == 0; i++) {
		json_write_comma(out);
		json_write_string(out, members[i].key, members[i].size);
		buffer_append_char(out, ':');
		json_write_canonical(out, tape, members[i].token + 1);
	}
	buffer_append_char(out, '}');
}

static void write_array(struct buffer *out, const struct json_tape *tape, uint32_t index)
{
	buffer_append_char(out, '[');
	json_each(i, tape, index) {
		if (i > json_first(tape, index))
			buffer_append_char(out, ',');
		json_write_canonical(out, tape, i);
	}
	buffer_append_char(out, ']');
}

static void write_canonical_string(struct buffer *out, const struct json_tape *tape, uint32_t index)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};

	if (!(json_at(tape, index)->flags & JSON_ESCAPED)) {
		json_write_string(out, json_bytes(tape, index), json_at(tape, index)->length);
		return;
	}
	json_string_decode(tape, index, &decoded);
	json_write_buffer(out, &decoded);
}

void json_write_canonical(struct buffer *out, const struct json_tape *tape, uint32_t index)
{
	switch (json_type_at(tape, index)) {
	case JSON_OBJECT:
		write_sorted_object(out, tape, index);
		break;
	case JSON_ARRAY:
		write_array(out, tape, index);
		break;
	case JSON_STRING:
		write_canonical_string(out, tape, index);
		break;
	case JSON_NULL:
	case JSON_FALSE:
	case JSON_TRUE:
	case JSON_NUMBER:
		buffer_append(out, json_bytes(tape, index), json_at(tape, index)->length);
		break;
	}
}
