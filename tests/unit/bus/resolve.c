/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/resolve.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "descriptors.h"
#include "util/buffer.h"

#define PATIENCE_MS 60000

static struct loop *loop;
static struct buffer found; /* the addresses, or the reason why there are none */

static void set_up(void)
{
	cr_assert_eq(loop_new(&loop), 0);
}

static void tear_down(void)
{
	loop_free(loop);
	buffer_deinit(&found);
}

TestSuite(resolve, .init = set_up, .fini = tear_down, .timeout = 120);

static void write_addresses(const struct bus_addresses *addresses)
{
	for (unsigned int i = 0; i < addresses->count; i++)
		buffer_printf(&found, "%s ", addresses->texts[i]);
}

static void on_found(void *data, const struct bus_addresses *addresses, const char *reason)
{
	cr_expect_eq(data, &found);
	if (addresses)
		write_addresses(addresses);
	else
		buffer_printf(&found, "none: %s", reason);
	loop_stop(loop);
}

static void expect_at_once(const char *host, const char *expected)
{
	struct bus_addresses addresses;

	buffer_reset(&found);
	cr_expect_eq(bus_resolve_at_once(host, &addresses), *expected != '\0', "%s", host);
	write_addresses(&addresses);
	cr_expect_str_eq(buffer_terminate(&found), expected, "%s", host);
}

Test(resolve, needs_no_name_service_for_an_address)
{
	expect_at_once("192.0.2.1", "192.0.2.1 ");
	expect_at_once("2001:db8::1", "2001:db8::1 ");
	expect_at_once("LocalHost", "127.0.0.1 ::1 ");
	expect_at_once("127.1", "");
	expect_at_once("example.org", "");
}

/* The C library reads these by itself, as it would read /etc/hosts. */
Test(resolve, finds_the_address_of_a_name)
{
	struct bus_lookup *lookup = NULL;

	cr_assert_eq(bus_lookup_begin(loop, "127.1", on_found, &found, &lookup), 0);
	cr_assert_not_null(lookup);
	cr_expect_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_str_eq(buffer_terminate(&found), "127.0.0.1 ");
}

/* A daemon looks its bus up again and again while it is away. */
Test(resolve, keeps_no_descriptor_of_a_lookup)
{
	size_t before = descriptors_count();

	for (int i = 0; i < 3; i++) {
		struct bus_lookup *lookup = NULL;

		cr_assert_eq(bus_lookup_begin(loop, "127.1", on_found, &found, &lookup), 0);
		cr_expect_eq(loop_run(loop, PATIENCE_MS), 0);
	}
	descriptors_expect(before);
}

Test(resolve, reports_reason_a_name_has_no_address)
{
	struct bus_lookup *lookup = NULL;

	cr_assert_eq(bus_lookup_begin(loop, "no name at all", on_found, &found, &lookup), 0);
	cr_expect_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect(strncmp(buffer_terminate(&found), "none: ", 6) == 0, "%s", found.data);
	cr_expect(strlen(found.data) > 6);
}

Test(resolve, calls_nobody_back_that_has_cancelled)
{
	struct bus_lookup *lookup = NULL;

	cr_assert_eq(bus_lookup_begin(loop, "127.1", on_found, &found, &lookup), 0);
	bus_lookup_cancel(lookup);
	bus_lookup_cancel(NULL);
	cr_expect_eq(loop_run(loop, 200), -ETIME);
	cr_expect_eq(found.size, 0);
}
