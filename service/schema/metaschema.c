/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/metaschema.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "schema/dialect.h"
#include "schema/validate.h"

/*
 * The two metaschemas, compiled when they are first needed and kept as long as the process lives:
 * they are immutable and the same for everybody.
 */
static pthread_mutex_t metaschemas_lock = PTHREAD_MUTEX_INITIALIZER;
static struct schema *metaschema_07;
static struct schema *metaschema_2020_12;

static int compile_metaschema(const char *uri, struct schema **ret)
{
	static const struct schema_options trusted = {.is_trusted = true};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t size;
	const char *text = dialect_metaschema(uri, strlen(uri), &size);
	int r = json_tape_read(&tape, text, size, JSON_DEPTH_DEFAULT, NULL);

	return r == 0 ? schema_compile(&tape, 0, &trusted, ret, &error) : r;
}

/* The metaschema of @draft; NULL without memory. */
static const struct schema *get_metaschema(enum keyword_draft draft)
{
	bool is_old = draft == DRAFT_07;
	struct schema **schema = is_old ? &metaschema_07 : &metaschema_2020_12;

	pthread_mutex_lock(&metaschemas_lock);
	if (!*schema)
		compile_metaschema(is_old ? "http://json-schema.org/draft-07/schema"
					  : "https://json-schema.org/draft/2020-12/schema",
			schema);
	pthread_mutex_unlock(&metaschemas_lock);
	return *schema;
}

int metaschema_check(
	enum keyword_draft draft, const struct json_tape *tape, struct schema_report *ret_report)
{
	cleanup(schema_context_cleanup) struct schema_context *context = schema_context_new();
	const struct schema *schema = get_metaschema(draft);
	int r;

	if (!context || !schema)
		return -ENOMEM;
	/* Metaschemas look at every keyword once: a long schema is no reason to refuse it. */
	context->is_linear = true;
	r = schema_validate(schema, context, tape, 0);
	if (r != SCHEMA_E_INVALID)
		return r;
	r = schema_explain(schema, context, tape, 0, ret_report);
	return r < 0 ? r : SCHEMA_E_INVALID;
}
