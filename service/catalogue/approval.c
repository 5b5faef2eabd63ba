/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/approval.h"

#include <string.h>

static const char *const mode_names[] = {
	[APPROVAL_OFF] = "off",
	[APPROVAL_EXECUTE] = "execute",
	[APPROVAL_AUTO] = "auto",
	[APPROVAL_STRICT] = "strict",
};

bool approval_is_needed(enum approval_mode mode, enum tool_risk risk)
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

const char *approval_mode_name(enum approval_mode mode)
{
	return mode_names[mode];
}

int approval_mode_from_name(const char *name)
{
	for (int mode = APPROVAL_OFF; mode <= APPROVAL_STRICT; mode++)
		if (strcmp(name, mode_names[mode]) == 0)
			return mode;
	return -1;
}
