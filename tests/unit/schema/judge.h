/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "schema/schema.h"

/*
 * Texts in, verdicts and texts out: what the tests of this folder ask of a schema. A text that is
 * no JSON fails the test. Every text that is returned is the caller's to free.
 */

/* Whether @value satisfies @schema, which must compile. The second pass has to agree. */
bool judge(const char *schema, const char *value);
bool judge_with(const struct schema_options *options, const char *schema, const char *value);

/* The report as text, "" for a valid value; with the summary, if any. */
char *judge_report(const char *schema, const char *value);
char *judge_report_with(
	const struct schema_options *options, const char *schema, const char *value);

/* "POINTER: message" for a schema that does not compile, else NULL. */
char *judge_refusal(const struct schema_options *options, const char *schema);

/* Return the value with its defaults in place, masked, or coerced; @ret_is_changed as the functions
 * describe. */
char *judge_fill(const struct schema_options *options, const char *schema, const char *value,
	bool *ret_is_changed);
char *judge_mask(const char *schema, const char *value, bool *ret_is_changed);
char *judge_coerce(const char *schema, const char *value, size_t *ret_changes);
char *judge_coerce_with(const char *schema, const char *value, const struct schema_words *words,
	size_t *ret_changes);

/* Fail unless the report for @value holds @part. */
void expect_report(const char *schema, const char *value, const char *part);

/* Fail unless @schema is refused with a text that holds @part. */
void expect_refusal(const char *schema, const char *part);
