/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/native/call_memory.h"

#include <string.h>

#include "util/array.h"
#include "util/text/base64.h"
#include "worker/native/structure.h"

/* Memory grown larger for one call is freed after it. */
#define KEEP_MEMORY_BYTES (256u << 10)
#define KEEP_TOKENS       16384

/* Most bytes of all buffers of one call. */
#define FRAME_BYTES_MAX (256u << 20)

/* Every buffer is aligned for any type. */
#define ALIGNMENT 16u

/* The guard is some words of equal bytes. */
#define GUARD_BYTES 16u
#define GUARD_BYTE  0xA5
#define GUARD_WORD  (UINT64_MAX / UINT8_MAX * GUARD_BYTE)

/* Put the name of the argument before the words of its refusal, from @start on. */
static int fail_by_words(struct buffer *failure, size_t start, const char *name)
{
	cleanup(buffer_deinit) struct buffer words = {0};

	if (buffer_status(failure))
		return NATIVE_CALL_MEMORY_E_FAILED;
	buffer_append(&words, failure->data + start, failure->size - start);
	failure->size = start;
	buffer_printf(failure, "argument '%s' ", name);
	buffer_append_buffer(failure, &words);
	return NATIVE_CALL_MEMORY_E_FAILED;
}

static int read_arguments(
	struct native_scratch *scratch, const char *arguments, size_t size, struct buffer *failure)
{
	struct json_error error;
	int r;

	if (!arguments)
		return json_tape_set_empty(&scratch->tape);
	r = json_tape_read(&scratch->tape, arguments, size, JSON_DEPTH_DEFAULT, &error);
	if (r < 0)
		return r;
	if (r == 0 && json_type_at(&scratch->tape, 0) == JSON_OBJECT)
		return 0;
	buffer_printf(failure, "arguments must be a JSON object: %s",
		r > 0 ? error.message : "this is a value of another type");
	return NATIVE_CALL_MEMORY_E_FAILED;
}

/* Find the argument @name. Most callers keep the order of the schema, so try *key first, and
 * advance it. Return JSON_NONE if the argument is absent. */
static uint32_t find_argument(const struct json_tape *tape, const char *name, uint32_t *key)
{
	uint32_t value;

	if (*key >= json_end(tape, 0) || !json_string_equals(tape, *key, name, strlen(name)))
		return json_find(tape, 0, name);
	value = *key + 1;
	*key = json_next_key(tape, *key);
	return value;
}

/* Return whether another step has laid the buffer or set the number of the parameter @at. */
static bool is_given(const struct native_signature *signature, size_t at)
{
	return signature->given && signature->given[at].is_given;
}

/* Find the input of parameter @at: a checked argument; its constant; or none. */
static int find_input(const struct native_signature *signature, struct native_scratch *scratch,
	size_t at, uint32_t *key, struct buffer *failure)
{
	const struct native_parameter *parameter = &signature->function->parameters[at];
	const struct native_arguments arguments = {&scratch->tape, 0};
	struct native_cell *cell = &scratch->cells[at];
	size_t start = failure->size;
	uint32_t value = JSON_NONE;
	int r;

	if (is_given(signature, at)) {
		*cell = signature->given[at].cell;
		return 0;
	}
	*cell = (struct native_cell){.tape = NULL};
	if (native_is_argument(parameter))
		value = find_argument(&scratch->tape, parameter->name, key);
	if (value == JSON_NONE && signature->constants[at].count > 0)
		cell->tape = &signature->constants[at];
	if (value == JSON_NONE && !cell->tape && native_is_argument(parameter) &&
		!parameter->is_nullable) {
		buffer_printf(failure, "argument '%s' is missing", parameter->name);
		return NATIVE_CALL_MEMORY_E_FAILED;
	}
	if (value == JSON_NONE)
		return 0;
	r = native_check_value(signature->function, at, &arguments, &scratch->tape, value, failure);
	if (r != 0)
		return r < 0 ? r : fail_by_words(failure, start, parameter->name);
	cell->tape = &scratch->tape;
	cell->value = value;
	return 0;
}

