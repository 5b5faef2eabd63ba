/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema/compile/children.h"
#include "schema/compile/dialect.h"
#include "schema/compile/refuse.h"
#include "schema/compile/uri.h"
#include "schema/node.h"
#include "util/array.h"

/* The state of the walk over one source. */
struct walk {
	struct library *library;
	struct source *source;
	uint32_t resource; /* in which the walk is */
	unsigned int depth;
};

static int add_resource(struct library *library, const struct resource *resource)
{
	if (array_grow(library->resources, library->n_resources) < 0)
		return -ENOMEM;
	library->resources[library->n_resources] = *resource;
	resource->source->resources[resource->token] = ++library->n_resources;
	return 0;
}

/* Let @uri lead to the resource @index. When two have one URI, the first keeps it. */
static int name_resource(struct library *library, const char *uri, uint32_t index)
{
	int r = map_add(&library->by_uri, uri, strlen(uri), index);

	return r == -EEXIST ? 0 : r;
}

/* Find the index of the @name of dynamic anchors; add a new name. 0 or -ENOMEM. */
static int find_name(struct library *library, const char *name, uint32_t *ret_index)
{
	int r = map_add(&library->by_name, name, strlen(name), library->n_names);

	if (r == -EEXIST) {
		*ret_index = map_find(&library->by_name, name, strlen(name));
		return 0;
	}
	if (r < 0)
		return r;
	if (array_grow(library->names, library->n_names) < 0)
		return -ENOMEM;
	library->names[library->n_names] = (struct dynamic_name){0};
	*ret_index = library->n_names++;
	return 0;
}

/* Mark the newest anchor as dynamic. */
static int add_dynamic(const struct walk *walk, uint32_t schema)
{
	struct library *library = walk->library;
	struct anchor *anchor = &library->anchors[library->n_anchors - 1];
	struct dynamic_anchor *dynamic = arena_alloc(library->arena, sizeof(*dynamic));

	if (!dynamic || find_name(library, anchor->name, &anchor->dynamic_name) < 0)
		return -ENOMEM;
	if (++library->n_dynamics > SCHEMA_DYNAMIC_MAX)
		return schema_refuse(library->error, walk->source, schema,
			"a schema may hold at most %d '$dynamicAnchor'", SCHEMA_DYNAMIC_MAX);
	dynamic->anchor = library->n_anchors - 1;
	dynamic->next = library->dynamics;
	library->dynamics = dynamic;
	return 0;
}

static int add_anchor(
	const struct walk *walk, uint32_t schema, const char *name, size_t size, bool is_dynamic)
{
	struct library *library = walk->library;
	size_t before = sizeof(walk->resource);
	char *key = arena_alloc(library->arena, before + size + 1);
	int r;

	if (!key || array_grow(library->anchors, library->n_anchors) < 0)
		return -ENOMEM;
	memcpy(key, &walk->resource, before);
	if (size > 0)
		memcpy(key + before, name, size);
	library->anchors[library->n_anchors] = (struct anchor){.name = key + before,
		.place = {walk->source, schema, walk->resource},
		.is_dynamic = is_dynamic};
	r = map_add(&library->by_anchor, key, before + size, library->n_anchors);
	if (r == -EEXIST)
		return schema_refuse(library->error, walk->source, schema,
			"the anchor '%s' is given twice in one schema resource", key + before);
	library->n_anchors++;
	return r == 0 && is_dynamic ? add_dynamic(walk, schema) : r;
}

/* The string member @name of the object at @schema, decoded into @ret; JSON_NONE in @ret_token
 * where it is absent. */
static int get_string(const struct walk *walk, uint32_t schema, const char *name,
	struct buffer *ret, uint32_t *ret_token)
{
	const struct json_tape *tape = &walk->source->tape;
	uint32_t token = json_find(tape, schema, name);

	*ret_token = token;
	if (token == JSON_NONE)
		return 0;
	if (json_type_at(tape, token) != JSON_STRING)
		return schema_refuse(walk->library->error, walk->source, token,
			"'%s' must be a string, not %s", name,
			json_type_name(json_type_at(tape, token)));
	json_string_decode(tape, token, ret);
	buffer_terminate(ret);
	return buffer_status(ret);
}

static int read_anchors(const struct walk *walk, uint32_t schema)
{
	static const char *const names[] = {"$anchor", "$dynamicAnchor"};

	for (int i = 0; i < 2; i++) {
		cleanup(buffer_deinit) struct buffer name = {0};
		uint32_t token;
		int r = get_string(walk, schema, names[i], &name, &token);

		if (r == 0 && token != JSON_NONE)
			r = add_anchor(walk, schema, name.data, name.size, i == 1);
		if (r != 0)
			return r;
	}
	return 0;
}

