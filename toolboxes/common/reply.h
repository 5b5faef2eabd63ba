/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMON_REPLY_H
#define COMMON_REPLY_H

#include <toolbox.h>

#include "text.h"

/* Answer @call, of a toolbox with rich content, with @text as one block; and with @structured, the
 * JSON text of any value, unless it is NULL. A text that has failed fails the call. Return the
 * status of the answer: TOOLBOX_E_GONE means that it was too late. */
int reply_content(struct toolbox_call call, const struct text *text, const char *structured);

#endif
