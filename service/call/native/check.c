/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "call/native/names.h"
#include "json/number.h"
#include "util/text/base64.h"

/*
 * Whether a JSON value can be passed as a C type, and the reason when it cannot. The same rule
 * applies to a default in a manifest, to an argument on its way to a host, and in the host before
 * the call.
 */

static const char *signed_refusal(const struct json_tape *tape, uint32_t value, int64_t least,
	int64_t most, const char *words)
{
	int64_t number;

	if (json_type_at(tape, value) != JSON_NUMBER || json_number_i64(tape, value, &number))
		return words;
	return number < least || number > most ? words : NULL;
}

static const char *unsigned_refusal(
	const struct json_tape *tape, uint32_t value, uint64_t most, const char *words)
{
	uint64_t number;

	if (json_type_at(tape, value) != JSON_NUMBER || json_number_u64(tape, value, &number))
		return words;
	return number > most ? words : NULL;
}

#define I64_WORDS "must be an integer from -9223372036854775808 to 9223372036854775807"
#define I32_WORDS "must be an integer from -2147483648 to 2147483647"
#define U64_WORDS "must be an integer from 0 to 18446744073709551615"
#define U32_WORDS "must be an integer from 0 to 4294967295"

static const char *integer_refusal(
	enum native_type type, const struct json_tape *tape, uint32_t value)
{
	switch (type) {
	case NATIVE_I8:
		return signed_refusal(
			tape, value, INT8_MIN, INT8_MAX, "must be an integer from -128 to 127");
	case NATIVE_I16:
		return signed_refusal(tape, value, INT16_MIN, INT16_MAX,
			"must be an integer from -32768 to 32767");
	case NATIVE_I32:
		return signed_refusal(tape, value, INT32_MIN, INT32_MAX, I32_WORDS);
	case NATIVE_U8:
		return unsigned_refusal(tape, value, UINT8_MAX, "must be an integer from 0 to 255");
	case NATIVE_U16:
		return unsigned_refusal(
			tape, value, UINT16_MAX, "must be an integer from 0 to 65535");
	case NATIVE_U32:
		return unsigned_refusal(tape, value, UINT32_MAX, U32_WORDS);
	case NATIVE_U64:
		return unsigned_refusal(tape, value, UINT64_MAX, U64_WORDS);
	case NATIVE_ISIZE:
		return signed_refusal(tape, value, INTPTR_MIN, INTPTR_MAX,
			sizeof(ssize_t) == 8 ? I64_WORDS : I32_WORDS);
	case NATIVE_USIZE:
		return unsigned_refusal(
			tape, value, SIZE_MAX, sizeof(size_t) == 8 ? U64_WORDS : U32_WORDS);
	default:
		return signed_refusal(tape, value, INT64_MIN, INT64_MAX, I64_WORDS);
	}
}

static const char *scalar_refusal(
	enum native_type type, const struct json_tape *tape, uint32_t value)
{
	enum json_type found = json_type_at(tape, value);
	double wide;
	float narrow;

	switch (type) {
	case NATIVE_BOOL:
		return found == JSON_TRUE || found == JSON_FALSE ? NULL : "must be true or false";
	case NATIVE_F32:
		return found == JSON_NUMBER && json_number_f32(tape, value, &narrow) == 0
			       ? NULL
			       : "must be a number within the range of a 32-bit float";
	case NATIVE_F64:
		return found == JSON_NUMBER && json_number_f64(tape, value, &wide) == 0
			       ? NULL
			       : "must be a number within the range of a 64-bit float";
	default:
		return integer_refusal(type, tape, value);
	}
}

/* Return whether the string contains U+0000, which would end it in C. JSON has no raw control
 * characters, so U+0000 can only be written as an escape. */
