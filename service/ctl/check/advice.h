/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"
#include "util/diagnostic.h"

/* Warnings of `toolboxctl check` about a toolbox that can be loaded, and could be better. A daemon
 * has no reader for them. */

/* Report every warning about @toolbox to @sink, with its place in the file and one line of text
 * that names the fact, its effect and the remedy. Return 0 or -ENOMEM. */
int advice_give(const struct toolbox *toolbox, const struct diagnostic_sink *sink);
