/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/tool_schemas.h"

#include "util/assert.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The schemas compiled after a rest, the oldest first, and the bytes of their texts. The loop
 * compiles them, but the thread for manifests frees its own, too. */
static pthread_mutex_t awake_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list awake = {&awake, &awake};
static size_t awake_bytes;

struct tool_schemas *tool_schemas_new(void)
{
	struct tool_schemas *schemas = calloc(1, sizeof(*schemas));

	if (schemas)
		list_init(&schemas->link);
	return schemas;
}

/* As tool_schemas_rest(), with the lock held. */
static void put_to_rest(struct tool_schemas *schemas)
{
	list_remove(&schemas->link);
	check(awake_bytes >= schemas->bytes);
	awake_bytes -= schemas->bytes;
	schemas->bytes = 0;
	schema_free(schemas->arguments.compiled);
	schema_free(schemas->output.compiled);
	schemas->arguments.compiled = schemas->output.compiled = NULL;
}

void tool_schemas_rest(struct tool_schemas *schemas)
{
	pthread_mutex_lock(&awake_lock);
	put_to_rest(schemas);
	pthread_mutex_unlock(&awake_lock);
}

void tool_schemas_free(struct tool_schemas *schemas)
{
	if (!schemas)
		return;
	tool_schemas_rest(schemas);
	free(schemas);
}

/* Let the oldest rest until @bytes more may be awake; each used one gets another turn. */
static void rest_others(size_t bytes)
{
	pthread_mutex_lock(&awake_lock);
	while (!list_is_empty(&awake) && awake_bytes + bytes > TOOL_SCHEMAS_BYTES_MAX) {
		struct tool_schemas *oldest = container_of(awake.next, struct tool_schemas, link);

		if (!oldest->was_used) {
			put_to_rest(oldest);
			continue;
		}
		oldest->was_used = false;
		list_remove(&oldest->link);
		list_append(&awake, &oldest->link);
	}
	pthread_mutex_unlock(&awake_lock);
}

/* A schema accepted once fails only for want of memory. */
static int compile(const char *text, struct tool_schema *schema)
{
	const struct schema_options options = {
		.assert_formats = schema->asserts_formats,
		.ignores_mistakes = schema->ignores_mistakes,
		.ignores_patterns = schema->ignores_patterns,
		.is_trusted = true,
	};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	int r = json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL);

	r = r ? r : schema_compile(&tape, 0, &options, &schema->compiled, &error);
	return r ? -ENOMEM : 0;
}

int tool_schemas_compile(const struct tool *tool)
{
	struct tool_schemas *schemas = tool->schemas;
	const char *arguments = tool->checked_schema ? tool->checked_schema : tool->argument_schema;
	size_t bytes = strlen(arguments) + strlen(tool->output_schema);
	int r;

	rest_others(bytes);
	r = compile(arguments, &schemas->arguments);
	r = r ? r : compile(tool->output_schema, &schemas->output);
	if (r < 0) {
		tool_schemas_rest(schemas);
		return r;
	}
	schemas->was_used = false;
	pthread_mutex_lock(&awake_lock);
	schemas->bytes = bytes;
	awake_bytes += bytes;
	list_append(&awake, &schemas->link);
	pthread_mutex_unlock(&awake_lock);
	return 0;
}

void tool_schemas_pin(struct tool_schemas *schemas)
{
	pthread_mutex_lock(&awake_lock);
	list_remove(&schemas->link);
	check(awake_bytes >= schemas->bytes);
	awake_bytes -= schemas->bytes;
	pthread_mutex_unlock(&awake_lock);
}

void tool_schemas_unpin(struct tool_schemas *schemas)
{
	pthread_mutex_lock(&awake_lock);
	awake_bytes += schemas->bytes;
	/* Schemas that never rest are not in the list. */
	if (schemas->bytes > 0)
		list_append(&awake, &schemas->link);
	pthread_mutex_unlock(&awake_lock);
}
