/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONVERT_EXPRESSION_H
#define CONVERT_EXPRESSION_H

#include "number.h"

/* The longest expression, in bytes, the deepest nesting, and the most numbers of a function. */
#define EXPRESSION_BYTES_MAX  2000
#define EXPRESSION_DEPTH_MAX  100
#define EXPRESSION_VALUES_MAX 32

#define EXPRESSION_WORDS_BYTES 320

/* Why an expression has no value, and where. */
struct expression_mistake {
	size_t at; /* the character, from 1 */
	char words[EXPRESSION_WORDS_BYTES];
};

/* Evaluate the @size bytes at @text. Return whether it has a value, which is then in @ret_value;
 * else @ret_mistake has the reason. @ret_value is initialised. */
bool expression_evaluate(const char *text, size_t size, struct number *ret_value,
	struct expression_mistake *ret_mistake);

#endif
