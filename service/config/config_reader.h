/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/config_layers.h"
#include "config/config_overrides.h"
#include "config/config_report.h"
#include "json/reader.h"

/*
 * A configuration being read from the merged document: what every step needs, and telling what is
 * wrong with a value where it was written.
 */
struct config_reader {
	struct config_reporter reporter;
	struct config_layers layers;
	struct config_overrides overrides;
	struct json_tape tape; /* of the merged text */
	struct config *config; /* being filled */
	int error;             /* 0, or -ENOMEM: the first failure of any step */
};

/* Tell what is wrong with the value at @token: its file and line, or the variable or flag that it
 * comes from, and its path. */
void config_reader_report(struct config_reader *reader, enum config_severity severity,
	uint32_t token, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whether the value at @token is a flag's: somebody is there who can mend it, so nothing stands in
 * for a wrong one. */
bool config_reader_is_flag(const struct config_reader *reader, uint32_t token);

/* The value at @token as it stands in messages: compact, cut to CONFIG_SHOWN_BYTES. */
#define CONFIG_SHOWN_BYTES 64
const char *config_reader_show(
	const struct config_reader *reader, uint32_t token, char ret_text[CONFIG_SHOWN_BYTES]);

/* The string at @token, which the caller frees; NULL (the failure noted) without memory, or (it is
 * told) when it holds U+0000. */
char *config_reader_string(struct config_reader *reader, uint32_t token);

/* The member @key of @object, JSON_NONE when it is not there or null: null takes a value of a lower
 * file back. */
uint32_t config_reader_find(const struct config_reader *reader, uint32_t object, const char *key);
