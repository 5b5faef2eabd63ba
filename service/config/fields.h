/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"

/*
 * Tables of the members of an object, and the one walk that reads all of them into a struct:
 *
 *   {"limits": {"depth": 3}, "log": {"level": "info"}}
 *       NUMBER("limits.depth", limits.depth, 128)       config->limits.depth = 3
 *       WORD("log.level", log_level, names, 1)          config->log_level = 1
 *
 * The types and ranges were checked before; a value of another type counts as absent. A table
 * defines FIELDS_OF as the struct that the walk fills.
 */

enum config_field_kind {
	CONFIG_FIELD_FLAG,     /* bool */
	CONFIG_FIELD_INVERTED, /* bool: true for false */
	CONFIG_FIELD_NUMBER,   /* uint32_t, uint64_t or size_t */
	CONFIG_FIELD_WORD,     /* an enum: the index in @words */
	CONFIG_FIELD_TEXT,     /* char *, or NULL */
	CONFIG_FIELD_NAMES,    /* struct text_list: trimmed, each once, none empty */
};

struct config_field {
	const char *path; /* keys joined by '.' */
	enum config_field_kind kind;
	size_t offset; /* the place of the member */
	size_t size;
	uint64_t fallback;        /* the value of a member that is absent */
	const char *const *words; /* NULL ends them */
	size_t is_set;            /* 1 and the offset of a bool: whether it is there; 0: none */
};

#define CONFIG_MEMBER(member) offsetof(FIELDS_OF, member), sizeof(((FIELDS_OF *)NULL)->member)
#define CONFIG_FLAG(path, member, fallback)                                                        \
	{                                                                                          \
		path, CONFIG_FIELD_FLAG, CONFIG_MEMBER(member), fallback, NULL, 0                  \
	}
#define CONFIG_SET_FLAG(path, member, has)                                                         \
	{                                                                                          \
		path, CONFIG_FIELD_FLAG, CONFIG_MEMBER(member), 0, NULL,                           \
			offsetof(FIELDS_OF, has) + 1                                               \
	}
#define CONFIG_INVERTED(path, member)                                                              \
	{                                                                                          \
		path, CONFIG_FIELD_INVERTED, CONFIG_MEMBER(member), true, NULL, 0                  \
	}
#define CONFIG_NUMBER(path, member, fallback)                                                      \
	{                                                                                          \
		path, CONFIG_FIELD_NUMBER, CONFIG_MEMBER(member), fallback, NULL, 0                \
	}
#define CONFIG_SET_NUMBER(path, member, has)                                                       \
	{                                                                                          \
		path, CONFIG_FIELD_NUMBER, CONFIG_MEMBER(member), 0, NULL,                         \
			offsetof(FIELDS_OF, has) + 1                                               \
	}
#define CONFIG_WORD(path, member, words, fallback)                                                 \
	{                                                                                          \
		path, CONFIG_FIELD_WORD, CONFIG_MEMBER(member), fallback, words, 0                 \
	}
#define CONFIG_TEXT(path, member)                                                                  \
	{                                                                                          \
		path, CONFIG_FIELD_TEXT, CONFIG_MEMBER(member), 0, NULL, 0                         \
	}
#define CONFIG_NAMES(path, member)                                                                 \
	{                                                                                          \
		path, CONFIG_FIELD_NAMES, CONFIG_MEMBER(member), 0, NULL, 0                        \
	}
#define CONFIG_SET_NAMES(path, member, has)                                                        \
	{                                                                                          \
		path, CONFIG_FIELD_NAMES, CONFIG_MEMBER(member), 0, NULL,                          \
			offsetof(FIELDS_OF, has) + 1                                               \
	}

/* Return the value at @path below the object at @object, or JSON_NONE: null counts as absent, since
 * in a file it withdraws the value of a lower one. */
uint32_t config_find(const struct json_tape *tape, uint32_t object, const char *path);

/* Read the @n members of @fields of the object at @object into @record, which is zeroed. An object
 * that is JSON_NONE has none. Return 0 or -ENOMEM. */
int config_fields_read(const struct json_tape *tape, uint32_t object,
	const struct config_field *fields, size_t n, void *record);

/* Free the texts and names of @record. */
void config_fields_deinit(const struct config_field *fields, size_t n, void *record);

/* Read each object in the list at @list (JSON_NONE, or no list: none) as a record of @size bytes.
 * Return 0 with the records, which the caller frees, or -ENOMEM. */
int config_records_read(const struct json_tape *tape, uint32_t list,
	const struct config_field *fields, size_t n, size_t size, void **ret_records,
	size_t *ret_n);

/* Free @n_records of them. */
void config_records_free(
	const struct config_field *fields, size_t n, size_t size, void *records, size_t n_records);
