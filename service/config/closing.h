/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/diagnostic.h"

/*
 * The mistakes that close a configuration: the unreadable text may forbid something. A mistake sent
 * to @sink goes on to @outer like every other, and the text of the first is kept.
 */
struct config_closing {
	struct diagnostic_sink sink;
	struct diagnostic_sink outer;
	bool is_closed;
	char *text; /* the first mistake as "FILE:LINE POINTER: text"; NULL without memory */
};

/* Make @closing open. @outer receives every mistake. @closing must not move afterwards. */
void config_closing_init(struct config_closing *closing, const struct diagnostic_sink *outer);

void config_closing_deinit(struct config_closing *closing);
