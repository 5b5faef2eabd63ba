/* SPDX-License-Identifier: Apache-2.0 */
#include "kept.h"

#include <criterion/criterion.h>

struct kept kept;

void kept_set_up(void)
{
	cr_assert_eq(loop_new(&kept.loop), 0);
	cr_assert_eq(calls_init(&kept.calls, kept.loop), 0);
	cr_assert_eq(history_init(&kept.history), 0);
	kept.box = make_box("box", BOX_TOOL("add", ""));
}

void kept_tear_down(void)
{
	history_deinit(&kept.history);
	calls_deinit(&kept.calls);
	package_unref(kept.box->package);
	loop_free(kept.loop);
}
