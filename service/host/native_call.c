/* SPDX-License-Identifier: Apache-2.0 */
#include "host/native_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/native_result.h"

/* What grew larger for one call is given back behind it. */
#define KEEP_STRING_BYTES (256u << 10)
#define KEEP_TOKENS       16384

static ffi_type *ffi_type_of(enum native_type type)
{
	switch (type) {
	case NATIVE_VOID:
		return &ffi_type_void;
	case NATIVE_BOOL: /* libffi has none of its own */
	case NATIVE_U8:
		return &ffi_type_uint8;
	case NATIVE_I8:
		return &ffi_type_sint8;
	case NATIVE_I16:
		return &ffi_type_sint16;
	case NATIVE_I32:
		return &ffi_type_sint32;
	case NATIVE_I64:
		return &ffi_type_sint64;
	case NATIVE_U16:
		return &ffi_type_uint16;
	case NATIVE_U32:
		return &ffi_type_uint32;
	case NATIVE_U64:
		return &ffi_type_uint64;
	case NATIVE_ISIZE:
		return sizeof(ssize_t) == 8 ? &ffi_type_sint64 : &ffi_type_sint32;
	case NATIVE_USIZE:
		return sizeof(size_t) == 8 ? &ffi_type_uint64 : &ffi_type_uint32;
	case NATIVE_F32:
		return &ffi_type_float;
	case NATIVE_F64:
		return &ffi_type_double;
	case NATIVE_STR:
		return &ffi_type_pointer;
	}
	return &ffi_type_void;
}

/* Read each `value` and `default` once; their texts live as long as the function. */
static int read_constants(struct native_call *call)
{
	const struct native_function *function = &call->function;

	call->constants = calloc(function->n_parameters + 1, sizeof(*call->constants));
	if (!call->constants)
		return -ENOMEM;
	for (size_t i = 0; i < function->n_parameters; i++) {
		const struct native_parameter *parameter = &function->parameters[i];
		const char *text =
			parameter->value_json ? parameter->value_json : parameter->default_json;
		int r;

		if (!text)
			continue;
		call->constants_size += strlen(text);
		r = json_tape_read(
			&call->constants[i], text, strlen(text), JSON_DEPTH_DEFAULT, NULL);
		if (r)
			return r < 0 ? r : -EINVAL;
	}
	return 0;
}

int native_call_init(struct native_call *call, struct native_function *function, void *address,
	void (*free_result)(void *))
{
	int r;

	*call = (struct native_call){
		.function = *function, .address = address, .free_result = free_result};
	*function = (struct native_function){0};
	r = read_constants(call);
	if (r)
		return r;
	for (size_t i = 0; i < call->function.n_parameters; i++)
		call->types[i] = ffi_type_of(call->function.parameters[i].type);
	if (ffi_prep_cif(&call->cif, FFI_DEFAULT_ABI, (unsigned int)call->function.n_parameters,
		    ffi_type_of(call->function.return_type), call->types) != FFI_OK)
		return -EINVAL;
	return 0;
}

void native_call_deinit(struct native_call *call)
{
	if (call->constants)
		for (size_t i = 0; i < call->function.n_parameters; i++)
			json_tape_deinit(&call->constants[i]);
	free(call->constants);
	native_function_deinit(&call->function);
}

void native_scratch_deinit(struct native_scratch *scratch)
{
	json_tape_deinit(&scratch->tape);
	buffer_deinit(&scratch->strings);
}

static void trim(struct native_scratch *scratch)
{
	if (scratch->tape.capacity > KEEP_TOKENS)
		json_tape_deinit(&scratch->tape);
	if (scratch->strings.capacity > KEEP_STRING_BYTES)
		buffer_deinit(&scratch->strings);
}

/* Decode the string behind those before it. There is room for all of them, so none ever moves. */
static const char *keep_string(
	struct native_scratch *scratch, const struct json_tape *tape, uint32_t value)
{
	size_t start = scratch->strings.size;

	json_string_decode(tape, value, &scratch->strings);
	buffer_append_char(&scratch->strings, '\0');
	return scratch->strings.data + start;
}

static void store_signed(enum native_type type, int64_t value, union native_slot *slot)
{
	switch (type) {
	case NATIVE_I8:
		slot->i8 = (int8_t)value;
		break;
	case NATIVE_I16:
		slot->i16 = (int16_t)value;
		break;
	case NATIVE_I32:
		slot->i32 = (int32_t)value;
		break;
	case NATIVE_ISIZE:
		slot->isize = (ssize_t)value;
		break;
	default:
		slot->i64 = value;
		break;
	}
}

static void store_unsigned(enum native_type type, uint64_t value, union native_slot *slot)
{
	switch (type) {
	case NATIVE_U8:
		slot->u8 = (uint8_t)value;
		break;
	case NATIVE_U16:
		slot->u16 = (uint16_t)value;
		break;
	case NATIVE_U32:
		slot->u32 = (uint32_t)value;
		break;
	case NATIVE_USIZE:
		slot->usize = (size_t)value;
		break;
	default:
		slot->u64 = value;
		break;
	}
}

