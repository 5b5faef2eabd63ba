/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/closing.h"
#include "config/environment.h"
#include "config/stack.h"
#include "json/reader.h"
#include "util/diagnostic.h"

/*
 * A configuration being read from the merged document: the values of its tokens, and a report of
 * each wrong value with its file and line, variable or flag.
 */
struct config_reader {
	struct diagnostic_sink sink;   /* receives every mistake */
	struct config_closing closing; /* receives the closing mistakes */
	struct config_stack stack;
	struct config_environment environment;
	struct json_tape tape; /* tokens of the merged text */
	struct buffer refused; /* uint32_t: the tokens of unused keys and values */
	struct config *config; /* the result */
	bool is_token_hidden;  /* a mistake may hide the token of the embedded bus */
	bool is_refused;       /* no bus can be served with a reported value */
	bool is_misused;       /* a flag has a value that cannot be used */
	int error;             /* 0 or -ENOMEM: the first failure of any step */
};

/* Report the formatted text about the value at @token. */
void config_reader_report(struct config_reader *reader, enum diagnostic_severity severity,
	uint32_t token, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Report a wrong value: `EXPECTED, not VALUE; CONSEQUENCE`. The value of a flag sets is_misused,
 * and has no consequence: a person to correct it is present, so no default is used. */
void config_reader_report_wrong(struct config_reader *reader, enum diagnostic_severity severity,
	uint32_t token, const char *expected, const char *consequence);

/* The text about a feature missing in this version. */
#define CONFIG_NOT_SUPPORTED "is not supported by this version; remove it"

/* Report the formatted text about the value at @token, which closes the configuration. */
void config_reader_close(struct config_reader *reader, uint32_t token, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Report a wrong value of a key about callers or the rights of a process: `EXPECTED, not VALUE`. No
 * default replaces it: it closes the configuration. */
void config_reader_close_wrong(struct config_reader *reader, uint32_t token, const char *expected);

struct config_range {
	uint64_t min, max;
	uint64_t fallback; /* the default; outside of the range: a wrong value is not used */
};

/* Return the whole number at @token, in @range. Return the default for JSON_NONE, and for a wrong
 * value after a report of this @severity. */
uint64_t config_reader_number(struct config_reader *reader, enum diagnostic_severity severity,
	uint32_t token, const struct config_range *range);

/* As config_reader_number(), but a wrong value closes the configuration. */
uint64_t config_reader_number_or_closes(
	struct config_reader *reader, uint32_t token, const struct config_range *range);

/* Return the string at @token, which the caller frees. Return NULL for a string with U+0000, which
 * is reported, or without memory, which sets @reader->error. */
char *config_reader_string(struct config_reader *reader, uint32_t token);

/* As config_reader_string(), but a value other than a string, or with U+0000, closes the
 * configuration: NULL is returned. */
char *config_reader_text_or_closes(struct config_reader *reader, uint32_t token);

/* Return the member @key of the object at @object. Return JSON_NONE when there is none or it is
 * null, since null in a file withdraws the value of a lower file. */
uint32_t config_reader_find(const struct config_reader *reader, uint32_t object, const char *key);

/* Return whether the value at @token is an object. JSON_NONE is not; any other value is reported
 * with @consequence. */
bool config_reader_is_object(struct config_reader *reader, uint32_t token, const char *consequence);

/* As config_reader_is_object(), but anything else than an object closes the configuration. */
bool config_reader_is_object_or_closes(struct config_reader *reader, uint32_t token);
