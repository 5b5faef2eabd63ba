/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_ROBOTS_H
#define WEB_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>

/* robots.txt (RFC 9309): return whether the file @text of @size bytes allows a program named @agent
 * to fetch @path, a path with its query. The groups of that name count, else the groups of `*`; the
 * longest rule wins, and `Allow` before an equal `Disallow`. */
bool robots_allow(const char *text, size_t size, const char *agent, const char *path);

#endif
