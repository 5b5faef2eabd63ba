/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/children.h"

#include <errno.h>
#include <stdlib.h>

#include "json/keys.h"
#include "util/cleanup.h"
#include "util/siphash.h"

/* More children than this get an index. */
#define CHILDREN_SEARCHED 32

/* A member the members of an object in its table, which has a power of two of entries, at most half
 * of them in use. */
struct member {
	uint32_t tag; /* the half of the name's hash not used to place the entry */
	uint32_t key; /* token of the name; 0 where the entry is free */
};

struct child_index {
	struct member *members; /* the members of an object */
	uint32_t mask;
	uint32_t *elements; /* the tokens of an array's elements */
};

static void index_free(struct child_index *index)
{
	if (!index)
		return;
	free(index->members);
	free(index->elements);
	free(index);
}

CLEANUP_DEFINE(child_index, struct child_index *, index_free)

static int index_object(
	const struct json_tape *tape, uint32_t object, uint32_t count, struct child_index *index)
{
	struct siphash_key secret = siphash_process_key();
	uint32_t capacity = CHILDREN_SEARCHED;

	while (capacity / 2 < count)
		capacity *= 2;
	index->mask = capacity - 1;
	index->members = calloc(capacity, sizeof(*index->members));
	if (!index->members)
		return -ENOMEM;
	json_each_key(key, tape, object) {
		uint64_t hash = json_string_hash(tape, key, &secret);
		uint32_t at = (uint32_t)hash & index->mask;

		while (index->members[at].key)
			at = (at + 1) & index->mask;
		index->members[at] = (struct member){(uint32_t)(hash >> 32), key};
	}
	return 0;
}

static int index_array(
	const struct json_tape *tape, uint32_t array, uint32_t count, struct child_index *index)
{
	uint32_t at = 0;

	index->elements = calloc(count, sizeof(*index->elements));
	if (!index->elements)
		return -ENOMEM;
	json_each(i, tape, array)
		index->elements[at++] = i;
	return 0;
}

/* The index of @container, made when there is none yet. */
static int get_index(
	struct source *source, uint32_t container, uint32_t count, const struct child_index **ret)
{
	const struct json_tape *tape = &source->tape;
	cleanup(child_index_cleanup) struct child_index *index = NULL;
	int r;

	if (!source->indexes)
		source->indexes = calloc(tape->count, sizeof(struct child_index *));
	if (!source->indexes)
		return -ENOMEM;
	*ret = source->indexes[container];
	if (*ret)
		return 0;
	index = calloc(1, sizeof(*index));
	if (!index)
		return -ENOMEM;
	r = json_type_at(tape, container) == JSON_OBJECT
		    ? index_object(tape, container, count, index)
		    : index_array(tape, container, count, index);
	if (r < 0)
		return r;
	*ret = source->indexes[container] = take_ptr(index);
	return 0;
}

/* RFC 6901 section 4: digits without leading zeros. UINT32_MAX: no such number. */
static uint32_t read_position(const char *token, size_t size)
{
	uint32_t number = 0;

	if (size == 0 || size > 9 || (size > 1 && token[0] == '0'))
		return UINT32_MAX;
	for (size_t i = 0; i < size; i++) {
		if (token[i] < '0' || token[i] > '9')
			return UINT32_MAX;
		number = number * 10 + (uint32_t)(token[i] - '0');
	}
	return number;
}

static uint32_t find_element(const struct json_tape *tape, uint32_t array, uint32_t number)
{
	uint32_t element = json_first(tape, array);

	while (number-- > 0)
		element = json_next(tape, element);
	return element;
}

static uint32_t find_member(const struct json_tape *tape, const struct child_index *index,
	const char *name, size_t size)
{
	struct siphash_key secret = siphash_process_key();
	struct siphash hash;
	uint64_t value;
	uint32_t at;

	siphash_init(&hash, &secret);
	siphash_bytes(&hash, name, size);
	value = siphash_finish(&hash);
	for (at = (uint32_t)value & index->mask; index->members[at].key;
		at = (at + 1) & index->mask) {
		const struct member *member = &index->members[at];

		if (member->tag == (uint32_t)(value >> 32) &&
			json_string_equals(tape, member->key, name, size))
			return member->key + 1;
	}
	return JSON_NONE;
}

int children_find(struct source *source, uint32_t container, const char *token, size_t size,
	uint32_t *ret_child)
{
	const struct json_tape *tape = &source->tape;
	enum json_type type = json_type_at(tape, container);
	const struct child_index *index = NULL;
	uint32_t number = 0;
	uint32_t count;
	int r = 0;

	*ret_child = JSON_NONE;
	if (type < JSON_ARRAY)
		return 0;
	count = json_count(tape, container);
	if (type == JSON_ARRAY) {
		number = read_position(token, size);
		if (number >= count)
			return 0;
	}
	if (count > CHILDREN_SEARCHED)
		r = get_index(source, container, count, &index);
	if (r < 0)
		return r;
	if (type == JSON_ARRAY)
		*ret_child =
			index ? index->elements[number] : find_element(tape, container, number);
	else if (!index)
		*ret_child = json_find_sized(tape, container, token, size);
	else if (index->members)
		*ret_child = find_member(tape, index, token, size);
	return 0;
}

void children_deinit(struct source *source)
{
	for (uint32_t i = 0; source->indexes && i < source->tape.count; i++)
		index_free(source->indexes[i]);
	free(source->indexes);
	source->indexes = NULL;
}
