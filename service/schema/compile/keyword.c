/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/keyword.h"

#include <string.h>

#include "json/member.h"

#define CORE        VOCABULARY_CORE
#define APPLICATOR  VOCABULARY_APPLICATOR
#define UNEVALUATED VOCABULARY_UNEVALUATED
#define VALIDATION  VOCABULARY_VALIDATION
#define ANNOTATION  VOCABULARY_ANNOTATION

/* Sorted by name, as enum keyword is. `definitions` and `dependencies` are older words, still
 * described by the metaschema of 2020-12; schemas in the wild use them. */
static const struct keyword_info keywords[KEYWORD_COUNT] = {
	[KEYWORD_ADDITIONAL_ITEMS] = {"additionalItems", DRAFT_07, APPLICATOR, SHAPE_SCHEMA},
	[KEYWORD_ADDITIONAL_PROPERTIES] = {"additionalProperties", DRAFT_BOTH, APPLICATOR,
		SHAPE_SCHEMA},
	[KEYWORD_ALL_OF] = {"allOf", DRAFT_BOTH, APPLICATOR, SHAPE_LIST},
	[KEYWORD_ANCHOR] = {"$anchor", DRAFT_2020_12, CORE, SHAPE_NONE},
	[KEYWORD_ANY_OF] = {"anyOf", DRAFT_BOTH, APPLICATOR, SHAPE_LIST},
	[KEYWORD_CONST] = {"const", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_CONTAINS] = {"contains", DRAFT_BOTH, APPLICATOR, SHAPE_SCHEMA},
	[KEYWORD_CONTENT_ENCODING] = {"contentEncoding", DRAFT_BOTH, ANNOTATION, SHAPE_NONE},
	[KEYWORD_CONTENT_MEDIA_TYPE] = {"contentMediaType", DRAFT_BOTH, ANNOTATION, SHAPE_NONE},
	[KEYWORD_CONTENT_SCHEMA] = {"contentSchema", DRAFT_2020_12, ANNOTATION, SHAPE_SCHEMA},
	[KEYWORD_DEFINITIONS] = {"definitions", DRAFT_BOTH, CORE, SHAPE_MAP},
	[KEYWORD_DEFS] = {"$defs", DRAFT_2020_12, CORE, SHAPE_MAP},
	[KEYWORD_DEPENDENCIES] = {"dependencies", DRAFT_BOTH, APPLICATOR, SHAPE_DEPENDENCIES},
	[KEYWORD_DEPENDENT_REQUIRED] = {"dependentRequired", DRAFT_2020_12, VALIDATION, SHAPE_NONE},
	[KEYWORD_DEPENDENT_SCHEMAS] = {"dependentSchemas", DRAFT_2020_12, APPLICATOR, SHAPE_MAP},
	[KEYWORD_DYNAMIC_ANCHOR] = {"$dynamicAnchor", DRAFT_2020_12, CORE, SHAPE_NONE},
	[KEYWORD_DYNAMIC_REF] = {"$dynamicRef", DRAFT_2020_12, CORE, SHAPE_NONE},
	[KEYWORD_ELSE] = {"else", DRAFT_BOTH, APPLICATOR, SHAPE_SCHEMA},
	[KEYWORD_ENUM] = {"enum", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_EXCLUSIVE_MAXIMUM] = {"exclusiveMaximum", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_EXCLUSIVE_MINIMUM] = {"exclusiveMinimum", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_FORMAT] = {"format", DRAFT_BOTH, CORE, SHAPE_NONE},
	[KEYWORD_ID] = {"$id", DRAFT_BOTH, CORE, SHAPE_NONE},
	[KEYWORD_IF] = {"if", DRAFT_BOTH, APPLICATOR, SHAPE_SCHEMA},
	[KEYWORD_ITEMS] = {"items", DRAFT_BOTH, APPLICATOR, SHAPE_EITHER},
	[KEYWORD_MAXIMUM] = {"maximum", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_MAX_CONTAINS] = {"maxContains", DRAFT_2020_12, VALIDATION, SHAPE_NONE},
	[KEYWORD_MAX_ITEMS] = {"maxItems", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_MAX_LENGTH] = {"maxLength", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_MAX_PROPERTIES] = {"maxProperties", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_MINIMUM] = {"minimum", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_MIN_CONTAINS] = {"minContains", DRAFT_2020_12, VALIDATION, SHAPE_NONE},
	[KEYWORD_MIN_ITEMS] = {"minItems", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_MIN_LENGTH] = {"minLength", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_MIN_PROPERTIES] = {"minProperties", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_MULTIPLE_OF] = {"multipleOf", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_NOT] = {"not", DRAFT_BOTH, APPLICATOR, SHAPE_SCHEMA},
	[KEYWORD_ONE_OF] = {"oneOf", DRAFT_BOTH, APPLICATOR, SHAPE_LIST},
	[KEYWORD_PATTERN] = {"pattern", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_PATTERN_PROPERTIES] = {"patternProperties", DRAFT_BOTH, APPLICATOR, SHAPE_MAP},
	[KEYWORD_PREFIX_ITEMS] = {"prefixItems", DRAFT_2020_12, APPLICATOR, SHAPE_LIST},
	[KEYWORD_PROPERTIES] = {"properties", DRAFT_BOTH, APPLICATOR, SHAPE_MAP},
	[KEYWORD_PROPERTY_NAMES] = {"propertyNames", DRAFT_BOTH, APPLICATOR, SHAPE_SCHEMA},
	[KEYWORD_REF] = {"$ref", DRAFT_BOTH, CORE, SHAPE_NONE},
	[KEYWORD_REQUIRED] = {"required", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_SCHEMA] = {"$schema", DRAFT_BOTH, CORE, SHAPE_NONE},
	[KEYWORD_THEN] = {"then", DRAFT_BOTH, APPLICATOR, SHAPE_SCHEMA},
	[KEYWORD_TYPE] = {"type", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_UNEVALUATED_ITEMS] = {"unevaluatedItems", DRAFT_2020_12, UNEVALUATED,
		SHAPE_SCHEMA},
	[KEYWORD_UNEVALUATED_PROPERTIES] = {"unevaluatedProperties", DRAFT_2020_12, UNEVALUATED,
		SHAPE_SCHEMA},
	[KEYWORD_UNIQUE_ITEMS] = {"uniqueItems", DRAFT_BOTH, VALIDATION, SHAPE_NONE},
	[KEYWORD_VOCABULARY] = {"$vocabulary", DRAFT_2020_12, CORE, SHAPE_NONE},
	[KEYWORD_WRITE_ONLY] = {"writeOnly", DRAFT_BOTH, ANNOTATION, SHAPE_NONE},
};

