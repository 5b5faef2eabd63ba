/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/dropin_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/text/utf8.h"

static void dropin_deinit(struct dropin *dropin)
{
	free(dropin->name);
	free(dropin->path);
	free(dropin->reason);
}

static void free_dropins(struct dropin *dropins, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dropin_deinit(&dropins[i]);
	free(dropins);
}

void dropin_list_deinit(struct dropin_list *list)
{
	free_dropins(list->items, list->n_items);
	free_dropins(list->toolboxes, list->n_toolboxes);
	*list = (struct dropin_list){0};
}

const char *dropin_stem(const char *path, size_t *ret_size)
{
	const char *name = basename(path);
	const char *dot = strrchr(name, '.');

	*ret_size = dot && dot > name ? (size_t)(dot - name) : strlen(name);
	return name;
}

/* The first line of a file of Python that is a toolbox. */
#define TOOLBOX_LINE "# toolbox: python"

/* The bytes searched for it. */
#define LINES_BYTES 256

/* Return whether @name belongs to a copy left by an editor, a merge or a package manager. */
static bool is_backup(const char *name)
{
	static const char *const suffixes[] = {".bak", ".old", ".orig", ".rej", ".swp", ".tmp"};
	static const char *const inside[] = {".dpkg-", ".ucf-", ".rpm"};
	size_t size = strlen(name);
	const char *dot = size > 1 ? strchr(name + 1, '.') : NULL;

	if (size > 1 && name[size - 1] == '~')
		return true;
	for (; dot; dot = strchr(dot + 1, '.')) {
		for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
			if (dot[1] == suffixes[i][1] && strcmp(dot, suffixes[i]) == 0)
				return true;
		for (size_t i = 0; i < ARRAY_SIZE(inside); i++)
			if (dot[1] == inside[i][1] &&
				strncmp(dot, inside[i], strlen(inside[i])) == 0)
				return true;
	}
	return false;
}

/* Return whether @name is a name for files beside programs. */
static bool is_beside(const char *name)
{
	static const char helpers[] = "_helpers";
	size_t size;
	const char *stem = dropin_stem(name, &size);

	if (name[0] == '_' || name[0] == '.')
		return true;
	if (text_is(stem, size, "types") || text_is(stem, size, "helpers"))
		return true;
	return size >= strlen(helpers) &&
	       memcmp(stem + size - strlen(helpers), helpers, strlen(helpers)) == 0;
}

bool dropin_is_left_out(const char *name)
{
	return is_beside(name) || is_backup(name);
}

/* ── one folder ──────────────────────────────────────────────────────────────────────────────── */

/* Move @dropin to @list. Only so many names left out on purpose are kept. */
static int put(struct dropin_list *list, struct dropin *dropin)
{
	if (dropin->is_aside && list->n_aside == DROPIN_ASIDE_MAX)
		return 0;
	if (!dropin->is_aside && list->n_items - list->n_aside == DROPINS_MAX)
		return -E2BIG;
	if (array_grow(list->items, list->n_items) < 0)
		return -ENOMEM;
	list->n_aside += dropin->is_aside;
	list->items[list->n_items++] = *dropin;
	*dropin = (struct dropin){0};
	return 0;
}

/* Return whether the file at @path begins with @text. */
static bool has_start(const char *path, const char *text)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char start[sizeof(TOOLBOX_LINE)];
	size_t size = strlen(text);

	return fd >= 0 && read(fd, start, size) == (ssize_t)size && memcmp(start, text, size) == 0;
}

/* A script by its first two bytes: it is meant to be run. */
static bool is_script(const char *path)
{
	return has_start(path, "#!");
}

enum toolbox_line {
	LINE_OTHER,
	LINE_NEAR, /* the first or second line is nearly the right one */
	LINE_RIGHT,
};

/* Look for the line of a toolbox at the beginning of the file at @path, with the name @stem up to
 * its last dot. */
static enum toolbox_line find_toolbox_line(const char *path, const char *stem, size_t size)
{
	bool is_python = strcmp(stem + size, ".py") == 0;
	cleanup_close int fd = is_python ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	char start[LINES_BYTES + 1] = "";
	char *rest = start;
	size_t length;

	if (fd < 0 || read(fd, start, LINES_BYTES) < 0)
		return LINE_OTHER;
	length = strcspn(start, "\n");
	if (start[length] == '\n') {
		while (length > 0 && strchr(" \t\r", start[length - 1]))
			length--;
		if (text_is(start, length, TOOLBOX_LINE))
			return LINE_RIGHT;
	}
	for (int i = 0; i < 2; i++) {
		char *line = strsep(&rest, "\n");

		if (line && *line == '#' && strcasestr(line, "toolbox:") &&
			strcasestr(line, "python"))
			return LINE_NEAR;
	}
	return LINE_OTHER;
}

