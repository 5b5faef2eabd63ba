/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A schema and a value, read and compiled. */
struct subject {
	struct json_tape schema_tape;
	struct json_tape tape;
	struct schema *schema;
	struct schema_context *context;
};

static void read_text(struct json_tape *tape, const char *text)
{
	struct json_error error = {0};
	int r = json_tape_read(tape, text, strlen(text), JSON_DEPTH_DEFAULT, &error);

	cr_assert_eq(r, 0, "%s: %s", text, error.message ? error.message : "");
}

static void subject_init(struct subject *subject, const struct schema_options *options,
	const char *schema, const char *value)
{
	cleanup(schema_error_deinit) struct schema_error error = {0};
	int r;

	*subject = (struct subject){.context = schema_context_new()};
	read_text(&subject->schema_tape, schema);
	read_text(&subject->tape, value);
	r = schema_compile(&subject->schema_tape, 0, options, &subject->schema, &error);
	cr_assert_eq(r, 0, "%s: %s: %s", schema, r == SCHEMA_E_REFUSED ? error.pointer.data : "",
		r == SCHEMA_E_REFUSED ? error.message.data : "");
	/* Nothing of the schema's text is needed any more. */
	json_tape_deinit(&subject->schema_tape);
}

static void subject_deinit(struct subject *subject)
{
	schema_free(subject->schema);
	schema_context_free(subject->context);
	json_tape_deinit(&subject->tape);
	json_tape_deinit(&subject->schema_tape);
}

char *judge_report_with(const struct schema_options *options, const char *schema, const char *value)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	cleanup(subject_deinit) struct subject subject;
	struct buffer text = {0};
	int explained;
	int r;

	subject_init(&subject, options, schema, value);
	r = schema_validate(subject.schema, subject.context, &subject.tape, 0);
	explained = schema_explain(subject.schema, subject.context, &subject.tape, 0, &report);
	cr_assert_geq(explained, 0);
	cr_assert(explained == SCHEMA_E_UNCHECKED || (r == 0) == (report.n_violations == 0),
		"%s: %s: the passes differ", schema, value);
	schema_report_write_text(&report, "Parameters", &text);
	buffer_terminate(&text);
	cr_assert(!strchr(text.data, '\n'), "a report is one line: %s", text.data);
	return buffer_take(&text, NULL);
}

char *judge_report(const char *schema, const char *value)
{
	return judge_report_with(NULL, schema, value);
}

bool judge_with(const struct schema_options *options, const char *schema, const char *value)
{
	cleanup_free char *report = judge_report_with(options, schema, value);

	return report[0] == '\0';
}

bool judge(const char *schema, const char *value)
{
	return judge_with(NULL, schema, value);
}

char *judge_refusal(const struct schema_options *options, const char *schema)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	cleanup(schema_cleanup) struct schema *compiled = NULL;
	struct buffer text = {0};
	int r;

	read_text(&tape, schema);
	r = schema_compile(&tape, 0, options, &compiled, &error);
	if (r == 0)
		return NULL;
	cr_assert_eq(r, SCHEMA_E_REFUSED);
	buffer_printf(&text, "%s: %s", error.pointer.data, error.message.data);
	return buffer_take(&text, NULL);
}

char *judge_fill(const struct schema_options *options, const char *schema, const char *value,
	bool *ret_is_changed)
{
	cleanup(subject_deinit) struct subject subject;
	struct buffer text = {0};

	subject_init(&subject, options, schema, value);
	schema_validate(subject.schema, subject.context, &subject.tape, 0);
	cr_assert_eq(schema_fill(subject.schema, subject.context, &subject.tape, 0, &text,
			     ret_is_changed),
		0);
	return buffer_take(&text, NULL);
}

char *judge_mask(const char *schema, const char *value, bool *ret_is_changed)
{
	cleanup(subject_deinit) struct subject subject;
	struct buffer text = {0};

	subject_init(&subject, NULL, schema, value);
	cr_assert_eq(schema_mask(subject.schema, subject.context, &subject.tape, 0, &text,
			     ret_is_changed),
		0);
	return buffer_take(&text, NULL);
}

char *judge_coerce_with(const char *schema, const char *value, const struct schema_words *words,
	size_t *ret_changes)
{
	cleanup(schema_report_deinit) struct schema_report changes = {0};
	cleanup(subject_deinit) struct subject subject;
	struct buffer text = {0};

	subject_init(&subject, NULL, schema, value);
	cr_assert_eq(schema_coerce(subject.schema, subject.context, &subject.tape, 0, words, &text,
			     &changes),
		0);
	*ret_changes = changes.n_violations;
	return buffer_take(&text, NULL);
}

char *judge_coerce(const char *schema, const char *value, size_t *ret_changes)
{
	return judge_coerce_with(schema, value, NULL, ret_changes);
}

void expect_report(const char *schema, const char *value, const char *part)
{
	cleanup_free char *report = judge_report(schema, value);

	cr_assert_not_null(strstr(report, part), "%s: \"%s\" lacks \"%s\"", value, report, part);
}

void expect_refusal(const char *schema, const char *part)
{
	cleanup_free char *refusal = judge_refusal(NULL, schema);

	cr_assert_not_null(refusal, "%s is not refused", schema);
	cr_assert_not_null(strstr(refusal, part), "%s: \"%s\" lacks \"%s\"", schema, refusal, part);
}
