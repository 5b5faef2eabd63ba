/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/reader.h"

/* The type of a parameter (contract.md, Native) that is meant by the string at @token of @tape,
 * when that is a type as C or JSON Schema call it: "f64" for "double". NULL when there is none. */
const char *native_type_alias(const struct json_tape *tape, uint32_t token);
