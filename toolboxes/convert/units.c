/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"
#include "nearest.h"

/* metre, kilogram, second, kelvin, ampere, bit, degree */
#define BASES 7

/* The most units in a product. */
#define TERMS_MAX 8

#define POWER_MAX 9

struct entry {
	const char *symbols; /* in their case; '|' between them */
	const char *names;   /* in any case, English and German, one and not many */
	signed char powers[BASES];
	bool has_prefixes;
	const char *factor; /* an expression: how many of the base units it is */
	const char *offset; /* an expression, added before the factor; NULL: none */
};

#define LENGTH                                                                                     \
	{                                                                                          \
		1                                                                                  \
	}
#define AREA                                                                                       \
	{                                                                                          \
		2                                                                                  \
	}
#define VOLUME                                                                                     \
	{                                                                                          \
		3                                                                                  \
	}
#define MASS                                                                                       \
	{                                                                                          \
		0, 1                                                                               \
	}
#define TIME                                                                                       \
	{                                                                                          \
		0, 0, 1                                                                            \
	}
#define HEAT                                                                                       \
	{                                                                                          \
		0, 0, 0, 1                                                                         \
	}
#define CURRENT                                                                                    \
	{                                                                                          \
		0, 0, 0, 0, 1                                                                      \
	}
#define DATA                                                                                       \
	{                                                                                          \
		0, 0, 0, 0, 0, 1                                                                   \
	}
#define ANGLE                                                                                      \
	{                                                                                          \
		0, 0, 0, 0, 0, 0, 1                                                                \
	}
#define SPEED                                                                                      \
	{                                                                                          \
		1, 0, -1                                                                           \
	}
#define FORCE                                                                                      \
	{                                                                                          \
		1, 1, -2                                                                           \
	}
#define PRESSURE                                                                                   \
	{                                                                                          \
		-1, 1, -2                                                                          \
	}
#define ENERGY                                                                                     \
	{                                                                                          \
		2, 1, -2                                                                           \
	}
#define POWER                                                                                      \
	{                                                                                          \
		2, 1, -3                                                                           \
	}
#define FREQUENCY                                                                                  \
	{                                                                                          \
		0, 0, -1                                                                           \
	}
#define VOLTAGE                                                                                    \
	{                                                                                          \
		2, 1, -3, 0, -1                                                                    \
	}
#define CHARGE                                                                                     \
	{                                                                                          \
		0, 0, 1, 0, 1                                                                      \
	}
#define OHM                                                                                        \
	{                                                                                          \
		2, 1, -3, 0, -2                                                                    \
	}

