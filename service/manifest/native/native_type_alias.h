/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/reader.h"

/* The type of a parameter (contract.md, Native) meant by the string at @token of @tape, a type's
 * name in C or JSON Schema: "f64" for "double". NULL for other strings. */
const char *native_type_alias(const struct json_tape *tape, uint32_t token);
