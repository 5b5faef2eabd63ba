/* SPDX-License-Identifier: Apache-2.0 */
#include "core/voice/number_words.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "json/writer.h"
#include "util/array.h"
#include "util/text/language_tag.h"
#include "util/text/text.h"

/* The longest text that is a number in words. */
#define TEXT_BYTES_MAX 256

/* A word and its value. Values below 1000 add, but for HUNDRED, which may multiply; the others have
 * meanings of their own. */
struct number_word {
	const char *text; /* in lower case */
	uint32_t value;
};

#define HUNDRED  100u
#define THOUSAND 1000u
#define AND      1001u /* between two words */
#define MINUS    1002u /* before the first one */
#define ONE_MORE 1003u /* 1, but only before HUNDRED and THOUSAND: "a hundred" */

struct number_language {
	const char *tag;
	const struct number_word *words;
	size_t n_words;
	char group;           /* between groups of three figures */
	char point;           /* before a fraction */
	bool has_units_first; /* "einundzwanzig" */
};

static const struct number_word english[] = {{"zero", 0}, {"one", 1}, {"two", 2}, {"three", 3},
	{"four", 4}, {"five", 5}, {"six", 6}, {"seven", 7}, {"eight", 8}, {"nine", 9}, {"ten", 10},
	{"eleven", 11}, {"twelve", 12}, {"thirteen", 13}, {"fourteen", 14}, {"fifteen", 15},
	{"sixteen", 16}, {"seventeen", 17}, {"eighteen", 18}, {"nineteen", 19}, {"twenty", 20},
	{"thirty", 30}, {"forty", 40}, {"fifty", 50}, {"sixty", 60}, {"seventy", 70},
	{"eighty", 80}, {"ninety", 90}, {"hundred", HUNDRED}, {"thousand", THOUSAND}, {"and", AND},
	{"a", ONE_MORE}, {"minus", MINUS}, {"negative", MINUS}};

static const struct number_word german[] = {{"null", 0}, {"ein", 1}, {"eins", 1}, {"eine", 1},
	{"zwei", 2}, {"zwo", 2}, {"drei", 3}, {"vier", 4}, {"fünf", 5}, {"fuenf", 5}, {"sechs", 6},
	{"sieben", 7}, {"acht", 8}, {"neun", 9}, {"zehn", 10}, {"elf", 11}, {"zwölf", 12},
	{"zwoelf", 12}, {"dreizehn", 13}, {"vierzehn", 14}, {"fünfzehn", 15}, {"fuenfzehn", 15},
	{"sechzehn", 16}, {"siebzehn", 17}, {"achtzehn", 18}, {"neunzehn", 19}, {"zwanzig", 20},
	{"dreißig", 30}, {"dreissig", 30}, {"vierzig", 40}, {"fünfzig", 50}, {"fuenfzig", 50},
	{"sechzig", 60}, {"siebzig", 70}, {"achtzig", 80}, {"neunzig", 90}, {"hundert", HUNDRED},
	{"tausend", THOUSAND}, {"und", AND}, {"minus", MINUS}};

static const struct number_language languages[] = {
	{"en", english, ARRAY_SIZE(english), ',', '.', false},
	{"de", german, ARRAY_SIZE(german), '.', ',', true},
};

const struct number_language *number_words_find(struct text_view tag)
{
	for (; tag.text; tag = language_tag_shorten(tag))
		for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
			if (language_tag_equals(tag, languages[i].tag, strlen(languages[i].tag)))
				return &languages[i];
	return NULL;
}

/* ── words ───────────────────────────────────────────────────────────────────────────────────── */

/* A number, as far as its words are read. */
struct number {
	const struct number_language *language;
	uint32_t thousands; /* the group before the word for thousand, times 1000 */
	uint32_t group;     /* the group after it */
	uint32_t room;      /* a further value of the group is less; 0: none fits */
	uint32_t last;      /* the word before */
	size_t n_words;     /* without MINUS */
	size_t n_group;     /* words of the group */
	bool is_negative;
};

/* Return the longest word of @language at the start of @text, or NULL. */
static const struct number_word *find_word(
	const struct number_language *language, const char *text, size_t size)
{
	const struct number_word *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < language->n_words; i++) {
		const struct number_word *word = &language->words[i];
		size_t word_size = strlen(word->text);

		if (word_size > longest && word_size <= size &&
			strncasecmp(word->text, text, word_size) == 0) {
			found = word;
			longest = word_size;
		}
	}
	return found;
}

