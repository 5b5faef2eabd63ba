/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "registry/catalogue.h"

/* A toolbox made of nothing but names: its id, then its tools', up to NULL. One reference. */
struct toolbox *make_toolbox(const char *id, ...) __attribute__((sentinel));
