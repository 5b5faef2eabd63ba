/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "boxes.h"
#include "core/call/calls.h"
#include "core/history/history.h"

/* A history of calls that have ended, and a toolbox with the tool `add`. */
struct kept {
	struct loop *loop;
	struct calls calls;
	struct history history;
	struct toolbox *box;
};

extern struct kept kept;

void kept_set_up(void);
void kept_tear_down(void);
