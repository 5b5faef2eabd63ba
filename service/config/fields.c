/* SPDX-License-Identifier: Apache-2.0 */
#include "config/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/number.h"
#include "util/cleanup.h"
#include "util/text/text.h"
#include "util/text/text_list.h"

uint32_t config_find(const struct json_tape *tape, uint32_t object, const char *path)
{
	uint32_t at = object;

	for (;;) {
		size_t size = strcspn(path, ".");
		uint32_t value = json_type_at(tape, at) == JSON_OBJECT
					 ? json_find_sized(tape, at, path, size)
					 : JSON_NONE;

		if (value == JSON_NONE || json_type_at(tape, value) == JSON_NULL)
			return JSON_NONE;
		if (path[size] == '\0')
			return value;
		at = value;
		path += size + 1;
	}
}

static bool read_flag(const struct json_tape *tape, uint32_t value, uint64_t fallback)
{
	return value == JSON_NONE ? fallback != 0 : json_type_at(tape, value) == JSON_TRUE;
}

static void read_number(const struct json_tape *tape, uint32_t value,
	const struct config_field *field, void *member)
{
	uint64_t number = field->fallback;

	if (value != JSON_NONE && json_type_at(tape, value) == JSON_NUMBER)
		(void)json_number_u64(tape, value, &number);
	if (field->size == sizeof(uint32_t))
		*(uint32_t *)member = (uint32_t)number;
	else
		*(uint64_t *)member = number;
}

static unsigned int read_word(
	const struct json_tape *tape, uint32_t value, const struct config_field *field)
{
	int word = json_word_at(tape, value, field->words);

	return word >= 0 ? (unsigned int)word : (unsigned int)field->fallback;
}

/* Add one trimmed string, unless it is empty or there already. */
static int add_trimmed(const struct json_tape *tape, uint32_t value, struct text_list *names)
{
	cleanup_free char *text = NULL;
	const char *name;

	if (json_type_at(tape, value) != JSON_STRING)
		return 0;
	text = json_string_dup(tape, value, NULL);
	if (!text)
		return -ENOMEM;
	name = text_trim(text);
	return *name && !text_list_has(names, name) ? text_list_add(names, name) : 0;
}

static int read_names(const struct json_tape *tape, uint32_t value, struct text_list *names)
{
	int r = 0;

	if (value == JSON_NONE || json_type_at(tape, value) != JSON_ARRAY)
		return 0;
	json_each_while(r == 0, i, tape, value)
		r = add_trimmed(tape, i, names);
	return r;
}

static int read_text_member(const struct json_tape *tape, uint32_t value, char **ret_text)
{
	if (value == JSON_NONE || json_type_at(tape, value) != JSON_STRING)
		return 0;
	*ret_text = json_string_dup(tape, value, NULL);
	return *ret_text ? 0 : -ENOMEM;
}

static int read_field(const struct json_tape *tape, uint32_t value,
	const struct config_field *field, void *record)
{
	void *member = (char *)record + field->offset;

	if (field->is_set > 0)
		*((bool *)record + field->is_set - 1) = value != JSON_NONE;
	switch (field->kind) {
	case CONFIG_FIELD_FLAG:
		*(bool *)member = read_flag(tape, value, field->fallback);
		return 0;
	case CONFIG_FIELD_INVERTED:
		*(bool *)member = !read_flag(tape, value, field->fallback);
		return 0;
	case CONFIG_FIELD_NUMBER:
		read_number(tape, value, field, member);
		return 0;
	case CONFIG_FIELD_WORD:
		*(unsigned int *)member = read_word(tape, value, field);
		return 0;
	case CONFIG_FIELD_TEXT:
		return read_text_member(tape, value, member);
	case CONFIG_FIELD_NAMES:
		return read_names(tape, value, member);
	}
	return 0;
}

/* The object around the last field with a path of several keys. */
struct section {
	const char *path; /* the path of a field in it */
	uint32_t object;
};

/* Return the value of the field @path of @object (JSON_NONE: of no object), or JSON_NONE. Fields in
 * a row are mostly in one section, which is looked for once. */
static uint32_t find_in_section(
	const struct json_tape *tape, uint32_t object, const char *path, struct section *section)
{
	const char *dot = strchr(path, '.');
	size_t size = dot ? (size_t)(dot - path) : 0;

	if (object == JSON_NONE || !dot)
		return object == JSON_NONE ? JSON_NONE : config_find(tape, object, path);
	if (strncmp(section->path, path, size + 1) != 0) {
		section->path = path;
		section->object = json_type_at(tape, object) == JSON_OBJECT
					  ? json_find_sized(tape, object, path, size)
					  : JSON_NONE;
	}
	return section->object == JSON_NONE ? JSON_NONE
					    : config_find(tape, section->object, dot + 1);
}

int config_fields_read(const struct json_tape *tape, uint32_t object,
	const struct config_field *fields, size_t n, void *record)
{
	struct section section = {.path = ""};
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = read_field(tape, find_in_section(tape, object, fields[i].path, &section),
			&fields[i], record);
	return r;
}

void config_fields_deinit(const struct config_field *fields, size_t n, void *record)
{
	for (size_t i = 0; i < n; i++) {
		void *member = (char *)record + fields[i].offset;

		if (fields[i].kind == CONFIG_FIELD_TEXT)
			free(take_ptr(*(char **)member));
		else if (fields[i].kind == CONFIG_FIELD_NAMES)
			text_list_deinit(member);
	}
}

int config_records_read(const struct json_tape *tape, uint32_t list,
	const struct config_field *fields, size_t n, size_t size, void **ret_records, size_t *ret_n)
{
	char *records;
	int r = 0;

	if (list == JSON_NONE || json_type_at(tape, list) != JSON_ARRAY)
		return 0;
	records = calloc(json_count(tape, list) + 1u, size);
	if (!records)
		return -ENOMEM;
	*ret_records = records;
	json_each_while(r == 0, i, tape, list)
		r = config_fields_read(tape, i, fields, n, records + size * (*ret_n)++);
	return r;
}

void config_records_free(
	const struct config_field *fields, size_t n, size_t size, void *records, size_t n_records)
{
	for (size_t i = 0; i < n_records; i++)
		config_fields_deinit(fields, n, (char *)records + i * size);
	free(records);
}
