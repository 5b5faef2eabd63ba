/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/approval.h"

#include <string.h>

static const char *const mode_names[] = {
	[APPROVAL_OFF] = "off",
	[APPROVAL_EXECUTE] = "execute",
	[APPROVAL_AUTO] = "auto",
	[APPROVAL_STRICT] = "strict",
};

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
