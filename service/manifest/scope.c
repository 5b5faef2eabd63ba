/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/scope.h"

#include <errno.h>
#include <string.h>

#include "catalogue/content.h"
#include "json/pointer.h"
#include "json/writer.h"
#include "util/buffer.h"
#include "util/cleanup.h"

int manifest_scope_compile(const struct manifest_scope *scope, uint32_t token,
	struct tool_schema *ret_schema, char **ret_text)
{
	cleanup(schema_error_deinit) struct schema_error error = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer pointer = {0};
	int r = schema_compile(
		scope->tape, token, &scope->schema_options, &ret_schema->compiled, &error);

	if (r < 0)
		return r;
	if (r > 0) {
		json_pointer_write(scope->tape, token, &pointer);
		buffer_append(&pointer, error.pointer.data, error.pointer.size);
		if (!buffer_terminate(&pointer) || !buffer_terminate(&error.message))
			return -ENOMEM;
		diagnose_at(scope->problems, DIAGNOSTIC_ERROR, scope->tape, pointer.data,
			error.message.data);
		return 0;
	}
	ret_schema->asserts_formats = scope->schema_options.assert_formats;
	ret_schema->ignores_mistakes = scope->schema_options.ignores_mistakes;
	ret_schema->ignores_patterns = scope->schema_options.ignores_patterns;
	json_write_compact(&text, scope->tape, token);
	*ret_text = buffer_take(&text, NULL);
	return *ret_text ? 0 : -ENOMEM;
}

int manifest_scope_compile_text(const char *text, const struct schema_options *author,
	struct tool_schema *ret_schema, char **ret_text)
{
	struct schema_options options = {
		.is_trusted = true,
		.assert_formats = author->assert_formats,
		.ignores_mistakes = author->ignores_mistakes,
		.ignores_patterns = author->ignores_patterns,
	};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	int r = json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL);

	r = r ? r : schema_compile(&tape, 0, &options, &ret_schema->compiled, &error);
	if (r)
		return r;
	ret_schema->asserts_formats = options.assert_formats;
	ret_schema->ignores_mistakes = options.ignores_mistakes;
	ret_schema->ignores_patterns = options.ignores_patterns;
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}

int manifest_scope_read_content(
	const struct manifest_scope *scope, uint32_t author, struct tool *tool)
{
	struct tool_schema alone = {0};
	cleanup_free char *text = NULL;
	cleanup(buffer_deinit) struct buffer whole = {0};
	size_t n_errors = scope->problems->n_errors;
	int r = author != JSON_NONE ? manifest_scope_compile(scope, author, &alone, &text) : 0;

	schema_free(alone.compiled);
	if (r < 0 || scope->problems->n_errors > n_errors)
		return r;
	content_schema_write(text, &whole);
	if (!buffer_terminate(&whole))
		return -ENOMEM;
	r = manifest_scope_compile_text(
		whole.data, &scope->schema_options, &tool->schemas->output, &tool->output_schema);
	if (r > 0)
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, author,
			"cannot be the schema of the member 'structured' of rich content: it is "
			"nested too deep, or its '$id' is not absolute");
	return r < 0 ? r : 0;
}

int manifest_scope_read_schemas(const struct manifest_scope *scope, uint32_t object,
	const char *usual_output, struct tool *tool)
{
	static const struct schema_options none;
	static const char no_arguments[] = "{\"type\":\"object\",\"properties\":{},"
					   "\"additionalProperties\":false}";
	uint32_t arguments = json_find(scope->tape, object, "argument_schema");
	uint32_t output = json_find(scope->tape, object, "output_schema");
	int r = arguments != JSON_NONE ? manifest_scope_compile(scope, arguments,
						 &tool->schemas->arguments, &tool->argument_schema)
				       : manifest_scope_compile_text(no_arguments, &none,
						 &tool->schemas->arguments, &tool->argument_schema);

	if (r < 0)
		return r;
	if (tool->has_content)
		return manifest_scope_read_content(scope, output, tool);
	return output != JSON_NONE ? manifest_scope_compile(scope, output, &tool->schemas->output,
					     &tool->output_schema)
				   : manifest_scope_compile_text(usual_output, &none,
					     &tool->schemas->output, &tool->output_schema);
}

int manifest_read_off(const struct json_tape *tape, uint32_t object, const char *toolbox_id,
	const char *tool, char **ret_off)
{
	uint32_t enabled = json_find(tape, object, "enabled");

	return enabled == JSON_NONE || json_is_true(tape, enabled)
		       ? 0
		       : manifest_off_reason(toolbox_id, tool, ret_off);
}

int manifest_off_reason(const char *toolbox_id, const char *tool, char **ret_off)
{
	return asprintf(ret_off, OFF_BY_MANIFEST "; toolboxctl enable %s%s%s", toolbox_id,
		       tool ? "/" : "", tool ? tool : "") < 0
		       ? -ENOMEM
		       : 0;
}
