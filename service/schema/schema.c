/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/schema.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "json/pointer.h"
#include "regex/pattern.h"
#include "schema/compile/compile.h"
#include "schema/compile/registry.h"
#include "schema/words/explain.h"
#include "schema/validate.h"
#include "util/clock.h"

/* The time to check all defaults of a schema. */
#define DEFAULTS_NS_MAX (UINT64_C(1000) * 1000 * 1000)

void schema_error_deinit(struct schema_error *error)
{
	buffer_deinit(&error->pointer);
	buffer_deinit(&error->message);
}

void schema_free(struct schema *schema)
{
	if (!schema)
		return;
	for (struct owned_pattern *owned = schema->patterns; owned; owned = owned->next)
		pattern_free(owned->pattern);
	arena_deinit(&schema->arena);
	free(schema);
}

bool schema_has_write_only(const struct schema *schema)
{
	return schema->has_write_only;
}

/* Refuse @token of @source because of the report's first violation. */
static int refuse_report(struct compiler *compiler, const struct source *source, uint32_t token,
	const char *what, const struct schema_report *report)
{
	const char *message = report->n_violations ? report->violations[0].message : "";

	return schema_refuse(compiler->library.error, source, token, "%s%s", what, message);
}

/* The two metaschemas, compiled when they are first needed and kept as long as the process lives:
 * they are immutable and the same for all schemas. */
static pthread_mutex_t metaschemas_lock = PTHREAD_MUTEX_INITIALIZER;
static struct schema *metaschema_07;
static struct schema *metaschema_2020_12;

static int compile_metaschema(const char *uri, struct schema **ret)
{
	static const struct schema_options trusted = {.is_trusted = true};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const char *text = registry_metaschema(uri, strlen(uri));
	int r = json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL);

	return r == 0 ? schema_compile(&tape, 0, &trusted, ret, &error) : r;
}

/* Return the metaschema of @draft; NULL without memory. */
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

/* Check the schema at the root of @tape against the metaschema of @draft: 0, SCHEMA_E_INVALID with
 * @ret_report filled, or -ENOMEM. */
static int validate_schema(
	enum keyword_draft draft, const struct json_tape *tape, struct schema_report *ret_report)
{
	cleanup(schema_context_cleanup) struct schema_context *context = schema_context_new();
	const struct schema *schema = get_metaschema(draft);
	int r;

	if (!context || !schema)
		return -ENOMEM;
	/* A metaschema looks at every keyword once, so a long schema is no reason to refuse it. */
	context->is_linear = true;
	r = schema_validate(schema, context, tape, 0);
	if (r <= 0)
		return r;
	r = schema_explain(schema, context, tape, 0, ret_report);
	return r < 0 ? r : SCHEMA_E_INVALID;
}

/* Refuse the schema unless it satisfies the metaschema of its dialect. */
static int check_metaschema(struct compiler *compiler, const struct place *place)
{
	const struct resource *resource = &compiler->library.resources[place->resource];
	cleanup(schema_report_deinit) struct schema_report report = {0};
	const struct json_tape *tape = &place->source->tape;
	int r = validate_schema(resource->dialect.draft, tape, &report);

	if (r != SCHEMA_E_INVALID)
		return r;
	return refuse_report(compiler, place->source,
		json_pointer_nearest(tape, report.violations[0].path), "", &report);
}

/* Refuse the schema unless the default of @property satisfies the schema of it. */
static int check_default(struct compiler *compiler, struct schema_context *context,
	const struct node *owner, const struct node_property *property)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	const struct json_tape *tape = &owner->source->tape;
	int r;

	context_begin(context, compiler->schema, tape);
	if (validate_accepts(context, property->node, property->default_token, MARKS_NONE) &&
		context->stop == STOP_NONE)
		return 0;
	r = explain_value(
		context, compiler->schema, property->node, tape, property->default_token, &report);
	if (r < 0)
		return r;
	return refuse_report(compiler, owner->source, property->default_token,
		"the default does not satisfy its schema: ", &report);
}

/* Refuse the schema if the check of its defaults, up to the default of @node, took too long. */
static int check_time(struct compiler *compiler, const struct node *node, uint64_t *end_ns)
{
	if (!clock_is_up(end_ns, DEFAULTS_NS_MAX))
		return 0;
	return schema_refuse(compiler->library.error, node->source, node->token,
		"the defaults cannot be checked: it takes too long");
}

static int check_defaults(struct compiler *compiler)
{
	cleanup(schema_context_cleanup) struct schema_context *context = schema_context_new();
	uint32_t check_ms = compiler->library.options->check_ms;
	uint64_t end_ns = 0;
	int r = 0;

	if (!context)
		return -ENOMEM;
	if (check_ms > 0)
		schema_context_limit_time(context, check_ms);
	for (const struct node *node = compiler->schema->nodes; r == 0 && node; node = node->next) {
		for (uint32_t i = 0; r == 0 && node->object && i < node->object->names.count; i++) {
			const struct node_property *property = &node->object->properties[i];

			if (property->default_token != 0)
				r = check_default(compiler, context, node, property);
			if (r == 0 && property->default_token != 0)
				r = check_time(compiler, node, &end_ns);
		}
	}
	return r;
}

static int compile(struct compiler *compiler, const struct json_tape *tape, uint32_t root)
{
	const struct schema_options *options = compiler->library.options;
	struct place place;
	int r = library_add(&compiler->library, "", tape, root, &place);

	if (r == 0)
		r = compile_schema(compiler, &place);
	if (r == 0 && !options->is_trusted)
		r = check_metaschema(compiler, &place);
	if (r == 0 && options->check_defaults && compiler->schema->has_defaults)
		r = check_defaults(compiler);
	return r;
}

int schema_compile(const struct json_tape *tape, uint32_t root,
	const struct schema_options *options, struct schema **ret_schema,
	struct schema_error *ret_error)
{
	static const struct schema_options no_options;
	cleanup(schema_cleanup) struct schema *schema = calloc(1, sizeof(*schema));
	struct compiler compiler = {.schema = schema};
	int r;

	if (!schema)
		return -ENOMEM;
	compiler.library = (struct library){.arena = &schema->arena,
		.options = options ? options : &no_options,
		.error = ret_error,
		.dialect = {DRAFT_2020_12, VOCABULARY_ALL}};
	schema->doubts_defaults = options && options->ignores_mistakes;
	if (options && options->dialect == SCHEMA_DRAFT_07)
		compiler.library.dialect.draft = DRAFT_07;
	r = compile(&compiler, tape, root);
	library_deinit(&compiler.library);
	free(compiler.places);
	if (r == 0)
		*ret_schema = take_ptr(schema);
	return r;
}
