/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "offer/outages.h"

static struct loop *loop;
static struct outages outages;
static struct package package = {.kind = KIND_MCP, .id = (char *)"box"};
static unsigned int n_expired;

static void note_expired(void *data)
{
	(void)data;
	n_expired++;
	loop_stop(loop);
}

/* Begin with @package, whose time of grace is over at once. */
static void begin(void)
{
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(outages_init(&outages, loop, note_expired, NULL), 0);
	package.mcp.grace_s = 0;
	n_expired = 0;
}

static void end(void)
{
	outages_deinit(&outages);
	loop_free(loop);
}

static size_t count_out(void)
{
	struct text_list ids = {0};
	size_t n;

	cr_assert_eq(outages_list(&outages, &ids), 0);
	n = ids.n_items;
	text_list_deinit(&ids);
	return n;
}

Test(outages, have_a_time_of_grace, .init = begin, .fini = end)
{
	package.mcp.grace_s = 300;
	outages_note(&outages, &package, SERVER_UNAVAILABLE);
	outages_note(&outages, &package, SERVER_UNAVAILABLE);
	cr_expect(loop_timer_is_armed(&outages.timer));
	cr_expect_eq(count_out(), 0);
	outages_note(&outages, &package, SERVER_UNKNOWN);
	outages_note(&outages, &package, SERVER_UNKNOWN);
	cr_expect(loop_timer_is_armed(&outages.timer), "these say nothing about the server");
	outages_note(&outages, &package, SERVER_REACHED);
	cr_expect_not(loop_timer_is_armed(&outages.timer));
	outages_note(&outages, &package, SERVER_UNAVAILABLE);
	outages_note(&outages, &package, SERVER_REACHED);
	cr_expect_not(loop_timer_is_armed(&outages.timer));
}

Test(outages, last_until_the_toolbox_is_offered_again, .init = begin, .fini = end, .timeout = 300)
{
	cleanup(catalogue_cleanup) struct catalogue *nothing =
		catalogue_new(NULL, 0, NULL, NULL, 0);

	outages_note(&outages, &package, SERVER_UNAVAILABLE);
	cr_assert_eq(loop_run(loop, -1), 0);
	cr_expect_eq(n_expired, 1);
	cr_expect_eq(count_out(), 1);
	outages_note(&outages, &package, SERVER_REACHED);
	outages_end(&outages, nothing);
	cr_expect_eq(count_out(), 1, "a late call of an earlier process is no list");
}

Test(outages, end_with_their_toolbox, .init = begin, .fini = end)
{
	cleanup(catalogue_cleanup) struct catalogue *nothing =
		catalogue_new(NULL, 0, NULL, NULL, 0);

	package.mcp.grace_s = 300;
	outages_note(&outages, &package, SERVER_UNAVAILABLE);
	outages_end(&outages, nothing);
	cr_expect_not(loop_timer_is_armed(&outages.timer));
}

Test(outages, concern_servers_alone, .init = begin, .fini = end)
{
	static const struct package other = {.kind = KIND_COMMAND, .id = (char *)"own"};

	outages_note(&outages, &other, SERVER_UNAVAILABLE);
	cr_expect_not(loop_timer_is_armed(&outages.timer));
}