/* clang-format off */
static const struct entry entries[] = {
	{"m", "metre|meter", LENGTH, true, "1", NULL},
	{"in|\"", "inch|inche|zoll", LENGTH, false, "0.0254", NULL},
	{"ft|'", "foot|feet|fuß|fuss", LENGTH, false, "0.3048", NULL},
	{"yd", "yard", LENGTH, false, "0.9144", NULL},
	{"mi", "mile|meile", LENGTH, false, "1609.344", NULL},
	{"nmi|NM", "nautical mile|seemeile", LENGTH, false, "1852", NULL},
	{"au|AU", "astronomical unit|astronomische einheit", LENGTH, false, "149597870700", NULL},
	{"ly", "light year|lightyear|lichtjahr", LENGTH, false, "9460730472580800", NULL},
	{"a|ar", "are", AREA, false, "100", NULL},
	{"ha", "hectare|hektar", AREA, false, "10000", NULL},
	{"ac", "acre", AREA, false, "4046.8564224", NULL},
	{"l|L", "litre|liter", VOLUME, true, "0.001", NULL},
	{"gal", "gallon|us gallon|gallone", VOLUME, false, "0.003785411784", NULL},
	{"", "imperial gallon|uk gallon", VOLUME, false, "0.00454609", NULL},
	{"qt", "quart", VOLUME, false, "0.003785411784/4", NULL},
	{"pt", "pint", VOLUME, false, "0.003785411784/8", NULL},
	{"", "imperial pint|uk pint", VOLUME, false, "0.00454609/8", NULL},
	{"", "cup|us cup|tasse", VOLUME, false, "0.003785411784/16", NULL},
	{"floz", "fl oz|fluid ounce", VOLUME, false, "0.003785411784/128", NULL},
	{"tbsp|EL", "tablespoon|esslöffel", VOLUME, false, "0.003785411784/256", NULL},
	{"tsp|TL", "teaspoon|teelöffel", VOLUME, false, "0.003785411784/768", NULL},
	{"bbl", "barrel", VOLUME, false, "0.003785411784*42", NULL},
	{"g", "gram|gramme|gramm", MASS, true, "0.001", NULL},
	{"t", "tonne|metric ton", MASS, true, "1000", NULL},
	{"lb|lbs", "pound", MASS, false, "0.45359237", NULL},
	{"", "pfund", MASS, false, "0.5", NULL},
	{"", "zentner", MASS, false, "50", NULL},
	{"oz", "ounce|unze", MASS, false, "0.45359237/16", NULL},
	{"st", "stone", MASS, false, "0.45359237*14", NULL},
	{"", "short ton|us ton|ton", MASS, false, "0.45359237*2000", NULL},
	{"", "long ton|imperial ton", MASS, false, "0.45359237*2240", NULL},
	{"ct", "carat|karat", MASS, false, "0.0002", NULL},
	{"s|sec", "second|sekunde", TIME, true, "1", NULL},
	{"min", "minute", TIME, false, "60", NULL},
	{"h|hr", "hour|stunde", TIME, false, "3600", NULL},
	{"d", "day|tag", TIME, false, "86400", NULL},
	{"wk", "week|woche", TIME, false, "604800", NULL},
	{"mo", "month|monat", TIME, false, "31557600/12", NULL},
	{"yr", "year|jahr", TIME, false, "31557600", NULL},
	{"", "decade|jahrzehnt", TIME, false, "315576000", NULL},
	{"", "century|centurie|jahrhundert", TIME, false, "3155760000", NULL},
	{"K", "kelvin", HEAT, true, "1", NULL},
	{"°C|C|degC", "celsius|degree celsius|degrees celsius|grad celsius|centigrade", HEAT, false,
		"1", "273.15"},
	{"°F|F|degF", "fahrenheit|degree fahrenheit|degrees fahrenheit|grad fahrenheit", HEAT,
		false, "5/9", "459.67"},
	{"°R", "rankine", HEAT, false, "5/9", NULL},
	{"A", "ampere|amp", CURRENT, true, "1", NULL},
	{"bit|b", "bit", DATA, true, "1", NULL},
	{"B", "byte", DATA, true, "8", NULL},
	{"°|deg", "degree|grad", ANGLE, false, "1", NULL},
	{"rad", "radian|radiant", ANGLE, true, "180/pi", NULL},
	{"", "turn|revolution|umdrehung", ANGLE, false, "360", NULL},
	{"gon", "gon|gradian|neugrad", ANGLE, false, "0.9", NULL},
	{"kn|kt", "knot|knoten", SPEED, false, "1852/3600", NULL},
	{"mph", "miles per hour|meilen pro stunde", SPEED, false, "1609.344/3600", NULL},
	{"kph|kmh", "stundenkilometer", SPEED, false, "1/3.6", NULL},
	{"", "mach", SPEED, false, "340.29", NULL},
	{"N", "newton", FORCE, true, "1", NULL},
	{"lbf", "pound force", FORCE, false, "0.45359237*9.80665", NULL},
	{"kgf|kp", "kilopond", FORCE, false, "9.80665", NULL},
	{"Pa", "pascal", PRESSURE, true, "1", NULL},
	{"bar", "bar", PRESSURE, true, "100000", NULL},
	{"atm", "atmosphere|atmosphäre", PRESSURE, false, "101325", NULL},
	{"mmHg|torr|Torr", "torr", PRESSURE, false, "101325/760", NULL},
	{"psi", "psi", PRESSURE, false, "0.45359237*9.80665/0.0254^2", NULL},
	{"J", "joule", ENERGY, true, "1", NULL},
	{"Wh", "watt hour|wattstunde", ENERGY, true, "3600", NULL},
	{"cal", "calorie|kalorie", ENERGY, true, "4.184", NULL},
	{"eV", "electronvolt|elektronenvolt", ENERGY, true, "1.602176634e-19", NULL},
	{"BTU|Btu", "british thermal unit", ENERGY, false, "1055.05585262", NULL},
	{"W", "watt", POWER, true, "1", NULL},
	{"hp", "horsepower", POWER, false, "0.45359237*9.80665*0.3048*550", NULL},
	{"PS", "pferdestärke", POWER, false, "75*9.80665", NULL},
	{"Hz", "hertz", FREQUENCY, true, "1", NULL},
	{"rpm|U/min", "revolutions per minute|umdrehungen pro minute", FREQUENCY, false, "1/60",
		NULL},
	{"V", "volt", VOLTAGE, true, "1", NULL},
	{"Ah", "ampere hour|amp hour|amperestunde", CHARGE, true, "3600", NULL},
	{"Ω|Ohm", "ohm", OHM, true, "1", NULL},
};

