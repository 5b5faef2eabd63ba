/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/native/result.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "json/writer.h"
#include "util/text/base64.h"
#include "util/text/utf8.h"

/*
 * Results of C functions are not trusted: a number may be NaN, a text may lack its NUL or not be
 * UTF-8, a length may exceed its buffer.
 */

/* A longer text counts as a text without its NUL. */
#define TEXT_BYTES_MAX NATIVE_CAPACITY_BYTES_MAX

/* The result being written. */
struct writing {
	const struct native_function *function;
	struct native_scratch *scratch;
	const union native_slot *returned;
	struct buffer *out;
	size_t start; /* start of the result in out */
	size_t depth; /* the objects and arrays around a value */
};

/* Replace the result by the text of a failure: `SYMBOL returned …` for the return value, `SYMBOL
 * left … in 'NAME'` for a parameter, `SYMBOL …` if @parameter is NULL. */
__attribute__((format(printf, 3, 4))) static int fail(
	struct writing *writing, const struct native_parameter *parameter, const char *format, ...)
{
	bool is_returned = parameter == &writing->function->returns;
	struct buffer *out = writing->out;
	va_list arguments;

	out->size = writing->start;
	buffer_printf(out, "%s %s", writing->function->symbol,
		is_returned ? "returned "
		: parameter ? "left "
			    : "");
	va_start(arguments, format);
	buffer_vprintf(out, format, arguments);
	va_end(arguments);
	if (parameter && !is_returned)
		buffer_printf(out, " in '%s'", parameter->name);
	return NATIVE_RESULT_E_FAILED;
}

/* Check the size of the result so far: each text in it has its own bound, and there are many. */
static int check_size(struct writing *writing)
{
	if (writing->out->size - writing->start <= NATIVE_LEFT_BYTES_MAX)
		return 0;
	return fail(writing, NULL, "left more than %u bytes", NATIVE_LEFT_BYTES_MAX);
}

/* Write the @size bytes at @text, the value of a json, without white space. */
static int write_json_value(struct writing *writing, const struct native_parameter *parameter,
	const char *text, size_t size)
{
	struct json_tape *tape = &writing->scratch->tape;
	struct json_error error;
	int r = json_tape_read(
		tape, text, size, JSON_DEPTH_DEFAULT - (unsigned int)writing->depth, &error);

	if (r > 0)
		return fail(writing, parameter, "text that is not JSON (byte %zu: %s)",
			error.offset, error.message);
	if (r == 0)
		json_write_compact(writing->out, tape, 0);
	return r;
}

/* Write the text of @size bytes of @parameter. */
static int write_text_value(struct writing *writing, const struct native_parameter *parameter,
	const char *text, size_t size)
{
	if (size > TEXT_BYTES_MAX)
		return fail(writing, parameter, "a text of more than %u bytes", TEXT_BYTES_MAX);
	if (!utf8_is_valid(text, size))
		return fail(writing, parameter, "text that is not UTF-8");
	if (parameter->type == NATIVE_JSON)
		return write_json_value(writing, parameter, text, size);
	json_write_string(writing->out, text, size);
	return 0;
}

static int write_scalar(struct writing *writing, const struct native_parameter *parameter,
	enum native_type type, const void *place)
{
	const char *odd;

	if (parameter->enumeration) {
		native_slot_write_names(parameter, place, writing->out);
		return 0;
	}
	odd = native_slot_odd_name(type, place);
	if (odd)
		return fail(writing, parameter, "%s", odd);
	native_slot_write(type, place, writing->out);
	return 0;
}

static int write_struct(
	struct writing *writing, const struct native_struct *structure, const char *place);

/* Write the text in a field: a pointer, or characters up to a NUL or the end of the field. */
static int write_text_field(
	struct writing *writing, const struct native_field *field, const char *place)
{
	const char *text;

	if (field->count > 0)
		return write_text_value(
			writing, &field->value, place, strnlen(place, field->count));
	memcpy(&text, place, sizeof(text));
	if (text)
		return write_text_value(
			writing, &field->value, text, strnlen(text, (size_t)TEXT_BYTES_MAX + 1));
	if (!field->value.is_nullable)
		return fail(writing, &field->value, "NULL");
	buffer_append_string(writing->out, "null");
	return 0;
}

