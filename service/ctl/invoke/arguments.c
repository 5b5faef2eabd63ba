/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/invoke/arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/pointer.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/text/base64.h"
#include "util/cleanup.h"
#include "util/text/text_view.h"
#include "util/text/utf8.h"

#define SCHEMA_LEVELS 8 /* levels of anyOf and $ref that are read */
#define KEY_LEVELS    8 /* levels of a nested key */

/* A set of JSON types. */
#define TYPE_BIT(type) (1u << (type))
#define TYPES_BOOLEAN  (TYPE_BIT(JSON_FALSE) | TYPE_BIT(JSON_TRUE))
#define TYPES_ALL      0x7Fu
#define TYPES_STRING   TYPE_BIT(JSON_STRING)

/* ── the schema ──────────────────────────────────────────────────────────────────────────────── */

/* A schema that is read as far as its plain keywords go. */
struct reader {
	const struct json_tape *tape;
	uint32_t root; /* the schema that `#` means */
};

/* Return the keyword @key of @schema, or JSON_NONE. */
static uint32_t find_keyword(const struct reader *reader, uint32_t schema, const char *key)
{
	if (schema == JSON_NONE || json_type_at(reader->tape, schema) != JSON_OBJECT)
		return JSON_NONE;
	return json_find(reader->tape, schema, key);
}

/* Return the schema that @schema refers to by `#/…`, or JSON_NONE. */
static uint32_t follow(const struct reader *reader, uint32_t schema)
{
	uint32_t reference = find_keyword(reader, schema, "$ref");
	cleanup(buffer_deinit) struct buffer pointer = {0};
	cleanup_free char *text = NULL;
	uint32_t found;

	if (reference == JSON_NONE || json_type_at(reader->tape, reference) != JSON_STRING)
		return JSON_NONE;
	text = json_string_dup(reader->tape, reference, NULL);
	if (!text || *text != '#')
		return JSON_NONE;
	json_pointer_write(reader->tape, reader->root, &pointer);
	buffer_append_string(&pointer, text + 1);
	if (!buffer_terminate(&pointer) ||
		!json_pointer_find(reader->tape, pointer.data, NULL, &found))
		return JSON_NONE;
	return found;
}

/* Return the first value that @find finds in @schema, in what it refers to, or in its branches. */
static uint32_t search(const struct reader *reader, uint32_t schema, int levels,
	uint32_t (*find)(const struct reader *reader, uint32_t schema, const void *data),
	const void *data)
{
	static const char *const keys[] = {"anyOf", "oneOf", "allOf"};
	uint32_t found;

	if (levels == 0 || schema == JSON_NONE)
		return JSON_NONE;
	found = find(reader, schema, data);
	if (found == JSON_NONE)
		found = search(reader, follow(reader, schema), levels - 1, find, data);
	for (size_t k = 0; found == JSON_NONE && k < ARRAY_SIZE(keys); k++) {
		uint32_t list = find_keyword(reader, schema, keys[k]);

		if (list == JSON_NONE || json_type_at(reader->tape, list) != JSON_ARRAY)
			continue;
		json_each_while(found == JSON_NONE, i, reader->tape, list)
			found = search(reader, i, levels - 1, find, data);
	}
	return found;
}

static uint32_t find_here(const struct reader *reader, uint32_t schema, const void *data)
{
	return find_keyword(reader, schema, data);
}

static uint32_t find_property_here(const struct reader *reader, uint32_t schema, const void *data)
{
	const struct text_view *key = data;
	uint32_t properties = find_keyword(reader, schema, "properties");

	if (properties == JSON_NONE || json_type_at(reader->tape, properties) != JSON_OBJECT)
		return JSON_NONE;
	return json_find_sized(reader->tape, properties, key->text, key->size);
}

static uint32_t find_property(
	const struct reader *reader, uint32_t schema, const char *key, size_t size)
{
	const struct text_view view = {key, size};

	return search(reader, schema, SCHEMA_LEVELS, find_property_here, &view);
}

