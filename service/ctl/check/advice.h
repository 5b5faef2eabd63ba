/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"
#include "util/diagnostic.h"

/* Warnings of `toolboxctl check` about a loadable toolbox that could be better. A daemon has no
 * reader for them. */

/* Report every warning about @toolbox to @sink, with the place in the file and a line of text with
 * the fact, the effect and the remedy. Return 0 or -ENOMEM. */
int advice_give(const struct toolbox *toolbox, const struct diagnostic_sink *sink);