static int write_element(
	struct writing *writing, const struct native_field *field, const char *place)
{
	if (field->value.type == NATIVE_STRUCT)
		return write_struct(writing, field->value.structure, place);
	return write_scalar(writing, &field->value, field->value.type, place);
}

static int write_field(struct writing *writing, const struct native_field *field, const char *place)
{
	size_t bytes = native_element_bytes(&field->value);
	int r = 0;

	if (field->value.type == NATIVE_STR)
		return write_text_field(writing, field, place);
	if (field->value.type == NATIVE_BYTES) {
		buffer_append_char(writing->out, '"');
		base64_encode(place, field->count, writing->out);
		buffer_append_char(writing->out, '"');
		return 0;
	}
	if (field->count == 0)
		return write_element(writing, field, place);
	buffer_append_char(writing->out, '[');
	for (size_t i = 0; r == 0 && i < field->count; i++) {
		if (i > 0)
			buffer_append_char(writing->out, ',');
		r = write_element(writing, field, place + i * bytes);
	}
	if (r == 0)
		buffer_append_char(writing->out, ']');
	return r;
}

/* Write the struct at @place. A handle is in no value. */
static int write_struct(
	struct writing *writing, const struct native_struct *structure, const char *place)
{
	char before = '{';
	int r = 0;

	for (size_t i = 0; r == 0 && i < structure->n_fields; i++) {
		const struct native_field *field = &structure->fields[i];

		if (field->value.type == NATIVE_HANDLE)
			continue;
		buffer_append_char(writing->out, before);
		json_write_key(writing->out, field->value.name);
		before = ',';
		r = write_field(writing, field, place + field->offset);
		r = r ? r : check_size(writing);
	}
	if (r == 0)
		buffer_append_string(writing->out, before == '{' ? "{}" : "}");
	return r;
}

/* Write the texts of a strv. */
static int write_strv(
	struct writing *writing, const struct native_parameter *parameter, char *const *texts)
{
	size_t count = 0;
	int r = 0;

	buffer_append_char(writing->out, '[');
	for (; r == 0 && texts[count]; count++) {
		if (count == NATIVE_TEXTS_MAX ||
			writing->out->size - writing->start > TEXT_BYTES_MAX)
			return fail(writing, parameter, "a list of more than %d texts or %u bytes",
				NATIVE_TEXTS_MAX, TEXT_BYTES_MAX);
		if (count > 0)
			buffer_append_char(writing->out, ',');
		r = write_text_value(writing, parameter, texts[count],
			strnlen(texts[count], (size_t)TEXT_BYTES_MAX + 1));
	}
	if (r == 0)
		buffer_append_char(writing->out, ']');
	return r;
}

/* Find how many elements a buffer of the function has: NATIVE_UNBOUNDED of a text up to its NUL. */
static int find_own_size(
	struct writing *writing, const struct native_parameter *parameter, uint64_t *ret_count)
{
	const struct native_function *function = writing->function;
	uint64_t most = NATIVE_CAPACITY_BYTES_MAX;
	uint64_t count = parameter->size.number;
	int from[NATIVE_FACTORS_MAX + 1];
	size_t n_from = parameter->size.n_from;

	*ret_count = NATIVE_UNBOUNDED;
	if (count == 0 && parameter->used_from == NATIVE_NONE)
		return 0;
	memcpy(from, parameter->size.from, n_from * sizeof(*from));
	if (parameter->used_from != NATIVE_NONE)
		from[n_from++] = parameter->used_from;
	count = count ? count : 1;
	for (size_t i = 0; i < n_from; i++) {
		bool is_returned = from[i] == NATIVE_RETURNS;
		const struct native_parameter *counter =
			is_returned ? &function->returns : &function->parameters[from[i]];
		const void *place = is_returned ? (const void *)writing->returned
						: &writing->scratch->cells[from[i]].slot;

		if (native_slot_sign(counter->type, place) < 0)
			return fail(writing, NULL, "reported a length below 0 for '%s'",
				parameter->name);
		if (__builtin_mul_overflow(count, native_slot_number(counter->type, place), &count))
			count = UINT64_MAX;
	}
	if (!native_is_text(parameter->type))
		most /= native_element_bytes(parameter);
	if (count > most)
		return fail(writing, NULL,
			"reported a length of %llu for '%s'; at most %llu are allowed",
			(unsigned long long)count, parameter->name, (unsigned long long)most);
	*ret_count = count;
	return 0;
}

