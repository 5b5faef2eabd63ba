/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * JSON Schema: compile once, validate often, explain only what failed.
 *
 *   tape of a schema ──schema_compile──▶ struct schema (immutable)
 *   tape of an instance ──schema_validate──▶ yes or no, nothing allocated, no paths built
 *                       ──schema_explain───▶ what is wrong, in words (only after a no)
 *                       ──schema_fill──────▶ the instance's text with its defaults in place,
 *                                            integers as digits
 *                       ──schema_coerce────▶ the same with "25" taken as 25 (only after a no)
 *                       ──schema_mask──────▶ the same without the `writeOnly` values
 *
 * Dialects: draft 2020-12 (the default) and draft-07, by `$schema`; another is refused by name.
 */
struct schema;

/* Scratch space of one thread of checking, used again and again with any schema: step counter,
 * marks of evaluated properties, the regular expressions' match data. */
struct schema_context;

/* Positive results. */
enum schema_status {
	SCHEMA_E_REFUSED = 1, /* schema_compile: the schema cannot be used; the error has the
	                       * reason */
	SCHEMA_E_INVALID,     /* schema_validate: the instance does not satisfy the schema */
	SCHEMA_E_UNCHECKED,   /* a bound ended the check: what the instance is, is unknown */
};

/* The language of a schema without `$schema`. */
enum schema_dialect {
	SCHEMA_DRAFT_2020_12,
	SCHEMA_DRAFT_07,
};

/* A document for targets of a `$ref`. Nothing is ever fetched: a target outside of these documents,
 * the schema itself and the metaschemas of the two dialects is refused. */
struct schema_resource {
	const char *uri;              /* absolute; NUL-terminated */
	const struct json_tape *tape; /* copied where it is needed */
	uint32_t root;
};

struct schema_options {
	bool assert_formats; /* `format` is asserted, not only an annotation */
	bool check_defaults; /* refuse a `default` against its own schema */
	bool is_trusted;     /* do not hold the schema against its metaschema */
	bool is_brief;       /* few values are checked: compile a `pattern` when it is needed */
	/* A `pattern` that is no regular expression, and a `default` against its own schema, are
	 * annotations: such a default is not filled in. */
	bool ignores_mistakes;
	/* Every `pattern` is an annotation, and a name in `patternProperties` outside of ECMA-262
	 * matches all names: another checker reads them in its own language. */
	bool ignores_patterns;
	uint32_t check_ms; /* the time to check one default; 0: SCHEMA_CHECK_MS */
	/* Asked before each pattern is compiled, with @data: return true to refuse the schema,
	 * because there is no time left. NULL: it is not asked. */
	bool (*is_over)(void *data);
	void *data;
	enum schema_dialect dialect;
	const struct schema_resource *resources;
	size_t n_resources;
};

/* Why a schema was refused. Zero it before use; free with schema_error_deinit. */
struct schema_error {
	struct buffer
		pointer; /* JSON Pointer from the schema's root to the place; NUL-terminated */
	struct buffer message; /* the expected and the actual value, one line; NUL-terminated */
	size_t offset;         /* byte in the tape's text, for a line number */
};

void schema_error_deinit(struct schema_error *error);

/*
 * Compile the schema at token @root of @tape. All data for later is copied: tape and text may go.
 * @options may be NULL (all off). Returns 0 with *ret_schema owned by the caller, SCHEMA_E_REFUSED
 * with @ret_error filled, or -ENOMEM.
 */
int schema_compile(const struct json_tape *tape, uint32_t root,
	const struct schema_options *options, struct schema **ret_schema,
	struct schema_error *ret_error);

/* Takes NULL. */
void schema_free(struct schema *schema);

/* NULL without memory. */
struct schema_context *schema_context_new(void);

/* Set the most steps of one match of a `pattern` (100000 by default). A match with more steps, or
 * more time than REGEX_NS_MAX, ends the check. */
void schema_context_limit_patterns(struct schema_context *context, uint32_t steps);

/* The time of a check, unless another is set. */
#define SCHEMA_CHECK_MS 20

/* Set the most time of this thread for one check and its consequences, beyond the time for reading
 * the instance. 0: no bound. */
void schema_context_limit_time(struct schema_context *context, uint32_t ms);

/* Takes NULL. */
void schema_context_free(struct schema_context *context);

