/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_GLOB_H
#define FILES_GLOB_H

#include <stdbool.h>

/* Return whether the glob @pattern matches the whole of @path:
 *
 *   *       any characters but /        **      any characters
 *   ?       one character but /         [a-z]   one of these, [!a-z] none of these
 *   {a,b}   a or b                      \c      c itself
 *
 * A **, with its slash, matches no folder as well. A pattern that takes too many steps matches
 * nothing. */
bool glob_match(const char *pattern, const char *path);

#endif