static bool are_bytes(const struct reader *reader, uint32_t schema)
{
	static const char base64[] = "base64";
	uint32_t encoding = search(reader, schema, SCHEMA_LEVELS, find_here, "contentEncoding");

	return json_is_text(reader->tape, encoding, base64);
}

bool ctl_arguments_are_bytes(const struct json_tape *tape, uint32_t root, uint32_t schema)
{
	const struct reader reader = {tape, root};

	return are_bytes(&reader, schema);
}

uint32_t ctl_arguments_find_property(
	const struct json_tape *tape, uint32_t root, uint32_t schema, const char *key, size_t size)
{
	const struct reader reader = {tape, root};

	return find_property(&reader, schema, key, size);
}

static unsigned int types_of_name(const struct json_tape *tape, uint32_t name)
{
	static const struct {
		const char *name;
		unsigned int types;
	} names[] = {
		{"null", TYPE_BIT(JSON_NULL)},
		{"boolean", TYPES_BOOLEAN},
		{"number", TYPE_BIT(JSON_NUMBER)},
		{"integer", TYPE_BIT(JSON_NUMBER)},
		{"string", TYPES_STRING},
		{"array", TYPE_BIT(JSON_ARRAY)},
		{"object", TYPE_BIT(JSON_OBJECT)},
	};

	if (json_type_at(tape, name) != JSON_STRING)
		return TYPES_ALL;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (json_string_equals(tape, name, names[i].name, strlen(names[i].name)))
			return names[i].types;
	return TYPES_ALL;
}

/* Return the types that `type` allows: a name, or a list of names. */
static unsigned int types_of_type(const struct json_tape *tape, uint32_t type)
{
	unsigned int types = 0;

	if (json_type_at(tape, type) != JSON_ARRAY)
		return types_of_name(tape, type);
	json_each(i, tape, type)
		types |= types_of_name(tape, i);
	return types;
}

static unsigned int types_of_values(const struct json_tape *tape, uint32_t list)
{
	unsigned int types = 0;

	if (json_type_at(tape, list) != JSON_ARRAY)
		return TYPES_ALL;
	json_each(i, tape, list)
		types |= TYPE_BIT(json_type_at(tape, i));
	return types;
}

static unsigned int types_allowed(const struct reader *reader, uint32_t schema, int levels);

/* Return the types that at least one schema of the list allows. */
static unsigned int types_of_branches(const struct reader *reader, uint32_t list, int levels)
{
	const struct json_tape *tape = reader->tape;
	unsigned int types = 0;

	if (json_type_at(tape, list) != JSON_ARRAY)
		return TYPES_ALL;
	json_each(i, tape, list)
		types |= types_allowed(reader, i, levels - 1);
	return types;
}

/* Return the types that a schema allows by its plain keywords; the result may have too many. */
static unsigned int types_allowed(const struct reader *reader, uint32_t schema, int levels)
{
	const struct json_tape *tape = reader->tape;
	unsigned int types = TYPES_ALL;
	uint32_t value;

	if (levels == 0 || schema == JSON_NONE || json_type_at(tape, schema) != JSON_OBJECT)
		return TYPES_ALL;
	value = json_find(tape, schema, "type");
	if (value != JSON_NONE)
		types &= types_of_type(tape, value);
	value = json_find(tape, schema, "enum");
	if (value != JSON_NONE)
		types &= types_of_values(tape, value);
	value = json_find(tape, schema, "const");
	if (value != JSON_NONE)
		types &= TYPE_BIT(json_type_at(tape, value));
	value = json_find(tape, schema, "anyOf");
	if (value != JSON_NONE)
		types &= types_of_branches(reader, value, levels);
	value = json_find(tape, schema, "oneOf");
	if (value != JSON_NONE)
		types &= types_of_branches(reader, value, levels);
	value = follow(reader, schema);
	if (value != JSON_NONE)
		types &= types_allowed(reader, value, levels - 1);
	return types;
}

