/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "call/native.h"
#include "json/reader.h"

/*
 * One reading of a `native` object: what is read, and where a mistake is noted.
 *
 * Everything here returns 0, NATIVE_E_REFUSED with the mistake noted, or -ENOMEM; what is absent is
 * left as it is.
 */
struct reading {
	const struct json_tape *tape;
	struct diagnostics *problems;
	bool is_step; /* the function is a step of a tool: handles are allowed */
	const struct native_types *types; /* the tables of the toolbox; or NULL */
};

/* Note the mistake at @token. */
int reading_refuse(struct reading *reading, uint32_t token, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As reading_refuse, for a value of the wrong shape: @expected, then what came. */
int reading_refuse_value(struct reading *reading, uint32_t token, const char *expected);

/* Check the keys of the value at @object, which should be an object (@expected describes it),
 * against @known (NULL after the last). */
int reading_check_keys(
	struct reading *reading, uint32_t object, const char *expected, const char *const *known);

/* Copy the string in the member @key of the object at @object to *ret_text, which the caller owns;
 * without such a member it stays unchanged. @expected is reported for a member other than a
 * string. */
int reading_member_text(struct reading *reading, uint32_t object, const char *key,
	const char *expected, char **ret_text);

/* Keep the value at @token as compact JSON text. */
int reading_json(struct reading *reading, uint32_t token, char **ret_json);

/* Set a parameter without anything. */
void reading_init(struct native_parameter *parameter);

/* Read the struct with the name at @key and the value after it. */
int reading_struct(struct reading *reading, uint32_t key, struct native_struct *structure);

/* Read the type of the value described at @object: `type` and its parts (@expected lists the
 * possible types); `items` of an array; `description`, `nullable` and `schema`. */
int reading_type(struct reading *reading, uint32_t object, const char *expected,
	struct native_parameter *parameter);
int reading_items(struct reading *reading, uint32_t object, struct native_parameter *parameter);
int reading_common(struct reading *reading, uint32_t object, struct native_parameter *parameter);

/* The name of a symbol; of an argument or a result. */
int reading_symbol(struct reading *reading, uint32_t token, const char *key, char **ret_symbol);
int reading_name(struct reading *reading, uint32_t token, char **ret_name);

/* The member @key, true or false. */
int reading_bool(struct reading *reading, uint32_t object, const char *key, bool *ret_is_true);

/* The rule of the value of @type at @token: a word, or {"equals": NUMBER}, {"not_equals": NUMBER}.
 * *ret_number gets the number in two's complement. */
int reading_rule(struct reading *reading, uint32_t token, enum native_type type,
	enum native_errors *ret_rule, uint64_t *ret_number);

/* Return the number of the string at @token in @words (NULL after the last); -1: no such word. */
int reading_word(const struct reading *reading, uint32_t token, const char *const *words);

/* Return the name in @names (NULL after the last) probably meant by the string at @token, or
 * NULL. */
const char *reading_near(const struct reading *reading, uint32_t token, const char *const *names);
