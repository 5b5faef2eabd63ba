/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/response.h"
#include "util/buffer.h"

/*
 * One call of ovos.tools.calls as a row for people:
 *
 *   10:02:21  c4f1a2  crashy/crash  skill-math  0.9 ms  host_crashed  SIGSEGV
 */

enum row_cell {
	ROW_TIME,
	ROW_ID,
	ROW_TOOL,
	ROW_CALLER,
	ROW_TOOK,
	ROW_OUTCOME,
	ROW_CELLS,
};

/* Append a cell of the row of the call at @index of @response. */
void row_write(const struct ctl_response *response, uint32_t index, enum row_cell cell,
	struct buffer *out);

/* Return whether the call at @index is in flight. */
bool row_is_running(const struct ctl_response *response, uint32_t index);
