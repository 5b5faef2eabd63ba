/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/cleanup.h"

/* The headers come from the build system; the kernel may be newer. */
#ifndef LANDLOCK_ACCESS_NET_BIND_TCP
#define LANDLOCK_ACCESS_NET_BIND_TCP    (1ULL << 0)
#define LANDLOCK_ACCESS_NET_CONNECT_TCP (1ULL << 1)
#endif
#ifndef LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define LANDLOCK_SCOPE_SIGNAL               (1ULL << 1)
#endif

/* struct landlock_ruleset_attr as of ABI 6. Older kernels accept it if their unknown members are
 * zero. */
struct ruleset {
	uint64_t files;
	uint64_t net;
	uint64_t scoped;
};

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE                                                                                      \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                           \
		LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |                     \
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                       \
		LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |                       \
		LANDLOCK_ACCESS_FS_REFER | LANDLOCK_ACCESS_FS_TRUNCATE |                           \
		LANDLOCK_ACCESS_FS_IOCTL_DEV)
/* These are never allowed. */
#define NEVER                                                                                      \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)
/* The rights for files other than folders; the kernel refuses the others there. */
#define OF_FILES                                                                                   \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |                            \
		LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_IOCTL_DEV)

/* Most libraries allowed beside one loaded from its own folder. */
#define NEIGHBOURS_MAX 256

struct place {
	const char *path;
	uint64_t access;
};

/* Files read by libc and libraries in general: libraries, locale, time zone and ICU data. */
static const struct place of_compute[] = {
	{"/lib", READ},
	{"/lib64", READ},
	{"/usr/lib", READ},
	{"/usr/lib64", READ},
	{"/usr/local/lib", READ},
	{"/etc/ld.so.cache", READ},
	{"/usr/share/locale", READ},
	{"/usr/share/i18n", READ},
	{"/usr/share/zoneinfo", READ},
	{"/etc/localtime", READ},
	{"/etc/timezone", READ},
	{"/usr/share/icu", READ},
	{"/dev/null", READ | LANDLOCK_ACCESS_FS_WRITE_FILE},
	{"/dev/urandom", READ},
#ifdef TOOLBOXD_SANITIZED
	{"/proc/self", READ},
#endif
	{NULL, 0},
};

/* Resolver files, lists of services, CA certificates. */
static const struct place of_net[] = {
	{"/etc/resolv.conf", READ},
	{"/run/systemd/resolve", READ},
	{"/run/resolvconf", READ},
	{"/run/NetworkManager", READ},
	{"/etc/hosts", READ},
	{"/etc/host.conf", READ},
	{"/etc/nsswitch.conf", READ},
	{"/etc/gai.conf", READ},
	{"/etc/services", READ},
	{"/etc/protocols", READ},
	{"/etc/ssl/certs", READ},
	{"/etc/ssl/openssl.cnf", READ},
	{"/etc/ca-certificates", READ},
	{"/etc/pki/tls/certs", READ},
	{"/usr/share/ca-certificates", READ},
	{"/usr/local/share/ca-certificates", READ},
	{NULL, 0},
};

/* The folders of the system, and devices writable for everybody: class command. */
static const struct place of_command[] = {
	{"/bin", READ},
	{"/sbin", READ},
	{"/lib", READ},
	{"/lib32", READ},
	{"/lib64", READ},
	{"/usr", READ},
	{"/opt", READ},
	{"/etc", READ},
	{"/dev", READ},
	{"/proc", READ},
	{"/sys", READ},
	{"/run", READ},
	{"/dev/null", READ | LANDLOCK_ACCESS_FS_WRITE_FILE},
	{"/dev/zero", READ | LANDLOCK_ACCESS_FS_WRITE_FILE},
	{"/dev/full", READ | LANDLOCK_ACCESS_FS_WRITE_FILE},
	{"/dev/tty", READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_IOCTL_DEV},
	{NULL, 0},
};

/* A ruleset under construction. */
struct ruleset_build {
	int fd;
	uint64_t known;               /* restricted rights */
	struct landlock_rules *rules; /* NULL: not wanted */
};

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

/* Return the rights known to a kernel with this ABI. */
static uint64_t known_rights(int abi)
{
	uint64_t known = READ | WRITE | NEVER;

	if (abi < 2)
		known &= ~(uint64_t)LANDLOCK_ACCESS_FS_REFER;
	if (abi < 3)
		known &= ~(uint64_t)LANDLOCK_ACCESS_FS_TRUNCATE;
	if (abi < 5)
		known &= ~(uint64_t)LANDLOCK_ACCESS_FS_IOCTL_DEV;
	return known;
}

static void keep_rule(struct landlock_rules *rules, const struct stat *status, uint64_t allowed)
{
	if (!rules || rules->n == LANDLOCK_RULES_MAX)
		return;
	rules->items[rules->n].device = status->st_dev;
	rules->items[rules->n].inode = status->st_ino;
	rules->items[rules->n++].allowed = allowed;
}

