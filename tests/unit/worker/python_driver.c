/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../scratch.h"
#include "guest.h"

/* The host becomes an interpreter, or reports why not. (tests/interop covers the interpreter
 * itself.) */

#define LIMIT 60

static void expect_refused(const char *load, const char *words)
{
	struct guest guest = {0};

	guest_start_load(&guest, load, NULL);
	cr_assert_eq(guest.n_ends, 1, "%s", load);
	cr_assert_eq(guest.end.reason, HOST_REFUSED, "%s: reason %d, %s", load, guest.end.reason,
		guest.message.data ? guest.message.data : "");
	cr_expect_str_eq(guest.pointer.data, "/python");
	cr_expect(strstr(guest.message.data, words), "%s: %s", load, guest.message.data);
	guest_stop(&guest);
}

Test(python_driver, tells_that_no_interpreter_can_be_started, .timeout = LIMIT)
{
	expect_refused("{\"kind\":\"python\",\"python\":[\"/nowhere/python\",\"/nowhere/too\"]}",
		"no Python interpreter can be started: No such file or directory");
	expect_refused("{\"kind\":\"python\",\"python\":[\"/nowhere/python\",\"/etc/passwd\"]}",
		"no Python interpreter can be started: Permission denied (the last one tried)");
}

Test(python_driver, tries_at_most_eight_interpreters, .timeout = LIMIT)
{
	expect_refused("{\"kind\":\"python\",\"python\":[\"/1\",\"/2\",\"/3\",\"/4\",\"/5\","
		       "\"/6\",\"/7\",\"/8\",\"/etc/passwd\"]}",
		"no Python interpreter can be started: No such file or directory");
}

Test(python_driver, goes_on_to_the_next_interpreter, .timeout = LIMIT, .init = scratch_set_up,
	.fini = scratch_tear_down)
{
	/* An interpreter without the packages of this machine. */
	static const char script[] = "#!/bin/sh\nexec /usr/bin/python3 -S -E \"$@\"\n";
	char load[PATH_MAX + 128];
	FILE *file = fopen(scratch_path("python"), "we");

	cr_assert(file && fwrite(script, sizeof(script) - 1, 1, file) == 1);
	cr_assert_eq(fchmod(fileno(file), 0755), 0);
	fclose(file);
	snprintf(load, sizeof(load),
		"{\"kind\":\"python\",\"python\":[\"/nowhere/python\",\"%s\",\"/nowhere/too\"]}",
		scratch_path("python"));
	expect_refused(load, "no Python interpreter here has ovos_plugin_manager");
}

Test(python_driver, refuses_what_no_reading_of_a_manifest_would_send, .timeout = LIMIT)
{
	static const char *const loads[] = {
		"{\"kind\":\"python\"}",
		"{\"kind\":\"python\",\"python\":[]}",
		"{\"kind\":\"python\",\"python\":[7]}",
	};

	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		struct guest guest = {0};

		guest_start_load(&guest, loads[i], NULL);
		cr_expect_eq(guest.n_ends, 1, "%s", loads[i]);
		cr_expect_eq(guest.end.reason, HOST_EXITED, "%s", loads[i]);
		guest_stop(&guest);
	}
}
