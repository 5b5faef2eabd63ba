/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/source.h"

struct source *source_new(
	struct arena *arena, const char *uri, const struct json_tape *tape, uint32_t root)
{
	struct source *source = arena_alloc(arena, sizeof(*source));
	uint32_t count = json_end(tape, root) - root;
	size_t size;
	const char *text = json_value_text(tape, root, &size);
	char *copy = arena_copy(arena, text, size);

	if (!source || !copy)
		return NULL;
	source->uri = uri;
	source->offset = (size_t)(text - tape->text);
	source->nodes = arena_alloc(arena, count * sizeof(struct node *));
	source->resources = arena_alloc(arena, count * sizeof(uint32_t));
	source->tape = (struct json_tape){.text = copy, .size = size, .count = count};
	source->tape.tokens = arena_alloc(arena, count * sizeof(struct json_token));
	if (!source->nodes || !source->resources || !source->tape.tokens)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		struct json_token *token = &source->tape.tokens[i];

		*token = tape->tokens[root + i];
		token->offset -= (uint32_t)source->offset;
		token->next -= root;
	}
	return source;
}
