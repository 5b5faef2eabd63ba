/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/registry.h"

#include <string.h>

#include "schema/compile/uri.h"
#include "util/array.h"

/* The files of metaschemas/ (published by json-schema.org, under metaschemas/LICENSE; their
 * $comments left out), made into arrays by CMakeLists.txt. */
extern const char metaschema_2020_12[];
extern const char metaschema_2020_12_applicator[];
extern const char metaschema_2020_12_content[];
extern const char metaschema_2020_12_core[];
extern const char metaschema_2020_12_format_annotation[];
extern const char metaschema_2020_12_format_assertion[];
extern const char metaschema_2020_12_meta_data[];
extern const char metaschema_2020_12_unevaluated[];
extern const char metaschema_2020_12_validation[];
extern const char metaschema_draft_07[];

#define META_2020_12 "https://json-schema.org/draft/2020-12/meta/"

static const struct {
	const char *uri;
	const char *text;
} metaschemas[] = {
	{"https://json-schema.org/draft/2020-12/schema", metaschema_2020_12},
	{META_2020_12 "applicator", metaschema_2020_12_applicator},
	{META_2020_12 "content", metaschema_2020_12_content},
	{META_2020_12 "core", metaschema_2020_12_core},
	{META_2020_12 "format-annotation", metaschema_2020_12_format_annotation},
	{META_2020_12 "format-assertion", metaschema_2020_12_format_assertion},
	{META_2020_12 "meta-data", metaschema_2020_12_meta_data},
	{META_2020_12 "unevaluated", metaschema_2020_12_unevaluated},
	{META_2020_12 "validation", metaschema_2020_12_validation},
	{"http://json-schema.org/draft-07/schema", metaschema_draft_07},
};

const struct schema_resource *registry_find(
	const struct schema_options *options, const char *uri, size_t size)
{
	for (size_t i = 0; i < options->n_resources; i++) {
		const struct schema_resource *known = &options->resources[i];

		if (size > 0 && uri_fragment(known->uri, strlen(known->uri)) == size &&
			memcmp(known->uri, uri, size) == 0)
			return known;
	}
	return NULL;
}

const char *registry_metaschema(const char *uri, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(metaschemas); i++) {
		if (text_is(uri, size, metaschemas[i].uri))
			return metaschemas[i].text;
	}
	return NULL;
}
