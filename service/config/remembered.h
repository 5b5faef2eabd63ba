/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/stat.h>
#include <time.h>

#include "config/layers/file_shape.h"
#include "config/http.h"
#include "config/profiles.h"
#include "config/reader.h"
#include "json/reader.h"
#include "util/text/text_list.h"

/*
 * The files for the remembered decisions of an operator. mycroft.conf belongs to every program of
 * the device, these only to us:
 *
 *   FOLDER/allow.json      [{"name", "since", "by"}, …]  tools that never ask, with approval.allow
 *   FOLDER/enabled.json    the same                      toolboxes and tools that are offered
 * although
 *                                                        their manifest disables them
 *   FOLDER/disabled.json   the same, also with "until"   tools that are not offered
 *   FOLDER/tokens.json     tokens of clients of HTTP (config/http_tokens.h), with http.tokens; read
 *                          while an address is listened at, and secret: its owner alone may read
 *                          and write it
 *   FOLDER/profiles.d/NAME.json   {"tool_names": …}      over the profile NAME of mycroft.conf
 *
 * FOLDER is /etc/toolboxd, and above it $XDG_CONFIG_HOME/toolboxd unless the system disables the
 * files of the user. Names of both folders count; of one profile only the upper file does. An
 * unreadable file, or a file of another shape, closes the configuration.
 */

#define REMEMBERED_ALLOW    "allow.json"
#define REMEMBERED_ENABLED  "enabled.json"
#define REMEMBERED_DISABLED "disabled.json"
#define REMEMBERED_PROFILES "profiles.d"
#define REMEMBERED_TOKENS   "tokens.json"

/* The rights forbidden to other users on tokens.json. */
#define REMEMBERED_TOKENS_FORBIDDEN (S_IRWXG | S_IRWXO)

/* A larger file is refused. */
#define REMEMBERED_BYTES_MAX (1u << 20)

/* A time of an entry: 2026-11-24T10:12:00Z */
#define REMEMBERED_TIME_BYTES sizeof("2000-01-01T00:00:00Z")

/* The entries of allow.json or disabled.json (config/remembered.h) that are in force. */
struct config_remembered {
	struct text_list names;
	struct text_list since; /* the time of each; "": not known */
	struct text_list by;    /* the user's name of each; "": not known */
	struct text_list until; /* the end of each, which sorts like the times; "": none */
};

/* The lists into which the files are read. */
struct config_kept {
	struct text_list *folders; /* the folders, low to high */
	struct config_remembered *allowed;
	struct config_remembered *enabled;
	struct config_remembered *disabled;
	struct config_profiles *profiles;
	struct config_http *http; /* whose tokens are read when it listens */
};

/* Write @time as an entry has it. Its year has four digits. */
void remembered_write_time(time_t time, char text[REMEMBERED_TIME_BYTES]);

/* Add the entries of the list that is the root of @tape to @names, but for those that have ended.
 * @file: the name of the file. Return 0; CONFIG_FILE_E_WRONG with @ret_mistake, or -ENOMEM; entries
 * before a mistake are added. */
int remembered_read_list(const struct json_tape *tape, const char *file,
	struct config_remembered *names, struct config_mistake *ret_mistake);

/* Remove the entry @index of @names. */
void remembered_remove(struct config_remembered *names, size_t index);

/* Return when the next entry of @names ends by the clock of the system; 0: none does. */
time_t remembered_next_end(const struct config_remembered *names);

/* Free the entries of @names. */
void remembered_deinit(struct config_remembered *names);

/* Return whether @name can be the name of a profile in a file: [A-Za-z0-9_-]+ */
bool remembered_is_profile_name(const char *name, size_t size);

/* Read all files into the lists of @kept, over what is there. */
void config_remembered_read(struct config_reader *reader, const struct config_kept *kept);

/* Append the names that @allowed has to @names, and the reason for each entry of @disabled, for a
 * person, to @reasons. Return 0 or -ENOMEM. */
int remembered_add_allowed(const struct config_remembered *allowed, struct text_list *names);
int remembered_add_reasons(const struct config_remembered *disabled, struct text_list *reasons);

/* Call @visit with @data for the path of each possible file, except for profiles; and @visit_folder
 * for the folders of profiles. Either may be NULL. Return 0 or -ENOMEM. */
int config_remembered_each_path(void (*visit)(void *data, const char *path),
	void (*visit_folder)(void *data, const char *path), void *data);
