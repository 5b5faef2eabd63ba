/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl/header/declared.h"
#include "ctl/header/tokens.h"

/*
 * The state of the reader of declarations: a place in the tokens, the memory of the declarations,
 * and all names so far. Only ctl/header/declarations.c needs this.
 */

/* The most open constructs: parentheses, bodies of structs, declarators. */
#define OPEN_MAX 100

/* The name spaces of C: tags have their own. */
enum c_space {
	SPACE_ORDINARY,
	SPACE_TAG,
};

struct c_name {
	enum c_space space;
	const char *text;
	const struct c_type *type; /* a typedef's meaning; the type of a tag */
	const struct c_enumerator *enumerator;
	struct c_function *function;
};

enum parse_error {
	PARSE_E_SYNTAX = 1, /* a declaration that is not understood */
};

/* After an error nothing is read until the end of the declaration: every function returns at once,
 * with NULL where it returns a pointer. */
struct c_parser {
	const struct c_tokens *tokens;
	struct c_declarations *all;
	size_t at;
	unsigned int n_open;
	bool is_deprecated; /* an attribute of the current declaration */
	int error;          /* 0, an enum parse_error or -ENOMEM */
};

/* Return @size zeroed bytes that live as long as the declarations; NULL with an error. */
void *parser_allocate(struct c_parser *parser, size_t size);

/* Free the memory of all objects and the names of @declarations. */
void parser_release(struct c_declarations *declarations);

/* Return a copy of the tokens from the number @begin up to @end, with a space between two:
 * a single line without comments. */
const char *parser_copy_tokens(struct c_parser *parser, size_t begin, size_t end);

/* Return the array of @n elements of @size bytes with room for one more. The memory of the old
 * array stays with the declarations. */
void *parser_grow(struct c_parser *parser, void *items, size_t n, size_t size);

/* Return the current token. */
const struct c_token *parser_token(const struct c_parser *parser);

/* Return whether the current token is @text. */
bool parser_is(const struct c_parser *parser, const char *text);

/* Return whether no token is left. */
bool parser_is_end(const struct c_parser *parser);

/* Go to the next token. */
void parser_advance(struct c_parser *parser);

/* Go past the current token if it is @text and there was no error. Return whether it was. */
bool parser_take(struct c_parser *parser, const char *text);

/* Note that the declaration is not understood. */
void parser_fail(struct c_parser *parser);

/* As parser_take(); any other token is an error. */
void parser_expect(struct c_parser *parser, const char *text);

/* Note one more open construct. Return false, with an error, when there are too many. */
bool parser_open(struct c_parser *parser);

/* Return whether the current token is an opening bracket of any kind. */
bool parser_opens(const struct c_parser *parser);

/* Skip the current opening bracket, its partner and all between. */
void parser_skip_balanced(struct c_parser *parser);

/* Return whether the current token is a name among @words. */
bool parser_is_word(const struct c_parser *parser, const char *const *words, size_t n_words);

/* Return whether the current token is a word of attributes: parentheses follow it. */
bool parser_is_attribute(const struct c_parser *parser);

/* Skip an attribute or an asm name. Return whether there was one. */
bool parser_skip_attribute(struct c_parser *parser);

/* Skip attributes and asm names. */
void parser_skip_attributes(struct c_parser *parser);

/* Return the name @text, or NULL. */
struct c_name *parser_find_name(
	const struct c_declarations *all, enum c_space space, const char *text);

/* Return the name; add a new name. NULL with an error, and for NULL. */
struct c_name *parser_add_name(struct c_parser *parser, enum c_space space, const char *text);

/* Return the text of the current token as a string. */
const char *parser_token_text(struct c_parser *parser);

/* Return the current token as a name in the ordinary space, or NULL. */
const struct c_name *parser_known_name(const struct c_parser *parser);

/* Return the meaning of the current token, a typedef; else NULL. */
const struct c_type *parser_known_typedef(const struct c_parser *parser);
