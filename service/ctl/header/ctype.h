/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/*
 * A type of C, as a header writes it.
 *
 *   const Bytef *data      POINTER ──▶ NAMED Bytef, const ──▶ NAMED Byte ──▶ INTEGER unsigned char
 *   int (*f)(void *)       POINTER ──▶ FUNCTION ──▶ INTEGER int; parameters: POINTER ──▶ VOID
 *
 * A tree belongs to its declarations (ctl/header/declarations.h).
 */

/* The most types on the way to the meaning of a type. */
#define C_DEPTH_MAX 200

enum c_kind {
	C_VOID,
	C_BOOL,
	C_INTEGER,
	C_FLOAT,
	C_POINTER,
	C_ARRAY,
	C_FUNCTION,
	C_STRUCT,
	C_UNION,
	C_ENUM,
	C_NAMED, /* a typedef's name */
	C_OTHER, /* a type that no tool can have: _Complex, __int128, a vector, typeof */
};

struct c_record;

struct c_type {
	enum c_kind kind;
	bool is_const;
	bool is_signed;          /* INTEGER */
	bool is_variadic;        /* FUNCTION */
	bool is_char;            /* INTEGER: a character type of one byte */
	uint8_t bytes;           /* INTEGER, FLOAT: its size */
	uint16_t depth;          /* the types below, at most C_DEPTH_MAX */
	const char *name;        /* the words of a basic type; a typedef's name; a tag, or NULL */
	const char *count;       /* ARRAY: the words between its brackets, or "" */
	uint64_t n_elements;     /* ARRAY: 0 when unknown */
	const struct c_type *of; /* POINTER, ARRAY, FUNCTION: its value; NAMED: its meaning */
	const struct c_parameter *parameters; /* FUNCTION */
	size_t n_parameters;
	struct c_record *record; /* STRUCT, UNION, ENUM */
};

struct c_parameter {
	const char *name; /* or NULL */
	const struct c_type *type;
};

struct c_field {
	const char *name; /* or NULL: an unnamed member */
	const struct c_type *type;
	bool is_bits;
};

struct c_enumerator {
	const char *name;
	int64_t value;
	bool is_known; /* @value was computed */
};

/* A struct, a union or an enum. */
struct c_record {
	const char *tag;   /* or NULL */
	const char *alias; /* the first typedef of it, or NULL */
	bool is_complete;  /* its body was read */
	const char *file;  /* file and line of its body */
	unsigned int line;
	uint64_t size;      /* bytes of a struct or a union; 0 when unknown */
	uint64_t alignment; /* the same */
	struct c_field *fields;
	size_t n_fields;
	struct c_enumerator *enumerators;
	size_t n_enumerators;
};

/* Return the meaning of @type, without typedefs. */
const struct c_type *c_type_resolve(const struct c_type *type);

/* Return whether @type, or a typedef on the way to its meaning, is const. */
bool c_type_is_const(const struct c_type *type);

/* Return the bytes of an object of @type as this machine's compiler lays it out; 0 when unknown. A
 * guess, which `check --header` proves. */
uint64_t c_type_size(const struct c_type *type);

/* Compute the size of a struct or a union (@is_union) from its fields, once its body is read. Each
 * has its size by then, so a struct within itself is unknown. */
void c_record_measure(struct c_record *record, bool is_union);

/* Return @type as a parameter: an array or a function is a pointer, whose target is in
 * *ret_target. Else *ret_target is the target of a pointer, or NULL. */
const struct c_type *c_type_as_parameter(
	const struct c_type *type, const struct c_type **ret_target);

/* Append @type in C, with the declared @name, which may be "": `const char *name`. */
void c_type_write(const struct c_type *type, const char *name, struct buffer *out);

/* As c_type_write(), with each typedef outside of parameters replaced by its meaning. */
void c_type_write_resolved(const struct c_type *type, struct buffer *out);

/* Append the declaration of the function @name without names of parameters: `uLong crc32(uLong,
 * const Bytef *, uInt)`. */
void c_function_write(const struct c_type *function, const char *name, struct buffer *out);
