/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/arguments.h"

#include <errno.h>
#include <string.h>

#include "json/writer.h"
#include "util/cleanup.h"
#include "util/utf8.h"

#define SCHEMA_LEVELS 8 /* levels of anyOf in anyOf that are read */

/* A set of JSON types. */
#define TYPE_BIT(type) (1u << (type))
#define TYPES_BOOLEAN  (TYPE_BIT(JSON_FALSE) | TYPE_BIT(JSON_TRUE))
#define TYPES_ALL      0x7Fu
#define TYPES_STRING   TYPE_BIT(JSON_STRING)

/* The parts of a word. */
struct word {
	const char *key;
	size_t key_size;
	const char *value;
	bool is_json; /* `:=` */
};

static bool split(const char *text, struct word *ret_word)
{
	const char *equals = strchr(text, '=');
	bool is_json;

	if (!equals)
		return false;
	is_json = equals > text && equals[-1] == ':';
	*ret_word = (struct word){
		.key = text,
		.key_size = (size_t)(equals - text) - is_json,
		.value = equals + 1,
		.is_json = is_json,
	};
	return ret_word->key_size > 0;
}

bool ctl_arguments_need_schema(const char *const *words, size_t n_words)
{
	struct word word;

	for (size_t i = 0; i < n_words; i++)
		if (split(words[i], &word) && !word.is_json)
			return true;
	return false;
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
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
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
	for (uint32_t i = json_first(tape, type); i < json_end(tape, type); i = json_next(tape, i))
		types |= types_of_name(tape, i);
	return types;
}

static unsigned int types_of_values(const struct json_tape *tape, uint32_t list)
{
	unsigned int types = 0;

	if (json_type_at(tape, list) != JSON_ARRAY)
		return TYPES_ALL;
	for (uint32_t i = json_first(tape, list); i < json_end(tape, list); i = json_next(tape, i))
		types |= TYPE_BIT(json_type_at(tape, i));
	return types;
}

static unsigned int types_allowed(const struct json_tape *tape, uint32_t schema, int levels);

/* Return the types that at least one schema of the list allows. */
static unsigned int types_of_branches(const struct json_tape *tape, uint32_t list, int levels)
{
	unsigned int types = 0;

	if (json_type_at(tape, list) != JSON_ARRAY)
		return TYPES_ALL;
	for (uint32_t i = json_first(tape, list); i < json_end(tape, list); i = json_next(tape, i))
		types |= types_allowed(tape, i, levels - 1);
	return types;
}

/* Return the types that a schema allows by its plain keywords; the result may have too many. */
static unsigned int types_allowed(const struct json_tape *tape, uint32_t schema, int levels)
{
	unsigned int types = TYPES_ALL;
	uint32_t value;

	if (levels == 0 || json_type_at(tape, schema) != JSON_OBJECT)
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
		types &= types_of_branches(tape, value, levels);
	value = json_find(tape, schema, "oneOf");
	if (value != JSON_NONE)
		types &= types_of_branches(tape, value, levels);
	return types;
}

/* Return the types that the schema allows for the property of the word. */
static unsigned int types_for(
	const struct json_tape *tape, uint32_t schema, const struct word *word)
{
	uint32_t properties = JSON_NONE;
	uint32_t property = JSON_NONE;

	if (schema != JSON_NONE && json_type_at(tape, schema) == JSON_OBJECT)
		properties = json_find(tape, schema, "properties");
	if (properties != JSON_NONE && json_type_at(tape, properties) == JSON_OBJECT)
		property = json_find_sized(tape, properties, word->key, word->key_size);
	return property == JSON_NONE ? TYPES_ALL : types_allowed(tape, property, SCHEMA_LEVELS);
}

/*
 * Append `key=value`. When a string is allowed, JSON of a type that is not allowed is read as text.
 * When no string is allowed, text that is not JSON is sent as a string, and the service reports the
 * expected type.
 */
static int write_typed_value(const struct word *word, unsigned int types, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t size = strlen(word->value);
	bool is_json = false;
	int r = 0;

	if (types != TYPES_STRING)
		r = json_tape_read(&tape, word->value, size, JSON_DEPTH_DEFAULT, NULL);
	if (r < 0)
		return r;
	if (types != TYPES_STRING && r == 0)
		is_json = (types & TYPE_BIT(json_type_at(&tape, 0))) || !(types & TYPES_STRING);
	if (is_json)
		json_write_compact(out, &tape, 0);
	else
		json_write_bytes_lossy(out, word->value, size);
	return 0;
}

/* Append `key:=value`. */
static int write_json_value(const struct word *word, struct buffer *out, struct buffer *reason)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	int r = json_tape_read(&tape, word->value, strlen(word->value), JSON_DEPTH_DEFAULT, &error);

	if (r < 0)
		return r;
	if (r == 0) {
		json_write_compact(out, &tape, 0);
		return 0;
	}
	buffer_printf(reason, "'%.*s:=' needs JSON, not '%s': %s", (int)word->key_size, word->key,
		word->value, error.message);
	return CTL_ARGUMENTS_E_USAGE;
}

/* JSON cannot hold a text that is not UTF-8, and it is not changed into one. */
static int refuse_bytes(const struct word *word, struct buffer *reason)
{
	buffer_printf(reason,
		"'%.*s' is given a value that is not UTF-8; a tool that takes bytes takes base64",
		(int)word->key_size, word->key);
	return CTL_ARGUMENTS_E_USAGE;
}

static int refuse_word(const char *text, struct buffer *reason)
{
	buffer_printf(
		reason, "'%s' is not an argument of a tool: write key=value or key:=JSON", text);
	return CTL_ARGUMENTS_E_USAGE;
}

static bool is_repeated(const char *const *words, size_t n_words, const struct word *word)
{
	struct word other;

	for (size_t i = 0; i < n_words; i++)
		if (split(words[i], &other) && other.key_size == word->key_size &&
			memcmp(other.key, word->key, word->key_size) == 0)
			return true;
	return false;
}

/* Append the member that @words[@at] gives. */
static int write_word(const char *const *words, size_t at, const struct json_tape *tape,
	uint32_t schema, struct buffer *out, struct buffer *reason)
{
	struct word word;

	if (!split(words[at], &word))
		return refuse_word(words[at], reason);
	if (is_repeated(words, at, &word)) {
		buffer_printf(reason, "'%.*s' is given twice", (int)word.key_size, word.key);
		return CTL_ARGUMENTS_E_USAGE;
	}
	if (!utf8_is_valid(words[at], strlen(words[at])))
		return refuse_bytes(&word, reason);
	buffer_append_string(out, at > 0 ? "," : "");
	json_write_bytes_lossy(out, word.key, word.key_size);
	buffer_append_char(out, ':');
	if (word.is_json)
		return write_json_value(&word, out, reason);
	return write_typed_value(&word, types_for(tape, schema, &word), out);
}

int ctl_arguments_write(const char *const *words, size_t n_words, const struct json_tape *tape,
	uint32_t schema, struct buffer *out, struct buffer *ret_reason)
{
	int r = 0;

	buffer_append_char(out, '{');
	for (size_t i = 0; r == 0 && i < n_words; i++)
		r = write_word(words, i, tape, schema, out, ret_reason);
	buffer_append_char(out, '}');
	if (r == CTL_ARGUMENTS_E_USAGE && !buffer_terminate(ret_reason))
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
	return buffer_terminate(ret_reason) ? CTL_ARGUMENTS_E_USAGE : -ENOMEM;
}