/* Add @value below 1000, other than HUNDRED. Return false where it cannot follow. */
static bool add_value(struct number *number, uint32_t value)
{
	uint32_t unit = number->group % 10;
	bool is_first = number->n_group == 0 || (value > 0 && value < number->room);

	if (number->language->has_units_first && number->last == AND && value >= 20 && unit > 0 &&
		number->group % 100 == unit) {
		number->group += value;
		number->room = 0;
		return true;
	}
	if (!is_first || (value == 0 && number->n_words > 0))
		return false;
	number->group += value;
	number->room = value < 20 ? 1 : 10;
	return true;
}

/* Add the word for hundred, which a single word below twenty before it multiplies. */
static bool add_hundred(struct number *number)
{
	bool has_unit = number->n_group == 1 && number->group > 0 && number->group < 20;

	if (number->n_group > 0 && !has_unit)
		return false;
	number->group = has_unit ? number->group * HUNDRED : HUNDRED;
	number->room = HUNDRED;
	return true;
}

/* End the group of thousands. */
static bool add_thousand(struct number *number)
{
	if (number->thousands > 0 || number->group >= THOUSAND ||
		(number->n_group > 0 && number->group == 0))
		return false;
	number->thousands = (number->n_group > 0 ? number->group : 1) * THOUSAND;
	number->group = 0;
	number->n_group = 0;
	number->room = THOUSAND;
	return true;
}

/* Add the word with the meaning @value. Return false where it cannot follow. */
static bool add_word(struct number *number, uint32_t value)
{
	bool is_first = number->n_words == 0;
	bool is_good;

	if (number->last == ONE_MORE && value != HUNDRED && value != THOUSAND)
		return false;
	if (number->last == AND && value >= HUNDRED && (value != HUNDRED || number->n_group > 0))
		return false;
	switch (value) {
	case MINUS:
		is_good = is_first && !number->is_negative;
		number->is_negative = true;
		return is_good;
	case AND:
		is_good = !is_first;
		number->last = AND;
		return is_good;
	case ONE_MORE:
		is_good = number->n_group == 0;
		number->group = 1;
		break;
	case HUNDRED:
		is_good = add_hundred(number);
		break;
	case THOUSAND:
		is_good = add_thousand(number);
		break;
	default:
		is_good = add_value(number, value);
	}
	number->last = value;
	number->n_words++;
	number->n_group += value != THOUSAND;
	return is_good;
}

/* Read all words of the text. Return false when they are no number. */
static bool read_words(struct number *number, const char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		const struct number_word *word;

		if (text[at] == ' ' || text[at] == '-') {
			at++;
			continue;
		}
		word = find_word(number->language, text + at, size - at);
		if (!word || !add_word(number, word->value))
			return false;
		at += strlen(word->text);
	}
	return number->n_words > 0 && number->last != AND && number->last != ONE_MORE;
}

/* ── figures ─────────────────────────────────────────────────────────────────────────────────── */

static size_t count_digits(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && text_is_digit(text[n]))
		n++;
	return n;
}

/* Append figures with the separators of @language as a number of JSON: 1.234,5 as 1234.5. Return
 * false for other text, and for figures without separators. */
static bool read_figures(
	const struct number_language *language, const char *text, size_t size, struct buffer *out)
{
	size_t start = out->size;
	size_t at = size > 0 && text[0] == '-';
	size_t n = count_digits(text + at, size - at);
	bool has_groups = false;
	bool has_zero = n > 0 && text[at] == '0'; /* JSON has no figures after it */

	if (has_zero && n > 1)
		return false;
	buffer_append(out, text, at + n);
	at += n;
	while (n > 0 && n <= 3 && !has_zero && size - at >= 4 && text[at] == language->group &&
		count_digits(text + at + 1, size - at - 1) == 3) {
		buffer_append(out, text + at + 1, 3);
		at += 4;
		has_groups = true;
	}
	if (n > 0 && size - at >= 2 && text[at] == language->point &&
		count_digits(text + at + 1, size - at - 1) == size - at - 1) {
		buffer_append_char(out, '.');
		buffer_append(out, text + at + 1, size - at - 1);
		has_groups = has_groups || language->point != '.';
		at = size;
	}
	if (has_groups && at == size)
		return true;
	out->size = start;
	return false;
}

bool number_words_read(const void *language, const char *text, size_t size, struct buffer *out)
{
	struct number number = {.language = language, .room = THOUSAND};

	if (size > TEXT_BYTES_MAX)
		return false;
	if (read_figures(language, text, size, out))
		return true;
	if (!read_words(&number, text, size))
		return false;
	if (number.is_negative)
		buffer_append_char(out, '-');
	json_write_u64(out, number.thousands + number.group);
	return true;
}
