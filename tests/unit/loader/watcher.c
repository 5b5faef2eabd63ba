/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/watcher.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "../scratch.h"
#include "scarce.h"

#define FD_MAX 64

static struct loop *loop;

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(loop_new(FD_MAX, &loop), 0);
}

static void tear_down(void)
{
	loop_free(loop);
	scratch_tear_down();
}

TestSuite(watcher, .init = set_up, .fini = tear_down, .timeout = 60);

static void ignore_change(void *data)
{
	(void)data;
}

Test(watcher, is_there_as_a_whole_or_not_at_all)
{
	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup(watcher_cleanup) struct watcher *watcher = NULL;
		int r = watcher_new(loop, ignore_change, NULL, &watcher);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		cr_expect_eq(!watcher, r < 0);
	}
}