static const struct {
	const char *symbols;
	const char *name;
	const char *factor;
} prefixes[] = {
	{"k", "kilo", "1e3"}, {"M", "mega", "1e6"}, {"G", "giga", "1e9"}, {"T", "tera", "1e12"},
	{"P", "peta", "1e15"}, {"E", "exa", "1e18"}, {"h", "hecto", "1e2"}, {"h", "hekto", "1e2"},
	{"da", "deca", "1e1"}, {"da", "deka", "1e1"}, {"d", "deci", "1e-1"}, {"d", "dezi", "1e-1"},
	{"c", "centi", "1e-2"}, {"c", "zenti", "1e-2"}, {"m", "milli", "1e-3"},
	{"µ|μ|u", "micro", "1e-6"}, {"µ|μ|u", "mikro", "1e-6"}, {"n", "nano", "1e-9"},
	{"p", "pico", "1e-12"}, {"Ki", "kibi", "2^10"}, {"Mi", "mebi", "2^20"},
	{"Gi", "gibi", "2^30"}, {"Ti", "tebi", "2^40"},
};
/* clang-format on */

#define N_ENTRIES  (sizeof(entries) / sizeof(*entries))
#define N_PREFIXES (sizeof(prefixes) / sizeof(*prefixes))

/* What a text means. */
struct unit {
	struct number factor;
	struct number offset;
	int powers[BASES];
};

/* ── names ───────────────────────────────────────────────────────────────────────────────────── */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Return whether the @size bytes at @text are one of @list; @is_exact: in their case. */
static bool is_listed(const char *list, const char *text, size_t size, bool is_exact)
{
	for (; size > 0 && *list; list += list[0] == '|') {
		size_t length = strcspn(list, "|");
		bool is_same = length == size;

		for (size_t i = 0; is_same && i < size; i++)
			is_same = is_exact ? list[i] == text[i] : lower(list[i]) == lower(text[i]);
		if (is_same)
			return true;
		list += length;
	}
	return false;
}

/* Return whether the @size bytes at @text are a name of @entry, of one or of many. */
static bool is_name(const struct entry *entry, const char *text, size_t size)
{
	static const char *const plurals[] = {"", "s", "es", "n", "en", "e"};

	for (size_t i = 0; i < sizeof(plurals) / sizeof(*plurals); i++) {
		size_t end = strlen(plurals[i]);

		if (size > end && memcmp(text + size - end, plurals[i], end) == 0 &&
			is_listed(entry->names, text, size - end, false))
			return true;
	}
	return false;
}

