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

#include "util/cleanup.h"

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

/* Set *@ret to a copy of the first @size bytes of @path. */
static int copy_path(const char *path, size_t size, char **ret)
{
	*ret = strndup(path, size);
	return *ret ? 0 : -ENOMEM;
}

/* Set *@ret to FOLDER/BELOW, or to NULL without a folder. */
static int join_path(const char *folder, const char *below, char **ret)
{
	char *path = NULL;

	if (folder && asprintf(&path, "%s/%s", folder, below) < 0)
		return -ENOMEM;
	*ret = path;
	return 0;
}

/* Return the entry of the user in the password file; NULL: there is none, with errno 0, or it
 * cannot be read. */
static const struct passwd *find_user(void)
{
	const struct passwd *user;

	errno = 0;
	user = getpwuid(getuid());
	/* The values of errno for an unknown user, by getpwnam(3). */
	if (errno == ENOENT || errno == ESRCH || errno == EBADF || errno == EPERM)
		errno = 0;
	return user;
}

int paths_home(char **ret)
{
	const char *home = getenv("HOME");
	const struct passwd *user;

	if (home && *home)
		return copy_path(home, strlen(home), ret);
	*ret = NULL;
	user = find_user();
	return user ? copy_path(user->pw_dir, strlen(user->pw_dir), ret) : -errno;
}

int paths_xdg_home(const char *variable, const char *fallback, char **ret)
{
	const char *folder = getenv(variable);
	cleanup_free char *home = NULL;
	int r;

	if (folder && *folder == '/')
		return copy_path(folder, strlen(folder), ret);
	r = paths_home(&home);
	return r ? r : join_path(home, fallback, ret);
}

int paths_state(char **ret)
{
	const char *given = getenv("STATE_DIRECTORY");
	cleanup_free char *home = NULL;
	int r;

	/* systemd gives a list; the first one is ours. */
	if (given && *given == '/')
		return copy_path(given, strcspn(given, ":"), ret);
	r = paths_xdg_home("XDG_STATE_HOME", ".local/state", &home);
	return r ? r : join_path(home, "toolboxd", ret);
}
