/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/plugin/values.h"

#include <stdlib.h>
#include <string.h>

#include "json/number.h"
#include "util/buffer.h"

/* A text returned to the plugin. */
struct plugin_text {
	struct plugin_text *next;
	size_t size;
	char *text;
};

int plugin_values_read(struct plugin_values *values, const char *json, size_t size)
{
	return json_tape_read(&values->tape, json, size, JSON_DEPTH_DEFAULT, NULL);
}

void plugin_values_reset(struct plugin_values *values)
{
	while (values->texts) {
		struct plugin_text *text = values->texts;

		values->texts = text->next;
		free(text->text);
		free(text);
	}
	free(values->by_token);
	values->by_token = NULL;
	values->is_short = false;
	values->cursors = (struct json_cursors){0};
	values->tape.count = 0;
}

/* Return whether there is a value at @key, even null. */
static bool find_by_key(struct plugin_values *values, const char *key, uint32_t *ret_token)
{
	const struct json_tape *tape = &values->tape;

	if (tape->count == 0 || !key)
		return false;
	if (*key == '\0' || *key == '/')
		return json_pointer_find(tape, key, &values->cursors, ret_token);
	if (json_type_at(tape, 0) != JSON_OBJECT)
		return false;
	*ret_token = json_find(tape, 0, key);
	return *ret_token != JSON_NONE;
}

/* Find a value of the type @wanted. */
static int find_of_type(
	struct plugin_values *values, const char *key, enum json_type wanted, uint32_t *ret_token)
{
	if (!find_by_key(values, key, ret_token) ||
		json_type_at(&values->tape, *ret_token) == JSON_NULL)
		return TOOLBOX_E_ABSENT;
	return json_type_at(&values->tape, *ret_token) == wanted ? TOOLBOX_OK : TOOLBOX_E_TYPE;
}

static int number_status(int r)
{
	if (r == JSON_E_RANGE)
		return TOOLBOX_E_RANGE;
	return r ? TOOLBOX_E_TYPE : TOOLBOX_OK;
}

enum toolbox_type plugin_values_type(struct plugin_values *values, const char *key)
{
	uint32_t token;

	if (!find_by_key(values, key, &token))
		return TOOLBOX_ABSENT;
	switch (json_type_at(&values->tape, token)) {
	case JSON_NULL:
		return TOOLBOX_NULL;
	case JSON_FALSE:
	case JSON_TRUE:
		return TOOLBOX_BOOL;
	case JSON_NUMBER:
		return TOOLBOX_NUMBER;
	case JSON_STRING:
		return TOOLBOX_STRING;
	case JSON_ARRAY:
		return TOOLBOX_ARRAY;
	case JSON_OBJECT:
		return TOOLBOX_OBJECT;
	}
	return TOOLBOX_ABSENT;
}

int plugin_values_get_bool(struct plugin_values *values, const char *key, bool *ret)
{
	enum toolbox_type type = plugin_values_type(values, key);
	uint32_t token;

	if (type != TOOLBOX_BOOL)
		return type > TOOLBOX_NULL ? TOOLBOX_E_TYPE : TOOLBOX_E_ABSENT;
	find_by_key(values, key, &token);
	*ret = json_is_true(&values->tape, token);
	return TOOLBOX_OK;
}

int plugin_values_get_i64(struct plugin_values *values, const char *key, int64_t *ret)
{
	uint32_t token;
	int r = find_of_type(values, key, JSON_NUMBER, &token);

	return r ? r : number_status(json_number_i64(&values->tape, token, ret));
}

int plugin_values_get_u64(struct plugin_values *values, const char *key, uint64_t *ret)
{
	uint32_t token;
	int r = find_of_type(values, key, JSON_NUMBER, &token);

	return r ? r : number_status(json_number_u64(&values->tape, token, ret));
}

int plugin_values_get_double(struct plugin_values *values, const char *key, double *ret)
{
	uint32_t token;
	int r = find_of_type(values, key, JSON_NUMBER, &token);

	return r ? r : number_status(json_number_f64(&values->tape, token, ret));
}

int plugin_values_get_count(struct plugin_values *values, const char *key, uint32_t *ret)
{
	enum toolbox_type type = plugin_values_type(values, key);
	uint32_t token;

	if (type <= TOOLBOX_NULL)
		return TOOLBOX_E_ABSENT;
	if (type < TOOLBOX_ARRAY)
		return TOOLBOX_E_TYPE;
	find_by_key(values, key, &token);
	*ret = json_count(&values->tape, token);
	return TOOLBOX_OK;
}

/* Return a copy of the value's own text (@is_json), or of the string in it. */
static char *copy_text(const struct json_tape *tape, uint32_t token, bool is_json, size_t *ret_size)
{
	struct buffer copy = {0};
	const char *json;
	size_t size;

	if (!is_json)
		return json_string_dup(tape, token, ret_size);
	json = json_value_text(tape, token, &size);
	buffer_append(&copy, json, size);
	return buffer_take(&copy, ret_size);
}

static struct plugin_text *new_text(const struct json_tape *tape, uint32_t token, bool is_json)
{
	struct plugin_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->text = copy_text(tape, token, is_json, &text->size);
	if (text->text)
		return text;
	free(text);
	return NULL;
}

/* Return the text of the token, copied at its first request; NULL without memory. */
static const struct plugin_text *text_of(struct plugin_values *values, uint32_t token, bool is_json)
{
	struct plugin_text **place;

	if (!values->by_token)
		values->by_token = calloc(values->tape.count, 2 * sizeof(*values->by_token));
	if (!values->by_token)
		return NULL;
	place = &values->by_token[2 * (size_t)token + is_json];
	if (*place)
		return *place;
	*place = new_text(&values->tape, token, is_json);
	if (!*place)
		return NULL;
	(*place)->next = values->texts;
	values->texts = *place;
	return *place;
}

static int give_text(struct plugin_values *values, uint32_t token, bool is_json, const char **ret,
	size_t *ret_size)
{
	const struct plugin_text *text = text_of(values, token, is_json);

	values->is_short = values->is_short || !text;
	if (!text)
		return TOOLBOX_E_MEMORY;
	*ret = text->text;
	if (ret_size)
		*ret_size = text->size;
	return TOOLBOX_OK;
}

int plugin_values_get_string(
	struct plugin_values *values, const char *key, const char **ret, size_t *ret_size)
{
	uint32_t token;
	int r = find_of_type(values, key, JSON_STRING, &token);

	return r ? r : give_text(values, token, false, ret, ret_size);
}

int plugin_values_get_json(
	struct plugin_values *values, const char *key, const char **ret, size_t *ret_size)
{
	uint32_t token;

	if (!find_by_key(values, key, &token))
		return TOOLBOX_E_ABSENT;
	return give_text(values, token, true, ret, ret_size);
}
