/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ffi.h>

#include "call/native.h"
#include "json/reader.h"
#include "util/buffer.h"

/* Structs in memory, as values of C and for libffi. */

/* Return an upper bound of the bytes for the texts of a struct with the value at @value. */
size_t native_structure_bound(const struct json_tape *tape, uint32_t value);

/* Write the object at @value, accepted by native_check_value(), to @place, which is zeroed. Append
 * the texts that its fields point to to @memory, which has room for them. */
void native_structure_store(const struct native_struct *structure, const struct json_tape *tape,
	uint32_t value, char *place, struct buffer *memory);

/* Copy the handles of the struct at @from to the struct at @place: no value has them. */
void native_structure_copy_handles(
	const struct native_struct *structure, const char *from, char *place);

/* Return the bytes of the texts, with their NULs, to which fields of the struct at @place point: up
 * to @most, or more than @most. */
size_t native_structure_texts(
	const struct native_struct *structure, const char *place, size_t most);

/* Copy these texts to @texts, and let the fields point to the copies. Return the end of them. */
char *native_structure_own_texts(const struct native_struct *structure, char *place, char *texts);

/* Types for libffi, allocated for one function. A zeroed struct is ready. */
struct native_structure_types {
	ffi_type **items;
	size_t n_items;
};

/* Make the type of @structure passed as a value; NULL when memory is short. */
ffi_type *native_structure_ffi_type(
	struct native_structure_types *types, const struct native_struct *structure);
void native_structure_types_deinit(struct native_structure_types *types);
