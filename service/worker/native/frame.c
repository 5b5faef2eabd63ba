/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/native/frame.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "worker/native/result.h"
#include "worker/native/structure.h"

_Static_assert(NATIVE_CAPACITY_BYTES_MAX == 67108864, "as the failure has it");

/*
 * Values on their way from one step to another.
 *
 *   cells of a frame ──find──▶ value ──fill──▶ cells of another frame ──libffi──▶ keep
 *
 * A number is copied, and a buffer is passed on where it lies, since frames live until the tool
 * ends.
 */

/* Memory of a frame that is kept between calls. */
#define KEEP_FRAME_BYTES (64u << 10)

/* A longer text counts as a text without its NUL. */
#define KEPT_TEXT_MAX NATIVE_CAPACITY_BYTES_MAX

/* ── variables ───────────────────────────────────────────────────────────────────────────────── */

/* Return the type and the cell of the place @at of @frame, of a call of @function. */
static void find_in_frame(const struct native_function *function, struct native_frame *frame,
	int at, struct native_found *ret_found)
{
	static const struct native_cell none;

	ret_found->refusal = NULL;
	ret_found->function = function;
	ret_found->frame = frame;
	ret_found->type = at == NATIVE_RETURNS ? &function->returns : &function->parameters[at];
	ret_found->cell = !frame->is_set         ? &none
			  : at == NATIVE_RETURNS ? &frame->value
						 : &frame->scratch.cells[at];
	ret_found->is_freed = ret_found->type->free_symbol;
	ret_found->is_null = !frame->is_set || (native_is_pointer(ret_found->type->type) &&
						       !ret_found->cell->slot.buffer);
}

/* Let the cell have the value of the field at @place. */
static void load_field(const struct native_variable *field, char *place, struct native_cell *cell)
{
	bool is_inside = field->count > 0 || field->part.type == NATIVE_STRUCT;

	if (!native_is_pointer(field->part.type)) {
		memcpy(&cell->slot, place, native_type_bytes(field->part.type));
		return;
	}
	cell->slot.buffer = place;
	if (!is_inside)
		memcpy(&cell->slot.buffer, place, sizeof(cell->slot.buffer));
	cell->count = cell->capacity = field->count;
	if (field->part.type == NATIVE_STR && cell->slot.buffer)
		cell->count = is_inside ? strnlen(cell->slot.buffer, field->count)
					: strlen(cell->slot.buffer);
}

/* Go from the struct in @found to its field. */
static void enter_field(const struct native_variable *field, struct native_found *found)
{
	char *place = found->is_null ? NULL : found->cell->slot.buffer + field->offset;

	found->type = &field->part;
	found->is_handle = field->is_handle;
	found->field = (struct native_cell){.count = 0};
	found->cell = &found->field;
	if (!place)
		return;
	load_field(field, place, &found->field);
	found->is_null = native_is_pointer(field->part.type) && !found->field.slot.buffer;
	if (found->is_null && !field->part.is_nullable)
		found->refusal = "is NULL";
	else if (field->part.type == NATIVE_STR && field->count > 0 &&
		 found->field.count == field->count)
		found->refusal = "has no NUL";
}

void native_frame_find(const struct native_steps *steps, const struct native_frames *frames,
	int variable, struct native_found *ret_found)
{
	bool is_process = variable & NATIVE_PROCESS;
	const struct native_steps *owner = is_process ? steps->process : steps;
	const struct native_frames *held = is_process ? steps->process_frames : frames;
	const struct native_variable *named =
		&owner->program->variables[variable & ~NATIVE_PROCESS];

	if (named->owner != NATIVE_NONE) {
		native_frame_find(steps, frames, named->owner, ret_found);
		enter_field(named, ret_found);
		return;
	}
	find_in_frame(named->frame == 0 ? &owner->function
					: &owner->stages[named->frame - 1].call.function,
		&held->frames[named->frame], named->at, ret_found);
	ret_found->is_handle = named->is_handle;
}

bool native_frame_is_empty(const struct native_found *found)
{
	enum native_type type = found->type->type;

	if (found->is_null)
		return true;
	if (found->is_handle)
		return false;
	if (type == NATIVE_STRUCT)
		return false;
	if (type == NATIVE_STRV)
		return !*(char *const *)(const void *)found->cell->slot.buffer;
	if (native_is_buffer(type))
		return found->cell->count == 0;
	return native_slot_sign(type, &found->cell->slot) == 0;
}

