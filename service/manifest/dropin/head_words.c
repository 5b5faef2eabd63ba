/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/head_words.h"

bool words_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

void words_skip_spaces(struct text_view *line)
{
	while (line->size > 0 && words_is_space(*line->text))
		words_take(line, 1);
}

bool words_skip(struct text_view *line, const char *text)
{
	size_t size = strlen(text);

	if (line->size < size || memcmp(line->text, text, size) != 0)
		return false;
	words_take(line, size);
	return true;
}

struct text_view words_take(struct text_view *line, size_t size)
{
	struct text_view taken = {line->text, size};

	line->text += size;
	line->size -= size;
	return taken;
}

struct text_view words_take_one(struct text_view *line)
{
	size_t size = 0;

	while (size < line->size && !words_is_space(line->text[size]))
		size++;
	return words_take(line, size);
}

struct text_view words_take_letters(struct text_view *line)
{
	size_t size = 0;

	while (size < line->size && line->text[size] >= 'a' && line->text[size] <= 'z')
		size++;
	return words_take(line, size);
}

struct text_view words_take_value(struct text_view *line)
{
	bool is_quoted = false;
	int depth = 0;
	size_t size = 0;

	if (line->size == 0 || !memchr("\"[{", *line->text, 3))
		return words_take_one(line);
	for (; size < line->size; size++) {
		char c = line->text[size];

		if (is_quoted && c == '\\')
			size++;
		else if (c == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && (c == '[' || c == '{'))
			depth++;
		else if (!is_quoted && (c == ']' || c == '}'))
			depth--;
		if (!is_quoted && depth <= 0)
			break;
	}
	return words_take(line, size < line->size ? size + 1 : line->size);
}
