/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * The texts of metaschemas/ (published by json-schema.org under the BSD and the Academic Free
 * licence; their $comments left out), made into arrays by CMakeLists.txt.
 */
struct metaschema {
	const char *uri; /* without a fragment */
	const unsigned char *text;
	size_t size;
};

extern const struct metaschema metaschemas[];
extern const size_t n_metaschemas;
