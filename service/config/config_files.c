/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_files.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/buffer.h"
#include "util/cleanup.h"

#define XDG_CONFIG_DIRS_DEFAULT "/etc/xdg"

/* The variable's value; @fallback when it is not set or empty. */
static const char *variable_or(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value && *value ? value : fallback;
}

/* Add PATH of @size bytes, or PATH/BASE/NAME when @is_folder. 0 or -ENOMEM. */
static int add_file(struct config_files *files, enum config_file_origin origin, const char *path,
	size_t size, bool is_folder)
{
	struct buffer text = {0};
	struct config_file *items = reallocarray(files->items, files->n_items + 1, sizeof(*items));
	char *whole;

	if (!items)
		return -ENOMEM;
	files->items = items;
	buffer_append(&text, path, size);
	if (is_folder)
		buffer_printf(&text, "/%s/%s", variable_or("OVOS_CONFIG_BASE_FOLDER", "mycroft"),
			variable_or("OVOS_CONFIG_FILENAME", "mycroft.conf"));
	whole = buffer_take(&text, NULL);
	if (!whole)
		return -ENOMEM;
	items[files->n_items++] = (struct config_file){.path = whole, .origin = origin};
	return 0;
}

/* The file that @variable names, else that in @folder. */
static int add_fixed(struct config_files *files, enum config_file_origin origin,
	const char *variable, const char *folder)
{
	const char *path = variable_or(variable, NULL);

	if (path)
		return add_file(files, origin, path, strlen(path), false);
	return add_file(files, origin, folder, strlen(folder), true);
}

/* The list's first folder is the most important one, so it is walked from its end. */
static int add_xdg_dirs(struct config_files *files)
{
	const char *list = variable_or("XDG_CONFIG_DIRS", XDG_CONFIG_DIRS_DEFAULT);
	const char *end = list + strlen(list);

	for (;;) {
		const char *start = end;
		int r = 0;

		while (start > list && start[-1] != ':')
			start--;
		if (start < end && *start == '/')
			r = add_file(files, CONFIG_FILE_USER, start, (size_t)(end - start), true);
		if (r < 0)
			return r;
		if (start == list)
			return 0;
		end = start - 1;
	}
}

char *config_files_xdg_home(const char *variable, const char *fallback)
{
	const char *folder = variable_or(variable, "");
	const char *home = variable_or("HOME", NULL);
	const struct passwd *user = home ? NULL : getpwuid(getuid());
	struct buffer text = {0};

	if (*folder == '/')
		return strdup(folder);
	if (user)
		home = user->pw_dir;
	if (!home)
		return NULL;
	buffer_printf(&text, "%s/%s", home, fallback);
	return buffer_take(&text, NULL);
}

static int add_xdg_home(struct config_files *files)
{
	cleanup_free char *folder = config_files_xdg_home("XDG_CONFIG_HOME", ".config");

	if (!folder)
		return 0;
	return add_file(files, CONFIG_FILE_USER, folder, strlen(folder), true);
}

int config_files_find(const char *flag, struct config_files *ret_files)
{
	int r;

	*ret_files = (struct config_files){0};
	r = add_fixed(
		ret_files, CONFIG_FILE_DISTRIBUTION, "OVOS_DISTRIBUTION_CONFIG", "/usr/share");
	if (r == 0)
		r = add_fixed(ret_files, CONFIG_FILE_SYSTEM, "MYCROFT_SYSTEM_CONFIG", "/etc");
	if (r == 0)
		r = add_xdg_dirs(ret_files);
	if (r == 0)
		r = add_xdg_home(ret_files);
	if (r == 0 && flag)
		r = add_file(ret_files, CONFIG_FILE_FLAG, flag, strlen(flag), false);
	return r;
}

void config_files_deinit(struct config_files *files)
{
	for (size_t i = 0; i < files->n_items; i++)
		free(files->items[i].path);
	free(files->items);
	*files = (struct config_files){0};
}
