/* SPDX-License-Identifier: Apache-2.0 */

/*
 * service/schema against its oracle.
 *
 * The input decides by its first byte: bytes that choose a path through a grammar of schemas and
 * instances, which both then judge; or the texts of a schema and an instance, split at the first
 * line break, for the cases that no grammar makes. The verdicts have to agree, the second pass has
 * to find something exactly where the first refused, and a value that is filled in or coerced has
 * to be read back. Anything else aborts.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"
#include "schema_generate.h"
#include "schema_oracle.h"

#define DEPTH_MAX 128
#define VALUES    3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
	struct buffer text;
	struct json_tape tape;
};

static void text_deinit(struct text *text)
{
	json_tape_deinit(&text->tape);
	buffer_deinit(&text->text);
}

static bool text_read(struct text *text)
{
	return json_tape_read(&text->tape, text->text.data ? text->text.data : "", text->text.size,
		       DEPTH_MAX, NULL) == 0;
}

static void fail(const char *what, const struct text *schema, const struct text *value)
{
	fprintf(stderr, "%s\nschema   %.*s\ninstance %.*s\n", what, (int)schema->text.size,
		schema->text.data, (int)value->text.size, value->text.data);
	abort();
}

/* Return whether the check was given up: then the verdict is unknown. */
static bool was_given_up(const struct schema_report *report)
{
	for (size_t i = 0; i < report->n_violations; i++) {
		if (strstr(report->violations[i].message, "cannot be checked"))
			return true;
	}
	return false;
}

static void check_filled(const struct schema *schema, struct schema_context *context,
	const struct text *schema_text, const struct text *value)
{
	cleanup(text_deinit) struct text filled = {0};
	bool is_changed = false;
	int r = schema_fill(schema, context, &value->tape, 0, &filled.text, &is_changed);

	if (r == SCHEMA_E_UNCHECKED)
		return;
	if (r != 0)
		fail("filling failed", schema_text, value);
	if (!text_read(&filled))
		fail("what was filled in is not JSON", schema_text, value);
	if (!is_changed && (filled.text.size != value->text.size ||
				   memcmp(filled.text.data, value->text.data, value->text.size)))
		fail("nothing was filled in, but the text differs", schema_text, value);
}

static void check_value(const struct schema *schema, struct schema_context *context,
	const struct text *schema_text, const struct text *value, bool has_oracle)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	bool is_valid = schema_validate(schema, context, &value->tape, 0) == 0;
	enum oracle_verdict verdict = ORACLE_UNKNOWN;
	int r = schema_explain(schema, context, &value->tape, 0, &report);

	if (r < 0)
		fail("explaining failed", schema_text, value);
	if (r == 0 && is_valid != (report.n_violations == 0))
		fail("explained otherwise than validated", schema_text, value);
	if (has_oracle && !was_given_up(&report))
		verdict = oracle_validate(&schema_text->tape, &value->tape);
	if (verdict != ORACLE_UNKNOWN && is_valid != (verdict == ORACLE_VALID))
		fail(is_valid ? "valid, but should not be" : "invalid, but should not be",
			schema_text, value);
	if (is_valid)
		check_filled(schema, context, schema_text, value);
}

/* A schema that the reader took. */
static void check_schema(
	const struct text *schema_text, struct text *values, size_t n_values, bool has_oracle)
{
	const struct schema_options options = {.assert_formats = !has_oracle};
	cleanup(schema_context_cleanup) struct schema_context *context = schema_context_new();
	cleanup(schema_error_deinit) struct schema_error error = {0};
	cleanup(schema_cleanup) struct schema *schema = NULL;
	int r = schema_compile(&schema_text->tape, 0, &options, &schema, &error);

	if (r != 0) {
		if (r != SCHEMA_E_REFUSED || !error.message.data ||
			strchr(error.message.data, '\n'))
			fail("refused without a word", schema_text, schema_text);
		return;
	}
	for (size_t i = 0; i < n_values; i++) {
		if (text_read(&values[i]))
			check_value(schema, context, schema_text, &values[i], has_oracle);
	}
}

static void check_raw(const uint8_t *data, size_t size)
{
	cleanup(text_deinit) struct text schema = {0};
	cleanup(text_deinit) struct text value = {0};
	const uint8_t *line_break = memchr(data, '\n', size);
	size_t schema_size = line_break ? (size_t)(line_break - data) : size;

	buffer_append(&schema.text, data, schema_size);
	if (line_break)
		buffer_append(&value.text, line_break + 1, size - schema_size - 1);
	if (text_read(&schema))
		check_schema(&schema, &value, 1, false);
}

static void check_generated(const uint8_t *data, size_t size)
{
	struct choices choices = {data, data + size};
	cleanup(text_deinit) struct text schema = {0};
	struct text values[VALUES] = {0};

	generate_schema(&choices, &schema.text);
	for (int i = 0; i < VALUES; i++)
		generate_value(&choices, &values[i].text);
	if (!text_read(&schema))
		fail("the grammar made no JSON", &schema, &schema);
	check_schema(&schema, values, VALUES, true);
	for (int i = 0; i < VALUES; i++)
		text_deinit(&values[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (data[0] < 32)
		check_raw(data + 1, size - 1);
	else
		check_generated(data + 1, size - 1);
	return 0;
}
