/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl/header/compiler.h"
#include "ctl/header/ctype.h"
#include "util/buffer.h"

/*
 * Questions about a header that the C compiler answers. Each has the number of a line; the
 * answer is yes when the compiler has no error there. All of them are asked by one run.
 *
 *   #include <zlib.h>
 *   #line 1 "toolboxctl"
 *   _Static_assert(sizeof(uLong) == 8, "");       error at toolboxctl:1? then it is false
 */
struct questions {
	struct buffer lines;
	size_t n;
	size_t n_types;
	bool *answers; /* by questions_ask(), in the order of the lines */
};

void questions_deinit(struct questions *questions);

/* Add the formatted line. Return its number. */
size_t questions_add(struct questions *questions, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Add an assertion of the formatted expression. Return its number. */
size_t questions_assert(struct questions *questions, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The name of the type with the number of questions_type(), for a format. */
#define QUESTIONS_TYPE "toolboxctl_%zu"

/* Add a line that names the type @type. Return the number in its name; toolboxctl_class_N is then
 * its class by __builtin_classify_type (GCC's typeclass.h), which Clang has, too: 1 to 4 an
 * integer, 5 a pointer, 8 a float. */
size_t questions_type(struct questions *questions, const struct c_type *type);

/* Have the compiler answer. Return 0; an enum compiler_status with a text for a person in
 * @messages, as for a header with mistakes; or a negative errno. */
int questions_ask(
	struct questions *questions, const struct compiler *compiler, struct buffer *messages);
