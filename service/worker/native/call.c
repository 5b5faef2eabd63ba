/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/native/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/utf8.h"
#include "worker/float_mode.h"

/* Parse each `value` and `default` once. Their texts live as long as the function. */
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
		r = json_tape_read(
			&call->constants[i], text, strlen(text), JSON_DEPTH_DEFAULT, NULL);
		if (r)
			return r < 0 ? r : -EINVAL;
	}
	return 0;
}

/* Return the type passed by libffi: a pointer for output parameters. NULL when memory is short. */
static ffi_type *passed_type(
	struct native_call *call, const struct native_parameter *parameter, bool is_variable)
{
	enum native_type type = is_variable ? native_promoted(parameter->type) : parameter->type;

	if (parameter->is_by_value)
		return native_structure_ffi_type(&call->structure_types, parameter->structure);
	return parameter->direction == NATIVE_IN ? native_slot_ffi_type(type) : &ffi_type_pointer;
}

/* Return the type returned by libffi, and make the memory of a returned struct. */
static ffi_type *returned_type(struct native_call *call)
{
	const struct native_parameter *returns = &call->function.returns;

	if (!returns->is_by_value)
		return native_slot_ffi_type(returns->type);
	call->returned = calloc(1, returns->structure->size + sizeof(ffi_arg));
	return call->returned
		       ? native_structure_ffi_type(&call->structure_types, returns->structure)
		       : NULL;
}

/* Return whether libffi lays out the struct of @parameter as we do. */
static bool agrees(const struct native_parameter *parameter, const ffi_type *type)
{
	return !parameter->is_by_value ||
	       (type->size == parameter->structure->size &&
		       type->alignment == parameter->structure->alignment);
}

/* Prepare the call of @n arguments. */
static ffi_status prepare_cif(struct native_call *call, unsigned int n, ffi_type *returned)
{
	if (call->function.is_variadic)
		return ffi_prep_cif_var(&call->cif, FFI_DEFAULT_ABI,
			(unsigned int)call->function.n_fixed, n, returned, call->types);
	return ffi_prep_cif(&call->cif, FFI_DEFAULT_ABI, n, returned, call->types);
}

int native_call_init(struct native_call *call, struct native_function *function, void *address,
	void (*free_result)(void *))
{
	const struct native_function *own = &call->function;
	ffi_type *returned;
	size_t n = 0;
	int r;

	*call = (struct native_call){
		.function = *function, .address = address, .free_result = free_result};
	*function = (struct native_function){0};
	r = read_constants(call);
	if (r)
		return r;
	for (; n < own->n_parameters; n++) {
		call->types[n] = passed_type(
			call, &own->parameters[n], own->is_variadic && n >= own->n_fixed);
		if (!call->types[n])
			return -ENOMEM;
	}
	if (own->errors == NATIVE_ERRORS_GERROR)
		call->types[n++] = &ffi_type_pointer;
	returned = returned_type(call);
	if (!returned)
		return -ENOMEM;
	if (prepare_cif(call, (unsigned int)n, returned) != FFI_OK)
		return -EINVAL;
	for (size_t i = 0; i < own->n_parameters; i++)
		if (!agrees(&own->parameters[i], call->types[i]))
			return -EINVAL;
	return agrees(&own->returns, returned) ? 0 : -EINVAL;
}

void native_call_deinit(struct native_call *call)
{
	if (call->constants)
		for (size_t i = 0; i < call->function.n_parameters; i++)
			json_tape_deinit(&call->constants[i]);
	free(call->constants);
	free(call->returned);
	native_structure_types_deinit(&call->structure_types);
	native_function_deinit(&call->function);
}

/* The public head of a GError of GLib. */
struct gerror {
	uint32_t domain;
	int code;
	char *message;
};

/* Append the words of @error as the failure, and free @error. */
static int fail_by_gerror(struct native_call *call, struct gerror *error, struct buffer *out)
{
	buffer_printf(out, "%s: ", call->function.symbol);
	if (error->message)
		utf8_repair(error->message, strlen(error->message), out);
	else
		buffer_printf(out, "error %d", error->code);
	if (call->free_gerror)
		call->free_gerror(error);
	return NATIVE_CALL_E_FAILED;
}

void native_call_free_handed(struct native_call *call, size_t at, void (*free_value)(void *))
{
	call->free_handed[at] = free_value;
	call->has_handed = true;
}

void native_call_release(const struct native_call *call, const struct native_scratch *scratch,
	const union native_slot *returned)
{
	if (call->free_result && returned->buffer)
		call->free_result(returned->buffer);
	for (size_t i = 0; call->has_handed && i < call->function.n_parameters; i++)
		if (call->free_handed[i] && scratch->cells[i].slot.buffer)
			call->free_handed[i](scratch->cells[i].slot.buffer);
}

int native_call_enter(struct native_call *call, struct native_scratch *scratch,
	union native_returned *ret_returned, int *ret_errno, struct buffer *failure)
{
	struct float_mode mode = float_mode_get();
	struct gerror *error = NULL;
	void *place = &error;

	if (call->function.errors == NATIVE_ERRORS_GERROR)
		scratch->addresses[call->function.n_parameters] = &place;
	errno = 0;
	ffi_call(&call->cif, FFI_FN(call->address), call->returned ? call->returned : ret_returned,
		scratch->addresses);
	*ret_errno = errno;
	float_mode_restore(mode);
	if (call->returned)
		ret_returned->slot.buffer = call->returned;
	native_result_narrow(ret_returned, call->function.returns.type);
	return error ? fail_by_gerror(call, error, failure) : 0;
}

/* Call the function with the memory in @scratch. The result may point into it. */
static int call_function(
	struct native_call *call, struct native_scratch *scratch, struct buffer *out)
{
	union native_returned returned = {0};
	int saved_errno;
	int r = native_call_enter(call, scratch, &returned, &saved_errno, out);

	if (r == 0)
		r = native_result_write(&call->function, scratch, &returned.slot, saved_errno, out);
	native_call_release(call, scratch, &returned.slot);
	return r > 0 ? NATIVE_CALL_E_FAILED : r;
}

int native_call_run(struct native_call *call, struct native_scratch *scratch, const char *arguments,
	size_t size, struct buffer *out)
{
	const struct native_signature signature = {&call->function, call->constants, NULL};
	int r = native_call_memory_fill(&signature, scratch, arguments, size, out);

	if (r > 0)
		r = NATIVE_CALL_E_FAILED;
	r = r ? r : call_function(call, scratch, out);
	native_scratch_trim(scratch);
	return r;
}
