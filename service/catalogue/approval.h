/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/toolbox.h"

/* The calls that need a person's approval (contract.md, Approval). */
enum approval_mode {
	APPROVAL_OFF,     /* none */
	APPROVAL_EXECUTE, /* calls of tools whose risk is execute */
	APPROVAL_AUTO,    /* write, execute and unrated */
	APPROVAL_STRICT,  /* all */
};

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

/* "off", "execute", "auto", "strict", by mode; NULL ends them. */
extern const char *const approval_mode_names[];
