/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/reader.h"

/*
 * JSON Schema as its specification reads: a walker over the tape of the schema itself, keyword by
 * keyword, with nothing compiled, folded, guessed or skipped. It is slow and knows less than
 * service/schema (patterns only from a list, references only within one document), on purpose: the
 * two share no idea of how it is done, so where they differ, either is wrong.
 */
enum oracle_verdict {
	ORACLE_INVALID,
	ORACLE_VALID,
	ORACLE_UNKNOWN, /* too many steps, or something that it does not know */
};

enum oracle_verdict oracle_validate(const struct json_tape *schema, const struct json_tape *tape);