/* ── keys ────────────────────────────────────────────────────────────────────────────────────── */

/* The place of one word: the members on the way to its value, and the schema of that (or
 * JSON_NONE). */
struct place {
	const struct word *word;
	struct text_view members[KEY_LEVELS];
	size_t n_members;
	uint32_t schema;
};

struct writer {
	struct reader reader;
	struct place *places;
	size_t n_places;
	struct buffer *out;
	struct buffer *reason;
};

static int refuse_argument(struct writer *writer, const struct place *place, const char *text)
{
	buffer_printf(
		writer->reason, "'%.*s' %s", (int)place->word->key_size, place->word->key, text);
	return WORDS_E_USAGE;
}

static int add_argument(struct writer *writer, struct place *place, const char *key, size_t size)
{
	if (size == 0)
		return refuse_argument(
			writer, place, "has an empty part: write place.city or place[city]");
	if (place->n_members == KEY_LEVELS)
		return refuse_argument(
			writer, place, "has too many levels: write it as JSON, with :=");
	place->members[place->n_members++] = (struct text_view){key, size};
	return 0;
}

/* Return the size of the first part of @key that is a property which may be an object, with its
 * schema; 0: there is none. */
static size_t find_head(const struct writer *writer, uint32_t schema, const char *key, size_t size,
	uint32_t *ret_schema)
{
	for (size_t i = 1; i < size; i++) {
		uint32_t property;

		if (key[i] != '.' && key[i] != '[')
			continue;
		property = find_property(&writer->reader, schema, key, i);
		if (property == JSON_NONE ||
			!(types_allowed(&writer->reader, property, SCHEMA_LEVELS) &
				TYPE_BIT(JSON_OBJECT)))
			continue;
		*ret_schema = property;
		return i;
	}
	return 0;
}

/* Take the parts in brackets at @key: *ret_size is how much that was. */
static int add_brackets(
	struct writer *writer, struct place *place, const char *key, size_t size, size_t *ret_size)
{
	size_t at = 0;
	int r = 0;

	while (r == 0 && at < size && key[at] == '[') {
		const char *end = memchr(key + at, ']', size - at);

		if (!end)
			return refuse_argument(writer, place, "has a '[' without its ']'");
		r = add_argument(writer, place, key + at + 1, (size_t)(end - key) - at - 1);
		if (r != 0)
			return r;
		place->schema = find_property(
			&writer->reader, place->schema, key + at + 1, (size_t)(end - key) - at - 1);
		at = (size_t)(end - key) + 1;
	}
	if (at < size && key[at] != '.')
		return refuse_argument(writer, place, "goes on after a ']' without a '.'");
	*ret_size = at;
	return 0;
}

/* Find the members meant by the key of @place's word: the whole key, if the key is a property or no
 * part of it is. */
static int read_key(struct writer *writer, struct place *place)
{
	const char *key = place->word->key;
	size_t size = place->word->key_size;
	int r = 0;

	while (r == 0) {
		uint32_t whole = find_property(&writer->reader, place->schema, key, size);
		uint32_t schema = JSON_NONE;
		size_t head = whole == JSON_NONE
				      ? find_head(writer, place->schema, key, size, &schema)
				      : 0;
		size_t brackets = 0;

		if (head == 0) {
			place->schema = whole;
			return add_argument(writer, place, key, size);
		}
		place->schema = schema;
		r = add_argument(writer, place, key, head);
		if (r == 0)
			r = add_brackets(writer, place, key + head, size - head, &brackets);
		head += brackets;
		if (r != 0 || head == size)
			return r;
		key += head + 1;
		size -= head + 1;
	}
	return r;
}

/* Return whether the first @level members of both are the same. */
static bool are_beside(const struct place *a, const struct place *b, size_t level)
{
	if (a->n_members < level || b->n_members < level)
		return false;
	for (size_t i = 0; i < level; i++)
		if (a->members[i].size != b->members[i].size ||
			memcmp(a->members[i].text, b->members[i].text, a->members[i].size) != 0)
			return false;
	return true;
}

