/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "schema/arena.h"
#include "util/siphash.h"

/*
 * Sets of strings for lookups by instances: the names of `properties`, the texts of an `enum`.
 *
 * A key carries its first and its last eight bytes as words, so comparisons are of integers, and
 * names of up to sixteen bytes never touch memory again: compared byte by byte, a check of the
 * bench takes up to 27 % longer. The caller of many lookups in a row gives the place where it
 * expects the next key (after the last hit): objects mostly have the order of their schema, and
 * without this guess a check takes 1.3 to 2.2 times as long. A set of more than KEY_LINEAR_MAX has
 * a hash table for other keys.
 */
struct key {
	uint64_t head;     /* the first eight bytes, little endian, zeros after a shorter key */
	uint64_t mask;     /* mask of head: ones for the bytes of the key */
	uint64_t tail;     /* the last eight bytes of a longer key, little endian; else 0 */
	const char *bytes; /* decoded, not NUL-terminated */
	uint32_t length;
};

struct key_set {
	const struct key *keys;
	const uint32_t *slots; /* index + 1 by hash, 0: free; NULL for a small set */
	uint32_t count;
	uint32_t slot_mask;
	struct siphash_key secret; /* the key of the hash, where there are slots */
};

#define KEY_LINEAR_MAX 8

/* No such key in the set. */
#define KEY_NONE UINT32_MAX

/* A length of no key of an instance. */
#define KEY_NEVER UINT32_MAX

/* Fill in the slots of @set, whose keys are set and differ. 0 or -ENOMEM. */
int key_set_index(struct key_set *set, struct arena *arena);

/* The place of @key in @set, or KEY_NONE, without a guess where it is. */
uint32_t key_set_search(const struct key_set *set, const struct key *key);

/* The key of @length bytes at @bytes; memory is readable up to @end. */
static inline struct key key_make(const char *bytes, uint32_t length, const char *end)
{
	struct key key = {.bytes = bytes, .length = length, .mask = UINT64_MAX};

	if (length < 8)
		key.mask = (UINT64_C(1) << (8 * length)) - 1;
	if (end - bytes >= 8)
		memcpy(&key.head, bytes, 8);
	else
		memcpy(&key.head, bytes, length < 8 ? length : 8);
	key.head = le64toh(key.head) & key.mask;
	if (length > 8) {
		memcpy(&key.tail, bytes + length - 8, 8);
		key.tail = le64toh(key.tail);
	}
	return key;
}

static inline bool key_equals(const struct key *a, const struct key *b)
{
	if (a->head != b->head || a->tail != b->tail || a->length != b->length)
		return false;
	return a->length <= 16 || memcmp(a->bytes + 8, b->bytes + 8, a->length - 16) == 0;
}

/* Return whether the bytes at @offset of the text of @size bytes at @text are @key, for the length
 * of the key. Near the end of the text the word is read from before the key, and shifted. */
static inline bool key_is(const struct key *key, const char *text, size_t offset, size_t size)
{
	uint64_t head;
	uint64_t tail;

	if (offset + 8 <= size) {
		memcpy(&head, text + offset, 8);
		head = le64toh(head);
	} else if (size >= 8) {
		memcpy(&head, text + size - 8, 8);
		head = le64toh(head) >> (8 * (offset + 8 - size));
	} else {
		return key->length == 0 || memcmp(text + offset, key->bytes, key->length) == 0;
	}
	if ((head & key->mask) != key->head)
		return false;
	if (key->length <= 8)
		return true;
	memcpy(&tail, text + offset + key->length - 8, 8);
	if (le64toh(tail) != key->tail)
		return false;
	return key->length <= 16 ||
	       memcmp(key->bytes + 8, text + offset + 8, key->length - 16) == 0;
}

/* The place of @key in @set, or KEY_NONE; @guess is tried first. */
static inline uint32_t key_set_find(
	const struct key_set *set, const struct key *key, uint32_t guess)
{
	if (guess < set->count && key_equals(&set->keys[guess], key))
		return guess;
	return key_set_search(set, key);
}
