/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/translate.h"

#include <string.h>

#include "regex/property.h"
#include "regex/regex.h"
#include "util/array.h"
#include "util/text/text.h"

/*
 * The meaning of a pattern in ECMA-262 (section 22.2, flag u), written in the syntax of PCRE2.
 *
 *   ECMA-262                           PCRE2, with UTF and DOLLAR_ENDONLY, without UCP
 *   .                                  a class: PCRE2 knows one line terminator, ECMA-262 four
 *   \s \S                              classes: the white space of Unicode and U+FEFF
 *   \d \w \b $ ^ and their opposites   the same
 *   \v \cX \xHH \uHHHH \u{H} \0        \x{H}; two \u of a surrogate pair become one
 *   \uD800, half a surrogate pair       the same: no text has it; ranges may begin or end there
 *   []                                 a class without characters: PCRE2 repeats no empty class
 *   \1 \k<name>                        \g{1} \k<name>
 *   \p{Letter} \p{gc=Lu}               \p{L} \p{Lu}
 *   [[:x] [\w-.] { } ] as themselves   escaped, where PCRE2 sees more in them
 *
 * Callouts (regex/regex) are added at the start, after groups and after quantifiers.
 *
 * PCRE2 would silently take syntax outside of ECMA-262: (?i), \A, a++, [[:alpha:]], (*F). It is
 * refused here.
 */

#define SPACES                                                                                     \
	"\\t\\n\\x{b}\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"        \
	"\\x{205f}\\x{3000}\\x{feff}"
#define NON_SPACES                                                                                 \
	"\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"           \
	"\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"             \
	"\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"
#define LINE_TERMINATORS "\\n\\r\\x{2028}\\x{2029}"

#define NO_CHARACTER "[^\\x{0}-\\x{10ffff}]"

#define CODE_POINT_MAX 0x10FFFFu

struct translation {
	const char *at;
	const char *end;
	struct buffer *out;
	const char *reason; /* the first refusal */
	unsigned int depth; /* open groups */
};

static bool refuse_pattern(struct translation *t, const char *reason)
{
	t->reason = reason;
	return false;
}

/* Return the byte @offset after the place of the translation, or 0 after its end. */
static char peek(const struct translation *t, size_t offset)
{
	if ((size_t)(t->end - t->at) > offset)
		return t->at[offset];
	return '\0';
}

/* Up to @digits_max hex digits from @offset on; returns how many. */
static size_t read_hex(
	const struct translation *t, size_t offset, size_t digits_max, unsigned int *ret)
{
	size_t n = 0;

	*ret = 0;
	while (n < digits_max) {
		char c = peek(t, offset + n);

		if (text_is_digit(c))
			*ret = *ret * 16 + (unsigned int)(c - '0');
		else if (text_is_letter(c) && (c | 0x20) <= 'f')
			*ret = *ret * 16 + (unsigned int)((c | 0x20) - 'a' + 10);
		else
			break;
		n++;
	}
	return n;
}

static void write_code(struct translation *t, unsigned int code)
{
	buffer_printf(t->out, "\\x{%x}", code);
}

/* \u with four digits, two of them as a surrogate pair, or with braces. At the backslash. */
static bool translate_unicode(struct translation *t)
{
	unsigned int code;
	unsigned int low;
	size_t digits;

	if (peek(t, 2) == '{') {
		digits = read_hex(t, 3, 8, &code);
		if (digits == 0 || peek(t, 3 + digits) != '}' || code > CODE_POINT_MAX)
			return refuse_pattern(t, "\\u{…} needs the hex digits of a code point");
		t->at += 4 + digits;
		write_code(t, code);
		return true;
	}
	if (read_hex(t, 2, 4, &code) != 4)
		return refuse_pattern(t, "\\u needs four hex digits");
	t->at += 6;
	if (code >= 0xD800 && code <= 0xDBFF && peek(t, 0) == '\\' && peek(t, 1) == 'u' &&
		read_hex(t, 2, 4, &low) == 4 && low >= 0xDC00 && low <= 0xDFFF) {
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
		t->at += 6;
	}
	write_code(t, code);
	return true;
}

/* \p{…} and \P{…}. At the backslash. */
static bool translate_property(struct translation *t)
{
	const char *name = t->at + 3;
	const char *close;

	if (peek(t, 2) != '{')
		return refuse_pattern(t, "\\p needs the name of a property in braces");
	close = memchr(name, '}', (size_t)(t->end - name));
	if (!close)
		return refuse_pattern(t, "\\p{ has no closing brace");
	if (!property_translate(t->at[1], name, (size_t)(close - name), t->out))
		return refuse_pattern(t, "\\p{…} names an unknown property");
	t->at = close + 1;
	return true;
}

/* Translate an escape of one character, the same in and outside of classes. The place is at the
 * backslash. Set *ret_is_done to whether it was such an escape. */
