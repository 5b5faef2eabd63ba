/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/toolbox.h"
#include "config/approval.h"

/* Return whether a call of a tool of this @risk has to be allowed in this @mode. */
static inline bool approval_is_needed(enum approval_mode mode, enum tool_risk risk)
{
	switch (mode) {
	case APPROVAL_OFF:
		return false;
	case APPROVAL_EXECUTE:
		return risk == TOOL_EXECUTE;
	case APPROVAL_AUTO:
		return risk != TOOL_READ;
	case APPROVAL_STRICT:
		return true;
	}
	return true;
}
