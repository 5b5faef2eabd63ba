/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "guest.h"

static struct guest guest;

static void tear_down(void)
{
	guest_stop(&guest);
}

TestSuite(plugin_driver, .fini = tear_down, .timeout = 60);

static void start(const char *members)
{
	const struct guest_options options = {.copied = TEST_PLUGGED_LIBRARY};
	cleanup(buffer_deinit) struct buffer load = {0};

	buffer_printf(&load, "{\"kind\":\"plugin\",\"toolbox_id\":\"test\",\"library\":\"%s\"%s}",
		TEST_PLUGGED_LIBRARY, members);
	guest_start_load(&guest, buffer_terminate(&load), &options);
}

static const char *call(uint32_t index, const char *arguments)
{
	struct host_call host_call = {
		.tool = index,
		.timeout_ms = 20000,
		.arguments = arguments,
		.size = strlen(arguments),
	};

	cr_assert_eq(host_invoke(guest.host, ++guest.call_id, &host_call), 0);
	guest_wait(&guest);
	return guest.answer.data;
}

Test(plugin_driver, tells_its_tools_when_it_is_asked)
{
	start("");
	cr_assert_eq(guest.n_loaded, 1);
	cr_expect(strstr(guest.loaded.data, ",\"tools\":[{\"name\":\"read\","), "%s",
		guest.loaded.data);
	cr_expect(strstr(guest.loaded.data, "\"sealed\":true"));
}

Test(plugin_driver, calls_by_the_names_that_it_is_given)
{
	start(",\"tools\":[\"gone\",\"later\",\"count\"]");
	cr_assert_eq(guest.n_loaded, 1);
	cr_expect_null(strstr(guest.loaded.data, "tools"));
	cr_expect_str_eq(call(1, "{\"steps\":2}"), "{\"steps\":2}");
	cr_expect_str_eq(call(2, "{}"), "{\"calls\":1,\"data\":\"its own\"}");
	cr_expect_str_eq(call(0, "{}"), "the library has no tool of this name any more");
	cr_expect(guest.is_failure);
}

Test(plugin_driver, refuses_a_library_without_the_symbol)
{
	guest_start_load(&guest,
		"{\"kind\":\"plugin\",\"toolbox_id\":\"test\",\"library\":\"libm.so.6\"}", NULL);
	cr_assert_eq(guest.n_ends, 1);
	cr_expect_eq(guest.end.reason, HOST_REFUSED);
	cr_expect_str_eq(guest.pointer.data, "/library");
	cr_expect(strstr(guest.message.data, "does not export 'toolbox_plugin'"));
}

Test(plugin_driver, tells_the_reason_of_init)
{
	start(",\"config\":{\"trick\":\"fail\"}");
	cr_assert_eq(guest.n_ends, 1);
	cr_expect_str_eq(guest.message.data, "its init() has failed: there is no antenna");
}

Test(plugin_driver, dies_of_a_crash_in_init)
{
	start(",\"config\":{\"trick\":\"abort\"}");
	cr_assert_eq(guest.n_ends, 1);
	cr_expect_eq(guest.end.reason, HOST_SIGNALED);
	cr_expect_eq(guest.end.signal, 6);
}
