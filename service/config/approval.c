/* SPDX-License-Identifier: Apache-2.0 */
#include "config/approval.h"

#include <stddef.h>

const char *const approval_mode_names[] = {
	[APPROVAL_OFF] = "off",
	[APPROVAL_EXECUTE] = "execute",
	[APPROVAL_AUTO] = "auto",
	[APPROVAL_STRICT] = "strict",
	NULL,
};
