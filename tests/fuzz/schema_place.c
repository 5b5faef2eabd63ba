/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_place.h"

#include <stdio.h>
#include <string.h>

uint32_t place_resource(const struct json_tape *tape, bool is_old, uint32_t schema)
{
	uint32_t root = 0;

	for (uint32_t i = 0; i <= schema; i++) {
		if (json_type_at(tape, i) == JSON_OBJECT && schema < json_end(tape, i) &&
			json_find(tape, i, "$id") != JSON_NONE &&
			!(is_old && json_find(tape, i, "$ref") != JSON_NONE))
			root = i;
	}
	return root;
}

bool place_find_anchor(const struct json_tape *tape, bool is_old, uint32_t root, const char *key,
	const char *name, uint32_t *ret)
{
	for (uint32_t i = root; i < json_end(tape, root); i++) {
		uint32_t anchor =
			json_type_at(tape, i) == JSON_OBJECT ? json_find(tape, i, key) : JSON_NONE;

		if (anchor != JSON_NONE && json_type_at(tape, anchor) == JSON_STRING &&
			json_string_equals(tape, anchor, name, strlen(name)) &&
			place_resource(tape, is_old, i) == root) {
			*ret = i;
			return true;
		}
	}
	return false;
}

bool place_resolve(
	const struct json_tape *tape, bool is_old, uint32_t from, const char *text, uint32_t *ret)
{
	const char *hash = strchr(text, '#');
	size_t id_size = hash ? (size_t)(hash - text) : strlen(text);
	uint32_t root = place_resource(tape, is_old, from);
	char key[16];
	char name[16];

	if (id_size > 0) {
		bool is_found = false;

		for (uint32_t i = 0; i < tape->count && !is_found; i++) {
			uint32_t id = json_type_at(tape, i) == JSON_OBJECT
					      ? json_find(tape, i, "$id")
					      : JSON_NONE;

			is_found = id != JSON_NONE && json_type_at(tape, id) == JSON_STRING &&
				   json_string_equals(tape, id, text, id_size);
			if (is_found)
				root = i;
		}
		if (!is_found)
			return false;
	}
	*ret = root;
	if (!hash || hash[1] == '\0')
		return true;
	if (sscanf(hash, "#/%15[^/]/%15[^/]", key, name) == 2) {
		uint32_t map = json_find(tape, root, key);

		*ret = map != JSON_NONE && json_type_at(tape, map) == JSON_OBJECT
			       ? json_find(tape, map, name)
			       : JSON_NONE;
		return *ret != JSON_NONE;
	}
	return place_find_anchor(tape, is_old, root, "$anchor", hash + 1, ret) ||
	       place_find_anchor(tape, is_old, root, "$dynamicAnchor", hash + 1, ret);
}