/* Allow @access to the file at @path, or to everything below it if it is a folder. */
static int allow(const struct ruleset_build *list, const char *path, uint64_t access)
{
	cleanup_close int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr rule = {0};
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	rule.parent_fd = fd;
	rule.allowed_access = access & list->known;
	if (!S_ISDIR(status.st_mode))
		rule.allowed_access &= OF_FILES;
	if (syscall(SYS_landlock_add_rule, list->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return -errno;
	keep_rule(list->rules, &status, rule.allowed_access);
	return 0;
}

/*
 * ── fences ──────────────────────────────────────────────────────────────────────────────────────
 *
 * Landlock can only allow. So a folder with a fence inside is opened entry by entry:
 *
 *   /home/me            its names
 *   /home/me/notes      allowed
 *   /home/me/.profile   kept: only reading
 *   /home/me/.ssh       hidden: nothing
 *
 * A link is left out: the place that it leads to is inside of an allowed path, or it is not.
 */

/* The fences, with all links resolved. */
struct around {
	const struct ruleset_build *list;
	struct text_list hidden;
	struct text_list kept;
	unsigned int n_entries; /* opened in turn for a list so far */
};

static void around_deinit(struct around *around)
{
	text_list_deinit(&around->hidden);
	text_list_deinit(&around->kept);
}

/* Add the paths of @fences that exist to @ret_real. */
static int resolve_fences(const struct text_list *fences, struct text_list *ret_real)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < fences->n_items; i++) {
		char *real = realpath(fences->items[i], NULL);

		/* A fence that could not be resolved would be lost. */
		r = real ? text_list_take(ret_real, real) : errno == ENOMEM ? -ENOMEM : 0;
	}
	return r;
}

/* Return whether one of @fences is below @path. */
static bool has_below(const struct text_list *fences, const char *path)
{
	size_t size = strcmp(path, "/") == 0 ? 0 : strlen(path);

	for (size_t i = 0; i < fences->n_items; i++)
		if (strncmp(fences->items[i], path, size) == 0 && fences->items[i][size] == '/' &&
			fences->items[i][size + 1])
			return true;
	return false;
}

static int allow_around(struct around *around, const char *path, uint64_t access);

/* Allow @access to each entry of the folder @path that no fence keeps closed. */
static int allow_entries(struct around *around, const char *path, uint64_t access)
{
	cleanup_folder DIR *dir = opendir(path);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0 && (entry = readdir(dir))) {
		char below[PATH_MAX];
		struct stat status;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++around->n_entries > FENCED_ENTRIES_MAX)
			return -E2BIG;
		if (snprintf(below, sizeof(below), "%s/%s", strcmp(path, "/") == 0 ? "" : path,
			    entry->d_name) >= (int)sizeof(below) ||
			lstat(below, &status) < 0 || S_ISLNK(status.st_mode))
			continue;
		r = allow_around(around, below, access);
		/* It may have gone, or be for others. */
		r = r == -ENOENT || r == -ENOTDIR || r == -EACCES ? 0 : r;
	}
	return r;
}

/* Allow @access to @path, which has no links, and to all below that no fence keeps closed. */
static int allow_around(struct around *around, const char *path, uint64_t access)
{
	bool writes = access != READ;
	int r;

	if (text_list_has(&around->hidden, path))
		return 0;
	if (writes && text_list_has(&around->kept, path))
		access = READ;
	if (!has_below(&around->hidden, path) &&
		!(access != READ && has_below(&around->kept, path)))
		return allow(around->list, path, access);
	r = allow(around->list, path, LANDLOCK_ACCESS_FS_READ_DIR);
	return r ? r : allow_entries(around, path, access);
}

/* Allow @access to the path of a toolbox. A path inside of a fence was named on purpose. */
static int allow_path(struct around *around, const char *path, uint64_t access)
{
	cleanup_free char *real = NULL;

	if (around->hidden.n_items + around->kept.n_items == 0)
		return allow(around->list, path, access);
	real = realpath(path, NULL);
	if (!real)
		return -errno;
	return text_list_has(&around->hidden, real) ? allow(around->list, real, access)
						    : allow_around(around, real, access);
}

/* Allow @places, except for what is hidden. A missing place needs no rule. */
static int allow_places(struct around *around, const struct place *places)
{
	for (; places->path; places++) {
		cleanup_free char *real = realpath(places->path, NULL);
		int r = real ? allow_around(around, real, places->access) : -errno;

		if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -EACCES)
			return r;
	}
	return 0;
}

static int allow_given(struct around *around, const char *name, const struct sandbox_paths *paths,
	uint64_t access, struct landlock_failure *failure)
{
	around->n_entries = 0;
	for (size_t i = 0; i < paths->list.n_items; i++) {
		int r = allow_path(around, paths->list.items[i], access);

		if (r == 0)
			continue;
		*failure = (struct landlock_failure){
			.list = name, .index = i, .path = paths->list.items[i], .error = r};
		return LANDLOCK_E_PATH;
	}
	return 0;
}

