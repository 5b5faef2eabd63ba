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

/* The path of a file, in @folder below @prefix. */
struct place {
	char path[PATH_MAX];
	char prefix[PATH_MAX];
};

/* Set the path of @place. Return whether there is a file that access() grants @mode of. */
static bool try_folder(struct place *place, const char *folder, const char *name, int mode)
{
	return snprintf(place->path, PATH_MAX, "%s/%s%s", place->prefix, folder, name) < PATH_MAX &&
	       access(place->path, mode) == 0;
}

/* Find our file @name. Return 0, or -ENOENT with the last place tried, or another errno. */
static int find_installed(const char *name, int mode, struct place *ret_place)
{
	char *prefix = ret_place->prefix;
	ssize_t length = readlink("/proc/self/exe", prefix, PATH_MAX - 1);

	if (length < 0)
		return -errno;
	prefix[length] = '\0';
	dirname(prefix);
	if (try_folder(ret_place, "", name, mode))
		return 0;
	/* prefix holds the folder of the program now. */
	dirname(prefix);
	if (try_folder(ret_place, TOOLBOXD_LIBEXEC_DIR "/", name, mode))
		return 0;
	strcpy(prefix, TOOLBOXD_PREFIX);
	return try_folder(ret_place, TOOLBOXD_LIBEXEC_DIR "/", name, mode) ? 0 : -ENOENT;
}

int paths_find(struct paths *ret_paths)
{
	struct place place = {0};
	int r = find_installed(HOST_NAME, X_OK, &place);

	strcpy(ret_paths->host_program, place.path);
	if (snprintf(ret_paths->library_dir, PATH_MAX, "%s/" LIBRARY_DIR, place.prefix) >= PATH_MAX)
		return -ENAMETOOLONG;
	return r;
}

int paths_find_file(const char *name, char ret_path[PATH_MAX])
{
	struct place place = {0};
	int r = find_installed(name, F_OK, &place);

	if (r == 0 || r == -ENOENT)
		strcpy(ret_path, place.path);
	return r;
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
