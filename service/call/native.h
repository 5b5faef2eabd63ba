/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/diagnostic.h"

/*
 * How a C function is called: the `native` object of a tool in a manifest.
 *
 *   {"symbol": "crc32",
 *    "parameters": [{"name": "start", "type": "u64", "value": 0},
 *                   {"name": "data", "type": "bytes"},
 *                   {"name": "size", "type": "u32", "length_of": "data"}],
 *    "returns": {"name": "checksum", "type": "u64"}}
 *
 * Width words are Deno's (i8 … f64), meaning words GObject Introspection's (dir, nullable,
 * transfer, length_of). Both sides of the process boundary read this same object with this same
 * code: the daemon to make schemas and to check arguments, the host to call.
 *
 *   native/types.c    the tables of a toolbox: enums and structs
 *   native/read.c     the object: one key after the other
 *   native/rules.c    what keys mean together
 *   native/program.h  a tool of several calls
 *   native/check.c    whether a JSON value can be passed
 *   native/schema.c   the schemas that follow
 *   native/write.c    the object again, for the host
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
	NATIVE_HANDLE, /* an opaque pointer; only inside a tool */
	NATIVE_STRV,   /* texts, ended by NULL */
	NATIVE_STRUCT,
	NATIVE_STR,   /* NUL-terminated UTF-8 */
	NATIVE_BYTES, /* any bytes; base64 in JSON */
	NATIVE_JSON,  /* the text of a JSON value, NUL-terminated */
	NATIVE_ARRAY, /* numbers of one type */
};

#define NATIVE_N_TYPES (NATIVE_ARRAY + 1)

enum native_direction {
	NATIVE_IN,
	NATIVE_OUT,
	NATIVE_INOUT,
};

/* When a call counts as failed, by what it returned. */
enum native_errors {
	NATIVE_ERRORS_NONE,
	NATIVE_ERRORS_NEGATIVE,
	NATIVE_ERRORS_NONZERO,
	NATIVE_ERRORS_ZERO,
	NATIVE_ERRORS_NULL,
	NATIVE_ERRORS_ERRNO, /* errno set to 0 before, not 0 after */
	NATIVE_ERRORS_EQUALS,
	NATIVE_ERRORS_NOT_EQUALS,
	NATIVE_ERRORS_GERROR, /* an appended GError ** that is not NULL after */
};

#define NATIVE_PARAMETERS_MAX 64
#define NATIVE_RESULTS_MAX    (NATIVE_PARAMETERS_MAX + 1)

/* The most bytes of a buffer on request of a manifest, or of a caller by a parameter. */
#define NATIVE_CAPACITY_BYTES_MAX (64u << 20)
#define NATIVE_ASKED_BYTES_MAX    (8u << 20)

/* Indexes in the place of a parameter's: none, and the return value. */
#define NATIVE_NONE    (-1)
#define NATIVE_RETURNS (-2)

/* The most bytes of a schema made from a function, and of all of a toolbox. */
#define NATIVE_SCHEMA_BYTES_MAX  (1u << 20)
#define NATIVE_SCHEMAS_BYTES_MAX (16u << 20)

/* The most bytes left by one call: results as JSON, and copies for later steps. */
#define NATIVE_LEFT_BYTES_MAX (128u << 20)

/* No bound. */
#define NATIVE_UNBOUNDED UINT64_MAX

/* The most names of an enum. */
#define NATIVE_NAMES_MAX 4096

/* A number with a name. */
struct native_named {
	char *name;
	char *c;       /* name of the number in C, if it differs; or NULL */
	uint64_t bits; /* two's complement */
	bool is_negative;
};

/* An entry of `enums`: names for the numbers of enums and flags. */
struct native_enum {
	char *name;
	struct native_named *values;
	size_t n_values;
};

/* The tables of a toolbox: what its functions share. */
struct native_types {
	struct native_enum *enums;
	size_t n_enums;
	struct native_struct *structs;
	size_t n_structs;
};

/* Bounds of structs: fields; bytes, of a struct passed by value, too; structs in one another. */
#define NATIVE_FIELDS_MAX         256
#define NATIVE_STRUCT_BYTES_MAX   65536
#define NATIVE_BY_VALUE_BYTES_MAX 4096
#define NATIVE_NESTED_MAX         8

/* The most factors of a size, and the most texts of a strv. */
#define NATIVE_FACTORS_MAX 4
#define NATIVE_TEXTS_MAX   65536

/* The size of a buffer of the function: a product. */
struct native_size {
	uint64_t number;              /* product of the constant factors; 0: no size */
	int from[NATIVE_FACTORS_MAX]; /* integer parameters */
	size_t n_from;
};