int native_frame_write(const struct native_found *found, size_t depth, struct buffer *out)
{
	if (!found->is_null)
		return native_result_write_value(found->function, &found->frame->scratch,
			found->type, found->cell, depth, out);
	buffer_append_string(out, "null");
	return 0;
}

/* ── numbers ─────────────────────────────────────────────────────────────────────────────────── */

/* A number between two types: an integer (two's complement), or a float. */
struct number {
	uint64_t bits;
	bool is_negative;
	bool is_float;
	double value;
};

static struct number load_number(enum native_type type, const union native_slot *slot)
{
	struct number number = {0};
	unsigned int unused;

	if (type == NATIVE_F32 || type == NATIVE_F64) {
		number.is_float = true;
		number.value = type == NATIVE_F32 ? (double)slot->f32 : slot->f64;
		return number;
	}
	number.bits = native_slot_number(type, slot);
	number.is_negative = native_is_signed(type) && native_slot_sign(type, slot) < 0;
	unused = 64 - 8 * (unsigned int)native_type_bytes(type);
	if (number.is_negative && unused > 0)
		number.bits |= UINT64_MAX << (64 - unused);
	return number;
}

/* Make an integer of a float. Return whether it is whole and has 64 bits. */
static bool make_integer(struct number *number)
{
	if (!number->is_float)
		return true;
	if (number->value != floor(number->value) || number->value < -0x1p63 ||
		number->value >= 0x1p64)
		return false;
	number->is_negative = number->value < 0;
	number->bits =
		number->is_negative ? (uint64_t)(int64_t)number->value : (uint64_t)number->value;
	return true;
}

/* Store the number as @type. Return whether it fits. */
static bool store_number(enum native_type type, struct number number, union native_slot *ret_slot)
{
	uint64_t most = type == NATIVE_BOOL ? 1 : native_integer_most(type);

	ret_slot->u64 = 0;
	if (type == NATIVE_F32 || type == NATIVE_F64) {
		double value = number.is_float      ? number.value
			       : number.is_negative ? (double)(int64_t)number.bits
						    : (double)number.bits;

		if (type == NATIVE_F64)
			ret_slot->f64 = value;
		else
			ret_slot->f32 = (float)value;
		return type == NATIVE_F64 ? isfinite(value) : isfinite(ret_slot->f32);
	}
	if (!make_integer(&number))
		return false;
	if (number.is_negative ? !native_is_signed(type) || ~number.bits > most
			       : number.bits > most)
		return false;
	native_slot_store_number(type, number.bits, ret_slot);
	return true;
}

/* ── into a frame ────────────────────────────────────────────────────────────────────────────── */

/* One call while its values are brought. */
struct filling {
	const struct native_steps *steps;
	const struct native_frames *frames;
	const struct native_call *call;
	struct native_given given[NATIVE_PARAMETERS_MAX];
	struct buffer arguments; /* JSON text of values that are read again */
	struct buffer *failure;
};

/* Append the name of @variable, whose value cannot be passed to @call, and `%s` @reason. */
static int fail_value(struct filling *filling, int variable, const char *reason)
{
	const struct native_steps *owner =
		variable & NATIVE_PROCESS ? filling->steps->process : filling->steps;

	buffer_printf(filling->failure, "%s is not called: '%s' %s", filling->call->function.symbol,
		owner->program->variables[variable & ~NATIVE_PROCESS].name, reason);
	return NATIVE_CALL_E_FAILED;
}

static int give_number(struct filling *filling, size_t at, int variable, struct number number)
{
	enum native_type type = filling->call->function.parameters[at].type;
	struct native_given *given = &filling->given[at];
	char reason[64];

	given->is_given = true;
	if (store_number(type, number, &given->cell.slot))
		return 0;
	snprintf(reason, sizeof(reason), "does not fit %s", native_type_name(type));
	return fail_value(filling, variable, reason);
}

/* Give a copy of a buffer, by the JSON text, to a function that changes the buffer. */
static int give_again(struct filling *filling, size_t at, const struct native_found *found)
{
	buffer_append_string(&filling->arguments, filling->arguments.size > 0 ? "," : "{");
	json_write_key(&filling->arguments, filling->call->function.parameters[at].name);
	return native_frame_write(found, 1, &filling->arguments);
}