/* The longest is "unevaluatedProperties". */
#define KEYWORD_BYTES_MAX 21

const struct keyword_info *keyword_info(enum keyword keyword)
{
	return &keywords[keyword];
}

/* The most keywords of one length. */
#define KEYWORDS_OF_A_LENGTH 7

/* The keywords, each plus 1, by the length of their names: schemas have many keys, and each is
 * looked up more than once. */
static const uint8_t by_length[KEYWORD_BYTES_MAX + 1][KEYWORDS_OF_A_LENGTH + 1] = {
	[2] = {KEYWORD_IF + 1},
	[3] = {KEYWORD_ID + 1, KEYWORD_NOT + 1},
	[4] = {KEYWORD_ELSE + 1, KEYWORD_ENUM + 1, KEYWORD_REF + 1, KEYWORD_THEN + 1,
		KEYWORD_TYPE + 1},
	[5] = {KEYWORD_ALL_OF + 1, KEYWORD_ANY_OF + 1, KEYWORD_CONST + 1, KEYWORD_DEFS + 1,
		KEYWORD_ITEMS + 1, KEYWORD_ONE_OF + 1},
	[6] = {KEYWORD_FORMAT + 1},
	[7] = {KEYWORD_ANCHOR + 1, KEYWORD_MAXIMUM + 1, KEYWORD_MINIMUM + 1, KEYWORD_PATTERN + 1,
		KEYWORD_SCHEMA + 1},
	[8] = {KEYWORD_CONTAINS + 1, KEYWORD_MAX_ITEMS + 1, KEYWORD_MIN_ITEMS + 1,
		KEYWORD_REQUIRED + 1},
	[9] = {KEYWORD_MAX_LENGTH + 1, KEYWORD_MIN_LENGTH + 1, KEYWORD_WRITE_ONLY + 1},
	[10] = {KEYWORD_MULTIPLE_OF + 1, KEYWORD_PROPERTIES + 1},
	[11] = {KEYWORD_DEFINITIONS + 1, KEYWORD_DYNAMIC_REF + 1, KEYWORD_MAX_CONTAINS + 1,
		KEYWORD_MIN_CONTAINS + 1, KEYWORD_PREFIX_ITEMS + 1, KEYWORD_UNIQUE_ITEMS + 1,
		KEYWORD_VOCABULARY + 1},
	[12] = {KEYWORD_DEPENDENCIES + 1},
	[13] = {KEYWORD_CONTENT_SCHEMA + 1, KEYWORD_MAX_PROPERTIES + 1, KEYWORD_MIN_PROPERTIES + 1,
		KEYWORD_PROPERTY_NAMES + 1},
	[14] = {KEYWORD_DYNAMIC_ANCHOR + 1},
	[15] = {KEYWORD_ADDITIONAL_ITEMS + 1, KEYWORD_CONTENT_ENCODING + 1},
	[16] = {KEYWORD_CONTENT_MEDIA_TYPE + 1, KEYWORD_DEPENDENT_SCHEMAS + 1,
		KEYWORD_EXCLUSIVE_MAXIMUM + 1, KEYWORD_EXCLUSIVE_MINIMUM + 1,
		KEYWORD_UNEVALUATED_ITEMS + 1},
	[17] = {KEYWORD_DEPENDENT_REQUIRED + 1, KEYWORD_PATTERN_PROPERTIES + 1},
	[20] = {KEYWORD_ADDITIONAL_PROPERTIES + 1},
	[21] = {KEYWORD_UNEVALUATED_PROPERTIES + 1},
};

