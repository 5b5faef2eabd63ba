/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * Replace the file @name of the folder @folder, which is made when it is absent, by @size bytes at
 * @bytes, with @mode. Whoever opens it has the old file or the new one, also after a power cut. Return 0
 * or a negative errno; the old file is then as it was.
 */
int file_replace(const char *folder, const char *name, const char *bytes, size_t size, mode_t mode);
