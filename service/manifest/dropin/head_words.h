/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/text/text_view.h"

/* The words of a line at the top of a drop-in program (manifest/dropin/head.h). Each function takes
 * its words off the beginning of *line, and leaves the rest there. */

/* Return whether @c separates words. */
bool words_is_space(char c);

void words_skip_spaces(struct text_view *line);

/* Skip @text; return whether *line begins with it. */
bool words_skip(struct text_view *line, const char *text);

/* Take the first @size bytes. */
struct text_view words_take(struct text_view *line, size_t size);

/* Take what comes before the next space. */
struct text_view words_take_one(struct text_view *line);

/* Take the letters a to z at the beginning. */
struct text_view words_take_letters(struct text_view *line);

/* Take a JSON string, array or object, or else a word. */
struct text_view words_take_value(struct text_view *line);