/* Put the value at @value, which native_refusal() lets pass, where libffi takes it from. */
static void store(struct native_scratch *scratch, enum native_type type,
	const struct json_tape *tape, uint32_t value, union native_slot *slot)
{
	int64_t signed_value = 0;
	uint64_t unsigned_value = 0;

	switch (type) {
	case NATIVE_BOOL:
		slot->bool_ = json_is_true(tape, value);
		break;
	case NATIVE_F32:
		json_number_f32(tape, value, &slot->f32);
		break;
	case NATIVE_F64:
		json_number_f64(tape, value, &slot->f64);
		break;
	case NATIVE_STR:
		slot->str = json_type_at(tape, value) == JSON_NULL
				    ? NULL
				    : keep_string(scratch, tape, value);
		break;
	case NATIVE_U8:
	case NATIVE_U16:
	case NATIVE_U32:
	case NATIVE_U64:
	case NATIVE_USIZE:
		json_number_u64(tape, value, &unsigned_value);
		store_unsigned(type, unsigned_value, slot);
		break;
	default:
		json_number_i64(tape, value, &signed_value);
		store_signed(type, signed_value, slot);
		break;
	}
}

/* Find the argument @name: most callers keep the order of the schema, so it stands at *key, which
 * moves on. JSON_NONE when it is absent. */
static uint32_t find_argument(const struct json_tape *tape, const char *name, uint32_t *key)
{
	uint32_t value;

	if (*key >= json_end(tape, 0) || !json_string_equals(tape, *key, name, strlen(name)))
		return json_find(tape, 0, name);
	value = *key + 1;
	*key = json_next_key(tape, *key);
	return value;
}

static int fail_argument(struct buffer *out, const char *name, const char *why)
{
	buffer_printf(out, "argument '%s' %s", name, why);
	return NATIVE_CALL_E_FAILED;
}

/* Fill slot @at: from the arguments, its constant, or NULL. */
static int fill(const struct native_call *call, struct native_scratch *scratch, size_t at,
	uint32_t *key, struct buffer *out)
{
	const struct native_parameter *parameter = &call->function.parameters[at];
	const struct json_tape *tape = &scratch->tape;
	union native_slot *slot = &scratch->slots[at];
	uint32_t value =
		parameter->value_json ? JSON_NONE : find_argument(tape, parameter->name, key);
	const char *refusal;

	if (value == JSON_NONE && call->constants[at].count > 0) {
		store(scratch, parameter->type, &call->constants[at], 0, slot);
		return 0;
	}
	if (value == JSON_NONE && parameter->is_nullable) {
		slot->str = NULL;
		return 0;
	}
	if (value == JSON_NONE)
		return fail_argument(out, parameter->name, "is missing");
	refusal = native_refusal(parameter, tape, value);
	if (refusal)
		return fail_argument(out, parameter->name, refusal);
	store(scratch, parameter->type, tape, value, slot);
	return 0;
}

static int read_arguments(const struct native_call *call, struct native_scratch *scratch,
	const char *arguments, size_t size, struct buffer *out)
{
	struct json_error error;
	uint32_t key = 1;
	int r = json_tape_read(&scratch->tape, arguments, size, JSON_DEPTH_DEFAULT, &error);

	if (r < 0)
		return r;
	if (r > 0 || json_type_at(&scratch->tape, 0) != JSON_OBJECT) {
		buffer_printf(out, "arguments must be a JSON object: %s",
			r > 0 ? error.message : "this is something else");
		return NATIVE_CALL_E_FAILED;
	}
	/* A decoded string and its NUL are no longer than its text with the quotes. */
	buffer_reset(&scratch->strings);
	if (!buffer_reserve(&scratch->strings, size + call->constants_size))
		return -ENOMEM;
	for (size_t i = 0; i < call->function.n_parameters; i++) {
		scratch->addresses[i] = &scratch->slots[i];
		r = fill(call, scratch, i, &key, out);
		if (r)
			return r;
	}
	return 0;
}

/* Call the function with what is in the slots. The result may point into the scratch. */
static int run(struct native_call *call, struct native_scratch *scratch, struct buffer *out)
{
	union native_result result = {0};
	size_t start = out->size;
	int saved_errno;
	int r;

	errno = 0;
	ffi_call(&call->cif, FFI_FN(call->address), &result, scratch->addresses);
	saved_errno = errno;
	native_result_narrow(&result, call->function.return_type);
	r = native_result_write(&call->function, &result, saved_errno, out);
	if (r == NATIVE_RESULT_E_FAILED) {
		out->size = start;
		native_result_write_failure(&call->function, &result, saved_errno, out);
		r = NATIVE_CALL_E_FAILED;
	}
	if (call->free_result && result.str)
		call->free_result(result.str);
	return r;
}

int native_call_run(struct native_call *call, struct native_scratch *scratch, const char *arguments,
	size_t size, struct buffer *out)
{
	int r = read_arguments(call, scratch, arguments, size, out);

	r = r ? r : run(call, scratch, out);
	trim(scratch);
	return r;
}
