/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/reference.h"

#include <errno.h>
#include <string.h>

#include "schema/compile/children.h"
#include "schema/compile/refuse.h"
#include "schema/compile/registry.h"
#include "schema/compile/uri.h"

/*
 * How a reference is resolved (core section 8.2, RFC 3986, RFC 6901):
 *
 *   "item.json#/$defs/a"   taken from a resource called http://x/y/z
 *      │         └──────── fragment: "" the root, "/…" a JSON Pointer, else an anchor
 *      └── http://x/y/item.json: a resource known by now, or a registered document, or a
 *          built-in metaschema, added then
 */

/* Add the document called @uri from what was registered or is built in. */
static int add_known(struct library *library, const struct buffer *uri, struct place *ret_place)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const struct schema_resource *known = registry_find(library->options, uri->data, uri->size);
	const char *copy = arena_copy(library->arena, uri->data, uri->size);
	const char *text;
	int r;

	if (!copy)
		return -ENOMEM;
	if (known)
		return library_add(library, copy, known->tape, known->root, ret_place);
	text = registry_metaschema(uri->data, uri->size);
	if (!text)
		return -ENOENT;
	r = json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL);
	return r == 0 ? library_add(library, copy, &tape, 0, ret_place) : r;
}

/* The root of the resource called @uri. 0, -ENOENT, SCHEMA_E_REFUSED, -ENOMEM. */
static int find_resource(struct library *library, const struct buffer *uri, struct place *ret_place)
{
	uint32_t index = map_find(&library->by_uri, buffer_text(uri), uri->size);

	if (index == MAP_NONE)
		return uri->size > 0 ? add_known(library, uri, ret_place) : -ENOENT;
	*ret_place = (struct place){
		library->resources[index].source, library->resources[index].token, index};
	return 0;
}

/* One token of a JSON Pointer (RFC 6901 section 4) without its ~ escapes. */
static void decode_pointer(const char *bytes, size_t size, struct buffer *out)
{
	for (size_t i = 0; i < size; i++) {
		char c = bytes[i];

		if (c == '~' && i + 1 < size && (bytes[i + 1] == '0' || bytes[i + 1] == '1')) {
			i++;
			c = '~';
			if (bytes[i] == '1')
				c = '/';
		}
		buffer_append_char(out, c);
	}
}

/* Follow a JSON Pointer from @place; the resource changes where the way enters an embedded one.
 * 0, -ENOENT, -ENOMEM. */
static int follow_pointer(const char *pointer, size_t size, struct place *place)
{
	cleanup(buffer_deinit) struct buffer token = {0};
	size_t at = 0;

	while (at < size) {
		size_t start = ++at; /* after the slash */
		uint32_t child;
		int r;

		while (at < size && pointer[at] != '/')
			at++;
		buffer_reset(&token);
		decode_pointer(pointer + start, at - start, &token);
		if (!buffer_terminate(&token))
			return -ENOMEM;
		r = children_find(place->source, place->token, token.data, token.size, &child);
		if (r < 0)
			return r;
		if (child == JSON_NONE)
			return -ENOENT;
		place->token = child;
		if (place->source->resources[child] != 0)
			place->resource = place->source->resources[child] - 1;
	}
	return 0;
}

/* From the root of a resource to what the decoded @fragment of a reference names there. 0, -ENOENT,
 * -ENOMEM. */
static int follow_fragment(const struct library *library, const struct buffer *fragment,
	struct place *place, uint32_t *ret_anchor)
{
	cleanup(buffer_deinit) struct buffer key = {0};
	uint32_t anchor;

	if (fragment->size == 0)
		return 0;
	if (fragment->data[0] == '/')
		return follow_pointer(fragment->data, fragment->size, place);
	buffer_append(&key, (const char *)&place->resource, sizeof(place->resource));
	buffer_append(&key, fragment->data, fragment->size);
	if (buffer_status(&key) < 0)
		return buffer_status(&key);
	anchor = map_find(&library->by_anchor, key.data, key.size);
	if (anchor == MAP_NONE)
		return -ENOENT;
	*place = library->anchors[anchor].place;
	*ret_anchor = anchor;
	return 0;
}

static bool is_schema(const struct place *place)
{
	enum json_type type = json_type_at(&place->source->tape, place->token);

	return type == JSON_OBJECT || type == JSON_TRUE || type == JSON_FALSE;
}

int reference_resolve(struct library *library, uint32_t resource, const struct source *source,
	uint32_t token, struct place *ret_place, uint32_t *ret_anchor)
{
	cleanup(buffer_deinit) struct buffer reference = {0};
	cleanup(buffer_deinit) struct buffer uri = {0};
	cleanup(buffer_deinit) struct buffer fragment = {0};
	const char *base = library->resources[resource].uri;
	uint32_t anchor = MAP_NONE;
	size_t hash;
	int r;

	json_string_decode(&source->tape, token, &reference);
	if (!buffer_terminate(&reference))
		return -ENOMEM;
	hash = uri_fragment(reference.data, reference.size);
	uri_resolve(&uri, base, strlen(base), reference.data, hash);
	if (hash + 1 < reference.size)
		uri_decode(&fragment, reference.data + hash + 1, reference.size - hash - 1);
	if (buffer_status(&uri) < 0 || buffer_status(&fragment) < 0)
		return -ENOMEM;
	r = find_resource(library, &uri, ret_place);
	if (r == -ENOENT)
		return schema_refuse(library->error, source, token,
			"'%s' refers to '%.*s', which is not registered; nothing is ever fetched",
			reference.data, (int)uri.size, buffer_text(&uri));
	if (r != 0)
		return r;
	r = follow_fragment(library, &fragment, ret_place, &anchor);
	if (r == -ENOENT)
		return schema_refuse(library->error, source, token,
			"'%s' refers to nothing: there is no such place in the schema",
			reference.data);
	if (r != 0)
		return r;
	if (!is_schema(ret_place))
		return schema_refuse(library->error, source, token,
			"'%s' must refer to a schema, but leads to %s", reference.data,
			json_type_name(json_type_at(&ret_place->source->tape, ret_place->token)));
	if (ret_anchor)
		*ret_anchor = anchor;
	return 0;
}
