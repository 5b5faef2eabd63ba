/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "json/member.h"
#include "json/number.h"
#include "schema/compile/sections.h"
#include "schema/format/format.h"
#include "util/array.h"

/* The sections about one value alone: type, enum and const, numbers, strings. */

/* Numbers of at most this many bytes fit an int64_t, also with one more or less. */
#define SHORT_BYTES 18

static const struct {
	const char *name;
	unsigned int types;
} type_names[] = {
	{"array", NODE_ARRAY},
	{"boolean", NODE_BOOLEAN},
	{"integer", NODE_INTEGER},
	{"null", NODE_NULL},
	{"number", NODE_NUMBER},
	{"object", NODE_OBJECT},
	{"string", NODE_STRING},
};

/* Add the type that the value at @token names to @types. */
static int add_type(const struct subschema *subschema, uint32_t token, unsigned int *types)
{
	const struct json_tape *tape = subschema->tape;

	for (size_t i = 0; i < ARRAY_SIZE(type_names); i++) {
		const char *name = type_names[i].name;

		if (json_is_text(tape, token, name)) {
			*types |= type_names[i].types;
			return 0;
		}
	}
	return subschema_refuse(subschema, token,
		"'type' must be array, boolean, integer, null, number, object or string, "
		"or a list of them, not %.*s",
		(int)(json_at(tape, token)->length < 40 ? json_at(tape, token)->length : 40),
		json_bytes(tape, token));
}

int compile_types(const struct subschema *subschema)
{
	const struct json_tape *tape = subschema->tape;
	uint32_t token = subschema->at[KEYWORD_TYPE];
	unsigned int types = 0;
	int r = 0;

	if (token == JSON_NONE)
		return 0;
	if (json_type_at(tape, token) != JSON_ARRAY) {
		r = add_type(subschema, token, &types);
	} else {
		json_each_while(r == 0, i, tape, token)
			r = add_type(subschema, i, &types);
	}
	subschema->node->types = subschema->node->declared = (uint8_t)types;
	return r;
}

/* Sort one value of `enum` or `const` into @values. */
static int add_value(const struct subschema *subschema, uint32_t token, struct node_values *values,
	struct key *strings, uint32_t *others)
{
	enum json_type type = json_type_at(subschema->tape, token);

	values->types |= type == JSON_NUMBER ? (unsigned int)NODE_NUMBER : 1u << type;
	if (type == JSON_STRING)
		return subschema_key(subschema, token, &strings[values->strings.count++]);
	if (type >= JSON_NUMBER)
		others[values->n_others++] = token;
	return 0;
}

static int add_values(const struct subschema *subschema, enum keyword keyword)
{
	const struct json_tape *tape = subschema->tape;
	struct node *node = subschema->node;
	struct node_values *values = subschema_alloc(subschema, sizeof(*values));
	uint32_t token = subschema->at[keyword];
	uint32_t count = keyword == KEYWORD_ENUM ? json_count(tape, token) : 1;
	struct key *strings = subschema_alloc(subschema, count * sizeof(*strings));
	uint32_t *others = subschema_alloc(subschema, count * sizeof(*others));
	int r = 0;

	if (!values || !strings || !others)
		return -ENOMEM;
	*values = (struct node_values){.token = token, .others = others, .next = node->values};
	values->is_constant = keyword == KEYWORD_CONST;
	values->strings.keys = strings;
	if (values->is_constant)
		r = add_value(subschema, token, values, strings, others);
	else
		json_each_while(r == 0, i, tape, token)
			r = add_value(subschema, i, values, strings, others);
	if (r == 0)
		r = key_set_index(&values->strings, &subschema->compiler->schema->arena);
	node->values = values;
	node->types &= (uint8_t)values->types;
	return r;
}

int compile_values(const struct subschema *subschema)
{
	int r = 0;

	if (subschema->at[KEYWORD_ENUM] != 0) {
		r = subschema_expect(subschema, KEYWORD_ENUM, JSON_ARRAY);
		if (r == 0)
			r = add_values(subschema, KEYWORD_ENUM);
	}
	if (r == 0 && subschema->at[KEYWORD_CONST] != 0)
		r = add_values(subschema, KEYWORD_CONST);
	return r;
}

static const enum keyword bound_keywords[NODE_BOUNDS] = {
	[NODE_MINIMUM] = KEYWORD_MINIMUM,
	[NODE_EXCLUSIVE_MINIMUM] = KEYWORD_EXCLUSIVE_MINIMUM,
	[NODE_MAXIMUM] = KEYWORD_MAXIMUM,
	[NODE_EXCLUSIVE_MAXIMUM] = KEYWORD_EXCLUSIVE_MAXIMUM,
	[NODE_MULTIPLE_OF] = KEYWORD_MULTIPLE_OF,
};

