/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/words/sentences.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
#include <wctype.h>

#include "util/array.h"
#include "util/text/utf8.h"

/* Words before a full stop that ends no sentence, in English and German. */
static const char *const abbreviations[] = {"mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc",
	"e.g", "i.e", "approx", "dept", "est", "inc", "ltd", "jr", "sr", "jan", "feb", "mar", "apr",
	"aug", "sept", "oct", "nov", "dec", "ca", "bzw", "usw", "evtl", "ggf", "inkl", "nr", "str",
	"hr", "fr", "vgl", "zzgl", "bspw", "d.h", "u.a", "z.b", "okt", "dez", "mio", "mrd"};

/* Sentence_Break=STerm of common scripts (UAX 29, Table 4). */
static const wchar_t terminators[] = L"!?。！？｡؟۔।॥։።";
static const wchar_t full_stops[] = L".…․﹒．";
static const wchar_t closers[] = L"\"')]}»”’›」』）";
static const wchar_t continuers[] = L",-:;–—、，";

struct text {
	const char *text;
	size_t size;
	bool is_end;
};

/* Return the character at @at, whose size is *ret_size; U+FFFD for a byte of no character. */
static wchar_t char_at(const struct text *text, size_t at, size_t *ret_size)
{
	const unsigned char *bytes = (const unsigned char *)text->text + at;
	size_t size = utf8_sequence_length(text->text + at, text->size - at);
	wchar_t code;

	*ret_size = size > 0 ? size : 1;
	if (size <= 1)
		return size == 1 ? (wchar_t)bytes[0] : 0xFFFD;
	code = bytes[0] & (0x7F >> size);
	for (size_t i = 1; i < size; i++)
		code = code << 6 | (bytes[i] & 0x3F);
	return code;
}

static bool is_any(wchar_t c, const wchar_t *of)
{
	return c != 0 && wcschr(of, c) != NULL;
}

static bool ends_line(wchar_t c)
{
	return c == '\n' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

static bool is_space_char(wchar_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == 0xA0 || c == 0x3000;
}

/* Step over the characters from @at on that @is_it holds for. */
static size_t skip_while(const struct text *text, size_t at, bool (*is_it)(wchar_t c))
{
	size_t size;

	while (at < text->size && is_it(char_at(text, at, &size)))
		at += size;
	return at;
}

static bool is_closer(wchar_t c)
{
	return is_any(c, closers);
}

static bool is_terminator(wchar_t c)
{
	return is_any(c, terminators) || is_any(c, full_stops);
}

/* A character before the letter that SB8 looks for. */
static bool is_neutral(wchar_t c)
{
	return !iswalpha((wint_t)c) && !ends_line(c) && !is_terminator(c);
}

/* Return whether the word of @size bytes at @word, before a full stop, ends no sentence. */
static bool is_abbreviation(const char *word, size_t size)
{
	if (size == 1 && iswalpha((wint_t)(unsigned char)*word))
		return true;
	/* A day, or the number of a list. */
	if (size <= 2 && strspn(word, "0123456789") >= size)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(abbreviations); i++)
		if (strlen(abbreviations[i]) == size &&
			strncasecmp(abbreviations[i], word, size) == 0)
			return true;
	return false;
}

/* Return whether the full stop at @stop is part of its word or of an abbreviation. The text goes on
 * with @next, directly or after spaces. */
static bool is_inner_stop(const struct text *text, size_t stop, wchar_t next, bool is_direct)
{
	size_t word = stop;

	if (is_direct && (iswdigit((wint_t)next) || iswalpha((wint_t)next)))
		return true;
	while (word > 0 && !strchr(" \t\n\r(\"", text->text[word - 1]))
		word--;
	return stop > word && is_abbreviation(text->text + word, stop - word);
}

/* Return where the sentence ends whose terminator is at @at; 0: it goes on; SIZE_MAX: more of the
 * text has to come. */
static size_t find_end_at(const struct text *text, size_t at)
{
	size_t size;
	bool is_stop = is_any(char_at(text, at, &size), full_stops);
	size_t after = skip_while(text, at, is_terminator);
	size_t closed = skip_while(text, after, is_closer);
	size_t spaced = skip_while(text, closed, is_space_char);
	wchar_t next;
	size_t letter;

	if (spaced == text->size)
		return text->is_end ? text->size : SIZE_MAX;
	next = char_at(text, spaced, &size);
	if (ends_line(next))
		return spaced;
	if (is_any(next, continuers))
		return 0;
	if (!is_stop)
		return spaced;
	if (after == at + 1 && is_inner_stop(text, at, next, spaced == at + 1))
		return 0;
	letter = skip_while(text, spaced, is_neutral);
	if (letter == text->size && !text->is_end)
		return SIZE_MAX;
	return letter < text->size && iswlower((wint_t)char_at(text, letter, &size)) ? 0 : spaced;
}

/* Return the size of the first sentence, or 0 when its end has not come. */
static size_t find_sentence(const struct text *text)
{
	size_t at = 0;
	size_t size;

	while (at < text->size && at <= SENTENCE_BYTES) {
		wchar_t c = char_at(text, at, &size);
		size_t end;

		if (ends_line(c))
			return at + size;
		end = is_terminator(c) ? find_end_at(text, at) : 0;
		if (end == SIZE_MAX)
			break;
		if (end > 0)
			return end;
		at = is_terminator(c) ? skip_while(text, at, is_terminator) : at + size;
	}
	if (text->size <= SENTENCE_BYTES)
		return text->is_end ? text->size : 0;
	size = utf8_cut(text->text, text->size, SENTENCE_BYTES);
	for (at = size; at > 0 && text->text[at - 1] != ' '; at--)
		;
	return at > 0 ? at : size;
}

static void pass_sentence(const char *bytes, size_t n, sentence_function receive, void *data)
{
	struct text text = {.text = bytes, .size = n};
	bool has_word = false;
	size_t size;

	while (text.size > 0 && strchr(" \t\r\n", text.text[text.size - 1]))
		text.size--;
	while (text.size > 0 && strchr(" \t\r\n", *text.text)) {
		text.text++;
		text.size--;
	}
	for (size_t at = 0; at < text.size && !has_word; at += size)
		has_word = iswalnum((wint_t)char_at(&text, at, &size));
	if (has_word)
		receive(data, text.text, text.size);
}

void sentences_take(struct buffer *held, const char *text, size_t size, bool is_end,
	sentence_function receive, void *data)
{
	size_t at = 0;
	size_t n;

	buffer_append(held, text, size);
	if (buffer_status(held) < 0 || held->size == 0)
		return;
	do {
		struct text rest = {held->data + at, held->size - at, is_end};

		n = rest.size > 0 ? find_sentence(&rest) : 0;
		if (n > 0)
			pass_sentence(rest.text, n, receive, data);
		at += n;
	} while (n > 0);
	held->size -= at;
	if (at > 0 && held->size > 0)
		memmove(held->data, held->data + at, held->size);
}
