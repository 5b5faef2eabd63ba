/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/header/ctype.h"
#include "ctl/header/declared.h"
#include "ctl/header/tokens.h"

/*
 * The declarations of a preprocessed header: functions, typedefs, structs, unions and enums.
 *
 *   extern int f(const char *text, size_t size) __attribute__((pure));
 *   ─────┬──── ─────────────┬──────────────────  ───────┬───────────
 *   specifiers          declarator                   skipped, as are bodies, asm and initializers
 *
 * A declaration that is not understood is skipped to its end and counted: the text comes from a
 * preprocessor, which does not check it, and a compiler's own headers have words that no standard
 * has.
 */

/* Read the declarations of @tokens, which must outlive them. Return 0 with @ret_declarations, which
 * the caller deinits, or -ENOMEM. */
int c_declarations_read(const struct c_tokens *tokens, struct c_declarations *ret_declarations);

void c_declarations_deinit(struct c_declarations *declarations);

/* Return what the header declares by a name, or NULL. */
const struct c_function *c_find_function(
	const struct c_declarations *declarations, const char *name);
const struct c_type *c_find_typedef(const struct c_declarations *declarations, const char *name);
const struct c_enumerator *c_find_enumerator(
	const struct c_declarations *declarations, const char *name);

/* Return the struct, the union or the enum with the tag @tag, or NULL. */
const struct c_type *c_find_tag(const struct c_declarations *declarations, const char *tag);
