/* SPDX-License-Identifier: Apache-2.0 */
#include "fence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A list of paths from the configuration. */
struct paths {
	char **items;
	size_t *sizes;
	size_t n;
};

static struct paths roots;    /* readable: the roots, then the writable folders; without links */
static struct paths named;    /* the same as the operator has named them */
static size_t first_writable; /* the place of the first writable folder in both */
static struct paths hidden;   /* fences: absolute paths, and ends of paths ("a/b") */
static struct paths kept;
static struct paths exceptions; /* hidden, but opened by name */

/* ── configuration ───────────────────────────────────────────────────────────────────────────── */

static bool add_path(struct paths *paths, const char *path)
{
	char **items = realloc(paths->items, (paths->n + 1) * sizeof(*items));
	size_t *sizes = realloc(paths->sizes, (paths->n + 1) * sizeof(*sizes));

	paths->items = items ? items : paths->items;
	paths->sizes = sizes ? sizes : paths->sizes;
	if (!items || !sizes)
		return false;
	items[paths->n] = strdup(path);
	sizes[paths->n] = strlen(path);
	return items[paths->n] && ++paths->n;
}

/* Add @path and, where it exists, its real place: below the home folder, or at the end of links. */
static bool add_fence(struct paths *paths, const char *path)
{
	const char *home = getenv("HOME");
	char whole[PATH_MAX];
	char real[PATH_MAX];

	if (!add_path(paths, path))
		return false;
	snprintf(whole, sizeof(whole), "%s%s%s", *path == '/' || !home ? "" : home,
		*path == '/' || !home ? "" : "/", path);
	if (!realpath(whole, real))
		return errno != ENOMEM;
	return strcmp(real, path) == 0 || add_path(paths, real);
}

static bool add_root(struct paths *unused, const char *path)
{
	char real[PATH_MAX];

	(void)unused;
	return add_path(&named, path) && add_path(&roots, realpath(path, real) ? real : path);
}

/* Hand each text of the list @key of the configuration to @add with @paths. Return whether all have
 * been added: a fence is never left out. */
static bool read_list(struct toolbox_call call, const char *key, struct paths *paths,
	bool (*add)(struct paths *paths, const char *path))
{
	uint32_t n = 0;
	char pointer[64];
	int r;

	snprintf(pointer, sizeof(pointer), "/%s", key);
	r = toolbox_get_count(call, pointer, &n);

	if (r != TOOLBOX_OK && r != TOOLBOX_E_ABSENT)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const char *path;
		char item[64];

		snprintf(item, sizeof(item), "/%s/%u", key, (unsigned int)i);
		if (toolbox_get_string(call, item, &path, NULL) != TOOLBOX_OK || !add(paths, path))
			return false;
	}
	return true;
}

int fence_init(struct toolbox_call call, const struct fence_settings *settings)
{
	bool is_good = read_list(call, settings->roots, NULL, add_root);

	first_writable = roots.n;
	is_good = is_good && read_list(call, settings->writable, NULL, add_root) &&
		  read_list(call, "fences/hidden", &hidden, add_fence) &&
		  read_list(call, "fences/kept", &kept, add_fence) &&
		  (!settings->exceptions ||
			  read_list(call, settings->exceptions, &exceptions, add_path));
	if (is_good)
		return 0;
	return toolbox_fail(call,
		"the paths of the configuration cannot be read: out of memory, or "
		"one is no string");
}

bool fence_hide(const char *path)
{
	return add_fence(&hidden, path);
}

/* ── judging ─────────────────────────────────────────────────────────────────────────────────── */

