/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/reader.h"

/*
 * The keywords of the language: one table has the drafts of each keyword, its vocabulary, and the
 * places of subschemas in its value. Every walk over schemas (finding `$id`s, compiling) reads this
 * table, so a keyword is known everywhere or nowhere.
 */

/* Drafts, as a mask. */
enum keyword_draft {
	DRAFT_07 = 1,
	DRAFT_2020_12 = 2,
	DRAFT_BOTH = DRAFT_07 | DRAFT_2020_12,
};

/* The asserting vocabularies of 2020-12, as a mask (core section 8.1.2). Draft-07 has all of its
 * own switched on, but for `format`, asserted only on demand. */
enum keyword_vocabulary {
	VOCABULARY_CORE = 1,
	VOCABULARY_APPLICATOR = 2,
	VOCABULARY_UNEVALUATED = 4,
	VOCABULARY_VALIDATION = 8,
	VOCABULARY_ANNOTATION = 16, /* meta-data, content, format-annotation: nothing is asserted */
	VOCABULARY_FORMAT_ASSERTION = 32,
	VOCABULARY_ALL = 31,
};

/* The places of the subschemas of a keyword. */
enum keyword_shape {
	SHAPE_NONE,
	SHAPE_SCHEMA,       /* the value */
	SHAPE_LIST,         /* its elements */
	SHAPE_MAP,          /* its members */
	SHAPE_EITHER,       /* the value, or the elements of a list (draft-07 `items`) */
	SHAPE_DEPENDENCIES, /* the members other than lists */
};

enum keyword {
	KEYWORD_ADDITIONAL_ITEMS,
	KEYWORD_ADDITIONAL_PROPERTIES,
	KEYWORD_ALL_OF,
	KEYWORD_ANCHOR,
	KEYWORD_ANY_OF,
	KEYWORD_CONST,
	KEYWORD_CONTAINS,
	KEYWORD_CONTENT_ENCODING,
	KEYWORD_CONTENT_MEDIA_TYPE,
	KEYWORD_CONTENT_SCHEMA,
	KEYWORD_DEFINITIONS,
	KEYWORD_DEFS,
	KEYWORD_DEPENDENCIES,
	KEYWORD_DEPENDENT_REQUIRED,
	KEYWORD_DEPENDENT_SCHEMAS,
	KEYWORD_DYNAMIC_ANCHOR,
	KEYWORD_DYNAMIC_REF,
	KEYWORD_ELSE,
	KEYWORD_ENUM,
	KEYWORD_EXCLUSIVE_MAXIMUM,
	KEYWORD_EXCLUSIVE_MINIMUM,
	KEYWORD_FORMAT,
	KEYWORD_ID,
	KEYWORD_IF,
	KEYWORD_ITEMS,
	KEYWORD_MAXIMUM,
	KEYWORD_MAX_CONTAINS,
	KEYWORD_MAX_ITEMS,
	KEYWORD_MAX_LENGTH,
	KEYWORD_MAX_PROPERTIES,
	KEYWORD_MINIMUM,
	KEYWORD_MIN_CONTAINS,
	KEYWORD_MIN_ITEMS,
	KEYWORD_MIN_LENGTH,
	KEYWORD_MIN_PROPERTIES,
	KEYWORD_MULTIPLE_OF,
	KEYWORD_NOT,
	KEYWORD_ONE_OF,
	KEYWORD_PATTERN,
	KEYWORD_PATTERN_PROPERTIES,
	KEYWORD_PREFIX_ITEMS,
	KEYWORD_PROPERTIES,
	KEYWORD_PROPERTY_NAMES,
	KEYWORD_REF,
	KEYWORD_REQUIRED,
	KEYWORD_SCHEMA,
	KEYWORD_THEN,
	KEYWORD_TYPE,
	KEYWORD_UNEVALUATED_ITEMS,
	KEYWORD_UNEVALUATED_PROPERTIES,
	KEYWORD_UNIQUE_ITEMS,
	KEYWORD_VOCABULARY,
	KEYWORD_WRITE_ONLY,
	KEYWORD_COUNT,
	KEYWORD_NONE = -1,
};

struct keyword_info {
	const char *name;
	uint8_t draft;      /* enum keyword_draft */
	uint8_t vocabulary; /* enum keyword_vocabulary */
	uint8_t shape;      /* enum keyword_shape */
};

/* How a schema is to be read. */
struct dialect {
	enum keyword_draft draft;
	unsigned int vocabularies; /* enum keyword_vocabulary */
};

const struct keyword_info *keyword_info(enum keyword keyword);

/* Return the keyword with the name of the key at @key of @tape; KEYWORD_NONE when there is none, or
 * the draft of @dialect does not have it. */
enum keyword keyword_find(
	const struct json_tape *tape, uint32_t key, const struct dialect *dialect);

/* Call @visit for every subschema directly in the value at @value of @keyword, in order, until it
 * returns other than 0; return its last result. */
typedef int (*keyword_visit)(void *userdata, uint32_t schema);
int keyword_visit_subschemas(const struct json_tape *tape, enum keyword keyword, uint32_t value,
	keyword_visit visit, void *userdata);
