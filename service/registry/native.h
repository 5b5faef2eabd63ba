/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * How a C function is called: the `native` object of a tool in a manifest.
 *
 *   {"symbol": "add",
 *    "parameters": [{"name": "a", "type": "i64"}, {"name": "b", "type": "i64"}],
 *    "returns": {"name": "result", "type": "i64"}}
 *
 * Width words are Deno's (i8 … f64), meaning words GObject Introspection's (nullable, transfer,
 * length_of). Both sides of the process boundary read this same object with this same code: the
 * daemon to make schemas and to check arguments, the host to call.
 */

enum native_type {
	NATIVE_VOID,
	NATIVE_BOOL,
	NATIVE_I8,
	NATIVE_I16,
	NATIVE_I32,
	NATIVE_I64,
	NATIVE_U8,
	NATIVE_U16,
	NATIVE_U32,
	NATIVE_U64,
	NATIVE_ISIZE,
	NATIVE_USIZE,
	NATIVE_F32,
	NATIVE_F64,
	NATIVE_STR,
};

/* When a call counts as failed, by what it returned. */
enum native_errors {
	NATIVE_ERRORS_NONE,
	NATIVE_ERRORS_NEGATIVE,
	NATIVE_ERRORS_NONZERO,
	NATIVE_ERRORS_ZERO,
	NATIVE_ERRORS_NULL,
	NATIVE_ERRORS_ERRNO, /* errno set to 0 before, not 0 after */
};

#define NATIVE_PARAMETERS_MAX 64

struct native_parameter {
	char *name;
	char *description;  /* or NULL */
	char *default_json; /* JSON text, or NULL */
	char *value_json;   /* JSON text: always passed so, hidden from callers; or NULL */
	enum native_type type;
	bool is_nullable;
};

struct native_function {
	char *symbol;
	struct native_parameter *parameters;
	size_t n_parameters;
	enum native_type return_type;
	char *return_name;        /* "result" unless given */
	char *return_description; /* or NULL */
	char *free_symbol; /* transfer "full": frees what was returned; NULL: transfer "none" */
	enum native_errors errors;
	bool return_is_nullable;
};

/* Positive results: the object is not usable; pointer and message say why. */
enum native_status {
	NATIVE_E_REFUSED = 1,
};

/* A mistake in the object, for the author of the manifest. Zero it before use; give the message
 * back with buffer_deinit. */
struct native_error {
	uint32_t token;        /* of the tape: the place (for line and pointer) */
	struct buffer message; /* what was expected, what came; NUL-terminated */
};

/* Read the object at @object of @tape. Everything is copied. 0 with *ret_function owned by the
 * caller (native_function_deinit), NATIVE_E_REFUSED with @ret_error filled, or -ENOMEM. */
int native_function_read(const struct json_tape *tape, uint32_t object,
	struct native_function *ret_function, struct native_error *ret_error);

void native_function_deinit(struct native_function *function);

/* Append the schema of the arguments (of the result) as JSON text, DESIGN §3.1 "Schemas". */
void native_write_argument_schema(const struct native_function *function, struct buffer *out);
void native_write_output_schema(const struct native_function *function, struct buffer *out);

/* Append the function as the JSON object that native_function_read() takes. */
void native_write(const struct native_function *function, struct buffer *out);

/*
 * Whether the value at @value can be passed as @parameter: of its type, an integer in range (a
 * schema leaves that open above 32 bits), a float that is finite at its width, a string without
 * U+0000, null only where nullable. NULL when it can, else a constant text: "must be …".
 */
const char *native_refusal(
	const struct native_parameter *parameter, const struct json_tape *tape, uint32_t value);

/* "i64"; "negative". */
const char *native_type_name(enum native_type type);
const char *native_errors_name(enum native_errors errors);