/* Write the numbers of an array, or bytes as base64. */
static int write_elements(struct writing *writing, const struct native_parameter *buffer,
	const char *elements, size_t count)
{
	size_t bytes = native_element_bytes(buffer);
	int r = 0;

	if (buffer->type == NATIVE_BYTES) {
		buffer_append_char(writing->out, '"');
		base64_encode(elements, count, writing->out);
		buffer_append_char(writing->out, '"');
		return 0;
	}
	buffer_append_char(writing->out, '[');
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (i > 0)
			buffer_append_char(writing->out, ',');
		r = write_scalar(writing, buffer, buffer->items, elements + i * bytes);
	}
	if (r == 0)
		buffer_append_char(writing->out, ']');
	return r;
}

/* Write the value at @pointer, memory of the function. */
static int write_pointed(
	struct writing *writing, const struct native_parameter *parameter, const char *pointer)
{
	uint64_t count = 0;
	int r;

	if (!pointer && !parameter->is_nullable)
		return fail(writing, parameter, "NULL");
	if (!pointer) {
		buffer_append_string(writing->out, "null");
		return 0;
	}
	if (parameter->type == NATIVE_STRUCT)
		return write_struct(writing, parameter->structure, pointer);
	if (parameter->type == NATIVE_STRV)
		return write_strv(writing, parameter, (char *const *)(const void *)pointer);
	r = find_own_size(writing, parameter, &count);
	if (r)
		return r;
	if (!native_is_text(parameter->type))
		return write_elements(writing, parameter, pointer, (size_t)count);
	if (count > (uint64_t)TEXT_BYTES_MAX + 1)
		count = (uint64_t)TEXT_BYTES_MAX + 1;
	return write_text_value(writing, parameter, pointer, strnlen(pointer, (size_t)count));
}

static int write_returned(struct writing *writing)
{
	const struct native_parameter *returns = &writing->function->returns;

	if (!native_is_pointer(returns->type))
		return write_scalar(writing, returns, returns->type, writing->returned);
	return write_pointed(writing, returns, writing->returned->buffer);
}

/* Set *used to the number of elements of the buffer used by the function: the value of its length,
 * or its capacity without such a value. */
static int find_used(struct writing *writing, const struct native_parameter *buffer,
	size_t capacity, size_t *used)
{
	const struct native_function *function = writing->function;
	bool is_returned = buffer->used_from == NATIVE_RETURNS;
	const struct native_parameter *counter;
	const void *place;
	uint64_t number;

	*used = capacity;
	if (buffer->used_from == NATIVE_NONE)
		return 0;
	counter = is_returned ? &function->returns : &function->parameters[buffer->used_from];
	place = is_returned ? writing->returned : &writing->scratch->cells[buffer->used_from].slot;
	number = native_slot_number(counter->type, place);
	if (native_slot_sign(counter->type, place) < 0)
		return fail(writing, NULL, "reported a length below 0 for '%s'", buffer->name);
	/* snprintf() returns the length of the whole text. The written text ends at its NUL. */
	if (number > capacity && native_is_text(buffer->type))
		return 0;
	if (number > capacity)
		return fail(writing, NULL,
			"reported a length of %llu for '%s', which has room for %zu",
			(unsigned long long)number, buffer->name, capacity);
	*used = (size_t)number;
	return 0;
}

/* Cut *used, the bytes of an output text, to the bytes before its NUL. */
static int cut_at_nul(struct writing *writing, const struct native_parameter *buffer,
	const struct native_cell *cell, size_t *used)
{
	const char *end = memchr(cell->slot.buffer, '\0', *used);

	if (!end && *used == cell->capacity && buffer->used_from == NATIVE_NONE)
		return fail(
			writing, buffer, "no NUL within its capacity of %zu bytes", cell->capacity);
	if (end)
		*used = (size_t)(end - cell->slot.buffer);
	return 0;
}

static int write_buffer(struct writing *writing, const struct native_parameter *buffer,
	const struct native_cell *cell)
{
	size_t used;
	int r = find_used(writing, buffer, cell->capacity, &used);

	if (r != 0)
		return r;
	if (!native_is_text(buffer->type))
		return write_elements(writing, buffer, cell->slot.buffer, used);
	r = cut_at_nul(writing, buffer, cell, &used);
	return r ? r : write_text_value(writing, buffer, cell->slot.buffer, used);
}

