/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/approval.h"

#include <criterion/criterion.h>

Test(approval, is_needed_by_mode_and_risk)
{
	static const bool needed[][4] = {
		/* unrated, read, write, execute */
		[APPROVAL_OFF] = {false, false, false, false},
		[APPROVAL_EXECUTE] = {false, false, false, true},
		[APPROVAL_AUTO] = {true, false, true, true},
		[APPROVAL_STRICT] = {true, true, true, true},
	};

	for (int mode = APPROVAL_OFF; mode <= APPROVAL_STRICT; mode++)
		for (int risk = TOOL_UNRATED; risk <= TOOL_EXECUTE; risk++)
			cr_expect_eq(
				approval_is_needed((enum approval_mode)mode, (enum tool_risk)risk),
				needed[mode][risk], "%s, %s",
				approval_mode_name((enum approval_mode)mode),
				tool_risk_name((enum tool_risk)risk));
}

Test(approval, modes_are_known_by_their_names)
{
	for (int mode = APPROVAL_OFF; mode <= APPROVAL_STRICT; mode++)
		cr_expect_eq(approval_mode_from_name(approval_mode_name((enum approval_mode)mode)),
			mode);
	cr_expect_eq(approval_mode_from_name("Off"), -1);
	cr_expect_eq(approval_mode_from_name(""), -1);
}