/* Start a resource at @schema, whose URI is @id taken from where the walk is. */
static int enter_resource(struct walk *walk, uint32_t schema, const struct buffer *id)
{
	struct library *library = walk->library;
	const char *base = library->resources[walk->resource].uri;
	struct resource resource = {.source = walk->source, .token = schema};
	cleanup(buffer_deinit) struct buffer uri = {0};
	uint32_t dialect_token = json_find(&walk->source->tape, schema, "$schema");
	int r;

	resource.dialect = library->resources[walk->resource].dialect;
	uri_resolve(&uri, base, strlen(base), id->data, id->size);
	if (buffer_status(&uri) < 0)
		return buffer_status(&uri);
	if (uri.size > SCHEMA_URI_BYTES_MAX)
		return schema_refuse(library->error, walk->source, schema,
			"the URI of a schema may have at most %d bytes", SCHEMA_URI_BYTES_MAX);
	resource.uri = arena_copy(library->arena, buffer_text(&uri), uri.size);
	if (!resource.uri)
		return -ENOMEM;
	if (dialect_token != JSON_NONE) {
		r = dialect_find(library, walk->source, dialect_token, &resource.dialect);
		if (r != 0)
			return r;
	}
	if (schema == 0) {
		library->resources[walk->resource].uri = resource.uri;
		return name_resource(library, resource.uri, walk->resource);
	}
	if (library->n_resources >= SCHEMA_RESOURCES_MAX)
		return schema_refuse(library->error, walk->source, schema,
			"a schema may hold at most %d with an '$id' of their own",
			SCHEMA_RESOURCES_MAX);
	r = add_resource(library, &resource);
	if (r < 0)
		return r;
	walk->resource = library->n_resources - 1;
	return name_resource(library, resource.uri, walk->resource);
}

/* Apply `$id` at @schema. In draft-07 an `$id` of only a fragment is an anchor, and an `$id` beside
 * `$ref` is ignored, like every keyword there. */
static int read_id(struct walk *walk, uint32_t schema)
{
	cleanup(buffer_deinit) struct buffer id = {0};
	bool is_old = walk->library->resources[walk->resource].dialect.draft == DRAFT_07;
	uint32_t token;
	size_t hash;
	int r;

	if (is_old && json_find(&walk->source->tape, schema, "$ref") != JSON_NONE)
		return 0;
	r = get_string(walk, schema, "$id", &id, &token);
	if (r != 0 || token == JSON_NONE)
		return r;
	hash = uri_fragment(id.data, id.size);
	if (!is_old && hash + 1 < id.size)
		return schema_refuse(walk->library->error, walk->source, token,
			"'$id' must have no fragment; a place is named with '$anchor'");
	if (hash > 0 || id.size == 0) {
		r = enter_resource(walk, schema, &id);
		if (r != 0)
			return r;
	}
	if (hash + 1 < id.size && id.data[hash + 1] != '/')
		return add_anchor(walk, schema, id.data + hash + 1, id.size - hash - 1, false);
	return 0;
}

static int walk_schema(struct walk *walk, uint32_t schema);

static int walk_subschema(void *userdata, uint32_t schema)
{
	struct walk inner = *(const struct walk *)userdata;

	return walk_schema(&inner, schema);
}

static int walk_schema(struct walk *walk, uint32_t schema)
{
	const struct json_tape *tape = &walk->source->tape;
	int r;

	if (json_type_at(tape, schema) != JSON_OBJECT)
		return 0;
	if (++walk->depth > SCHEMA_DEPTH_MAX)
		return schema_refuse(walk->library->error, walk->source, schema,
			"schemas are nested more than %d deep", SCHEMA_DEPTH_MAX);
	r = read_id(walk, schema);
	if (r == 0 && walk->library->resources[walk->resource].dialect.draft == DRAFT_2020_12)
		r = read_anchors(walk, schema);
	json_each_key_while(r == 0, key, tape, schema) {
		enum keyword keyword =
			keyword_find(tape, key, &walk->library->resources[walk->resource].dialect);

		if (keyword != KEYWORD_NONE)
			r = keyword_visit_subschemas(tape, keyword, key + 1, walk_subschema, walk);
	}
	return r;
}

int library_add(struct library *library, const char *uri, const struct json_tape *tape,
	uint32_t root, struct place *ret_place)
{
	struct source *source = source_new(library->arena, uri, tape, root);
	struct resource resource = {.uri = uri, .source = source, .dialect = library->dialect};
	struct walk walk = {library, source, library->n_resources, 0};
	uint32_t dialect_token;
	int r;

	if (!source)
		return -ENOMEM;
	source->next = library->sources;
	library->sources = source;
	dialect_token = json_type_at(&source->tape, 0) == JSON_OBJECT
				? json_find(&source->tape, 0, "$schema")
				: JSON_NONE;
	if (dialect_token != JSON_NONE) {
		r = dialect_find(library, source, dialect_token, &resource.dialect);
		if (r != 0)
			return r;
	}
	*ret_place = (struct place){source, 0, library->n_resources};
	r = add_resource(library, &resource);
	if (r == 0)
		r = name_resource(library, uri, walk.resource);
	return r == 0 ? walk_schema(&walk, 0) : r;
}

void library_deinit(struct library *library)
{
	for (struct source *source = library->sources; source; source = source->next)
		children_deinit(source);
	map_deinit(&library->by_uri);
	map_deinit(&library->by_anchor);
	map_deinit(&library->by_name);
	free(library->names);
	free(library->resources);
	free(library->anchors);
}