static bool has_nul(const struct json_tape *tape, uint32_t value)
{
	static const char escape[] = "\\u0000";
	const char *at = json_bytes(tape, value);
	const char *end = at + json_at(tape, value)->length;

	if (!(json_at(tape, value)->flags & JSON_ESCAPED))
		return false;
	while ((at = memchr(at, '\\', (size_t)(end - at)))) {
		if ((size_t)(end - at) >= sizeof(escape) - 1 &&
			memcmp(at, escape, sizeof(escape) - 1) == 0)
			return true;
		at += 2;
	}
	return false;
}

static int refuse(struct buffer *words, const char *text)
{
	buffer_append_string(words, text);
	return NATIVE_E_REFUSED;
}

static int check_string(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct buffer *words)
{
	if (json_type_at(tape, value) != JSON_STRING)
		return refuse(words,
			parameter->is_nullable ? "must be a string or null" : "must be a string");
	return has_nul(tape, value) ? refuse(words, "must be a string without U+0000") : 0;
}

/* Return the value of the string at @value. It is decoded into @decoded when it has escapes. A
 * memory failure is recorded in @decoded. */
static const char *string_value(
	const struct json_tape *tape, uint32_t value, struct buffer *decoded, size_t *ret_size)
{
	if (!(json_at(tape, value)->flags & JSON_ESCAPED)) {
		*ret_size = json_at(tape, value)->length;
		return json_bytes(tape, value);
	}
	json_string_decode(tape, value, decoded);
	*ret_size = decoded->size;
	return decoded->data;
}

static int check_base64(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct buffer *words)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};
	const char *text;
	size_t size;

	if (json_type_at(tape, value) == JSON_STRING) {
		text = string_value(tape, value, &decoded, &size);
		if (buffer_status(&decoded))
			return -ENOMEM;
		if (base64_is_valid(text, size))
			return 0;
	}
	return refuse(words, parameter->is_nullable
				     ? "must be a string in base64, padded and without white "
				       "space, or null"
				     : "must be a string in base64, padded and without white "
				       "space");
}

bool native_find_refused(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct native_element *ret_element)
{
	struct native_element element = {0};

	for (uint32_t i = json_first(tape, value); i < json_end(tape, value);
		i = json_next(tape, i), element.index++) {
		element.refusal = scalar_refusal(parameter->items, tape, i);
		if (!element.refusal)
			continue;
		*ret_element = element;
		return true;
	}
	return false;
}

static int check_array(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct buffer *words)
{
	struct native_element element;

	if (json_type_at(tape, value) != JSON_ARRAY)
		return refuse(words,
			parameter->is_nullable ? "must be an array or null" : "must be an array");
	if (!native_find_refused(parameter, tape, value, &element))
		return 0;
	buffer_printf(
		words, "must be an array whose element %u %s", element.index, element.refusal);
	return NATIVE_E_REFUSED;
}

static int check_strv(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct buffer *words)
{
	uint32_t index = 0;

	if (json_type_at(tape, value) != JSON_ARRAY || json_count(tape, value) > NATIVE_TEXTS_MAX) {
		buffer_printf(words, "must be an array of at most %d strings%s", NATIVE_TEXTS_MAX,
			parameter->is_nullable ? ", or null" : "");
		return NATIVE_E_REFUSED;
	}
	json_each(i, tape, value) {
		bool is_string = json_type_at(tape, i) == JSON_STRING;

		if (!is_string || has_nul(tape, i)) {
			buffer_printf(words, "must be an array whose element %u must be a string%s",
				index, is_string ? " without U+0000" : "");
			return NATIVE_E_REFUSED;
		}
		index++;
	}
	return 0;
}

static int check_type(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct buffer *words);

