/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/paths.h"

#include <errno.h>
#include <libgen.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_NAME   "toolbox-host"
#define LIBRARY_DIR "lib/toolboxd"

/* Set @paths from @prefix. Return whether there is a toolbox-host in @folder below it. */
static bool try_prefix(const char *prefix, const char *folder, struct paths *paths)
{
	if (snprintf(paths->host_program, PATH_MAX, "%s/%s" HOST_NAME, prefix, folder) >=
			PATH_MAX ||
		snprintf(paths->library_dir, PATH_MAX, "%s/" LIBRARY_DIR, prefix) >= PATH_MAX)
		return false;
	return access(paths->host_program, X_OK) == 0;
}

int paths_find(struct paths *ret_paths)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const char *folder;

	if (length < 0)
		return -errno;
	program[length] = '\0';
	folder = dirname(program);
	if (try_prefix(folder, "", ret_paths))
		return 0;
	/* program holds its folder now; one up is the prefix. */
	if (try_prefix(dirname(program), TOOLBOXD_LIBEXEC_DIR "/", ret_paths) ||
		try_prefix(TOOLBOXD_PREFIX, TOOLBOXD_LIBEXEC_DIR "/", ret_paths))
		return 0;
	return -ENOENT;
}

char *paths_home(void)
{
	const char *home = getenv("HOME");
	const struct passwd *user;

	if (!home || !*home) {
		errno = 0;
		user = getpwuid(getuid());
		home = user ? user->pw_dir : NULL;
	}
	return home ? strdup(home) : NULL;
}

char *paths_xdg_home(const char *variable, const char *fallback)
{
	const char *folder = getenv(variable);
	char *home;
	char *path = NULL;

	if (folder && *folder == '/')
		return strdup(folder);
	home = paths_home();
	if (home && asprintf(&path, "%s/%s", home, fallback) < 0)
		path = NULL;
	free(home);
	return path;
}

char *paths_state(void)
{
	const char *given = getenv("STATE_DIRECTORY");
	char *home;
	char *path = NULL;

	/* systemd gives a list; the first one is ours. */
	if (given && *given == '/')
		return strndup(given, strcspn(given, ":"));
	home = paths_xdg_home("XDG_STATE_HOME", ".local/state");
	if (home && asprintf(&path, "%s/toolboxd", home) < 0)
		path = NULL;
	free(home);
	return path;
}