static int give_value(struct filling *filling, size_t at, int variable)
{
	const struct native_parameter *parameter = &filling->call->function.parameters[at];
	struct native_found found;

	native_frame_find(filling->steps, filling->frames, variable, &found);
	if (found.refusal)
		return fail_value(filling, variable, found.refusal);
	if (parameter->direction != NATIVE_IN &&
		(native_is_buffer(parameter->type) || parameter->type == NATIVE_STRUCT))
		return give_again(filling, at, &found);
	if (!native_is_pointer(parameter->type) && parameter->type != found.type->type)
		return give_number(
			filling, at, variable, load_number(found.type->type, &found.cell->slot));
	filling->given[at].is_given = true;
	filling->given[at].cell = *found.cell;
	return 0;
}

static int give_count(struct filling *filling, size_t at, const struct native_source *source)
{
	struct native_found found;
	size_t count;

	native_frame_find(filling->steps, filling->frames, source->from, &found);
	count = found.cell->count;
	if (source->kind == NATIVE_SOURCE_BYTES && !native_is_buffer(found.type->type))
		count = native_element_bytes(found.type);
	else if (source->kind == NATIVE_SOURCE_BYTES)
		count = (found.type->direction == NATIVE_IN || !found.cell->capacity
					? count
					: found.cell->capacity) *
			native_element_bytes(found.type);
	return give_number(filling, at, source->from, (struct number){.bits = count});
}

/* Take the capacity of the buffer @at from a variable. */
static int take_capacity(struct filling *filling, size_t at, int variable)
{
	const struct native_parameter *buffer = &filling->call->function.parameters[at];
	uint64_t most = NATIVE_ASKED_BYTES_MAX / native_element_bytes(buffer);
	uint64_t countable = buffer->most + native_is_text(buffer->type);
	struct native_found found;
	struct number number;
	char reason[80];

	native_frame_find(filling->steps, filling->frames, variable, &found);
	number = load_number(found.type->type, &found.cell->slot);
	/* A length of a narrow type goes in. */
	if (buffer->most != NATIVE_UNBOUNDED && countable < most)
		most = countable;
	if (!number.is_negative && number.bits >= 1 && number.bits <= most) {
		filling->given[at].capacity = (size_t)number.bits;
		return 0;
	}
	snprintf(reason, sizeof(reason), "must be from 1 to %llu, the size of a buffer",
		(unsigned long long)most);
	return fail_value(filling, variable, reason);
}

static int give(struct filling *filling, size_t at, const struct native_source *source)
{
	struct native_found found;
	int r = 0;

	if (source->capacity != NATIVE_NONE)
		r = take_capacity(filling, at, source->capacity);
	if (r)
		return r;
	switch (source->kind) {
	case NATIVE_SOURCE_OWN:
	case NATIVE_SOURCE_OWN_BYTES:
		return 0;
	case NATIVE_SOURCE_VALUE:
		return give_value(filling, at, source->from);
	case NATIVE_SOURCE_CONVERTED:
		native_frame_find(filling->steps, filling->frames, source->from, &found);
		return give_number(filling, at, source->from,
			load_number(found.type->type, &found.cell->slot));
	case NATIVE_SOURCE_COUNT:
	case NATIVE_SOURCE_BYTES:
		return give_count(filling, at, source);
	}
	return 0;
}

/* Copy the handles of a struct to each struct beginning with its value, but not from a struct freed
 * after its copy. */
static void copy_handles(const struct filling *filling, const struct native_source *sources,
	struct native_scratch *scratch)
{
	const struct native_function *function = &filling->call->function;

	for (size_t i = 0; i < function->n_parameters; i++) {
		const struct native_parameter *parameter = &function->parameters[i];
		char *place = scratch->cells[i].slot.buffer;
		struct native_found found;

		if (parameter->type != NATIVE_STRUCT || parameter->direction != NATIVE_INOUT ||
			sources[i].kind != NATIVE_SOURCE_VALUE || !place)
			continue;
		native_frame_find(filling->steps, filling->frames, sources[i].from, &found);
		if (!found.is_null && !found.is_freed)
			native_structure_copy_handles(
				parameter->structure, found.cell->slot.buffer, place);
	}
}