/* Check the elements of a field with a `count`. */
static int check_elements(const struct native_field *field, const struct json_tape *tape,
	uint32_t value, struct buffer *words)
{
	uint32_t index = 0;

	if (json_type_at(tape, value) != JSON_ARRAY || json_count(tape, value) > field->count) {
		buffer_printf(words, "must be an array of at most %zu elements", field->count);
		return NATIVE_E_REFUSED;
	}
	json_each(i, tape, value) {
		cleanup(buffer_deinit) struct buffer inner = {0};
		int r = check_type(&field->value, tape, i, &inner);

		if (r < 0 || (r > 0 && !buffer_terminate(&inner)))
			return -ENOMEM;
		if (r > 0) {
			buffer_printf(
				words, "must be an array whose element %u %s", index, inner.data);
			return r;
		}
		index++;
	}
	return 0;
}

static int count_elements(const struct native_parameter *buffer, const struct json_tape *tape,
	uint32_t value, uint64_t *ret_count);

static int check_field(const struct native_field *field, const struct json_tape *tape,
	uint32_t value, struct buffer *words)
{
	bool is_buffer = native_is_buffer(field->value.type);
	uint64_t most = field->count - (field->value.type == NATIVE_STR);
	uint64_t count;
	int r;

	if (field->value.is_nullable && json_type_at(tape, value) == JSON_NULL)
		return 0;
	if (field->count > 0 && !is_buffer)
		return check_elements(field, tape, value, words);
	r = check_type(&field->value, tape, value, words);
	if (r || field->count == 0)
		return r;
	r = count_elements(&field->value, tape, value, &count);
	if (r < 0 || count <= most)
		return r;
	buffer_printf(words, "must have at most %llu bytes, not %llu", (unsigned long long)most,
		(unsigned long long)count);
	return NATIVE_E_REFUSED;
}

/* Check the member with the key at @key of the object for @structure. */
static int check_member(const struct native_struct *structure, const struct json_tape *tape,
	uint32_t key, struct buffer *words)
{
	cleanup(buffer_deinit) struct buffer inner = {0};
	cleanup(buffer_deinit) struct buffer decoded = {0};
	const struct native_field *field;
	const char *name;
	size_t size;
	int r;

	name = string_value(tape, key, &decoded, &size);
	if (buffer_status(&decoded))
		return -ENOMEM;
	field = native_struct_field(structure, name ? name : "", size);
	if (!field || field->value.type == NATIVE_HANDLE) {
		buffer_printf(words, "must be an object without '%.*s', which '%s' has not",
			(int)(size < 64 ? size : 64), name ? name : "", structure->name);
		return NATIVE_E_REFUSED;
	}
	r = check_field(field, tape, key + 1, &inner);
	if (r < 0 || (r > 0 && !buffer_terminate(&inner)))
		return -ENOMEM;
	if (r > 0)
		buffer_printf(
			words, "must be an object whose '%s' %s", field->value.name, inner.data);
	return r;
}

static int check_struct(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct buffer *words)
{
	const struct native_struct *structure = parameter->structure;

	if (json_type_at(tape, value) != JSON_OBJECT)
		return refuse(words,
			parameter->is_nullable ? "must be an object or null" : "must be an object");
	json_each_key(key, tape, value) {
		int r = check_member(structure, tape, key, words);

		if (r)
			return r;
	}
	for (size_t i = 0; i < structure->n_fields; i++) {
		const struct native_field *field = &structure->fields[i];

		if (!field->is_required || json_find(tape, value, field->value.name) != JSON_NONE)
			continue;
		buffer_printf(words, "must be an object with '%s'", field->value.name);
		return NATIVE_E_REFUSED;
	}
	return 0;
}

static int check_type(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct buffer *words)
{
	const char *refusal;

	switch (parameter->type) {
	case NATIVE_STR:
		return check_string(parameter, tape, value, words);
	case NATIVE_BYTES:
		return check_base64(parameter, tape, value, words);
	case NATIVE_ARRAY:
		return check_array(parameter, tape, value, words);
	case NATIVE_STRUCT:
		return check_struct(parameter, tape, value, words);
	case NATIVE_STRV:
		return check_strv(parameter, tape, value, words);
	case NATIVE_JSON:
		return 0;
	default:
		if (parameter->enumeration)
			return native_names_check(parameter, tape, value, words);
		refusal = scalar_refusal(parameter->type, tape, value);
		return refusal ? refuse(words, refusal) : 0;
	}
}