static int64_t higher(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t lower(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Narrow node_number's integers for comparing short numbers by the short bound @value. */
static void narrow(struct node_number *number, enum node_bound_kind kind, int64_t value)
{
	switch (kind) {
	case NODE_MINIMUM:
	case NODE_EXCLUSIVE_MINIMUM:
		number->low = higher(number->low, value + (kind == NODE_EXCLUSIVE_MINIMUM));
		number->floor_low = higher(number->floor_low, value);
		break;
	case NODE_MAXIMUM:
	case NODE_EXCLUSIVE_MAXIMUM:
		number->high = lower(number->high, value - (kind == NODE_EXCLUSIVE_MAXIMUM));
		number->floor_high = lower(number->floor_high, value - 1);
		break;
	case NODE_MULTIPLE_OF:
		number->multiple = value;
		break;
	case NODE_BOUNDS:
		break;
	}
}

static int add_bound(
	const struct subschema *subschema, enum node_bound_kind kind, struct node_number *number)
{
	enum keyword keyword = bound_keywords[kind];
	uint32_t token = subschema->at[keyword];
	const struct json_token *json = json_at(subschema->tape, token);
	const char *text = json_bytes(subschema->tape, token);
	int64_t value;
	int r = subschema_expect(subschema, keyword, JSON_NUMBER);

	if (r != 0)
		return r;
	if (kind == NODE_MULTIPLE_OF && json_number_compare(text, json->length, "0", 1) <= 0)
		return subschema_refuse(subschema, token, "'multipleOf' must be greater than 0");
	if (kind == NODE_MULTIPLE_OF && !json_number_is_divisor(text, json->length))
		return subschema_refuse(subschema, token,
			"'multipleOf' must have at most %d digits", JSON_DIVISOR_DIGITS_MAX);
	number->bounds[kind] = (struct node_bound){text, json->length};
	if (json->length <= SHORT_BYTES && !(json->flags & JSON_FRACTION) &&
		json_number_i64(subschema->tape, token, &value) == 0)
		narrow(number, kind, value);
	else if (kind != NODE_MULTIPLE_OF)
		number->is_short = false;
	return 0;
}

int compile_number(const struct subschema *subschema)
{
	struct node_number *number = NULL;

	for (int kind = 0; kind < NODE_BOUNDS; kind++) {
		int r;

		if (subschema->at[bound_keywords[kind]] == 0)
			continue;
		if (!number) {
			number = subschema_alloc(subschema, sizeof(*number));
			if (!number)
				return -ENOMEM;
			number->is_short = true;
			number->low = number->floor_low = INT64_MIN;
			number->high = number->floor_high = INT64_MAX;
		}
		r = add_bound(subschema, (enum node_bound_kind)kind, number);
		if (r != 0)
			return r;
	}
	subschema->node->number = number;
	return 0;
}

/* The format named by the string value of @keyword, if the format is asserted. */
static int find_format(const struct subschema *subschema, enum keyword keyword,
	enum format_kind kind, const struct format **ret)
{
	cleanup_free char *name = NULL;
	int r;

	if (subschema->at[keyword] == 0)
		return 0;
	r = subschema_expect(subschema, keyword, JSON_STRING);
	if (r != 0)
		return r;
	name = json_string_dup(subschema->tape, subschema->at[keyword], NULL);
	if (!name)
		return -ENOMEM;
	*ret = format_find(kind, name);
	return 0;
}

static int add_formats(const struct subschema *subschema, struct node_string *string)
{
	const struct schema_options *options = subschema->compiler->library.options;
	bool is_asserted = options->assert_formats ||
			   (subschema->dialect.vocabularies & VOCABULARY_FORMAT_ASSERTION);
	int r = 0;

	if (is_asserted)
		r = find_format(subschema, KEYWORD_FORMAT, FORMAT_TEXT, &string->format);
	if (r != 0 || subschema->dialect.draft != DRAFT_07)
		return r;
	/* Draft-07 section 8.2: an implementation validates the formats known to it. */
	r = find_format(subschema, KEYWORD_CONTENT_ENCODING, FORMAT_ENCODING, &string->encoding);
	if (r == 0)
		r = find_format(
			subschema, KEYWORD_CONTENT_MEDIA_TYPE, FORMAT_MEDIA, &string->media);
	return r;
}

int compile_string(const struct subschema *subschema)
{
	struct node_string string = {.length_max = NODE_UNBOUNDED};
	uint32_t pattern = subschema->at[KEYWORD_PATTERN];
	int r = 0;

	if (subschema->at[KEYWORD_MIN_LENGTH] != 0)
		r = subschema_size(subschema, KEYWORD_MIN_LENGTH, &string.length_min);
	if (r == 0 && subschema->at[KEYWORD_MAX_LENGTH] != 0)
		r = subschema_size(subschema, KEYWORD_MAX_LENGTH, &string.length_max);
	if (r == 0 && pattern != 0)
		r = subschema_expect(subschema, KEYWORD_PATTERN, JSON_STRING);
	if (r == 0 && pattern != 0)
		r = subschema_pattern(subschema, pattern, true, &string.pattern);
	if (r == 0)
		r = add_formats(subschema, &string);
	if (r != 0)
		return r;
	if (string.length_min == 0 && string.length_max == NODE_UNBOUNDED && !string.pattern &&
		!string.format && !string.encoding && !string.media)
		return 0;
	subschema->node->string = subschema_alloc(subschema, sizeof(string));
	if (!subschema->node->string)
		return -ENOMEM;
	*subschema->node->string = string;
	return 0;
}