/* Return whether @path is @folder or below. */
static bool is_within(const char *path, const char *folder)
{
	size_t size = strcmp(folder, "/") == 0 ? 0 : strlen(folder);

	return strncmp(path, folder, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

/* Return whether @path is @fence, a whole path, or below. The case of ASCII does not count for a
 * fence: on vfat, .ENV opens .env. */
static bool is_fenced(const char *path, const char *fence)
{
	size_t size = strlen(fence);

	return strncasecmp(path, fence, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

/* Return whether @fence, the end of a path, is the end of @path or of a folder above. */
static bool has_names(const char *path, const char *fence)
{
	size_t size = strlen(fence);

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (strncasecmp(at + 1, fence, size) == 0 &&
			(at[1 + size] == '\0' || at[1 + size] == '/'))
			return true;
	return false;
}

/* Return the fence of @fences that holds @path, or NULL. */
static const char *find_fence(const struct paths *fences, const char *path)
{
	for (size_t i = 0; i < fences->n; i++) {
		const char *fence = fences->items[i];

		if (*fence == '/' ? is_fenced(path, fence) : has_names(path, fence))
			return fence;
	}
	return NULL;
}

static const char *find_hidden(const char *path)
{
	for (size_t i = 0; i < exceptions.n; i++)
		if (is_within(path, exceptions.items[i]))
			return NULL;
	return find_fence(&hidden, path);
}

bool fence_hides_entry(const char *path, size_t size)
{
	for (size_t i = 0; i < hidden.n; i++) {
		const char *fence = hidden.items[i];
		size_t n = hidden.sizes[i];

		if (n > size || strncasecmp(path + size - n, fence, n) != 0 ||
			(*fence == '/' ? n != size : n == size || path[size - n - 1] != '/'))
			continue;
		return find_hidden(path) != NULL;
	}
	return false;
}

/* Return the root of @path, without links; the longest one counts. */
static const char *find_root(const char *path, bool is_write)
{
	const char *found = NULL;

	for (size_t i = is_write ? first_writable : 0; i < roots.n; i++)
		if (is_within(path, roots.items[i]) &&
			(!found || strlen(roots.items[i]) > strlen(found)))
			found = roots.items[i];
	return found;
}

/* Return whether an earlier root from @first on has the name of the root @i. */
static bool is_named_before(size_t first, size_t i)
{
	for (size_t j = first; j < i; j++)
		if (strcmp(named.items[i], named.items[j]) == 0)
			return true;
	return false;
}

static void list_roots(bool is_write, struct text *out)
{
	size_t first = is_write ? first_writable : 0;

	for (size_t i = first; i < named.n; i++) {
		if (is_named_before(first, i))
			continue;
		text_put(out, i > first ? ", " : "");
		text_add_name(out, named.items[i]);
	}
	if (first == named.n)
		text_put(out, "none");
}

static bool refuse_path(struct text *why, const char *path, const char *reason)
{
	text_add_name(why, path);
	text_put(why, reason);
	return false;
}

/* Judge @place, whose path has no links, as what @path leads to. */
static bool judge_place(const char *path, bool is_write, struct place *place, struct text *why)
{
	const char *fence = find_hidden(place->path);

	fence = fence ? fence : find_hidden(path);
	place->root = find_root(place->path, is_write);
	if (!place->root) {
		refuse_path(why, path, " is outside of the folders that may be ");
		text_put(why, is_write ? "written (" : "read (");
		list_roots(is_write, why);
		text_put(why, is_write ? "; toolboxes.files.writable has them)"
				       : "; toolboxes.files.roots has them)");
		return false;
	}
	if (fence) {
		refuse_path(why, path, " holds secrets (");
		text_add_name(why, fence);
		text_put(why, "), which no tool reads or writes unless "
			      "toolboxes.files.allow_secrets names the very path");
		return false;
	}
	fence = is_write ? find_fence(&kept, place->path) : NULL;
	fence = is_write && !fence ? find_fence(&kept, path) : fence;
	if (fence) {
		refuse_path(why, path, " is never written by a tool: programs obey ");
		text_add_name(why, fence);
		return false;
	}
	return true;
}

/* Resolve @path, "" for the root, into @ret_real if it exists. realpath(3) looks at each folder by
 * its whole path: for each folder above a missing one, the time would grow with the cube of the
 * depth. */
static bool resolve_above(const char *path, char ret_real[PATH_MAX])
{
	struct stat status;

	path = *path ? path : "/";
	return stat(path, &status) == 0 && realpath(path, ret_real);
}

/* Resolve the folder of @path, and set @place to the last name below. Names that do not exist are
 * kept as they are, if they are no `..`. A slash at the end is of a folder, not of a new file. */
static bool resolve_new(const char *path, struct place *place)
{
	char copy[PATH_MAX];
	char rest[PATH_MAX] = "";
	char *slash;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((slash = strrchr(copy, '/'))) {
		char below[PATH_MAX];
		int size = snprintf(below, sizeof(below), "%s%s", slash, rest);

		if (size >= (int)sizeof(below) || strcmp(slash, "/..") == 0)
			return false;
		if (strcmp(slash, "/.") != 0 && strcmp(slash, "/") != 0) {
			memcpy(rest, below, (size_t)size + 1);
		} else if (!*rest) {
			errno = EISDIR;
			return false;
		}
		*slash = '\0';
		if (resolve_above(copy, place->path)) {
			size_t used = strcmp(place->path, "/") == 0 ? 0 : strlen(place->path);

			return snprintf(place->path + used, sizeof(place->path) - used, "%s",
				       rest) < (int)(sizeof(place->path) - used);
		}
		if (errno != ENOENT)
			return false;
	}
	return false;
}

/* Resolve @path into @place. Return whether it, or for writing a folder above, exists. */
static bool resolve(const char *path, bool is_write, struct place *place)
{
	struct stat status;

	place->exists = realpath(path, place->path) != NULL;
	if (place->exists)
		return true;
	if (errno != ENOENT || !is_write)
		return false;
	/* A link that leads nowhere: no file is made at its end. */
	if (lstat(path, &status) == 0) {
		errno = ELOOP;
		return false;
	}
	return resolve_new(path, place);
}

/* Resolve @path as it is, else with its \xNN as bytes. *ret_path is the form that counts, @path or
 * @decoded. */
static bool resolve_either(const char *path, bool is_write, char decoded[PATH_MAX],
	struct place *place, const char **ret_path)
{
	bool is_found = resolve(path, is_write, place);

	*ret_path = path;
	if (is_found && place->exists)
		return true;
	snprintf(decoded, PATH_MAX, "%s", path);
	if (!name_decode(decoded))
		return is_found;
	*ret_path = decoded;
	return resolve(decoded, is_write, place);
}

/* Append why @path, which does not resolve for @error, is not found. Outside of the roots, and in a
 * fence, the words are the same as for a file that exists: nobody learns there which files do. */
static bool fail_to_find(const char *path, bool is_write, int error, struct text *why)
{
	char above[PATH_MAX];
	struct place place = {.path = "/"};
	char *slash;

	snprintf(above, sizeof(above), "%s", path);
	while ((slash = strrchr(above, '/'))) {
		*slash = '\0';
		if (resolve_above(above, place.path))
			break;
	}
	if (!judge_place(path, is_write, &place, why))
		return false;
	text_add_name(why, path);
	text_printf(why, ": %s",
		error == EISDIR ? "a path that ends so names a folder, not a file"
				: strerror(error));
	return false;
}

bool fence_find(const char *path, bool is_write, struct place *ret_place, struct text *why)
{
	char decoded[PATH_MAX];
	const char *meant;

	if (*path != '/')
		return refuse_path(why, path, " must be an absolute path");
	if (strlen(path) >= PATH_MAX)
		return refuse_path(why, "the path", " is too long");
	if (resolve_either(path, is_write, decoded, ret_place, &meant))
		return judge_place(meant, is_write, ret_place, why);
	return fail_to_find(meant, is_write, errno, why);
}

/* ── opening ─────────────────────────────────────────────────────────────────────────────────── */

static int open_below(const char *root, const char *path, int flags)
{
	const struct open_how how = {
		.flags = (unsigned int)(flags | O_CLOEXEC |
					(flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK)),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
	};
	int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	const char *rest = path + (strcmp(root, "/") == 0 ? 0 : strlen(root));
	long fd;

	if (root_fd < 0)
		return -errno;
	rest += strspn(rest, "/");
	fd = syscall(SYS_openat2, root_fd, *rest ? rest : ".", &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(root_fd);
	return (int)fd;
}

int fence_open(const struct place *place, int flags)
{
	return open_below(place->root, place->path, flags);
}

static const char *kind_of(mode_t mode)
{
	return S_ISDIR(mode)    ? "a folder: list_dir of files lists it"
	       : S_ISFIFO(mode) ? "a FIFO"
	       : S_ISSOCK(mode) ? "a socket"
				: "a device";
}

int open_regular(const struct place *place, struct stat *ret_status, struct text *why)
{
	int fd = fence_open(place, O_PATH);
	int r = fd < 0 ? fd : fstat(fd, ret_status) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	/* A device may act when it is opened. */
	if (r == 0 && S_ISREG(ret_status->st_mode)) {
		fd = fence_open(place, O_RDONLY);
		r = fd < 0 ? fd : fstat(fd, ret_status) < 0 ? -errno : 0;
	}
	if (r == 0 && S_ISREG(ret_status->st_mode))
		return fd;
	text_add_name(why, place->path);
	if (r < 0)
		fence_write_error(place->path, -r, why);
	else
		text_printf(why, " is %s", kind_of(ret_status->st_mode));
	if (r == 0 && !S_ISDIR(ret_status->st_mode))
		text_put(why, ", not a regular file");
	return -1;
}

/* Make the folder @path, if it is not there. Return 0 or a negative errno. */
static int make_folder(const char *root, const char *path)
{
	char parent[PATH_MAX];
	char *slash;
	int fd;
	int r;

	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	*slash = '\0';
	fd = open_below(root, *parent ? parent : "/", O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	r = mkdirat(fd, slash + 1, 0777) < 0 && errno != EEXIST ? -errno : 0;
	close(fd);
	return r;
}

/* Make the folders of @folder below @root. Return 0 or a negative errno. */
static int make_folders(const char *root, const char *folder)
{
	char path[PATH_MAX];
	size_t at = strlen(root);
	int r = 0;

	while (r == 0 && folder[at]) {
		at += strspn(folder + at, "/");
		at += strcspn(folder + at, "/");
		snprintf(path, sizeof(path), "%.*s", (int)at, folder);
		r = make_folder(root, path);
	}
	return r;
}

int fence_open_parent(const struct place *place, bool makes, const char **ret_name)
{
	char folder[PATH_MAX];
	char *slash;
	int fd;

	snprintf(folder, sizeof(folder), "%s", place->path);
	slash = strrchr(folder, '/');
	*slash = '\0';
	if (!is_within(*folder ? folder : "/", place->root))
		return -EISDIR;
	*ret_name = place->path + (slash - folder) + 1;
	fd = open_below(place->root, *folder ? folder : "/", O_RDONLY | O_DIRECTORY);
	if (fd != -ENOENT || !makes)
		return fd;
	fd = make_folders(place->root, folder);
	return fd < 0 ? fd : open_below(place->root, folder, O_RDONLY | O_DIRECTORY);
}

/* Return whether one of @fences is below @folder on the disk. */
static bool has_fence_below(const struct paths *fences, const char *folder)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < fences->n; i++)
		if (*fences->items[i] == '/' && is_within(fences->items[i], folder) &&
			realpath(fences->items[i], path))
			return true;
	return false;
}

void fence_write_error(const char *path, int error, struct text *why)
{
	char folder[PATH_MAX];

	text_printf(why, ": %s", strerror(error));
	snprintf(folder, sizeof(folder), "%s", path);
	*strrchr(folder, '/') = '\0';
	if (error == EACCES && (has_fence_below(&hidden, folder) || has_fence_below(&kept, folder)))
		text_put(why,
			" (its folder holds secrets, or files that programs obey: what is new "
			"there is read by a call that comes after a pause of a few seconds, and "
			"nothing is made there; use a subfolder)");
}

const char *fence_first_root(void)
{
	return roots.n > 0 ? roots.items[0] : NULL;
}

const char *fence_first_writable(void)
{
	return first_writable < roots.n ? roots.items[first_writable] : NULL;
}

bool fence_refuses_writes(struct toolbox_call call, struct text *why)
{
	if (first_writable == roots.n)
		text_put(why, "no folder may be written: toolboxes.files.writable of the "
			      "configuration names such folders");
	else if (!toolbox_is_confined(call))
		text_put(why,
			"nothing is written here: this kernel has no landlock, so nothing but "
			"this tool's own checks would hold it in its folders");
	return why->size > 0;
}
