/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native/reading.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json/diagnose.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/text/text.h"
#include "util/text/utf8.h"

/* The longest quoted part of a found value in a message, in code points. */
#define FOUND_POINTS_MAX 40

int reading_refuse(struct reading *reading, uint32_t token, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diagnose_with(reading->problems, DIAGNOSTIC_ERROR, reading->tape, token, format, arguments);
	va_end(arguments);
	return NATIVE_E_REFUSED;
}

int reading_refuse_value(struct reading *reading, uint32_t token, const char *expected)
{
	enum json_type type = json_type_at(reading->tape, token);
	size_t size, shown;
	const char *text = json_value_text(reading->tape, token, &size);

	if (type == JSON_ARRAY || type == JSON_OBJECT)
		return reading_refuse(
			reading, token, "%s, not an %s", expected, json_type_name(type));
	shown = utf8_prefix(text, size, FOUND_POINTS_MAX);
	return reading_refuse(reading, token, "%s, not %.*s%s", expected, (int)shown, text,
		shown < size ? "…" : "");
}

int reading_word(const struct reading *reading, uint32_t token, const char *const *words)
{
	return json_word_at(reading->tape, token, words);
}

const char *reading_near(const struct reading *reading, uint32_t token, const char *const *names)
{
	const char *bytes = json_bytes(reading->tape, token);
	size_t size = json_at(reading->tape, token)->length;
	const char *nearest = NULL;
	unsigned int least = 0;
	unsigned int distance;

	for (; *names; names++) {
		if (!text_is_near(bytes, size, *names, strlen(*names), &distance))
			continue;
		if (!nearest || distance < least) {
			nearest = *names;
			least = distance;
		}
	}
	return nearest;
}

static int refuse_key(struct reading *reading, uint32_t key, const char *const *known)
{
	const char *meant = reading_near(reading, key, known);
	const char *bytes = json_bytes(reading->tape, key);
	int shown = (int)utf8_prefix(bytes, json_at(reading->tape, key)->length, FOUND_POINTS_MAX);

	if (meant)
		return reading_refuse(reading, key, "unknown key '%.*s'; did you mean '%s'?", shown,
			bytes, meant);
	return reading_refuse(reading, key, "unknown key '%.*s'", shown, bytes);
}

int reading_check_keys(
	struct reading *reading, uint32_t object, const char *expected, const char *const *known)
{
	const struct json_tape *tape = reading->tape;

	if (json_type_at(tape, object) != JSON_OBJECT)
		return reading_refuse_value(reading, object, expected);
	json_each_key(key, tape, object)
		if (reading_word(reading, key, known) < 0)
			return refuse_key(reading, key, known);
	return 0;
}

static int read_string(
	struct reading *reading, uint32_t token, const char *expected, char **ret_text)
{
	size_t size;
	char *text;

	if (json_type_at(reading->tape, token) != JSON_STRING)
		return reading_refuse_value(reading, token, expected);
	text = json_string_dup(reading->tape, token, &size);
	if (!text)
		return -ENOMEM;
	if (strlen(text) == size) {
		*ret_text = text;
		return 0;
	}
	free(text);
	return reading_refuse(reading, token, "%s, without U+0000", expected);
}

int reading_member_text(struct reading *reading, uint32_t object, const char *key,
	const char *expected, char **ret_text)
{
	uint32_t token = json_find(reading->tape, object, key);

	return token == JSON_NONE ? 0 : read_string(reading, token, expected, ret_text);
}

int reading_json(struct reading *reading, uint32_t token, char **ret_json)
{
	struct buffer text = {0};

	json_write_compact(&text, reading->tape, token);
	*ret_json = buffer_take(&text, NULL);
	return *ret_json ? 0 : -ENOMEM;
}

int reading_symbol(struct reading *reading, uint32_t token, const char *key, char **ret_symbol)
{
	int r = read_string(
		reading, token, "must be the name of a function in the library", ret_symbol);

	if (*ret_symbol && !**ret_symbol)
		return reading_refuse(reading, token, "'%s' must not be empty", key);
	return r;
}