/* ── values ──────────────────────────────────────────────────────────────────────────────────── */

/* Append the text of @place as a string; bytes of a file in base64, where the schema has that. */
static int write_argument_text(struct writer *writer, const struct place *place, uint32_t schema,
	const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer encoded = {0};

	if (place->word->file && are_bytes(&writer->reader, schema)) {
		base64_encode(text, size, &encoded);
		json_write_buffer(writer->out, &encoded);
		return 0;
	}
	if (!utf8_is_valid(text, size)) {
		buffer_printf(writer->reason, "'%.*s' needs text, and the file '%s' is not UTF-8",
			(int)place->word->key_size, place->word->key, place->word->file);
		return WORDS_E_USAGE;
	}
	json_write_string(writer->out, text, size);
	return 0;
}

/*
 * Append a value that was not written as JSON. When a string is allowed, JSON of a type that is not
 * allowed is read as text. When no string is allowed, text that is not JSON is sent as a string,
 * and the service reports the expected type.
 */
static int write_typed(struct writer *writer, const struct place *place, uint32_t schema,
	const char *text, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	unsigned int types = types_allowed(&writer->reader, schema, SCHEMA_LEVELS);
	bool is_json = false;
	int r = 0;

	if (types != TYPES_STRING && !(place->word->file && are_bytes(&writer->reader, schema)))
		r = json_tape_read(&tape, text, size, JSON_DEPTH_DEFAULT, NULL);
	else
		r = JSON_E_SYNTAX;
	if (r < 0)
		return r;
	if (r == 0)
		is_json = (types & TYPE_BIT(json_type_at(&tape, 0))) || !(types & TYPES_STRING);
	if (!is_json)
		return write_argument_text(writer, place, schema, text, size);
	json_write_compact(writer->out, &tape, 0);
	return 0;
}

static void begin_element(struct writer *writer)
{
	const struct buffer *out = writer->out;

	if (out->size > 0 && out->data[out->size - 1] != '[')
		buffer_append_char(writer->out, ',');
}

/* Append the elements that @place gives to the array of @items, each with a comma if need be. */
static int write_elements(struct writer *writer, const struct place *place, uint32_t items)
{
	const struct word *word = place->word;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, word->value, word->size, JSON_DEPTH_DEFAULT, NULL);
	const char *end = word->value + word->size;

	if (r < 0)
		return r;
	if (r == 0 && json_type_at(&tape, 0) == JSON_ARRAY) {
		json_each(i, &tape, 0) {
			begin_element(writer);
			json_write_compact(writer->out, &tape, i);
		}
		return 0;
	}
	if (word->is_json || word->file) {
		begin_element(writer);
		if (!word->is_json)
			return write_typed(writer, place, items, word->value, word->size);
		json_write_compact(writer->out, &tape, 0);
		return 0;
	}
	r = 0;
	for (const char *at = word->value; r == 0 && at < end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t size = (size_t)((comma ? comma : end) - at);

		begin_element(writer);
		r = write_typed(writer, place, items, at, size);
		at += size + (comma ? 1 : 0);
	}
	return r;
}

/* Append the value of the places that mean the members of @place; there are @n of them. */
static int write_leaf(struct writer *writer, const struct place *place, size_t n)
{
	unsigned int types = types_allowed(&writer->reader, place->schema, SCHEMA_LEVELS);
	const struct word *word = place->word;
	bool is_array = types != TYPES_ALL && (types & TYPE_BIT(JSON_ARRAY));
	uint32_t items;
	int r = 0;

	if (n > 1 && !is_array)
		return refuse_argument(writer, place, "is given twice");
	if (n == 1 && word->is_json) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};

		r = json_tape_read(&tape, word->value, word->size, JSON_DEPTH_DEFAULT, NULL);
		if (r == 0)
			json_write_compact(writer->out, &tape, 0);
		return r;
	}
	if (n == 1 && (!is_array || (types & TYPES_STRING)))
		return write_typed(writer, place, place->schema, word->value, word->size);
	items = search(&writer->reader, place->schema, SCHEMA_LEVELS, find_here, "items");
	buffer_append_char(writer->out, '[');
	for (size_t i = 0; r == 0 && i < writer->n_places; i++)
		if (are_beside(&writer->places[i], place, place->n_members))
			r = write_elements(writer, &writer->places[i], items);
	buffer_append_char(writer->out, ']');
	return r;
}

