/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "registry/native.h"

/* A `native` object with one parameter, one with a return value: the type and what follows it. */
#define PARAMETER(members)                                                                         \
	"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":" members "}]}"
#define RETURNS(members) "{\"symbol\":\"f\",\"returns\":{\"type\":" members "}}"

/* Read text that is JSON. */
void native_read_tape(struct json_tape *tape, const char *text);

/* Read a `native` object in which nothing is wrong. */
void native_read_good(const char *text, struct native_function *ret_function);

/* The object is refused with exactly @message, at the token whose text is @place. */
void native_expect_refused(const char *text, const char *place, const char *message);