/* Check whether the value at @value of @tape satisfies @schema: 0, SCHEMA_E_INVALID, -ENOMEM, or
 * SCHEMA_E_UNCHECKED when the bound on steps, time, nesting or patterns is reached. This begins the
 * check to which the functions below belong: all of them share its time. */
int schema_validate(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value);

/* The same for another version of a checked instance, in the rest of its time. */
int schema_validate_again(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value);

/* Return what ended the check, after SCHEMA_E_UNCHECKED: "cannot be checked: …". */
const char *schema_stop_text(const struct schema_context *context);

/* Return the thread's time for the check so far, in nanoseconds; 0: too little for a look at the
 * clock. */
uint64_t schema_spent_ns(const struct schema_context *context);

/* The most violations a report names. */
#define SCHEMA_VIOLATIONS_MAX 10

struct schema_violation {
	char *path;    /* JSON Pointer into the instance, "" for its root; NUL-terminated */
	char *message; /* one line: what was wanted, what came, what to do */
};

/* Zero it before use; free with schema_report_deinit. */
struct schema_report {
	struct schema_violation violations[SCHEMA_VIOLATIONS_MAX];
	size_t n_violations;
	bool is_cut;   /* there are more */
	char *summary; /* one line with the members taken by the root object, or NULL */
};

void schema_report_deinit(struct schema_report *report);

/* Add a violation found elsewhere. @path and @message are copied. Over the bound, only is_cut is
 * set. 0 or -ENOMEM. */
int schema_report_add(struct schema_report *report, const char *path, const char *message);

/* Why the value at @value does not satisfy @schema: every independent violation in instance order,
 * up to the bound. Returns 0 (the report may be empty: the instance is valid), -ENOMEM, or
 * SCHEMA_E_UNCHECKED with the reason as the last violation. */
int schema_explain(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, struct schema_report *ret_report);

/* Append the report as one line for a person or a model: `/a: …; /b: …`, then the summary after
 * @heading, such as "Parameters". */
void schema_report_write_text(
	const struct schema_report *report, const char *heading, struct buffer *out);

/* Append `[{"path": …, "message": …}, …]`. */
void schema_report_write_json(const struct schema_report *report, struct buffer *out);

/* Append the JSON text of the value at @value with every absent property filled in if an applicable
 * `properties` has its `default`, at every depth, and with a whole number written as its digits
 * where the schema takes it but no fraction: 2 for 2.0. What else was there stays byte for byte.
 * Call it on valid instances, after their check in the same context. Sets *ret_is_changed (may be
 * NULL) when something was filled in. 0, -ENOMEM, or SCHEMA_E_UNCHECKED: do not use the text. */
int schema_fill(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, struct buffer *out, bool *ret_is_changed);

/* Another way to read a string as a value, before it is read as JSON: the words of a person. */
struct schema_words {
	/* Append the JSON text of the value in the @size bytes at @text. Return false, with nothing
	 * appended, when there is none. */
	bool (*read)(const void *data, const char *text, size_t size, struct buffer *out);
	const void *data;
};

/* Append the JSON text of the value at @value with strings replaced by the number, boolean, array
 * or object in them, by @words (NULL: as JSON alone), wherever the schema takes such a value and no
 * string; what else was there stays byte for byte. Call it on invalid instances, then read and
 * validate the new text. Each change is added to @ret_changes (zeroed; free with
 * schema_report_deinit) with its path; none: the text is the same. 0, -ENOMEM, or
 * SCHEMA_E_UNCHECKED. */
int schema_coerce(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, const struct schema_words *words,
	struct buffer *out, struct schema_report *ret_changes);

/* Append the JSON text of the value at @value with SCHEMA_MASK in place of every value called
 * `writeOnly` by an applicable schema; all else stays byte for byte. Call it on valid instances. It
 * is a check of its own. Sets *ret_is_changed when something was replaced. 0, -ENOMEM, or
 * SCHEMA_E_UNCHECKED: do not use the text. */
#define SCHEMA_MASK "\"***\""
int schema_mask(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, struct buffer *out, bool *ret_is_changed);

/* Return whether schema_fill() could change the instance just found valid by @context. */
bool schema_fills(const struct schema *schema, const struct schema_context *context);

/* Whether schema_mask could ever change an instance. */
bool schema_has_write_only(const struct schema *schema);

CLEANUP_DEFINE(schema, struct schema *, schema_free)
CLEANUP_DEFINE(schema_context, struct schema_context *, schema_context_free)