/* Return the length of the one of the prefixes in @list that begins @text; 0: none. */
static size_t begins(const char *list, const char *text, size_t size, bool is_exact)
{
	for (; *list; list += list[0] == '|') {
		size_t length = strcspn(list, "|");
		bool is_same = length < size;

		for (size_t i = 0; is_same && i < length; i++)
			is_same = is_exact ? list[i] == text[i] : list[i] == lower(text[i]);
		if (is_same)
			return length;
		list += length;
	}
	return 0;
}

/* Find the unit called @text. *ret_prefix: the factor of its prefix, or NULL. Symbols go before
 * names, and units before prefixes: "min" is no milli-inch. */
static const struct entry *find(const char *text, size_t size, const char **ret_prefix)
{
	*ret_prefix = NULL;
	for (size_t i = 0; i < N_ENTRIES; i++)
		if (is_listed(entries[i].symbols, text, size, true))
			return &entries[i];
	for (size_t i = 0; i < N_ENTRIES; i++)
		if (is_name(&entries[i], text, size))
			return &entries[i];
	for (size_t p = 0; p < N_PREFIXES; p++) {
		size_t symbol = begins(prefixes[p].symbols, text, size, true);
		size_t name = begins(prefixes[p].name, text, size, false);

		*ret_prefix = prefixes[p].factor;
		for (size_t i = 0; i < N_ENTRIES; i++)
			if (entries[i].has_prefixes &&
				((symbol && is_listed(entries[i].symbols, text + symbol,
						    size - symbol, true)) ||
					(name && is_name(&entries[i], text + name, size - name))))
				return &entries[i];
	}
	*ret_prefix = NULL;
	return NULL;
}

/* Offer the names of @list, with @prefix before each, to @nearest. */
static void offer_list(
	struct nearest *nearest, const char *wanted, const char *prefix, const char *list)
{
	for (; *list; list += list[0] == '|') {
		size_t length = strcspn(list, "|");
		char name[NEAREST_BYTES];

		snprintf(name, sizeof(name), "%s%.*s", prefix, (int)length, list);
		nearest_offer(nearest, wanted, name);
		list += length;
	}
}

/* Offer all names to @nearest, with the prefix that @wanted begins with, too. Everything is near to
 * a short text. */
static void offer_units(struct nearest *nearest, const char *wanted)
{
	size_t size = strlen(wanted);

	for (size_t i = 0; i < N_ENTRIES && size > 3; i++)
		offer_list(nearest, wanted, "", entries[i].names);
	for (size_t p = 0; p < N_PREFIXES; p++)
		for (size_t i = 0; i < N_ENTRIES && begins(prefixes[p].name, wanted, size, false);
			i++)
			if (entries[i].has_prefixes)
				offer_list(nearest, wanted, prefixes[p].name, entries[i].names);
}

