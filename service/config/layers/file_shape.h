/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/reader.h"

/*
 * The shapes of the files of our own, in which toolboxctl remembers decisions:
 * schemas/remembered.schema.json, built in.
 */

/* A mistake in such a file: its token, and the text about it. */
#define CONFIG_MISTAKE_BYTES 768
struct config_mistake {
	uint32_t token;
	char text[CONFIG_MISTAKE_BYTES]; /* cut where it is longer */
};

/* A positive result. */
enum config_file_status {
	CONFIG_FILE_E_WRONG = 1,
};

/* Let @mistake be @text about the value at @token. Return CONFIG_FILE_E_WRONG. */
int config_mistake_set(struct config_mistake *mistake, uint32_t token, const char *text);

/* Check the whole of @tape by the definition @name of the schema. Return 0, CONFIG_FILE_E_WRONG
 * with the first mistake, or -ENOMEM. */
int config_file_check(
	const struct json_tape *tape, const char *name, struct config_mistake *ret_mistake);
