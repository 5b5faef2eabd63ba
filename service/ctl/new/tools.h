/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"

/* Print the tools of @toolbox with their risks, as a table. */
void new_print_tools(const struct toolbox *toolbox);
