/* SPDX-License-Identifier: Apache-2.0 */
#include "json/document.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A cJSON tree, made only from text checked by the reader.
 *
 * cJSON's numbers are doubles and its strings end at a NUL, so numbers, and strings with U+0000,
 * are kept as cJSON_Raw: their own text, printed unchanged. Its functions recurse, as ours do here,
 * so no document is deeper than JSON_DOCUMENT_DEPTH_MAX.
 */

struct document {
	cJSON *root;
};

static void cjson_cleanup(cJSON **item)
{
	cJSON_Delete(*item);
}

/* Return the bytes of the value at @index, unchanged. */
static cJSON *make_raw(const struct json_tape *tape, uint32_t index)
{
	size_t size;
	const char *text = json_value_text(tape, index, &size);
	cleanup_free char *copy = strndup(text, size);

	return copy ? cJSON_CreateRaw(copy) : NULL;
}

static cJSON *make_string(const struct json_tape *tape, uint32_t index)
{
	size_t size;
	cleanup_free char *text = json_string_dup(tape, index, &size);

	if (!text)
		return NULL;
	return strlen(text) == size ? cJSON_CreateString(text) : make_raw(tape, index);
}

static cJSON *make_value(const struct json_tape *tape, uint32_t index, uint32_t depth_left);

static cJSON *make_array(const struct json_tape *tape, uint32_t index, uint32_t depth_left)
{
	cleanup(cjson_cleanup) cJSON *array = cJSON_CreateArray();

	if (!array)
		return NULL;
	json_each(i, tape, index) {
		cJSON *element = make_value(tape, i, depth_left);

		if (!element)
			return NULL;
		cJSON_AddItemToArray(array, element);
	}
	return take_ptr(array);
}

static cJSON *make_object(const struct json_tape *tape, uint32_t index, uint32_t depth_left)
{
	cleanup(cjson_cleanup) cJSON *object = cJSON_CreateObject();

	if (!object)
		return NULL;
	json_each_key(i, tape, index) {
		cleanup_free char *key = json_string_dup(tape, i, NULL);
		cleanup(cjson_cleanup) cJSON *value = NULL;

		if (!key)
			return NULL;
		value = make_value(tape, i + 1, depth_left);
		if (!value || !cJSON_AddItemToObject(object, key, value))
			return NULL;
		value = NULL;
	}
	return take_ptr(object);
}

static cJSON *make_value(const struct json_tape *tape, uint32_t index, uint32_t depth_left)
{
	switch (json_type_at(tape, index)) {
	case JSON_NULL:
		return cJSON_CreateNull();
	case JSON_FALSE:
		return cJSON_CreateFalse();
	case JSON_TRUE:
		return cJSON_CreateTrue();
	case JSON_NUMBER:
		return make_raw(tape, index);
	case JSON_STRING:
		return make_string(tape, index);
	case JSON_ARRAY:
		return depth_left > 0 ? make_array(tape, index, depth_left - 1) : NULL;
	case JSON_OBJECT:
		return depth_left > 0 ? make_object(tape, index, depth_left - 1) : NULL;
	}
	return NULL;
}

/* A document, the owner of @root, also on failure. */
static struct document *make_document(cJSON *root)
{
	struct document *document = root ? malloc(sizeof(*document)) : NULL;

	if (!document) {
		cJSON_Delete(root);
		return NULL;
	}
	document->root = root;
	return document;
}

struct document *document_new(void)
{
	return make_document(cJSON_CreateObject());
}

struct document *document_from_tape(const struct json_tape *tape, uint32_t index)
{
	return make_document(make_value(tape, index, JSON_DOCUMENT_DEPTH_MAX));
}

void document_free(struct document *document)
{
	if (!document)
		return;
	cJSON_Delete(document->root);
	free(document);
}

/* Make @value, which is taken, the member @key of @object, in the place of an earlier value. */
static int put_member(cJSON *object, const char *key, cJSON *value)
{
	bool is_put;

	if (!value)
		return -ENOMEM;
	if (cJSON_GetObjectItemCaseSensitive(object, key))
		is_put = cJSON_ReplaceItemInObjectCaseSensitive(object, key, value);
	else
		is_put = cJSON_AddItemToObject(object, key, value);
	if (is_put)
		return 0;
	cJSON_Delete(value);
	return -ENOMEM;
}

/* Go from @object to the object in its member @key; make a missing object. 0, -ENOTDIR or
 * -ENOMEM. */
static int descend(cJSON **object, const char *key)
{
	cJSON *member = cJSON_GetObjectItemCaseSensitive(*object, key);

	if (member && !cJSON_IsObject(member) && !cJSON_IsNull(member))
		return -ENOTDIR;
	if (!cJSON_IsObject(member) && put_member(*object, key, cJSON_CreateObject()) < 0)
		return -ENOMEM;
	*object = cJSON_GetObjectItemCaseSensitive(*object, key);
	return 0;
}

/* The containers around the member @path, the root counted. */
static size_t path_depth(const char *path)
{
	size_t depth = 1;

	for (; *path; path++)
		depth += *path == '.';
	return depth;
}

int document_set(struct document *document, const char *path, const char *json, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *keys = strdup(path);
	cJSON *object = document->root;
	size_t depth = path_depth(path);
	char *key = keys;
	char *dot;
	int r = JSON_E_DEPTH;

	if (!keys)
		return -ENOMEM;
	if (depth <= JSON_DOCUMENT_DEPTH_MAX)
		r = json_tape_read(
			&tape, json, size, (uint32_t)(JSON_DOCUMENT_DEPTH_MAX - depth), NULL);
	for (; r == 0 && (dot = strchr(key, '.')); key = dot + 1) {
		*dot = '\0';
		r = descend(&object, key);
	}
	return r ? r
		 : put_member(object, key,
			   make_value(&tape, 0, (uint32_t)(JSON_DOCUMENT_DEPTH_MAX - depth)));
}

void document_write(const struct document *document, struct buffer *out)
{
	char *text;

	if (buffer_status(out) != 0)
		return;
	text = cJSON_PrintUnformatted(document->root);
	if (!text) {
		out->error = -ENOMEM;
		return;
	}
	buffer_append_string(out, text);
	cJSON_free(text);
}