static bool translate_character_escape(struct translation *t, bool *ret_is_done)
{
	char c = peek(t, 1);
	unsigned int code;

	*ret_is_done = true;
	switch (c) {
	case 'u':
		return translate_unicode(t);
	case 'x':
		if (read_hex(t, 2, 2, &code) != 2)
			return refuse_pattern(t, "\\x needs two hex digits");
		t->at += 4;
		write_code(t, code);
		return true;
	case 'c':
		if (!text_is_letter(peek(t, 2)))
			return refuse_pattern(t, "\\c needs a letter");
		write_code(t, (unsigned int)t->at[2] % 32);
		t->at += 3;
		return true;
	case '0':
		if (text_is_digit(peek(t, 2)))
			return refuse_pattern(t, "octal escapes do not exist");
		t->at += 2;
		write_code(t, 0);
		return true;
	case 'v':
		t->at += 2;
		write_code(t, '\v');
		return true;
	case 't':
	case 'n':
	case 'f':
	case 'r':
	case 'd':
	case 'D':
	case 'w':
	case 'W':
		buffer_append(t->out, t->at, 2);
		t->at += 2;
		return true;
	case 'p':
	case 'P':
		return translate_property(t);
	default:
		*ret_is_done = false;
		return true;
	}
}

/* An escaped character as itself. */
static bool translate_identity(struct translation *t)
{
	char c = peek(t, 1);

	if (t->end - t->at < 2)
		return refuse_pattern(t, "it ends in a backslash");
	if (text_is_letter(c) || text_is_digit(c) || (c & 0x80))
		return refuse_pattern(
			t, "a letter, digit or other character is escaped that has no escape");
	buffer_append(t->out, t->at, 2);
	t->at += 2;
	return true;
}

static bool translate_back_reference(struct translation *t)
{
	size_t digits = 1;

	if (peek(t, 1) == 'k') {
		if (peek(t, 2) != '<')
			return refuse_pattern(t, "\\k needs a name in angle brackets");
		buffer_append_string(t->out, "\\k");
		t->at += 2;
		return true;
	}
	while (text_is_digit(peek(t, 1 + digits)))
		digits++;
	buffer_printf(t->out, "\\g{%.*s}", (int)digits, t->at + 1);
	t->at += 1 + digits;
	return true;
}

static bool translate_escape(struct translation *t)
{
	char c = peek(t, 1);
	bool is_done;

	if (!translate_character_escape(t, &is_done))
		return false;
	if (is_done)
		return true;
	if (c == 's' || c == 'S') {
		buffer_append_string(t->out, c == 's' ? "[" SPACES "]" : "[^" SPACES "]");
		t->at += 2;
		return true;
	}
	if (c == 'b' || c == 'B') {
		buffer_append(t->out, t->at, 2);
		t->at += 2;
		return true;
	}
	if (c == 'k' || (c >= '1' && c <= '9'))
		return translate_back_reference(t);
	return translate_identity(t);
}

/* Whether a set of characters, not one, is escaped at @offset. */
static bool is_set_at(const struct translation *t, size_t offset)
{
	char c = peek(t, offset + 1);

	return peek(t, offset) == '\\' && c != '\0' && strchr("dDwWsSpP", c) != NULL;
}

static bool translate_class_escape(struct translation *t)
{
	char c = peek(t, 1);
	bool is_done;

	if (!translate_character_escape(t, &is_done))
		return false;
	if (is_done)
		return true;
	if (c == 's' || c == 'S' || c == 'b') {
		buffer_append_string(
			t->out, c == 's' ? SPACES : (c == 'S' ? NON_SPACES : "\\x{8}"));
		t->at += 2;
		return true;
	}
	return translate_identity(t);
}

/* A hyphen of a range stays; beside a set, or at an end, the hyphen is itself. */
static void translate_hyphen(struct translation *t, bool is_first, bool is_behind_set)
{
	bool is_range = !is_first && !is_behind_set && peek(t, 1) != ']' && !is_set_at(t, 1);

	buffer_append_string(t->out, is_range ? "-" : "\\-");
	t->at++;
}

/* At the opening bracket. */
static bool translate_class(struct translation *t)
{
	bool is_first = true;
	bool is_behind_set = false;

	if (peek(t, 1) == ']') {
		buffer_append_string(t->out, NO_CHARACTER);
		t->at += 2;
		return true;
	}
	buffer_append_char(t->out, *t->at++);
	if (peek(t, 0) == '^')
		buffer_append_char(t->out, *t->at++);
	for (; t->at < t->end && *t->at != ']'; is_first = false) {
		bool is_set = is_set_at(t, 0);

		if (*t->at == '\\') {
			if (!translate_class_escape(t))
				return false;
		} else if (*t->at == '-') {
			translate_hyphen(t, is_first, is_behind_set);
		} else {
			if (*t->at == '[')
				buffer_append_char(t->out, '\\');
			buffer_append_char(t->out, *t->at++);
		}
		is_behind_set = is_set;
	}
	if (t->at == t->end)
		return refuse_pattern(t, "a '[' is not closed");
	buffer_append_char(t->out, *t->at++);
	return true;
}