static bool fail_unknown(const char *text, size_t size, char words[UNITS_WORDS_BYTES])
{
	struct nearest nearest = {.n = 0};
	char wanted[UNIT_TEXT_MAX + 1];
	char names[NEAREST_MAX * NEAREST_BYTES + 16];

	snprintf(wanted, sizeof(wanted), "%.*s", (int)size, text);
	offer_units(&nearest, wanted);
	nearest_write(&nearest, names, sizeof(names));
	if (*names)
		snprintf(words, UNITS_WORDS_BYTES, "the unit '%s' is not known; did you mean %s?",
			wanted, names);
	else
		snprintf(words, UNITS_WORDS_BYTES,
			"the unit '%s' is not known. Units are as km, mile, kg, pound, litre, °C, "
			"km/h, kWh, m^2, MiB; currencies are not known",
			wanted);
	return false;
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

static void unit_init(struct unit *unit)
{
	size_t used;

	memset(unit->powers, 0, sizeof(unit->powers));
	number_init(&unit->factor);
	number_init(&unit->offset);
	number_read(&unit->factor, "1", 1, &used);
}

static void unit_deinit(struct unit *unit)
{
	number_deinit(&unit->factor);
	number_deinit(&unit->offset);
}

/* Set @number to an expression of the tables. */
static void set_constant(struct number *number, const char *text)
{
	struct expression_mistake mistake;

	expression_evaluate(text, strlen(text), number, &mistake);
}

/* Multiply @unit by @entry to the power of @power. */
static const char *multiply(
	struct unit *unit, const struct entry *entry, const char *prefix, int power)
{
	struct number factor;
	struct number other;
	char exponent[8];
	const char *why = NULL;

	number_init(&factor);
	number_init(&other);
	set_constant(&factor, entry->factor);
	if (prefix) {
		set_constant(&other, prefix);
		why = number_multiply(&factor, &other);
	}
	snprintf(exponent, sizeof(exponent), "%d", power);
	set_constant(&other, exponent);
	why = why ? why : number_power(&factor, &other);
	why = why ? why : number_multiply(&unit->factor, &factor);
	for (size_t i = 0; i < BASES; i++)
		unit->powers[i] += power * entry->powers[i];
	number_deinit(&factor);
	number_deinit(&other);
	return why;
}

/* What stands between two units: *ret_size is its length. */
static int separator(const char *text, size_t *ret_size)
{
	static const struct {
		const char *text;
		int sign;
	} separators[] = {{" per ", -1}, {" pro ", -1}, {"/", -1}, {"*", 1}, {"\u00B7", 1}};

	for (size_t i = 0; i < sizeof(separators) / sizeof(*separators); i++) {
		*ret_size = strlen(separators[i].text);
		if (strncmp(text, separators[i].text, *ret_size) == 0)
			return separators[i].sign;
	}
	*ret_size = 0;
	return 0;
}

/* Take the power at the end of the @size bytes at @text: m^2, m2, m². Return it; 1 without one. */
static int take_power(const char *text, size_t *size)
{
	int power = 1;

	if (*size > 2 && memcmp(text + *size - 2, "\u00B2", 2) == 0)
		power = 2;
	else if (*size > 2 && memcmp(text + *size - 2, "\u00B3", 2) == 0)
		power = 3;
	if (power > 1) {
		*size -= 2;
		return power;
	}
	if (*size > 1 && text[*size - 1] >= '1' && text[*size - 1] <= '0' + POWER_MAX) {
		power = text[*size - 1] - '0';
		--*size;
		if (*size > 1 && text[*size - 1] == '-') {
			power = -power;
			--*size;
		}
		if (*size > 1 && text[*size - 1] == '^')
			--*size;
	}
	return power;
}

/* Take a word as `square` from the beginning. Return its power; 1 without one. */
static int take_word(const char **text, size_t *size)
{
	static const struct {
		const char *word;
		int power;
	} words[] = {{"square ", 2}, {"cubic ", 3}, {"quadrat", 2}, {"kubik", 3}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = begins(words[i].word, *text, *size, false);

		if (!length)
			continue;
		*text += length;
		*size -= length;
		return words[i].power;
	}
	return 1;
}

static void trim(const char **text, size_t *size)
{
	for (; *size > 0 && **text == ' '; (*text)++)
		--*size;
	while (*size > 0 && (*text)[*size - 1] == ' ')
		--*size;
}

/* Read one unit of a product. */
static bool read_term(struct unit *unit, const char *text, size_t size, int sign, bool is_alone,
	char words[UNITS_WORDS_BYTES])
{
	const struct entry *entry;
	const char *prefix;
	const char *why;
	int power = 1;

	trim(&text, &size);
	entry = find(text, size, &prefix);
	if (!entry) {
		const char *bare = text;
		size_t bare_size = size;

		power = take_word(&bare, &bare_size) * take_power(bare, &bare_size);
		trim(&bare, &bare_size);
		entry = find(bare, bare_size, &prefix);
	}
	if (!entry)
		return fail_unknown(text, size, words);
	why = multiply(unit, entry, prefix, sign * power);
	if (why) {
		snprintf(words, UNITS_WORDS_BYTES, "%s", why);
		return false;
	}
	if (is_alone && power == 1 && entry->offset)
		set_constant(&unit->offset, entry->offset);
	return true;
}

static bool read_unit(struct unit *unit, const char *text, char words[UNITS_WORDS_BYTES])
{
	const char *prefix;
	size_t begin = 0;
	int sign = 1;
	unsigned int n = 0;

	if (strlen(text) > UNIT_TEXT_MAX) {
		snprintf(words, UNITS_WORDS_BYTES, "a unit is longer than %d bytes", UNIT_TEXT_MAX);
		return false;
	}
	/* Names with `per` in them. */
	if (find(text, strlen(text), &prefix))
		return read_term(unit, text, strlen(text), 1, true, words);
	for (size_t at = 0;; at++) {
		size_t size = 0;
		int next = text[at] ? separator(text + at, &size) : 0;

		if (text[at] && !next)
			continue;
		if (++n > TERMS_MAX) {
			snprintf(words, UNITS_WORDS_BYTES, "a unit has more than %d factors",
				TERMS_MAX);
			return false;
		}
		if (!read_term(
			    unit, text + begin, at - begin, sign, begin == 0 && !text[at], words))
			return false;
		if (!text[at])
			return true;
		sign = next;
		begin = at + size;
		at = begin - 1;
	}
}

/* ── converting ──────────────────────────────────────────────────────────────────────────────── */

/* Write the units with the powers of @unit, for a person who tried another one. */
static void write_like(const struct unit *unit, char *out, size_t room)
{
	size_t used = 0;
	unsigned int n = 0;

	*out = '\0';
	for (size_t i = 0; i < N_ENTRIES && n < 4 && used < room; i++) {
		bool is_same = *entries[i].symbols != '\0';

		for (size_t b = 0; b < BASES; b++)
			is_same = is_same && entries[i].powers[b] == unit->powers[b];
		if (is_same)
			used += (size_t)snprintf(out + used, room - used, "%s%.*s",
				n++ > 0 ? ", " : "", (int)strcspn(entries[i].symbols, "|"),
				entries[i].symbols);
	}
}

static bool fail_different(const struct unit *from_unit, const char *from, const char *to,
	char words[UNITS_WORDS_BYTES])
{
	char like[64];

	write_like(from_unit, like, sizeof(like));
	snprintf(words, UNITS_WORDS_BYTES, "%s and %s do not measure the same%s%s", from, to,
		*like ? "; like the first are " : "", like);
	return false;
}

/* (value + offset) * factor / factor - offset */
static const char *compute(struct number *value, const struct unit *from, const struct unit *to)
{
	const char *why = number_add(value, &from->offset);

	why = why ? why : number_multiply(value, &from->factor);
	why = why ? why : number_divide(value, &to->factor);
	return why ? why : number_subtract(value, &to->offset);
}

bool units_convert(
	struct number *value, const char *from, const char *to, char ret_words[UNITS_WORDS_BYTES])
{
	struct unit units[2];
	const char *why = NULL;
	bool is_good;

	unit_init(&units[0]);
	unit_init(&units[1]);
	is_good = read_unit(&units[0], from, ret_words) && read_unit(&units[1], to, ret_words);
	if (is_good && memcmp(units[0].powers, units[1].powers, sizeof(units[0].powers)) != 0)
		is_good = fail_different(&units[0], from, to, ret_words);
	if (is_good)
		why = compute(value, &units[0], &units[1]);
	if (why)
		snprintf(ret_words, UNITS_WORDS_BYTES, "%s", why);
	unit_deinit(&units[0]);
	unit_deinit(&units[1]);
	return is_good && !why;
}
