/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/model_schema.h"

#include <errno.h>
#include <string.h>

#include "catalogue/merged_root.h"
#include "json/reader.h"

/* Write the root of the portable schema @schema with its @definitions. Return whether @schema was
 * such a root already. */
static bool write_root(const struct buffer *schema, const struct buffer *definitions,
	const struct portable_names *names, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer whole = {0};

	buffer_append_char(&whole, '[');
	buffer_append_buffer(&whole, schema);
	buffer_append_string(&whole, ",{");
	buffer_append_buffer(&whole, definitions);
	buffer_append_string(&whole, "}]");
	if (buffer_status(&whole) < 0 ||
		json_tape_read(&tape, whole.data, whole.size, 8 * JSON_DEPTH_DEFAULT, NULL) != 0)
		out->error = -ENOMEM;
	else
		return merged_root_write(&tape, names->base, out);
	return false;
}

bool model_schema_write_apart(const char *text, const struct portable_names *names,
	struct buffer *out, struct buffer *definitions)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer defined = {0};

	bool is_plain = portable_write(text, names, &schema, &defined);

	is_plain &= write_root(&schema, &defined, names, out);
	buffer_append_buffer(definitions, &defined);
	return is_plain;
}

bool model_schema_write(const char *text, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer definitions = {0};
	bool is_plain = model_schema_write_apart(text, &portable_own_names, out, &definitions);

	portable_add_definitions(out, &definitions);
	return is_plain;
}
