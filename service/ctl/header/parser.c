/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/parser.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/* The bytes of a block of memory; a larger object has a block of its own. */
#define BLOCK_BYTES 65536u

struct c_block {
	struct c_block *next;
	size_t used;
	max_align_t data[];
};

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

void *parser_allocate(struct c_parser *parser, size_t size)
{
	struct c_block *block = parser->all->blocks;
	size_t need = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t);
	size_t room = BLOCK_BYTES / sizeof(max_align_t);
	void *place;

	if (!block || need > room || block->used > room - need) {
		block = calloc(
			1, sizeof(*block) + (need > room ? need : room) * sizeof(max_align_t));
		if (!block) {
			parser->error = -ENOMEM;
			return NULL;
		}
		block->next = parser->all->blocks;
		parser->all->blocks = block;
	}
	place = &block->data[block->used];
	block->used += need;
	return place;
}

/* Return a copy of @size bytes, with a NUL. */
static const char *copy_name_bytes(struct c_parser *parser, const char *bytes, size_t size)
{
	char *copy = parser_allocate(parser, size + 1);

	if (copy)
		memcpy(copy, bytes, size);
	return copy;
}

const char *parser_copy_tokens(struct c_parser *parser, size_t begin, size_t end)
{
	const struct c_tokens *tokens = parser->tokens;
	size_t size = 0;
	char *copy;
	char *at;

	for (size_t i = begin; i < end; i++)
		size += tokens->items[i].length + 1;
	copy = at = parser_allocate(parser, size + 1);
	for (size_t i = begin; copy && i < end; i++) {
		if (i > begin)
			*at++ = ' ';
		at = mempcpy(at, tokens->text + tokens->items[i].offset, tokens->items[i].length);
	}
	return copy;
}

void *parser_grow(struct c_parser *parser, void *items, size_t n, size_t size)
{
	void *grown;

	if (n & (n - 1))
		return items;
	grown = parser_allocate(parser, (n ? 2 * n : 1) * size);
	if (grown && n > 0)
		memcpy(grown, items, n * size);
	return grown;
}

static void free_no_node(void *node)
{
	(void)node;
}

void parser_release(struct c_declarations *declarations)
{
	tdestroy(declarations->names, free_no_node);
	while (declarations->blocks) {
		struct c_block *next = declarations->blocks->next;

		free(declarations->blocks);
		declarations->blocks = next;
	}
}

/* ── tokens ──────────────────────────────────────────────────────────────────────────────────── */

const struct c_token *parser_token(const struct c_parser *parser)
{
	return &parser->tokens->items[parser->at];
}

bool parser_is(const struct c_parser *parser, const char *text)
{
	return c_token_is(parser->tokens, parser_token(parser), text);
}

bool parser_is_end(const struct c_parser *parser)
{
	return parser_token(parser)->kind == C_TOKEN_END;
}

void parser_advance(struct c_parser *parser)
{
	parser->at += !parser_is_end(parser);
}

bool parser_take(struct c_parser *parser, const char *text)
{
	if (parser->error || !parser_is(parser, text))
		return false;
	parser_advance(parser);
	return true;
}

void parser_fail(struct c_parser *parser)
{
	if (parser->error == 0)
		parser->error = PARSE_E_SYNTAX;
}

void parser_expect(struct c_parser *parser, const char *text)
{
	if (!parser_take(parser, text))
		parser_fail(parser);
}

bool parser_open(struct c_parser *parser)
{
	if (parser->n_open == OPEN_MAX)
		parser_fail(parser);
	if (parser->error)
		return false;
	parser->n_open++;
	return true;
}

bool parser_opens(const struct c_parser *parser)
{
	return parser_is(parser, "(") || parser_is(parser, "[") || parser_is(parser, "{");
}

static bool closes(const struct c_parser *parser)
{
	return parser_is(parser, ")") || parser_is(parser, "]") || parser_is(parser, "}");
}