/*
 * A parameter; or the return value, with no more than a name, a description, a type, a schema,
 * `nullable` and `length_of`.
 *
 * A *buffer* is a str, bytes, json or array. Its length and capacity are counted in elements:
 * bytes, or numbers of an array; the NUL of a text counts to its capacity, not to its length.
 */
struct native_parameter {
	char *name;
	char *description;  /* or NULL */
	char *default_json; /* JSON text, or NULL */
	char *value_json;   /* JSON text: always passed so, hidden from callers; or NULL */
	char *schema_json;  /* schema of a json: JSON text of an object, or NULL */
	enum native_type type;
	enum native_type items; /* type of an array's elements */
	/* The names of the numbers of an enum or flags (borrowed); the type is their base. NULL:
	 * another type. */
	const struct native_enum *enumeration;
	bool is_flags;
	const struct native_struct *structure; /* the layout of a struct (borrowed); or NULL */
	bool is_by_value;                      /* a struct that goes in or is returned as a value */
	bool is_handed;                        /* the function writes a pointer to its own value */
	char *free_symbol;                     /* transfer "full": frees the value; else NULL */
	struct native_size size;               /* elements of a handed or returned buffer */
	enum native_direction direction;
	bool is_nullable;
	bool is_format;    /* a format of a variadic function: a constant */
	int length_of;     /* the buffer whose length this integer holds; or NATIVE_NONE */
	int used_from;     /* the parameter that has the used length of a buffer; or
	                    * NATIVE_NONE */
	int capacity_from; /* the integer with the capacity of a buffer; or NATIVE_NONE */
	uint64_t capacity; /* capacity of a buffer, unless an argument has another; 0: the size of
	                    * the input */
	uint64_t most;     /* the most elements within the range of a buffer's lengths */
	uint64_t least_asked, most_asked; /* bounds of an integer with capacities */
};

/* A field of a struct. A `count` makes it an array: of a str, char[count]. */
struct native_field {
	struct native_parameter value;
	size_t offset;
	size_t count; /* 0: a single value */
	bool is_required;
};

/* An entry of `structs`, laid out by the rules of C. */
struct native_struct {
	char *name;
	char *c; /* its name in C, if it differs; or NULL */
	struct native_field *fields;
	size_t n_fields;
	size_t size;
	size_t alignment;
	unsigned int n_nested; /* structs in one another, with this one */
	bool is_partial;       /* in C, other fields follow */
	bool has_size;         /* the manifest gives the size */
};

struct native_function {
	char *symbol;
	bool is_variadic;
	size_t n_fixed; /* parameters before the variable ones, if it is variadic */
	struct native_parameter *parameters;
	size_t n_parameters;
	struct native_parameter returns; /* name "result" unless given */
	enum native_errors errors;
	uint64_t errors_number; /* the number of equals and not_equals, in two's complement */
	bool drops_returned;    /* its value is no member of the result: `"name": null` */
	const struct native_types *tables; /* tables of its enums; or NULL */
};

/* Positive results. */
enum native_status {
	NATIVE_E_REFUSED = 1,
};

/* Read the object at @object of @tape. Everything is copied but @types, the tables of the toolbox,
 * which have to outlive the function; NULL: it has none. 0 with *ret_function
 * owned by the caller (native_function_deinit), NATIVE_E_REFUSED with the mistake added to
 * @problems, or -ENOMEM. */
int native_function_read(const struct json_tape *tape, uint32_t object,
	const struct native_types *types, struct native_function *ret_function,
	struct diagnostics *problems);

/* As native_function_read(), for one step of several: a handle may go in and come out. */
int native_step_function_read(const struct json_tape *tape, uint32_t object,
	const struct native_types *types, struct native_function *ret_function,
	struct diagnostics *problems);

void native_function_deinit(struct native_function *function);

/* Read the tables in the object at @object of @tape, a manifest: `enums` and `structs`. Return as
 * native_function_read(); the caller owns *ret_types (native_types_free). */
int native_types_read(const struct json_tape *tape, uint32_t object,
	struct native_types **ret_types, struct diagnostics *problems);

/* Takes NULL. */
void native_types_free(struct native_types *types);

/* Append the schema of the arguments (of the result) as JSON text (contract.md, Native). Text of
 * more than NATIVE_SCHEMA_BYTES_MAX bytes is not whole. */
void native_write_argument_schema(const struct native_function *function, struct buffer *out);
void native_write_output_schema(const struct native_function *function, struct buffer *out);

/* Return whether a schema with the `type` @word ("integer") allows some value of the parameter, and
 * the right type ("integer"; NULL: any). */
bool native_allows_word(const struct native_parameter *parameter, const char *word, size_t size);
const char *native_schema_word(const struct native_parameter *parameter);