/* Store the sizes of the call's own buffers, which have their place by now. */
static void store_own_sizes(const struct native_function *function,
	const struct native_source *sources, struct native_scratch *scratch)
{
	for (size_t i = 0; i < function->n_parameters; i++) {
		const struct native_parameter *measured;
		const struct native_cell *cell;

		if (sources[i].kind != NATIVE_SOURCE_OWN_BYTES)
			continue;
		measured = &function->parameters[sources[i].from];
		cell = &scratch->cells[sources[i].from];
		native_slot_store_number(function->parameters[i].type,
			native_is_buffer(measured->type)
				? cell->capacity * native_element_bytes(measured)
				: native_element_bytes(measured),
			&scratch->cells[i].slot);
	}
}

/* Refuse a first value of an inout that its capacity, of a variable, has no room for. */
static int check_capacities(struct filling *filling, const struct native_scratch *scratch)
{
	const struct native_function *function = &filling->call->function;

	for (size_t i = 0; i < function->n_parameters; i++) {
		size_t capacity = filling->given[i].capacity;

		if (capacity == 0 || scratch->cells[i].capacity <= capacity)
			continue;
		buffer_printf(filling->failure,
			"%s is not called: '%s' has room for %zu, and its value needs %zu",
			function->symbol, function->parameters[i].name, capacity,
			scratch->cells[i].capacity);
		return NATIVE_CALL_E_FAILED;
	}
	return 0;
}

int native_frame_fill(const struct native_steps *steps, const struct native_frames *frames,
	const struct native_call *call, const struct native_source *sources,
	struct native_frame *frame, struct buffer *failure)
{
	const struct native_function *function = &call->function;
	struct filling filling;
	const struct native_signature signature = {function, call->constants, filling.given};
	int r = 0;

	/* Only the first of `given` are used: no more are cleared. */
	filling.steps = steps;
	filling.frames = frames;
	filling.call = call;
	filling.failure = failure;
	filling.arguments = (struct buffer){0};
	for (size_t i = 0; r == 0 && i < function->n_parameters; i++) {
		filling.given[i] = (struct native_given){0};
		r = give(&filling, i, &sources[i]);
		/* Filled in below, when the buffers have their sizes. */
		if (sources[i].kind == NATIVE_SOURCE_OWN_BYTES)
			filling.given[i].is_given = true;
	}
	if (filling.arguments.size > 0)
		buffer_append_char(&filling.arguments, '}');
	if (r == 0 && buffer_status(&filling.arguments))
		r = -ENOMEM;
	if (r == 0) {
		r = native_call_memory_fill(&signature, &frame->scratch, filling.arguments.data,
			filling.arguments.size, failure);
		r = r > 0 ? NATIVE_CALL_E_FAILED : r;
	}
	r = r ? r : check_capacities(&filling, &frame->scratch);
	if (r == 0)
		copy_handles(&filling, sources, &frame->scratch);
	if (r == 0)
		store_own_sizes(function, sources, &frame->scratch);
	buffer_deinit(&filling.arguments);
	return r;
}

/* ── what a call has left ────────────────────────────────────────────────────────────────────── */

/* Return whether the variable of step @step at the place @at may be NULL. */
static bool may_be_null(const struct native_program *program, size_t step, int at)
{
	for (size_t i = 0; i < program->n_variables; i++)
		if (program->variables[i].frame == (int)step + 1 && program->variables[i].at == at)
			return program->variables[i].is_nullable;
	return false;
}

/* Fail with the words of @format about the output @name; NULL: about the returned value. */
static int fail_left(const struct native_function *function, const char *name, const char *words,
	struct buffer *failure)
{
	buffer_printf(failure, "%s %s %s", function->symbol, name ? "left" : "returned", words);
	if (name)
		buffer_printf(failure, " in '%s'", name);
	return NATIVE_CALL_E_FAILED;
}

/* Keep the output @at, which is not memory of the library. */
static int keep_output(const struct native_steps *steps, size_t step, struct native_frame *frame,
	size_t at, struct buffer *failure)
{
	const struct native_function *function = &steps->stages[step].call.function;
	const struct native_parameter *parameter = &function->parameters[at];
	struct native_cell *cell = &frame->scratch.cells[at];
	int r;

	if (parameter->type == NATIVE_HANDLE && !cell->slot.buffer &&
		!may_be_null(steps->program, step, (int)at))
		return fail_left(function, parameter->name, "NULL", failure);
	if (!native_is_buffer(parameter->type) || !cell->slot.buffer)
		return 0;
	r = native_result_find_used(
		function, &frame->scratch, &frame->returned.slot, at, &cell->count, failure);
	/* The guard after the buffer has done its work. */
	if (r == 0 && native_is_text(parameter->type))
		cell->slot.buffer[cell->count] = '\0';
	return r > 0 ? NATIVE_CALL_E_FAILED : r;
}