/* Check an integer that sets the capacity of buffers: it must be a capacity they can have. */
static int check_asked(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct buffer *words)
{
	uint64_t asked;

	if (parameter->least_asked == 0)
		return 0;
	if (json_number_u64(tape, value, &asked) == 0 && asked >= parameter->least_asked &&
		asked <= parameter->most_asked)
		return 0;
	buffer_printf(words, "must be an integer from %llu to %llu, the size of a buffer",
		(unsigned long long)parameter->least_asked,
		(unsigned long long)parameter->most_asked);
	return NATIVE_E_REFUSED;
}

/* How many elements the value has, without the NUL of a text. */
static int count_elements(const struct native_parameter *buffer, const struct json_tape *tape,
	uint32_t value, uint64_t *ret_count)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};
	const char *text;
	size_t size;

	if (buffer->type == NATIVE_ARRAY) {
		*ret_count = json_count(tape, value);
		return 0;
	}
	if (buffer->type == NATIVE_JSON) {
		json_value_text(tape, value, &size);
		*ret_count = size;
		return 0;
	}
	text = string_value(tape, value, &decoded, &size);
	*ret_count = buffer->type == NATIVE_BYTES ? base64_decoded_size(text, size) : size;
	return buffer_status(&decoded);
}

/* Check that the input fits into its buffer, and the length into its type. */
static int check_room(const struct native_function *function, const struct native_parameter *buffer,
	const struct native_arguments *arguments, const struct json_tape *tape, uint32_t value,
	struct buffer *words)
{
	uint64_t capacity = native_capacity(function, buffer, arguments);
	uint64_t most = buffer->most;
	uint64_t count;
	int r;

	if (capacity > 0 && capacity - native_is_text(buffer->type) < most)
		most = capacity - native_is_text(buffer->type);
	if (most == NATIVE_UNBOUNDED)
		return 0;
	r = count_elements(buffer, tape, value, &count);
	if (r < 0 || count <= most)
		return r;
	buffer_printf(words, "must have at most %llu %s, not %llu", (unsigned long long)most,
		buffer->type == NATIVE_ARRAY ? "elements" : "bytes", (unsigned long long)count);
	return NATIVE_E_REFUSED;
}

uint64_t native_capacity(const struct native_function *function,
	const struct native_parameter *buffer, const struct native_arguments *arguments)
{
	uint32_t value = JSON_NONE;
	uint64_t capacity;

	if (buffer->capacity_from >= 0 && arguments->tape &&
		!function->parameters[buffer->capacity_from].value_json)
		value = json_find(arguments->tape, arguments->object,
			function->parameters[buffer->capacity_from].name);
	if (value == JSON_NONE || json_type_at(arguments->tape, value) != JSON_NUMBER ||
		json_number_u64(arguments->tape, value, &capacity))
		return buffer->capacity;
	return capacity;
}

int native_check_value(const struct native_function *function, size_t at,
	const struct native_arguments *arguments, const struct json_tape *tape, uint32_t value,
	struct buffer *words)
{
	const struct native_parameter *parameter = &function->parameters[at];
	int r;

	if (json_type_at(tape, value) == JSON_NULL && parameter->is_nullable)
		return 0;
	/* Numbers are most of the arguments, and have no parts. */
	if (parameter->type < NATIVE_HANDLE && !parameter->enumeration) {
		const char *refusal = scalar_refusal(parameter->type, tape, value);

		return refusal ? refuse(words, refusal)
			       : check_asked(parameter, tape, value, words);
	}
	r = check_type(parameter, tape, value, words);
	if (r != 0)
		return r;
	return native_is_buffer(parameter->type)
		       ? check_room(function, parameter, arguments, tape, value, words)
		       : check_asked(parameter, tape, value, words);
}
