/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/dialect.h"

#include <string.h>

#include "json/member.h"
#include "schema/compile/refuse.h"
#include "schema/compile/registry.h"
#include "util/array.h"

#define URI_2020_12  "https://json-schema.org/draft/2020-12/schema"
#define URI_07       "http://json-schema.org/draft-07/schema"
#define URI_07_HTTPS "https://json-schema.org/draft-07/schema"

/* A metaschema may itself be described by another, and so on, up to one of the two drafts. */
#define METASCHEMA_CHAIN_MAX 4

static const struct {
	const char *uri;
	enum keyword_vocabulary vocabulary;
} vocabularies[] = {
	{"https://json-schema.org/draft/2020-12/vocab/core", VOCABULARY_CORE},
	{"https://json-schema.org/draft/2020-12/vocab/applicator", VOCABULARY_APPLICATOR},
	{"https://json-schema.org/draft/2020-12/vocab/unevaluated", VOCABULARY_UNEVALUATED},
	{"https://json-schema.org/draft/2020-12/vocab/validation", VOCABULARY_VALIDATION},
	{"https://json-schema.org/draft/2020-12/vocab/meta-data", VOCABULARY_ANNOTATION},
	{"https://json-schema.org/draft/2020-12/vocab/content", VOCABULARY_ANNOTATION},
	{"https://json-schema.org/draft/2020-12/vocab/format-annotation", VOCABULARY_ANNOTATION},
	{"https://json-schema.org/draft/2020-12/vocab/format-assertion",
		VOCABULARY_FORMAT_ASSERTION},
};

/* The vocabularies that the object at @map of @tape, a `$vocabulary`, switches on. Returns false,
 * with *ret_unknown the key, when it requires an unknown vocabulary. */
static bool read_vocabularies(
	const struct json_tape *tape, uint32_t map, unsigned int *ret, uint32_t *ret_unknown)
{
	*ret = VOCABULARY_CORE;
	json_each_key(key, tape, map) {
		unsigned int found = 0;

		for (size_t i = 0; i < ARRAY_SIZE(vocabularies); i++) {
			const char *uri = vocabularies[i].uri;

			if (json_is_text(tape, key, uri))
				found = vocabularies[i].vocabulary;
		}
		if (found == 0 && json_is_true(tape, key + 1)) {
			*ret_unknown = key;
			return false;
		}
		*ret |= found;
	}
	return true;
}

/* Return the string at @token without the empty fragment, which many authors append. */
static int read_uri(const struct json_tape *tape, uint32_t token, struct buffer *ret)
{
	buffer_reset(ret);
	json_string_decode(tape, token, ret);
	if (ret->size > 0 && ret->data[ret->size - 1] == '#')
		ret->size--;
	buffer_terminate(ret);
	return buffer_status(ret);
}

/* Read @known, a registered metaschema: its vocabularies, and into @uri its own metaschema. */
static int follow_metaschema(struct library *library, const struct source *source, uint32_t token,
	const struct schema_resource *known, unsigned int *masked, struct buffer *uri)
{
	uint32_t map = json_find_typed_at(known->tape, known->root, "$vocabulary", JSON_OBJECT);
	uint32_t next = json_find_typed_at(known->tape, known->root, "$schema", JSON_STRING);
	uint32_t unknown;

	if (map != JSON_NONE && *masked == 0 &&
		!read_vocabularies(known->tape, map, masked, &unknown)) {
		cleanup_free char *name = json_string_dup(known->tape, unknown, NULL);

		return schema_refuse(library->error, source, token,
			"its metaschema '%s' requires the vocabulary '%s', which is unknown",
			known->uri, name ? name : "");
	}
	if (next == JSON_NONE) {
		buffer_reset(uri);
		buffer_append_string(
			uri, library->dialect.draft == DRAFT_07 ? URI_07 : URI_2020_12);
		buffer_terminate(uri);
		return buffer_status(uri);
	}
	return read_uri(known->tape, next, uri);
}

int dialect_find(struct library *library, const struct source *source, uint32_t token,
	struct dialect *ret_dialect)
{
	cleanup(buffer_deinit) struct buffer uri = {0};
	unsigned int masked = 0;
	int r;

	if (json_type_at(&source->tape, token) != JSON_STRING)
		return schema_refuse(library->error, source, token,
			"'$schema' must be a string, not %s",
			json_type_name(json_type_at(&source->tape, token)));
	r = read_uri(&source->tape, token, &uri);
	for (int hop = 0; r == 0 && hop < METASCHEMA_CHAIN_MAX; hop++) {
		const struct schema_resource *known;

		if (buffer_is(&uri, URI_2020_12) || buffer_is(&uri, URI_07) ||
			buffer_is(&uri, URI_07_HTTPS)) {
			ret_dialect->draft =
				buffer_is(&uri, URI_2020_12) ? DRAFT_2020_12 : DRAFT_07;
			ret_dialect->vocabularies = masked ? masked : VOCABULARY_ALL;
			return 0;
		}
		known = registry_find(library->options, uri.data, uri.size);
		if (!known || json_type_at(known->tape, known->root) != JSON_OBJECT)
			break;
		r = follow_metaschema(library, source, token, known, &masked, &uri);
	}
	if (r != 0)
		return r;
	return schema_refuse(library->error, source, token,
		"the dialect '%s' is unknown; use " URI_2020_12 " or " URI_07 "#", uri.data);
}