/* Memory of the library to copy: a value and its size. */
struct copying {
	const struct native_parameter *type;
	struct native_cell *cell; /* its place in the frame; `count` has the elements */
	const char *memory;
	size_t bytes;
};

/* Find the size of a list of texts. */
static int measure_strv(
	const struct native_function *function, struct copying *copying, struct buffer *failure)
{
	char *const *texts = (char *const *)(const void *)copying->memory;
	size_t count = 0;

	copying->bytes = sizeof(*texts);
	for (; texts[count]; count++) {
		copying->bytes += sizeof(*texts) + strnlen(texts[count], KEPT_TEXT_MAX) + 1;
		if (count < NATIVE_TEXTS_MAX && copying->bytes <= KEPT_TEXT_MAX)
			continue;
		buffer_printf(failure, "%s made a list of more than %d texts or %u bytes",
			function->symbol, NATIVE_TEXTS_MAX, KEPT_TEXT_MAX);
		return NATIVE_CALL_E_FAILED;
	}
	copying->cell->count = count;
	return 0;
}

/* Find the size of a struct, with the texts that its fields point to. */
static int measure_struct(
	const struct native_function *function, struct copying *copying, struct buffer *failure)
{
	const struct native_struct *structure = copying->type->structure;
	size_t texts = native_structure_texts(structure, copying->memory, KEPT_TEXT_MAX);

	copying->bytes = structure->size + texts;
	if (texts <= KEPT_TEXT_MAX)
		return 0;
	buffer_printf(failure, "%s made a struct with texts of more than %u bytes",
		function->symbol, KEPT_TEXT_MAX);
	return NATIVE_CALL_E_FAILED;
}

/* Find the size of a value. @size is the number of elements of a returned one. */
static int measure(const struct native_function *function, struct native_frame *frame, size_t size,
	struct copying *copying, struct buffer *failure)
{
	uint64_t count = size;
	int r = 0;

	if (copying->type->type == NATIVE_STRV)
		return measure_strv(function, copying, failure);
	if (copying->type->type == NATIVE_STRUCT)
		return measure_struct(function, copying, failure);
	if (copying->cell != &frame->value)
		r = native_result_find_size(function, &frame->scratch, &frame->returned.slot,
			copying->type, &count, failure);
	else if (native_is_text(copying->type->type))
		count = NATIVE_UNBOUNDED;
	if (r)
		return r > 0 ? NATIVE_CALL_E_FAILED : r;
	if (native_is_text(copying->type->type))
		count = strnlen(copying->memory,
			count > KEPT_TEXT_MAX ? (size_t)KEPT_TEXT_MAX + 1 : (size_t)count);
	if (count > KEPT_TEXT_MAX)
		return fail_left(function,
			copying->cell == &frame->value ? NULL : copying->type->name,
			"a text of more than 67108864 bytes", failure);
	copying->cell->count = (size_t)count;
	copying->bytes = (size_t)count * native_element_bytes(copying->type);
	return 0;
}

/* Copy a value to @place, with a NUL after it. */
static void copy_value(const struct copying *copying, char *place)
{
	char *const *texts = (char *const *)(const void *)copying->memory;
	char **copies = (char **)(void *)place;
	size_t count = copying->cell->count;

	if (copying->type->type == NATIVE_STRUCT) {
		const struct native_struct *structure = copying->type->structure;

		memcpy(place, copying->memory, structure->size);
		native_structure_own_texts(structure, place, place + structure->size);
		return;
	}
	if (copying->type->type != NATIVE_STRV) {
		memcpy(place, copying->memory, copying->bytes);
		place[copying->bytes] = '\0';
		return;
	}
	place += (count + 1) * sizeof(*copies);
	copies[count] = NULL;
	for (size_t i = 0; i < count; i++) {
		copies[i] = place;
		place = stpcpy(place, texts[i]) + 1;
	}
}