/* At the opening parenthesis. */
static bool translate_group(struct translation *t)
{
	static const char *const kinds[] = {"?:", "?=", "?!", "?<=", "?<!"};
	size_t left = (size_t)(t->end - t->at) - 1;

	buffer_append_char(t->out, *t->at++);
	t->depth++;
	if (peek(t, 0) == '*')
		return refuse_pattern(t, "there is nothing that '*' could repeat");
	if (peek(t, 0) != '?')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t size = strlen(kinds[i]);

		if (left >= size && memcmp(t->at, kinds[i], size) == 0) {
			buffer_append(t->out, t->at, size);
			t->at += size;
			return true;
		}
	}
	if (peek(t, 1) != '<')
		return refuse_pattern(
			t, "'(?' must go on with ':', '=', '!', '<=', '<!' or '<name>'");
	buffer_append_string(t->out, "?<");
	t->at += 2;
	return true;
}

/* The bytes of a quantifier in braces at the place, or 0. */
static size_t brace_length(const struct translation *t)
{
	size_t n = 1;

	if (!text_is_digit(peek(t, n)))
		return 0;
	while (text_is_digit(peek(t, n)))
		n++;
	if (peek(t, n) == ',') {
		n++;
		while (text_is_digit(peek(t, n)))
			n++;
	}
	return peek(t, n) == '}' ? n + 1 : 0;
}

/* Whether nothing but an end is left to match: going back from there into an item, or into a
 * branch, reads the text at most once more and needs no callout. */
static bool is_last(const struct translation *t)
{
	return t->at == t->end || (*t->at == '$' && t->at + 1 == t->end);
}

/* Translate one of * + ? { after a group or, if not @is_group, after one character or class. A
 * fixed number of those (`{4}`) can match in one way only. */
static bool translate_quantifier(struct translation *t, bool is_group)
{
	size_t size = *t->at == '{' ? brace_length(t) : 1;
	bool is_choice = *t->at != '{' || is_group || memchr(t->at, ',', size);

	if (size == 0) {
		buffer_append_string(t->out, "\\{");
		t->at++;
		return true;
	}
	buffer_append(t->out, t->at, size);
	t->at += size;
	if (peek(t, 0) == '+')
		return refuse_pattern(t, "there is nothing that '+' could repeat");
	if (peek(t, 0) == '?')
		buffer_append_char(t->out, *t->at++);
	if (is_choice && (is_group || !is_last(t)))
		buffer_append_string(t->out, REGEX_CALLOUT);
	return true;
}

/* At the closing parenthesis. */
static bool translate_group_end(struct translation *t)
{
	char next = peek(t, 1);

	buffer_append_char(t->out, *t->at++);
	t->depth--;
	if (next == '*' || next == '+' || next == '?' || (next == '{' && brace_length(t) > 0))
		return translate_quantifier(t, true);
	if (!is_last(t))
		buffer_append_string(t->out, REGEX_CALLOUT);
	return true;
}

/* Translate a bar. A pattern that begins with `^` is searched for only at the start of the text,
 * but its other branches may match elsewhere. */
static void translate_bar(struct translation *t)
{
	buffer_append_char(t->out, *t->at++);
	if (t->depth == 0)
		buffer_append_string(t->out, REGEX_CALLOUT);
}

static bool translate_next(struct translation *t)
{
	switch (*t->at) {
	case '\\':
		return translate_escape(t);
	case '[':
		return translate_class(t);
	case '(':
		return translate_group(t);
	case '*':
	case '+':
	case '?':
	case '{':
		return translate_quantifier(t, false);
	case ')':
		return translate_group_end(t);
	case '|':
		translate_bar(t);
		return true;
	case '.':
		buffer_append_string(t->out, "[^" LINE_TERMINATORS "]");
		t->at++;
		return true;
	case '}':
	case ']':
		buffer_append_char(t->out, '\\');
		break;
	default:
		break;
	}
	buffer_append_char(t->out, *t->at++);
	return true;
}

bool regex_translate(const char *text, size_t size, struct buffer *out, const char **ret_reason)
{
	struct translation t = {.at = text, .end = text + size, .out = out};

	if (peek(&t, 0) != '^')
		buffer_append_string(out, REGEX_CALLOUT);
	while (t.at < t.end) {
		if (!translate_next(&t)) {
			*ret_reason = t.reason;
			return false;
		}
	}
	return true;
}
