/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Write the line of @size bytes at @line, its line feed included, to stderr: at once, or when there
 * is room (see util/log.h, log_defer). */
void log_put(const char *line, size_t size);
