/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMON_KIND_H
#define COMMON_KIND_H

#include <stddef.h>

/* Return the kind of the contents that begin with @bytes, as "a PNG image", or NULL for a text. A
 * NUL makes contents binary. */
const char *binary_kind(const char *bytes, size_t size);

#endif
