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

/* A row for the member @path of an object, read into @member; the last of them are what its kind
 * needs. */
#define CONFIG_FIELD(name, member_path, member, ...)                                               \
	{                                                                                          \
		.path = (member_path), .kind = CONFIG_FIELD_##name,                                \
		.offset = offsetof(FIELDS_OF, member),                                             \
		.size = sizeof(((FIELDS_OF *)NULL)->member), __VA_ARGS__                           \
	}
#define CONFIG_IS_SET(has) .is_set = offsetof(FIELDS_OF, has) + 1

#define CONFIG_FLAG(path, member, otherwise)                                                       \
	CONFIG_FIELD(FLAG, path, member, .fallback = (otherwise))
#define CONFIG_SET_FLAG(path, member, has) CONFIG_FIELD(FLAG, path, member, CONFIG_IS_SET(has))
#define CONFIG_INVERTED(path, member)      CONFIG_FIELD(INVERTED, path, member, .fallback = true)
#define CONFIG_NUMBER(path, member, otherwise)                                                     \
	CONFIG_FIELD(NUMBER, path, member, .fallback = (otherwise))
#define CONFIG_SET_NUMBER(path, member, has) CONFIG_FIELD(NUMBER, path, member, CONFIG_IS_SET(has))
#define CONFIG_WORD(path, member, names, otherwise)                                                \
	CONFIG_FIELD(WORD, path, member, .words = (names), .fallback = (otherwise))
#define CONFIG_TEXT(path, member)           CONFIG_FIELD(TEXT, path, member, .words = NULL)
#define CONFIG_NAMES(path, member)          CONFIG_FIELD(NAMES, path, member, .words = NULL)
#define CONFIG_SET_NAMES(path, member, has) CONFIG_FIELD(NAMES, path, member, CONFIG_IS_SET(has))

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
