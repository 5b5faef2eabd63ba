/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/approval.h"

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
				needed[mode][risk], "%s, %s", approval_mode_names[mode],
				tool_risk_names[(enum tool_risk)risk]);
}

Test(approval, modes_have_names)
{
	cr_expect_str_eq(approval_mode_names[APPROVAL_OFF], "off");
	cr_expect_str_eq(approval_mode_names[APPROVAL_EXECUTE], "execute");
	cr_expect_str_eq(approval_mode_names[APPROVAL_AUTO], "auto");
	cr_expect_str_eq(approval_mode_names[APPROVAL_STRICT], "strict");
	cr_expect_null(approval_mode_names[APPROVAL_STRICT + 1]);
}
