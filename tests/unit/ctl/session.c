/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/session.h"

#include <criterion/criterion.h>

#include "ctl/options.h"

TestSuite(ctl_session, .timeout = 60);

Test(ctl_session, ends_a_wait_in_which_nothing_came_without_a_failure)
{
	const struct ctl_options options = {.bus = "ws://127.0.0.1:1/core", .timeout_ms = 1};
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;

	cr_assert_eq(ctl_session_open(&options, &session), 0);
	cr_expect_eq(ctl_session_wait(session, 1), 0);
}
