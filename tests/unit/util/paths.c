/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/paths.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scarce.h"
#include "util/cleanup.h"

/* Each test runs in a new process, which may change the environment. */
static void set_environment(const char *home, const char *state, const char *xdg_state)
{
	static const char *const names[] = {"HOME", "STATE_DIRECTORY", "XDG_STATE_HOME"};
	const char *values[] = {home, state, xdg_state};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (values[i])
			setenv(names[i], values[i], 1);
		else
			unsetenv(names[i]);
	}
}

Test(paths, has_the_home_of_the_environment_before_the_one_of_the_password_file)
{
	const struct passwd *user = getpwuid(getuid());
	cleanup_free char *given = NULL;
	cleanup_free char *empty = NULL;
	cleanup_free char *unset = NULL;

	set_environment("/given", NULL, NULL);
	cr_assert_eq(paths_home(&given), 0);
	cr_expect_str_eq(given, "/given");
	set_environment("", NULL, NULL);
	cr_assert_eq(paths_home(&empty), 0);
	set_environment(NULL, NULL, NULL);
	cr_assert_eq(paths_home(&unset), 0);
	if (!user) {
		cr_expect_null(empty);
		cr_expect_null(unset);
		return;
	}
	cr_expect_str_eq(empty, user->pw_dir);
	cr_expect_str_eq(unset, user->pw_dir);
}

Test(paths, takes_an_xdg_folder_only_if_it_is_absolute)
{
	static const struct {
		const char *value;
		const char *expected;
	} cases[] = {
		{"/x/state", "/x/state"},
		{"/", "/"},
		{"", "/home/me/.fallback"},
		{"state", "/home/me/.fallback"},
		{"./state", "/home/me/.fallback"},
		{"~/state", "/home/me/.fallback"},
		{NULL, "/home/me/.fallback"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup_free char *path = NULL;

		set_environment("/home/me", NULL, cases[i].value);
		cr_assert_eq(paths_xdg_home("XDG_STATE_HOME", ".fallback", &path), 0);
		cr_expect_str_eq(path, cases[i].expected, "%s for %s", path, cases[i].value);
	}
}

Test(paths, keeps_its_state_where_systemd_or_xdg_or_the_home_says)
{
	static const struct {
		const char *state;
		const char *xdg_state;
		const char *expected;
	} cases[] = {
		{"/var/lib/toolboxd", "/xdg", "/var/lib/toolboxd"},
		{"/first:/second:/third", "/xdg", "/first"},
		{"relative", "/xdg", "/xdg/toolboxd"},
		{"", "/xdg", "/xdg/toolboxd"},
		{":/second", "/xdg", "/xdg/toolboxd"},
		{NULL, "/xdg", "/xdg/toolboxd"},
		{NULL, "relative", "/home/me/.local/state/toolboxd"},
		{NULL, NULL, "/home/me/.local/state/toolboxd"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup_free char *path = NULL;

		set_environment("/home/me", cases[i].state, cases[i].xdg_state);
		cr_assert_eq(paths_state(&path), 0);
		cr_expect_str_eq(path, cases[i].expected, "row %zu: %s", i, path);
	}
}

Test(paths, of_a_user_are_found_or_memory_is_short)
{
	size_t n = 0;

	set_environment("/home/me", NULL, NULL);
	for (; scarce_once_after(n); n++) {
		cleanup_free char *path = NULL;
		int r = paths_state(&path);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		if (r == 0)
			cr_expect_str_eq(path, "/home/me/.local/state/toolboxd");
	}
	cr_expect_geq(n, 3);
}

Test(paths, name_the_last_host_program_that_was_tried)
{
	struct paths paths = {0};
	int r = paths_find(&paths);
	const char *name = strrchr(paths.host_program, '/');

	cr_expect(r == 0 || r == -ENOENT, "%d", r);
	cr_assert_not_null(name);
	cr_expect_str_eq(name, "/toolbox-host");
	cr_expect_eq(access(paths.host_program, X_OK) == 0, r == 0, "%s", paths.host_program);
	cr_expect_eq(*paths.library_dir, '/');
	name = strrchr(paths.library_dir, '/');
	cr_expect_str_eq(name, "/toolboxd");
	cr_expect_eq(strncmp(name - strlen("/lib"), "/lib/", strlen("/lib/")), 0);
}