/* Write the value of an output parameter; null if NULL was passed. */
static int write_out(struct writing *writing, const struct native_parameter *parameter,
	const struct native_cell *cell)
{
	bool is_buffer = native_is_buffer(parameter->type);

	if (parameter->is_handed || (parameter->type == NATIVE_STRUCT && cell->slot.buffer))
		return write_pointed(writing, parameter, cell->slot.buffer);
	if (is_buffer && cell->slot.buffer)
		return write_buffer(writing, parameter, cell);
	if (!is_buffer && parameter->type != NATIVE_STRUCT && cell->pointer)
		return write_scalar(writing, parameter, parameter->type, &cell->slot);
	buffer_append_string(writing->out, "null");
	return 0;
}

/* Write `"name":`, after a comma unless it is the first. */
static void begin_member(struct writing *writing, const struct native_parameter *parameter)
{
	if (writing->out->size > writing->start + 1)
		buffer_append_char(writing->out, ',');
	json_write_key(writing->out, parameter->name);
}

static int write_object(struct writing *writing)
{
	const struct native_function *function = writing->function;
	int r = 0;

	buffer_append_char(writing->out, '{');
	if (native_has_returned(function)) {
		begin_member(writing, &function->returns);
		r = write_returned(writing);
	}
	for (size_t i = 0; r == 0 && writing->scratch->has_outputs && i < function->n_parameters;
		i++) {
		if (!native_is_result(&function->parameters[i]))
			continue;
		begin_member(writing, &function->parameters[i]);
		r = write_out(writing, &function->parameters[i], &writing->scratch->cells[i]);
		r = r ? r : check_size(writing);
	}
	if (r == 0)
		buffer_append_char(writing->out, '}');
	return r;
}

/* Return whether the returned integer is the number of the error rule. */
static bool has_number(const struct native_function *function, const union native_slot *returned)
{
	union native_slot number = {.u64 = 0};

	native_slot_store_number(function->returns.type, function->errors_number, &number);
	return memcmp(&number, returned, native_type_bytes(function->returns.type)) == 0;
}

static bool is_error(
	const struct native_function *function, const union native_slot *returned, int saved_errno)
{
	enum native_type type = function->returns.type;

	switch (function->errors) {
	case NATIVE_ERRORS_NONE:
		return false;
	case NATIVE_ERRORS_NEGATIVE:
		return native_slot_sign(type, returned) < 0;
	case NATIVE_ERRORS_NONZERO:
		return native_slot_sign(type, returned) != 0;
	case NATIVE_ERRORS_ZERO:
		return native_slot_sign(type, returned) == 0;
	case NATIVE_ERRORS_NULL:
		return !returned->buffer;
	case NATIVE_ERRORS_ERRNO:
		return saved_errno != 0;
	case NATIVE_ERRORS_EQUALS:
		return has_number(function, returned);
	case NATIVE_ERRORS_NOT_EQUALS:
		return !has_number(function, returned);
	case NATIVE_ERRORS_GERROR: /* judged before, by the GError */
		return false;
	}
	return false;
}

/* Write the failure by the applicable error rule. */
static int fail_by_rule(struct writing *writing)
{
	const struct native_parameter *returns = &writing->function->returns;
	const union native_slot *returned = writing->returned;
	const char *odd;

	if (returns->type == NATIVE_VOID) {
		buffer_printf(writing->out, "%s failed", writing->function->symbol);
		return NATIVE_RESULT_E_FAILED;
	}
	if (native_is_pointer(returns->type))
		return fail(writing, returns, "%s",
			!returned->buffer               ? "NULL"
			: native_is_text(returns->type) ? "a text"
							: "a pointer");
	odd = native_slot_odd_name(returns->type, returned);
	fail(writing, returns, "%s", odd ? odd : "");
	if (!odd)
		native_slot_write(returns->type, returned, writing->out);
	if (returns->enumeration && !returns->is_flags && native_slot_name(returns, returned))
		buffer_printf(writing->out, " (%s)", native_slot_name(returns, returned));
	return NATIVE_RESULT_E_FAILED;
}