static bool is_definition(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && strcmp(dot, ".json") == 0;
}

/* Move @dropin to the toolboxes of @list. */
static int put_toolbox(struct dropin_list *list, struct dropin *dropin)
{
	if (list->n_toolboxes == DROPINS_MAX)
		return -E2BIG;
	if (array_grow(list->toolboxes, list->n_toolboxes) < 0)
		return -ENOMEM;
	list->toolboxes[list->n_toolboxes++] = *dropin;
	*dropin = (struct dropin){0};
	return 0;
}

/* Return why the file at @path is left out, though it is meant to be a program; NULL: it is
 * offered. */
static const char *find_refusal(const char *path, bool can_run)
{
	if (!can_run)
		return "it is not executable (chmod +x)";
	return utf8_is_valid(path, strlen(path)) ? NULL : "its path is not UTF-8";
}

static const char not_the_line[] = "for its functions to be tools its first line must be "
				   "'" TOOLBOX_LINE "', and nothing else";

/* Return the name of a tool: @stem, of @size bytes, after SERVICE_ (@service NULL: nothing); NULL
 * without memory. */
static char *name_in(const char *service, const char *stem, size_t size)
{
	size_t before = service ? strlen(service) + 1 : 0;
	char *name = malloc(before + size + 1);

	if (!name)
		return NULL;
	if (service) {
		memcpy(name, service, before - 1);
		name[before - 1] = '_';
	}
	memcpy(name + before, stem, size);
	name[before + size] = '\0';
	return name;
}

/* Take the file at @path, taken over, of the service @service (NULL: none), if it is meant to be a
 * program, or if it is listed as left out. @aside is the reason for leaving its name out; NULL: its
 * name can be offered. */
static int take_file(struct dropin_list *list, char *path, const char *service, const char *aside)
{
	bool can_run = access(path, X_OK) == 0;
	size_t size;
	const char *stem = dropin_stem(path, &size);
	bool is_helper = aside && !is_backup(stem);
	enum toolbox_line line = aside ? LINE_OTHER : find_toolbox_line(path, stem, size);
	const char *reason = aside               ? aside
			     : line == LINE_NEAR ? not_the_line
						 : find_refusal(path, can_run);
	cleanup(dropin_deinit) struct dropin dropin = {
		.path = path,
		.is_direct = !service,
		.is_aside = aside || (!can_run && line == LINE_OTHER && !is_script(path)),
	};

	/* A backup has a name of its own beside its original. */
	if (aside && !is_helper)
		size = strlen(stem);
	/* A helper that cannot be run is not meant as a tool. */
	if (is_definition(path) || (dropin.is_aside && service) || (is_helper && !can_run))
		return 0;
	dropin.name = name_in(service, stem, size);
	if (!dropin.name)
		return -ENOMEM;
	if (line == LINE_RIGHT)
		return put_toolbox(list, &dropin);
	if (reason && dropin_leave_out(&dropin, "%s: %s", path, reason) < 0)
		return -ENOMEM;
	return put(list, &dropin);
}

static int scan_folder(struct dropin_list *list, const char *folder, const char *service);

/* Return whether @name is of no interest to anybody. */
static bool is_hidden_name(const char *name)
{
	return name[0] == '.' || strcmp(name, "__pycache__") == 0 ||
	       strcmp(name, "CMakeLists.txt") == 0;
}

/* Return whether a runnable file is in @folder. */
static bool has_program(struct dropin_list *list, const char *folder)
{
	cleanup_folder DIR *entries = opendir(folder);
	const struct dirent *entry;

	while (entries && list->n_seen < DROPIN_ENTRIES_MAX && (entry = readdir(entries))) {
		struct stat status;

		list->n_seen++;
		if (!dropin_is_left_out(entry->d_name) &&
			fstatat(dirfd(entries), entry->d_name, &status, 0) == 0 &&
			S_ISREG(status.st_mode) && (status.st_mode & S_IXUSR))
			return true;
	}
	return false;
}

/* Name the folder at @path, taken over, in the folder of @service among what is not offered, if it
 * has a program. */
