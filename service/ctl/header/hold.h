/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/header/declarations.h"
#include "ctl/header/questions.h"
#include "util/diagnostic.h"

/*
 * One value of a manifest, held against its type in a header.
 *
 *   manifest   {"type": "u64"}             struct held ─┐
 *   header     uLong crc32(…, uInt len)    c_type ──────┴─▶ findings: some at once, some when the
 *                                                           compiler has answered
 */

/* A value as the manifest has it. */
struct held {
	const char *word;    /* its type: "u64"; of an enum its base */
	const char *items;   /* array: the type of its elements */
	const char *c;       /* struct: its type in C, "struct tm"; or NULL */
	uint32_t at;         /* the token named by findings */
	bool is_enumeration; /* enum or flags */
	bool is_out;         /* it comes out, and perhaps goes in, too */
	bool is_inout;       /* it goes in and comes out */
	bool is_handed;      /* the function gets a pointer to it: `int *`, `char **` */
	bool is_null;        /* always NULL: any pointer */
	bool is_value;       /* struct: not by pointer */
};

/* A mismatch, if the answer to @question is no. */
struct finding {
	enum diagnostic_severity severity;
	size_t guard;    /* it is void when the answer to this is no; or HOLD_ALWAYS */
	size_t question; /* or HOLD_ALWAYS */
	uint32_t at;     /* the token of the manifest */
	char *text;
};

#define HOLD_ALWAYS SIZE_MAX

struct holding {
	const struct header *header;
	struct questions questions;
	struct finding *findings;
	size_t n_findings;
	size_t guard;              /* for further findings */
	struct buffer place;       /* place of the current function: "zlib.h:1795" */
	struct buffer declaration; /* its declaration; both with a NUL */
	int error;                 /* 0 or -ENOMEM */
};

void holding_deinit(struct holding *holding);

/* Add a finding. It is void if the answer to @question is yes. */
void hold_note(struct holding *holding, enum diagnostic_severity severity, size_t question,
	uint32_t at, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Begin with the function @name: ask whether its declaration was understood. Return it, or NULL
 * with a finding at @at when the header declares no such function. */
const struct c_function *hold_function(struct holding *holding, const char *name, uint32_t at);

/* Begin with the field @field of a struct whose body is at @file and @line. */
void hold_field(
	struct holding *holding, const struct c_field *field, const char *file, unsigned int line);

/* Hold a parameter of the current function. */
void hold_parameter(struct holding *holding, const struct held *held, const struct c_type *type);

/* Hold the returned value, or a field. */
void hold_value(struct holding *holding, const struct held *held, const struct c_type *type);
