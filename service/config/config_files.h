/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Where the files of the mycroft.conf stack are, lowest first (ovos-config, locations.py):
 *
 *   $OVOS_DISTRIBUTION_CONFIG, else /usr/share/BASE/NAME
 *   $MYCROFT_SYSTEM_CONFIG, else /etc/BASE/NAME
 *   DIR/BASE/NAME for $XDG_CONFIG_DIRS (else /etc/xdg), whose first is the highest
 *   $XDG_CONFIG_HOME/BASE/NAME (else ~/.config/BASE/NAME)
 *   what --config names
 *
 * BASE is $OVOS_CONFIG_BASE_FOLDER, else "mycroft"; NAME is $OVOS_CONFIG_FILENAME, else
 * "mycroft.conf". XDG folders that are not absolute are ignored (XDG Base Directory Specification).
 */

enum config_file_origin {
	CONFIG_FILE_DISTRIBUTION,
	CONFIG_FILE_SYSTEM,
	CONFIG_FILE_USER,
	CONFIG_FILE_FLAG,
};

struct config_file {
	char *path;
	enum config_file_origin origin;
};

struct config_files {
	struct config_file *items; /* low to high; none of them needs to exist */
	size_t n_items;
};

/* Name the files; @flag is what --config says, or NULL. 0 or -ENOMEM. The caller deinits
 * @ret_files, in either case. */
int config_files_find(const char *flag, struct config_files *ret_files);

void config_files_deinit(struct config_files *files);

/* The folder of the XDG variable @variable, else @fallback below the home folder; the caller frees
 * it. NULL when there is neither, or no memory. */
char *config_files_xdg_home(const char *variable, const char *fallback);