/* Note a value that is memory of the library in @list. Refuse NULL where it cannot be. */
static int note_copy(const struct native_steps *steps, size_t step, struct native_frame *frame,
	int at, size_t size, struct copying *list, size_t *n, struct buffer *failure)
{
	const struct native_function *function = &steps->stages[step].call.function;
	bool is_returned = at == NATIVE_RETURNS;
	struct native_cell *cell = is_returned ? &frame->value : &frame->scratch.cells[at];
	const struct native_parameter *type =
		is_returned ? &function->returns : &function->parameters[at];
	bool may_lack = type->is_nullable || (is_returned && function->drops_returned) ||
			may_be_null(steps->program, step, at);

	if (!cell->slot.buffer)
		return may_lack ? 0
				: fail_left(function, is_returned ? NULL : type->name, "NULL",
					  failure);
	list[*n] = (struct copying){.type = type, .cell = cell, .memory = cell->slot.buffer};
	return measure(function, frame, size, &list[(*n)++], failure);
}

/* Copy all of @list to the frame, free the originals, and let the cells have the copies. */
static int copy_all(const struct native_call *call, struct native_frame *frame,
	const struct copying *list, size_t n, struct buffer *failure)
{
	char *places[NATIVE_PARAMETERS_MAX + 1];
	uint64_t total = 0;
	char *place;

	for (size_t i = 0; i < n; i++)
		total += list[i].bytes + 1 + sizeof(max_align_t);
	if (total > NATIVE_LEFT_BYTES_MAX) {
		buffer_printf(failure, "%s left more than %u bytes", call->function.symbol,
			NATIVE_LEFT_BYTES_MAX);
		return NATIVE_CALL_E_FAILED;
	}
	buffer_reset(&frame->kept);
	place = buffer_reserve(&frame->kept, (size_t)total + 1);
	if (!place)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		places[i] = place;
		copy_value(&list[i], place);
		place += (list[i].bytes + sizeof(max_align_t)) / sizeof(max_align_t) *
			 sizeof(max_align_t);
	}
	native_call_release(call, &frame->scratch, &frame->returned.slot);
	for (size_t i = 0; i < n; i++)
		list[i].cell->slot.buffer = places[i];
	return 0;
}

int native_frame_keep(const struct native_steps *steps, size_t step, struct native_frame *frame,
	size_t size, struct buffer *failure)
{
	const struct native_call *call = &steps->stages[step].call;
	const struct native_function *function = &call->function;
	struct copying list[NATIVE_PARAMETERS_MAX + 1];
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < function->n_parameters; i++) {
		const struct native_parameter *parameter = &function->parameters[i];

		/* A struct may point to texts of the library. */
		if (parameter->is_handed ||
			(parameter->type == NATIVE_STRUCT && parameter->direction != NATIVE_IN))
			r = note_copy(steps, step, frame, (int)i, size, list, &n, failure);
		else if (parameter->direction != NATIVE_IN)
			r = keep_output(steps, step, frame, i, failure);
	}
	frame->value = (struct native_cell){.slot = frame->returned.slot};
	if (r == 0 && function->returns.type == NATIVE_HANDLE && !frame->value.slot.buffer &&
		!function->returns.is_nullable)
		return fail_left(function, NULL, "NULL", failure);
	if (r == 0 && native_is_pointer(function->returns.type) &&
		function->returns.type != NATIVE_HANDLE)
		r = note_copy(steps, step, frame, NATIVE_RETURNS, size, list, &n, failure);
	if (r == 0 && n > 0)
		r = copy_all(call, frame, list, n, failure);
	else if (r == 0)
		native_call_release(call, &frame->scratch, &frame->returned.slot);
	return r;
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

void native_frame_trim(struct native_frame *frame)
{
	native_scratch_trim(&frame->scratch);
	buffer_recycle(&frame->kept, KEEP_FRAME_BYTES);
	buffer_recycle(&frame->collected, KEEP_FRAME_BYTES);
}

void native_frames_deinit(struct native_frames *frames)
{
	for (size_t i = 0; i < frames->n_frames; i++) {
		native_scratch_deinit(&frames->frames[i].scratch);
		buffer_deinit(&frames->frames[i].kept);
		buffer_deinit(&frames->frames[i].collected);
	}
	free(frames->frames);
	*frames = (struct native_frames){0};
}
