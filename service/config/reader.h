/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/closing.h"
#include "config/layers/environment.h"
#include "config/layers/shape.h"
#include "config/layers/stack.h"
#include "config/layers/unused.h"
#include "json/reader.h"
#include "util/diagnostic.h"

/*
 * A configuration while it is read.
 *
 *   layers, each checked by itself (config/layers/check.h) ─merge▶ merged text ─▶ tape ─▶ sections
 *
 * The values that the sections find in the merged text have their type and are in their range. A
 * section reports a mistake that the schema cannot express. Each report names the file and line,
 * the variable or the flag of the value.
 */
struct config_reader {
	struct diagnostic_sink sink;   /* receives every mistake */
	struct config_closing closing; /* receives the ones that close it */
	struct config_shape shape;
	struct config_stack stack;
	struct config_environment environment;
	struct json_tape tape;       /* tokens of the merged text */
	struct config_unused unused; /* the unused tokens of the merged text */
	bool is_token_hidden;        /* a mistake may hide the token of the embedded bus */
	bool is_refused;             /* no bus can be served with a reported value */
	bool is_misused;             /* a flag has a value that cannot be used */
	int error;                   /* 0 or -ENOMEM: the first failure of any step */
};

/* Report the formatted text about the value at @token of the merged text. An error is not used. */
void config_reader_report(struct config_reader *reader, enum diagnostic_severity severity,
	uint32_t token, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* As config_reader_report(), of an error that closes the configuration. */
void config_reader_close(struct config_reader *reader, uint32_t token, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Report the mistake `EXPECTED, not VALUE` in the value at @token of the merged text, with the
 * effect of its place. */
void config_reader_wrong(struct config_reader *reader, uint32_t token, const char *expected);

/* Report the mistake @text about the value at @token of @layer, with the effect of @place. The
 * value is not used. */
void config_reader_mistake(struct config_reader *reader, struct config_layer *layer, uint32_t token,
	const struct config_place *place, const char *text);

/* Return the value at @value (JSON_NONE: none) as JSON text, which the caller frees, or NULL. */
char *config_reader_json(struct config_reader *reader, uint32_t value);

/* Add @text to *digest, which is not 0 then; 0 is the digest of nothing. */
void config_reader_digest(
	struct config_reader *reader, const struct buffer *text, uint64_t *digest);

void config_reader_deinit(struct config_reader *reader);