static bool is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' && *name != '-')
			return false;
	return true;
}

int reading_name(struct reading *reading, uint32_t token, char **ret_name)
{
	static const char expected[] =
		"must be a name: a letter or '_', then letters, digits, '_' and '-'";
	int r = read_string(reading, token, expected, ret_name);

	if (*ret_name && !is_name(*ret_name))
		return reading_refuse_value(reading, token, expected);
	return r;
}

int reading_bool(struct reading *reading, uint32_t object, const char *key, bool *ret_is_true)
{
	uint32_t token = json_find(reading->tape, object, key);

	if (token == JSON_NONE)
		return 0;
	if (json_type_at(reading->tape, token) != JSON_TRUE &&
		json_type_at(reading->tape, token) != JSON_FALSE)
		return reading_refuse_value(reading, token, "must be true or false");
	*ret_is_true = json_is_true(reading->tape, token);
	return 0;
}

/* Read the number at @token, a value of the integer @type. */
static int read_bits(
	struct reading *reading, uint32_t token, enum native_type type, uint64_t *ret_bits)
{
	uint64_t most = native_integer_most(type);
	int64_t number;

	if (json_type_at(reading->tape, token) == JSON_NUMBER) {
		if (json_number_u64(reading->tape, token, ret_bits) == 0 && *ret_bits <= most)
			return 0;
		if (json_number_i64(reading->tape, token, &number) == 0 && number < 0 &&
			native_is_signed(type) && ~(uint64_t)number <= most) {
			*ret_bits = (uint64_t)number;
			return 0;
		}
	}
	return reading_refuse(reading, token,
		"must be an integer within the range of %s, which the function returns",
		native_type_name(type));
}

int reading_rule(struct reading *reading, uint32_t token, enum native_type type,
	enum native_errors *ret_rule, uint64_t *ret_number)
{
	static const char expected[] = "must be one of none, negative, nonzero, zero, null, errno, "
				       "gerror, {\"equals\": NUMBER}, {\"not_equals\": NUMBER}";
	static const char *const words[] = {
		[NATIVE_ERRORS_NONE] = "none",
		[NATIVE_ERRORS_NEGATIVE] = "negative",
		[NATIVE_ERRORS_NONZERO] = "nonzero",
		[NATIVE_ERRORS_ZERO] = "zero",
		[NATIVE_ERRORS_NULL] = "null",
		[NATIVE_ERRORS_ERRNO] = "errno",
		NULL,
	};
	const struct json_tape *tape = reading->tape;
	bool is_object = json_type_at(tape, token) == JSON_OBJECT && json_count(tape, token) == 1;
	uint32_t equals = is_object ? json_find(tape, token, "equals") : JSON_NONE;
	uint32_t others = is_object ? json_find(tape, token, "not_equals") : JSON_NONE;
	int word = reading_word(reading, token, words);

	if (word >= 0)
		*ret_rule = (enum native_errors)word;
	else if (json_is_text(tape, token, "gerror"))
		*ret_rule = NATIVE_ERRORS_GERROR;
	else if (equals == JSON_NONE && others == JSON_NONE)
		return is_object ? reading_refuse(reading, token, "%s", expected)
				 : reading_refuse_value(reading, token, expected);
	else
		*ret_rule = equals ? NATIVE_ERRORS_EQUALS : NATIVE_ERRORS_NOT_EQUALS;
	if (*ret_rule < NATIVE_ERRORS_EQUALS || *ret_rule == NATIVE_ERRORS_GERROR)
		return 0;
	if (!native_is_integer(type))
		return reading_refuse(reading, token,
			"'%s' needs an integer, and the function returns %s",
			native_errors_name(*ret_rule), native_type_name(type));
	return read_bits(reading, equals ? equals : others, type, ret_number);
}