/* Append the schema of one value as the members of a JSON object, each with a comma after it; not
 * whole when @out has more than NATIVE_SCHEMA_BYTES_MAX bytes. */
void native_write_value_schema(
	const struct native_parameter *parameter, bool is_argument, struct buffer *out);

/* Append all tables as members of an object, each after a comma. */
void native_types_write(const struct native_types *types, struct buffer *out);

/* Append the members of a parameter or a return value with its type: "type":"enum","enum":"level",
 * "base":"i32". */
void native_write_type(const struct native_parameter *parameter, struct buffer *out);

/* Append the function as the JSON object for native_function_read(), without the tables. */
void native_write(const struct native_function *function, struct buffer *out);

/* The arguments of a call: an object. A tape of NULL: no arguments, only constants count. */
struct native_arguments {
	const struct json_tape *tape;
	uint32_t object;
};

/*
 * Whether the value at @value of @tape can be passed as parameter @at: of its type, an integer in
 * range (a schema leaves that open above 32 bits), a float finite at its width, text without
 * U+0000, base64, null only where nullable, no more than there is room for. 0; NATIVE_E_REFUSED
 * with words appended: "must be …"; or -ENOMEM.
 */
int native_check_value(const struct native_function *function, size_t at,
	const struct native_arguments *arguments, const struct json_tape *tape, uint32_t value,
	struct buffer *words);

/* Return the field @name of @structure; NULL: none. */
const struct native_field *native_struct_field(
	const struct native_struct *structure, const char *name, size_t size);

/* Return the first name of the number @bits (two's complement); NULL: none. */
const char *native_enum_name(const struct native_enum *enumeration, uint64_t bits);

/* Return the number named by the string at @token of @tape in @enumeration; NULL: none. */
const struct native_named *native_enum_find(
	const struct native_enum *enumeration, const struct json_tape *tape, uint32_t token);

/* Return the number of the flags at @value of @tape, accepted by native_check_value(). */
uint64_t native_flags_number(
	const struct native_enum *enumeration, const struct json_tape *tape, uint32_t value);

/* An element of an array that cannot be passed. */
struct native_element {
	uint32_t index;
	const char *refusal; /* constant text: "must be …" */
};

/* Find the first element of the array at @value of @tape that cannot be passed as an element of
 * @parameter, an array. Return false when all elements can. */
bool native_find_refused(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct native_element *ret_element);

/* The capacity of the buffer @buffer in a call with @arguments; 0 when it is as long as what comes
 * in. */
uint64_t native_capacity(const struct native_function *function,
	const struct native_parameter *buffer, const struct native_arguments *arguments);

/* Return whether callers pass it. */
static inline bool native_is_argument(const struct native_parameter *parameter)
{
	return parameter->direction != NATIVE_OUT && !parameter->value_json &&
	       parameter->length_of == NATIVE_NONE;
}

/* Return whether the host lays the value out in the memory of a call. */
static inline bool native_is_laid(const struct native_parameter *parameter)
{
	return parameter->type >= NATIVE_STRV && !parameter->is_handed;
}

/* Return the type of a variable argument of type @type, as C promotes it. */
enum native_type native_promoted(enum native_type type);

/* Return whether callers get it back. */
bool native_is_result(const struct native_parameter *parameter);

/* Return whether callers get back what the function returns. */
static inline bool native_has_returned(const struct native_function *function)
{
	return function->returns.type != NATIVE_VOID && !function->drops_returned;
}

/* List the parameters passed by callers, in order, or the results: the return value, then the
 * outputs. @ret_list has room for NATIVE_PARAMETERS_MAX (NATIVE_RESULTS_MAX). Return their
 * number. */
size_t native_list_arguments(
	const struct native_function *function, const struct native_parameter **ret_list);
size_t native_list_results(
	const struct native_function *function, const struct native_parameter **ret_list);

/* Kinds of types. A text ends with a NUL. */
bool native_is_integer(enum native_type type);
bool native_is_signed(enum native_type type);
bool native_is_buffer(enum native_type type);
bool native_is_text(enum native_type type);

/* Return whether the type is passed as a pointer or NULL. */
bool native_is_pointer(enum native_type type);

/* Bytes of a scalar; of a buffer's element. */
size_t native_type_bytes(enum native_type type);
size_t native_element_bytes(const struct native_parameter *buffer);

/* The largest number of an integer type; the largest of an unsigned type as wide. */
uint64_t native_integer_most(enum native_type type);
uint64_t native_integer_mask(enum native_type type);

/* "i64"; "inout"; "negative". The word of a parameter is its type as a manifest has it: "enum". */
const char *native_type_name(enum native_type type);
const char *native_parameter_word(const struct native_parameter *parameter);
const char *native_direction_name(enum native_direction direction);
const char *native_errors_name(enum native_errors errors);
