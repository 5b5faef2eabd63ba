/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/session.h"

#include <criterion/criterion.h>

#include "../scratch.h"
#include "ctl/options.h"
#include "ctl/session/parts.h"
#include "util/array.h"

TestSuite(ctl_session, .init = scratch_set_up, .fini = scratch_tear_down, .timeout = 60);

Test(ctl_session, ends_a_wait_in_which_nothing_came_without_a_failure)
{
	const struct ctl_options options = {.bus = "ws://127.0.0.1:1/core", .timeout_ms = 1};
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;

	cr_assert_eq(ctl_session_open(&options, &session), 0);
	cr_expect_eq(ctl_session_wait(session, 1), 0);
}

Test(ctl_session, shows_the_token_to_no_name_that_only_looks_like_this_device)
{
	static const struct {
		const char *url;
		bool is_shown;
	} cases[] = {
		{"ws://127.0.0.1:1/core", true},
		{"ws://127.0.0.9:1/core", true},
		{"ws://[::1]:1/core", true},
		{"ws://LOCALHOST:1/core", true},
		{"ws://bus.example:1/core", true},
		{"ws://127.example.org:1/core", false},
		{"ws://127.0.0.1.example.org:1/core", false},
		{"ws://[::1:1]:1/core", false},
		{"ws://localhost.example.org:1/core", false},
		{"ws://128.0.0.1:1/core", false},
	};
	char text[512];

	setenv("XDG_CONFIG_HOME", scratch_folder, 1);
	unsetenv("TOOLBOXD_BUS");
	scratch_write("token", "0123456789abcdef0123456789abcdef\n");
	snprintf(text, sizeof(text),
		"{'websocket':{'host':'bus.example'},'toolboxd':{'embedded':{'token_file':'%s'}}}",
		scratch_path("token"));
	scratch_write_json("mycroft/mycroft.conf", text);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct ctl_options options = {.bus = cases[i].url};
		struct bus_address address;

		cr_assert_eq(session_find_bus(&options, &address), 0, "%s", cases[i].url);
		cr_expect_eq(strlen(address.token), cases[i].is_shown ? 32 : 0, "%s", cases[i].url);
	}
}