/* After a write past a buffer, no result of the function is valid. */
static int check_guards(struct writing *writing)
{
	const struct native_function *function = writing->function;

	for (size_t i = 0; writing->scratch->has_outputs && i < function->n_parameters; i++) {
		const struct native_parameter *parameter = &function->parameters[i];
		const struct native_cell *cell = &writing->scratch->cells[i];

		if (native_is_laid(parameter) && parameter->direction != NATIVE_IN &&
			!native_call_memory_is_intact(parameter, cell))
			return fail(writing, NULL,
				"wrote past the end of '%s', which has room for %zu",
				parameter->name, cell->capacity);
	}
	return 0;
}

static void append_errno(struct buffer *out, int saved_errno)
{
	const char *name = strerrorname_np(saved_errno);

	if (saved_errno == 0)
		return;
	if (name)
		buffer_printf(out, ": %s (%s%s)", name, strerrordesc_np(saved_errno),
			saved_errno == ENOMEM ? "; limits.memory_mb of its manifest bounds it"
					      : "");
	else
		buffer_printf(out, ": errno %d", saved_errno);
}

/* Return 0 for a call that has not failed. */
static int judge_call(struct writing *writing, int saved_errno)
{
	int r = check_guards(writing);

	if (r == 0 && is_error(writing->function, writing->returned, saved_errno))
		r = fail_by_rule(writing);
	return r;
}

void native_result_narrow(union native_returned *returned, enum native_type type)
{
	bool is_widened = type == NATIVE_BOOL || native_is_integer(type);

	if (is_widened && native_type_bytes(type) < sizeof(returned->word))
		returned->slot = native_slot_narrow(type, returned->word);
}

int native_result_write(const struct native_function *function, struct native_scratch *scratch,
	const union native_slot *returned, int saved_errno, struct buffer *out)
{
	struct writing writing = {function, scratch, returned, out, out->size, 1};
	int r = judge_call(&writing, saved_errno);

	r = r ? r : write_object(&writing);
	if (r > 0)
		append_errno(out, saved_errno);
	return r;
}

int native_result_judge(const struct native_function *function, struct native_scratch *scratch,
	const union native_slot *returned, int saved_errno, struct buffer *out)
{
	struct writing writing = {function, scratch, returned, out, out->size, 1};
	int r = judge_call(&writing, saved_errno);

	if (r > 0)
		append_errno(out, saved_errno);
	return r;
}

bool native_result_fits(enum native_errors rule, uint64_t number, enum native_type type,
	const union native_slot *returned)
{
	const struct native_function function = {
		.returns = {.type = type}, .errors = rule, .errors_number = number};

	return is_error(&function, returned, 0);
}

int native_result_find_used(const struct native_function *function, struct native_scratch *scratch,
	const union native_slot *returned, size_t at, size_t *ret_used, struct buffer *out)
{
	struct writing writing = {function, scratch, returned, out, out->size, 1};
	const struct native_parameter *buffer = &function->parameters[at];
	const struct native_cell *cell = &scratch->cells[at];
	size_t used = 0;
	int r = find_used(&writing, buffer, cell->capacity, &used);

	if (r == 0 && native_is_text(buffer->type))
		r = cut_at_nul(&writing, buffer, cell, &used);
	if (r == 0)
		*ret_used = used;
	return r;
}

int native_result_find_size(const struct native_function *function, struct native_scratch *scratch,
	const union native_slot *returned, const struct native_parameter *parameter,
	uint64_t *ret_count, struct buffer *out)
{
	struct writing writing = {function, scratch, returned, out, out->size, 1};

	return find_own_size(&writing, parameter, ret_count);
}

int native_result_write_value(const struct native_function *function,
	struct native_scratch *scratch, const struct native_parameter *parameter,
	const struct native_cell *cell, size_t depth, struct buffer *out)
{
	struct writing writing = {function, scratch, NULL, out, out->size, depth};

	if (native_is_text(parameter->type))
		return write_text_value(&writing, parameter, cell->slot.buffer, cell->count);
	if (parameter->type == NATIVE_STRV)
		return write_strv(
			&writing, parameter, (char *const *)(const void *)cell->slot.buffer);
	if (parameter->type == NATIVE_STRUCT)
		return write_struct(&writing, parameter->structure, cell->slot.buffer);
	if (native_is_buffer(parameter->type))
		return write_elements(&writing, parameter, cell->slot.buffer, cell->count);
	return write_scalar(&writing, parameter, parameter->type, &cell->slot);
}
