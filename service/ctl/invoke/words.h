/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * Arguments of a tool as words of a command line, with the files named there.
 *
 *   count=3      text or JSON, as the schema wants it
 *   count:=3     JSON
 *   data=@FILE   the bytes or the text of FILE; `-` is stdin
 *   data:=@FILE  the JSON text in FILE
 */
struct word {
	const char *key;
	size_t key_size;
	const char *value; /* from the word, or the content of the file */
	size_t size;
	bool is_json;     /* `:=` */
	const char *file; /* or NULL */
	struct buffer content;
};

struct words {
	struct word *list;
	size_t n;
};

/* Positive results. */
enum words_status {
	WORDS_E_USAGE = 1, /* @ret_reason describes the mistake, NUL-terminated */
};

/* Read the @n texts of a command line, and the files. Return 0 with @ret_words, which the caller
 * deinits in any case; WORDS_E_USAGE; or -ENOMEM. */
int words_read(
	const char *const *texts, size_t n, struct words *ret_words, struct buffer *ret_reason);

void words_deinit(struct words *words);

/* Read the file @name (`-`: stdin) into @contents, for the argument @key of @key_size bytes. Return
 * 0, WORDS_E_USAGE or -ENOMEM. */
int words_read_file(const char *name, const char *key, size_t key_size, struct buffer *contents,
	struct buffer *ret_reason);