/* Return whether NULL is passed for the parameter. */
static bool is_null(const struct native_parameter *parameter, const struct native_cell *cell)
{
	if (!native_is_argument(parameter) && !parameter->value_json)
		return false;
	return !cell->tape ||
	       (parameter->is_nullable && json_type_at(cell->tape, cell->value) == JSON_NULL);
}

/* Return an upper bound of the bytes of the pointers and texts of a strv. */
static size_t bound_strv(const struct json_tape *tape, uint32_t value)
{
	size_t total = sizeof(char *);
	size_t size;

	json_each(i, tape, value) {
		json_value_text(tape, i, &size);
		total += sizeof(char *) + size + 1;
	}
	return total;
}

/* Return an upper bound of the input's bytes, without a NUL. */
static size_t bound_value(const struct native_parameter *buffer, const struct native_cell *cell)
{
	size_t size;

	if (buffer->type == NATIVE_STRUCT)
		return buffer->structure->size +
		       (cell->tape ? native_structure_bound(cell->tape, cell->value) : 0);
	if (!cell->tape)
		return 0;
	if (buffer->type == NATIVE_ARRAY)
		return (size_t)json_count(cell->tape, cell->value) * native_element_bytes(buffer);
	if (buffer->type == NATIVE_STRV)
		return bound_strv(cell->tape, cell->value);
	json_value_text(cell->tape, cell->value, &size);
	return size;
}

/* Set the capacity of output buffers, and reserve memory for all buffers. */
static int reserve_buffers(const struct native_signature *signature, struct native_scratch *scratch,
	struct buffer *failure)
{
	const struct native_function *function = signature->function;
	const struct native_arguments arguments = {&scratch->tape, 0};
	uint64_t total = 0;

	for (size_t i = 0; i < scratch->n_laid; i++) {
		const struct native_parameter *parameter = &function->parameters[scratch->laid[i]];
		struct native_cell *cell = &scratch->cells[scratch->laid[i]];

		if (parameter->direction != NATIVE_IN)
			cell->capacity = (size_t)native_capacity(function, parameter, &arguments);
		if (signature->given && signature->given[scratch->laid[i]].capacity > 0)
			cell->capacity = signature->given[scratch->laid[i]].capacity;
		total += (uint64_t)cell->capacity * native_element_bytes(parameter) +
			 bound_value(parameter, cell) + GUARD_BYTES + (uint64_t)2 * ALIGNMENT;
	}
	if (total > FRAME_BYTES_MAX) {
		buffer_printf(failure,
			"the buffers of this call would take %llu bytes; at most %u are allowed",
			(unsigned long long)total, FRAME_BYTES_MAX);
		return NATIVE_CALL_MEMORY_E_FAILED;
	}
	buffer_reset(&scratch->memory);
	if (total == 0 || buffer_reserve(&scratch->memory, (size_t)total))
		return 0;
	buffer_reset(&scratch->memory);
	buffer_printf(
		failure, "there is no memory for buffers of %llu bytes", (unsigned long long)total);
	return NATIVE_CALL_MEMORY_E_FAILED;
}

/* Append the decoded bytes of the base64 at @value. */
static void decode_bytes(struct buffer *memory, const struct json_tape *tape, uint32_t value)
{
	const char *text = json_bytes(tape, value);
	size_t size = json_at(tape, value)->length;
	size_t start = memory->size;

	/* A '/' may be escaped. The decoded bytes are never longer than their text, so they replace
	 * it in place. */
	if (json_at(tape, value)->flags & JSON_ESCAPED) {
		json_string_decode(tape, value, memory);
		text = memory->data + start;
		size = memory->size - start;
	}
	base64_decode(text, size, memory->data + start);
	memory->size = start + base64_decoded_size(text, size);
}

static void decode_array(
	struct buffer *memory, enum native_type items, const struct json_tape *tape, uint32_t value)
{
	json_each(i, tape, value) {
		native_slot_store(items, tape, i, memory->data + memory->size);
		memory->size += native_type_bytes(items);
	}
}