void parser_skip_balanced(struct c_parser *parser)
{
	size_t depth = 0;

	while (!parser_is_end(parser)) {
		depth += parser_opens(parser);
		depth -= closes(parser);
		parser_advance(parser);
		if (depth == 0)
			return;
	}
	parser_fail(parser);
}

bool parser_is_word(const struct c_parser *parser, const char *const *words, size_t n_words)
{
	if (parser_token(parser)->kind != C_TOKEN_NAME)
		return false;
	for (size_t i = 0; i < n_words; i++)
		if (parser_is(parser, words[i]))
			return true;
	return false;
}

/* The words before parentheses whose contents are no part of a type. */
static const char *const with_parentheses[] = {"__attribute__", "__attribute", "__asm__", "__asm",
	"asm", "__declspec", "_Alignas", "alignas", "__pragma", "_Pragma"};

bool parser_is_attribute(const struct c_parser *parser)
{
	return parser_is_word(parser, with_parentheses, ARRAY_SIZE(with_parentheses));
}

bool parser_skip_attribute(struct c_parser *parser)
{
	size_t begin = parser->at;

	if (parser_is_attribute(parser)) {
		parser_advance(parser);
		parser_take(parser, "volatile");
		if (!parser_is(parser, "("))
			parser_fail(parser);
		else
			parser_skip_balanced(parser);
	} else if (parser_is(parser, "[") &&
		   c_token_is(parser->tokens, parser_token(parser) + 1, "[")) {
		parser_skip_balanced(parser);
	} else {
		return false;
	}
	for (size_t i = begin; i < parser->at; i++) {
		const struct c_token *word = &parser->tokens->items[i];

		parser->is_deprecated |= c_token_is(parser->tokens, word, "deprecated") ||
					 c_token_is(parser->tokens, word, "__deprecated__");
	}
	return !parser->error;
}

void parser_skip_attributes(struct c_parser *parser)
{
	while (!parser->error && parser_skip_attribute(parser))
		;
}

/* ── names ───────────────────────────────────────────────────────────────────────────────────── */

static int compare_c_names(const void *a, const void *b)
{
	const struct c_name *left = a;
	const struct c_name *right = b;

	if (left->space != right->space)
		return left->space < right->space ? -1 : 1;
	return strcmp(left->text, right->text);
}

struct c_name *parser_find_name(
	const struct c_declarations *all, enum c_space space, const char *text)
{
	const struct c_name key = {.space = space, .text = text};
	struct c_name *const *found = tfind(&key, &all->names, compare_c_names);

	return found ? *found : NULL;
}

struct c_name *parser_add_name(struct c_parser *parser, enum c_space space, const char *text)
{
	struct c_name *name = text ? parser_find_name(parser->all, space, text) : NULL;

	if (name || !text)
		return name;
	name = parser_allocate(parser, sizeof(*name));
	if (!name)
		return NULL;
	*name = (struct c_name){.space = space, .text = text};
	if (!tsearch(name, &parser->all->names, compare_c_names)) {
		parser->error = -ENOMEM;
		return NULL;
	}
	return name;
}

const char *parser_token_text(struct c_parser *parser)
{
	const struct c_token *word = parser_token(parser);

	return copy_name_bytes(parser, parser->tokens->text + word->offset, word->length);
}

const struct c_name *parser_known_name(const struct c_parser *parser)
{
	const struct c_token *word = parser_token(parser);
	char text[256];

	if (word->kind != C_TOKEN_NAME || word->length >= sizeof(text))
		return NULL;
	memcpy(text, parser->tokens->text + word->offset, word->length);
	text[word->length] = '\0';
	return parser_find_name(parser->all, SPACE_ORDINARY, text);
}

const struct c_type *parser_known_typedef(const struct c_parser *parser)
{
	const struct c_name *name = parser_known_name(parser);

	return name ? name->type : NULL;
}