static int write_arguments(struct writer *writer, const struct place *place, size_t level);

/* Append the value of the first @level members of @place. */
static int write_value(struct writer *writer, const struct place *place, size_t level)
{
	size_t n_leaves = 0;
	size_t n = 0;

	for (size_t i = 0; i < writer->n_places; i++) {
		if (!are_beside(&writer->places[i], place, level))
			continue;
		n++;
		n_leaves += writer->places[i].n_members == level;
	}
	if (n_leaves == 0)
		return write_arguments(writer, place, level);
	if (n_leaves < n)
		return refuse_argument(writer, place, "is given as a whole and in parts");
	return write_leaf(writer, place, n);
}

/* Append the object that the first @level members of @place mean. It is recursive, to
 * KEY_LEVELS. */
static int write_arguments(struct writer *writer, const struct place *place, size_t level)
{
	int r = 0;

	buffer_append_char(writer->out, '{');
	for (size_t i = 0; r == 0 && i < writer->n_places; i++) {
		const struct place *other = &writer->places[i];
		size_t before = 0;

		if (!are_beside(other, place, level))
			continue;
		while (!are_beside(&writer->places[before], other, level + 1))
			before++;
		if (before < i)
			continue;
		json_write_comma(writer->out);
		json_write_string(
			writer->out, other->members[level].text, other->members[level].size);
		buffer_append_char(writer->out, ':');
		r = write_value(writer, other, level + 1);
	}
	buffer_append_char(writer->out, '}');
	return r;
}

static int read_keys(struct writer *writer, const struct words *words, uint32_t schema)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < words->n; i++) {
		struct place *place = &writer->places[writer->n_places++];

		place->word = &words->list[i];
		place->schema = schema;
		r = read_key(writer, place);
	}
	return r;
}

int ctl_arguments_write(const struct words *words, const struct json_tape *tape, uint32_t schema,
	struct buffer *out, struct buffer *ret_reason)
{
	static const char none[] = "{}";
	cleanup_free struct place *places = calloc(words->n + 1, sizeof(*places));
	struct writer writer = {
		.reader = {tape, schema}, .places = places, .out = out, .reason = ret_reason};
	int r;

	if (!places)
		return -ENOMEM;
	r = read_keys(&writer, words, schema);
	if (r == 0 && words->n > 0)
		r = write_arguments(&writer, &places[0], 0);
	else if (r == 0)
		buffer_append_string(out, none);
	if (r == WORDS_E_USAGE && !buffer_terminate(ret_reason))
		return buffer_status(ret_reason);
	return r == 0 ? buffer_status(out) : r;
}

int ctl_arguments_check(const char *text, size_t size, struct buffer *ret_reason)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	int r = json_tape_read(&tape, text, size, JSON_DEPTH_DEFAULT, &error);

	if (r < 0)
		return r;
	if (r == 0 && json_type_at(&tape, 0) == JSON_OBJECT)
		return 0;
	if (r > 0)
		buffer_printf(ret_reason, "the arguments must be a JSON object: byte %zu: %s",
			error.offset, error.message);
	else
		buffer_printf(ret_reason, "the arguments must be a JSON object, not %s",
			json_type_name(json_type_at(&tape, 0)));
	return buffer_terminate(ret_reason) ? WORDS_E_USAGE : -ENOMEM;
}