static int take_deep(struct dropin_list *list, char *path, const char *service)
{
	cleanup(dropin_deinit) struct dropin dropin = {.path = path, .is_aside = true};
	size_t size;
	const char *stem = dropin_stem(path, &size);

	if (!has_program(list, path))
		return 0;
	dropin.name = name_in(service, stem, size);
	if (!dropin.name ||
		dropin_leave_out(&dropin,
			"%s: a folder in the folder of a service is not looked at: move its "
			"programs into a folder directly in the toolbox's",
			path) < 0)
		return -ENOMEM;
	return put(list, &dropin);
}

static int take_entry(struct dropin_list *list, const char *folder, const char *service,
	const struct dirent *entry)
{
	const char *name = entry->d_name;
	const char *aside = NULL;
	cleanup_free char *path = NULL;
	struct stat status;

	if (is_hidden_name(name))
		return 0;
	if (++list->n_seen > DROPIN_ENTRIES_MAX)
		return -E2BIG;
	if (entry->d_type == DT_REG && is_definition(name))
		return 0;
	path = file_path(folder, name);
	if (!path)
		return -ENOMEM;
	status.st_mode = DTTOIF(entry->d_type);
	if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && stat(path, &status) < 0)
		return 0;
	if (is_backup(name))
		aside = "its name looks like a backup (*~, *.bak, *.old, *.orig, *.tmp and the "
			"like)";
	else if (is_beside(name))
		aside = "its name is one that is left out: _*, types, helpers, *_helpers";
	if (S_ISREG(status.st_mode) || aside)
		return take_file(list, take_ptr(path), service, aside);
	if (!S_ISDIR(status.st_mode))
		return 0;
	return service ? take_deep(list, take_ptr(path), service) : scan_folder(list, path, name);
}

static int scan_folder(struct dropin_list *list, const char *folder, const char *service)
{
	cleanup_folder DIR *entries = opendir(folder);
	const struct dirent *entry;
	int r = 0;

	if (!entries)
		return -errno;
	while (r == 0 && (entry = readdir(entries)))
		r = take_entry(list, folder, service, entry);
	return r;
}

/* ── names ───────────────────────────────────────────────────────────────────────────────────── */

/* Order by name. Within a name, the offerable programs are first, and among them the program
 * directly in the folder. */
static int compare(const void *a, const void *b)
{
	const struct dropin *left = a;
	const struct dropin *right = b;
	int order = strcmp(left->name, right->name);

	if (order != 0)
		return order;
	if (!left->reason != !right->reason)
		return left->reason ? 1 : -1;
	if (left->is_direct != right->is_direct)
		return left->is_direct ? -1 : 1;
	return strcmp(left->path, right->path);
}

int dropin_leave_out(struct dropin *dropin, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vasprintf(&dropin->reason, format, arguments);
	va_end(arguments);
	if (n >= 0)
		return 0;
	dropin->reason = NULL;
	return -ENOMEM;
}

/* Offer one of @n > 1 programs of one name: the single program directly in the folder, else no
 * program. */
static int choose(struct dropin *twins, size_t n)
{
	bool has_winner = twins[0].is_direct && !twins[1].is_direct;
	int r = 0;

	for (size_t i = has_winner ? 1 : 0; r == 0 && i < n; i++)
		if (has_winner)
			r = dropin_leave_out(&twins[i],
				"%s: %s, directly in the toolbox's folder, has this name",
				twins[i].path, twins[0].path);
		else
			r = dropin_leave_out(&twins[i], "%s: %s has this name, too", twins[i].path,
				twins[i ? 0 : 1].path);
	return r;
}

static int refuse_twins(struct dropin_list *list)
{
	int r = 0;

	for (size_t i = 0, n; r == 0 && i < list->n_items; i += n) {
		struct dropin *first = &list->items[i];

		for (n = 1; i + n < list->n_items && !first->reason && !first[n].reason; n++)
			if (strcmp(first->name, first[n].name) != 0)
				break;
		if (n > 1)
			r = choose(first, n);
	}
	return r;
}

static int compare_places(const void *a, const void *b)
{
	return strcmp(((const struct dropin *)a)->path, ((const struct dropin *)b)->path);
}

int dropin_scan(const char *folder, struct dropin_list *list)
{
	int r = scan_folder(list, folder, NULL);

	if (r < 0)
		return r;
	if (list->n_toolboxes > 1)
		qsort(list->toolboxes, list->n_toolboxes, sizeof(*list->toolboxes), compare_places);
	if (list->n_items > 1)
		qsort(list->items, list->n_items, sizeof(*list->items), compare);
	return refuse_twins(list);
}