/* @name holds @size bytes, at most KEYWORD_BYTES_MAX. */
static enum keyword find_by_text(const char *name, size_t size)
{
	for (const uint8_t *next = by_length[size]; *next > 0; next++) {
		const char *candidate = keywords[*next - 1].name;

		if (candidate[0] == name[0] && memcmp(candidate, name, size) == 0)
			return (enum keyword)(*next - 1);
	}
	return KEYWORD_NONE;
}

/* Compare the key at @key, which has escapes, with each keyword: that takes no memory. */
static enum keyword find_escaped(const struct json_tape *tape, uint32_t key)
{
	for (size_t i = 0; i < KEYWORD_COUNT; i++)
		if (json_is_text(tape, key, keywords[i].name))
			return (enum keyword)i;
	return KEYWORD_NONE;
}

enum keyword keyword_find(const struct json_tape *tape, uint32_t key, const struct dialect *dialect)
{
	const struct json_token *token = json_at(tape, key);
	enum keyword keyword = KEYWORD_NONE;

	if (token->flags & JSON_ESCAPED)
		keyword = find_escaped(tape, key);
	else if (token->length <= KEYWORD_BYTES_MAX)
		keyword = find_by_text(json_bytes(tape, key), token->length);
	if (keyword != KEYWORD_NONE && !(keywords[keyword].draft & dialect->draft))
		return KEYWORD_NONE;
	return keyword;
}

static int visit_list(
	const struct json_tape *tape, uint32_t list, keyword_visit visit, void *userdata)
{
	int r = 0;

	json_each_while(r == 0, i, tape, list)
		r = visit(userdata, i);
	return r;
}

static int visit_map(const struct json_tape *tape, uint32_t map, enum keyword_shape shape,
	keyword_visit visit, void *userdata)
{
	int r = 0;

	json_each_key_while(r == 0, key, tape, map) {
		if (shape == SHAPE_DEPENDENCIES && json_type_at(tape, key + 1) == JSON_ARRAY)
			continue;
		r = visit(userdata, key + 1);
	}
	return r;
}

int keyword_visit_subschemas(const struct json_tape *tape, enum keyword keyword, uint32_t value,
	keyword_visit visit, void *userdata)
{
	enum keyword_shape shape = (enum keyword_shape)keywords[keyword].shape;
	enum json_type type = json_type_at(tape, value);

	switch (shape) {
	case SHAPE_NONE:
		return 0;
	case SHAPE_SCHEMA:
		return visit(userdata, value);
	case SHAPE_EITHER:
		if (type != JSON_ARRAY)
			return visit(userdata, value);
		return visit_list(tape, value, visit, userdata);
	case SHAPE_LIST:
		return type == JSON_ARRAY ? visit_list(tape, value, visit, userdata) : 0;
	case SHAPE_MAP:
	case SHAPE_DEPENDENCIES:
		if (type != JSON_OBJECT)
			return 0;
		return visit_map(tape, value, shape, visit, userdata);
	}
	return 0;
}