/* Append the pointers of a strv, and then its texts, to @memory. */
static void decode_strv(struct buffer *memory, const struct json_tape *tape, uint32_t value)
{
	char **texts = (char **)(void *)(memory->data + memory->size);
	size_t count = 0;

	memory->size += (json_count(tape, value) + 1u) * sizeof(*texts);
	json_each(i, tape, value) {
		texts[count++] = memory->data + memory->size;
		json_string_decode(tape, i, memory);
		buffer_append_char(memory, '\0');
	}
	texts[count] = NULL;
}

/* Append the input of a buffer to @memory. */
static void decode(struct buffer *memory, const struct native_parameter *buffer,
	const struct native_cell *cell)
{
	const char *text;
	size_t size;

	switch (buffer->type) {
	case NATIVE_STR:
		json_string_decode(cell->tape, cell->value, memory);
		break;
	case NATIVE_BYTES:
		decode_bytes(memory, cell->tape, cell->value);
		break;
	case NATIVE_ARRAY:
		decode_array(memory, buffer->items, cell->tape, cell->value);
		break;
	case NATIVE_STRV:
		decode_strv(memory, cell->tape, cell->value);
		break;
	default:
		text = json_value_text(cell->tape, cell->value, &size);
		buffer_append(memory, text, size);
		break;
	}
}

/* Append @count times @byte to @memory. */
static void pad(struct buffer *memory, int byte, size_t count)
{
	memset(memory->data + memory->size, byte, count);
	memory->size += count;
}

/* Append a struct to @memory: the bytes, the guard, the texts of its fields. */
static void lay_struct(
	struct buffer *memory, const struct native_parameter *parameter, struct native_cell *cell)
{
	pad(memory, 0, -memory->size % ALIGNMENT);
	cell->slot.buffer = memory->data + memory->size;
	cell->count = 1;
	cell->capacity = 1;
	pad(memory, 0, parameter->structure->size);
	if (parameter->direction != NATIVE_IN)
		pad(memory, GUARD_BYTE, GUARD_BYTES);
	if (cell->tape)
		native_structure_store(
			parameter->structure, cell->tape, cell->value, cell->slot.buffer, memory);
}

/* Append a buffer to @memory: the input, zeroes up to the capacity, the guard. */
static void lay(
	struct buffer *memory, const struct native_parameter *buffer, struct native_cell *cell)
{
	size_t element = native_element_bytes(buffer);
	size_t start, filled;

	pad(memory, 0, -memory->size % ALIGNMENT);
	start = memory->size;
	cell->slot.buffer = memory->data + start;
	if (cell->tape)
		decode(memory, buffer, cell);
	cell->count = (memory->size - start) / element;
	if (native_is_text(buffer->type) && cell->count >= cell->capacity)
		pad(memory, 0, 1);
	filled = (memory->size - start) / element;
	if (cell->capacity < filled)
		cell->capacity = filled;
	pad(memory, 0, (cell->capacity - filled) * element);
	if (buffer->direction != NATIVE_IN)
		pad(memory, GUARD_BYTE, GUARD_BYTES);
}

static void lay_value(
	struct buffer *memory, const struct native_parameter *parameter, struct native_cell *cell)
{
	if (parameter->type == NATIVE_STRUCT)
		lay_struct(memory, parameter, cell);
	else
		lay(memory, parameter, cell);
}

bool native_call_memory_is_intact(
	const struct native_parameter *parameter, const struct native_cell *cell)
{
	uint64_t guard[GUARD_BYTES / sizeof(uint64_t)];

	if (!cell->slot.buffer)
		return true;
	memcpy(guard, cell->slot.buffer + cell->capacity * native_element_bytes(parameter),
		sizeof(guard));
	for (size_t i = 0; i < ARRAY_SIZE(guard); i++)
		if (guard[i] != GUARD_WORD)
			return false;
	return true;
}

/* Return the value of a length parameter before the call: the size of the input, or the
 * capacity. */