/* Allow the libraries in the folder of this one, which finds them there. */
static void allow_neighbours(const struct ruleset_build *list, const char *library)
{
	cleanup_free char *folder = strdup(library);
	unsigned int n = 0;
	cleanup_folder DIR *dir = NULL;
	struct dirent *entry;

	if (!folder)
		return;
	*strrchr(folder, '/') = '\0';
	dir = opendir(*folder ? folder : "/");
	while (dir && n < NEIGHBOURS_MAX && (entry = readdir(dir))) {
		char path[4096];

		if (!strstr(entry->d_name, ".so"))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) <
			(int)sizeof(path))
			allow(list, path, READ);
		n++;
	}
}

/* Allow what loading a library takes. The dynamic linker reports a missing one. */
static void allow_library(const struct ruleset_build *list, const struct seal *seal)
{
	if (!strchr(seal->name, '/'))
		return;
	allow(list, seal->name, READ);
	if (seal->fd < 0)
		allow_neighbours(list, seal->name);
}

/* Allow the folder of this program, from which a Python host runs toolbox_python.py. */
static void allow_program(const struct ruleset_build *list)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (size <= 0)
		return;
	path[size] = '\0';
	strrchr(path, '/')[1] = '\0';
	allow(list, path, READ);
}

static int allow_class(struct around *around, const struct toolbox_sandbox *sandbox)
{
	const struct ruleset_build *list = around->list;
	int r = allow_places(around, sandbox->class == SANDBOX_COMMAND ? of_command : of_compute);

	if (r == 0 && sandbox->class == SANDBOX_NET)
		r = allow_places(around, of_net);
	if (sandbox->class == SANDBOX_COMMAND)
		allow_program(list);
	/* Otherwise no file could be moved to another folder. */
	if (r == 0 && sandbox->class == SANDBOX_COMMAND && !sandbox->write.is_given &&
		(list->known & LANDLOCK_ACCESS_FS_REFER))
		r = allow(list, "/", LANDLOCK_ACCESS_FS_REFER);
	return r;
}

static int allow_all(const struct ruleset_build *list, const struct toolbox_sandbox *sandbox,
	const struct landlock_places *places, struct landlock_failure *failure)
{
	cleanup(around_deinit) struct around around = {.list = list};
	int r;

	if (resolve_fences(&sandbox->hidden.list, &around.hidden) < 0 ||
		resolve_fences(&sandbox->kept.list, &around.kept) < 0)
		return -ENOMEM;
	r = allow_class(&around, sandbox);
	for (size_t i = 0; r == 0 && i < places->n_seals; i++)
		allow_library(list, &places->seals[i]);
	if (r == 0 && places->folder)
		r = allow(list, places->folder, READ | WRITE);
	r = r ? r : allow_given(&around, "read", &sandbox->read, READ, failure);
	return r ? r : allow_given(&around, "write", &sandbox->write, READ | WRITE, failure);
}

/* Return the restricted rights; the others stay unchanged. */
static uint64_t restricted_rights(const struct toolbox_sandbox *sandbox)
{
	if (sandbox->class < SANDBOX_COMMAND)
		return READ | WRITE | NEVER;
	if (sandbox->write.is_given)
		return READ | WRITE | (NEVER & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE);
	return READ | LANDLOCK_ACCESS_FS_REFER;
}

int landlock_enter(int abi, const struct toolbox_sandbox *sandbox,
	const struct landlock_places *places, struct landlock_rules *ret_rules,
	struct landlock_failure *ret_failure)
{
	struct ruleset ruleset = {.files = known_rights(abi) & restricted_rights(sandbox)};
	int r;

	if (abi >= 4 && sandbox->class == SANDBOX_COMPUTE)
		ruleset.net = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP;
	if (abi >= 6 && (sandbox->class < SANDBOX_COMMAND || sandbox->write.is_given))
		ruleset.scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL;
	cleanup_close int fd =
		(int)syscall(SYS_landlock_create_ruleset, &ruleset, sizeof(ruleset), 0);
	struct ruleset_build list = {.fd = fd, .known = ruleset.files, .rules = ret_rules};

	if (fd < 0)
		return -errno;
	if (ret_rules)
		*ret_rules = (struct landlock_rules){.restricted = ruleset.files};
	r = allow_all(&list, sandbox, places, ret_failure);
	if (r)
		return r;
	return syscall(SYS_landlock_restrict_self, fd, 0) < 0 ? -errno : 0;
}

/* Return what the rules of the file itself allow. */
static uint64_t allowed_at(const struct landlock_rules *rules, const struct stat *status)
{
	uint64_t allowed = 0;

	for (uint32_t i = 0; i < rules->n; i++)
		if (rules->items[i].device == status->st_dev &&
			rules->items[i].inode == status->st_ino)
			allowed |= rules->items[i].allowed;
	return allowed;
}

uint64_t landlock_denied(const struct landlock_rules *rules, const char *path, uint64_t rights)
{
	uint64_t denied = rights & rules->restricted;
	char place[PATH_MAX];
	struct stat status;

	snprintf(place, sizeof(place), "%s", path);
	while (denied) {
		char *slash = strrchr(place, '/');

		if (stat(place, &status) == 0)
			denied &= ~allowed_at(rules, &status);
		if (!slash || strcmp(place, "/") == 0)
			break;
		slash[slash == place] = '\0';
	}
	return denied;
}