static uint64_t length_going_in(const struct native_parameter *holder,
	const struct native_parameter *buffer, const struct native_cell *cell)
{
	if (holder->direction == NATIVE_OUT)
		return 0;
	if (buffer->direction == NATIVE_IN ||
		(buffer->direction == NATIVE_INOUT && holder->direction == NATIVE_IN))
		return cell->count;
	return cell->capacity;
}

/* Widen the numbers among the variable arguments as C does it. */
static void promote_all(const struct native_function *function, struct native_scratch *scratch)
{
	for (size_t i = function->n_fixed; i < function->n_parameters; i++) {
		enum native_type type = function->parameters[i].type;
		union native_slot *slot = &scratch->cells[i].slot;

		if (function->parameters[i].direction != NATIVE_IN)
			continue;
		if (type == NATIVE_F32)
			slot->f64 = (double)slot->f32;
		else if (native_promoted(type) != type)
			slot->i32 = (int32_t)native_slot_signed(type, slot);
	}
}

static void fill_scalar(
	const struct native_function *function, struct native_scratch *scratch, size_t at)
{
	const struct native_parameter *parameter = &function->parameters[at];
	struct native_cell *cell = &scratch->cells[at];

	cell->pointer = is_null(parameter, cell) ? NULL : &cell->slot;
	if (parameter->length_of >= 0)
		native_slot_store_number(parameter->type,
			length_going_in(parameter, &function->parameters[parameter->length_of],
				&scratch->cells[parameter->length_of]),
			&cell->slot);
	else if (cell->tape && cell->pointer && !parameter->enumeration)
		native_slot_store(parameter->type, cell->tape, cell->value, &cell->slot);
	else if (cell->tape && cell->pointer)
		native_slot_store_value(parameter, cell->tape, cell->value, &cell->slot);
}

static void fill(const struct native_signature *signature, struct native_scratch *scratch)
{
	const struct native_function *function = signature->function;

	for (size_t i = 0; i < scratch->n_laid; i++)
		lay_value(&scratch->memory, &function->parameters[scratch->laid[i]],
			&scratch->cells[scratch->laid[i]]);
	for (size_t i = 0; i < function->n_parameters; i++) {
		const struct native_parameter *parameter = &function->parameters[i];
		struct native_cell *cell = &scratch->cells[i];

		scratch->addresses[i] = &cell->slot;
		if (native_is_laid(parameter)) {
			if (parameter->is_by_value)
				scratch->addresses[i] = cell->slot.buffer;
			continue;
		}
		if (is_given(signature, i))
			cell->pointer = &cell->slot;
		else
			fill_scalar(function, scratch, i);
		if (parameter->direction != NATIVE_IN)
			scratch->addresses[i] = &cell->pointer;
	}
	if (function->is_variadic)
		promote_all(function, scratch);
}

int native_call_memory_fill(const struct native_signature *signature,
	struct native_scratch *scratch, const char *arguments, size_t size, struct buffer *failure)
{
	const struct native_function *function = signature->function;
	uint32_t key = 1;
	int r = read_arguments(scratch, arguments, size, failure);

	scratch->n_laid = 0;
	scratch->has_outputs = false;
	for (size_t i = 0; r == 0 && i < function->n_parameters; i++) {
		const struct native_parameter *parameter = &function->parameters[i];

		scratch->has_outputs |= parameter->direction != NATIVE_IN;
		r = find_input(signature, scratch, i, &key, failure);
		if (native_is_laid(parameter) && !is_given(signature, i) &&
			!is_null(parameter, &scratch->cells[i]))
			scratch->laid[scratch->n_laid++] = (uint8_t)i;
	}
	if (r == 0 && scratch->n_laid > 0)
		r = reserve_buffers(signature, scratch, failure);
	if (r == 0)
		fill(signature, scratch);
	return r;
}

void native_scratch_trim(struct native_scratch *scratch)
{
	if (scratch->tape.capacity > KEEP_TOKENS)
		json_tape_deinit(&scratch->tape);
	buffer_recycle(&scratch->memory, KEEP_MEMORY_BYTES);
}

void native_scratch_deinit(struct native_scratch *scratch)
{
	json_tape_deinit(&scratch->tape);
	buffer_deinit(&scratch->memory);
}
