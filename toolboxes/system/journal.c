/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-journal.h>
#include <time.h>
#include <unistd.h>

#include "system.h"
#include "text.h"

/* The most code points of a line that are shown. */
#define LINE_CHARS 2000

/* The lines of a unit: its own, of either manager, and the manager's about it. Any program writes
 * UNIT and USER_UNIT, and another user has units of these names; fields with a `_` are journald's.
 *
 *   _SYSTEMD_UNIT=…  or  UNIT=… _PID=1  or  _SYSTEMD_USER_UNIT=… _UID=we  or  USER_UNIT=… _UID=we
 */
static const struct {
	const char *field;
	const char *proof; /* or NULL */
} lines_of[] = {
	{"_SYSTEMD_UNIT", NULL},
	{"UNIT", "_PID"},
	{"_SYSTEMD_USER_UNIT", "_UID"},
	{"USER_UNIT", "_UID"},
};

static int add_match(sd_journal *journal, const char *field, const char *value)
{
	char match[320];

	snprintf(match, sizeof(match), "%s=%s", field, value);
	return sd_journal_add_match(journal, match, 0);
}

static int match_unit(sd_journal *journal, const char *name)
{
	char user[16];
	int r = 0;

	snprintf(user, sizeof(user), "%u", (unsigned int)getuid());
	for (size_t i = 0; r >= 0 && i < sizeof(lines_of) / sizeof(*lines_of); i++) {
		r = add_match(journal, lines_of[i].field, name);
		if (r >= 0 && lines_of[i].proof)
			r = add_match(journal, lines_of[i].proof,
				strcmp(lines_of[i].proof, "_UID") == 0 ? user : "1");
		r = r < 0 ? r : sd_journal_add_disjunction(journal);
	}
	return r;
}

static void put_line(struct toolbox_call call, sd_journal *journal)
{
	struct text text = {0};
	const void *bytes;
	uint64_t usec = 0;
	size_t size;
	time_t seconds;
	char moment[32];
	struct tm utc;

	if (sd_journal_get_data(journal, "MESSAGE", &bytes, &size) < 0 || size < 8)
		return;
	toolbox_open_object(call, NULL);
	sd_journal_get_realtime_usec(journal, &usec);
	seconds = (time_t)(usec / 1000000);
	if (gmtime_r(&seconds, &utc) &&
		strftime(moment, sizeof(moment), "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
		toolbox_put_string(call, "time", moment);
	size -= 8; /* MESSAGE= */
	bytes = (const char *)bytes + 8;
	size = utf8_prefix(bytes, size, LINE_CHARS, &(size_t){0});
	text_add_lossy(&text, bytes, size);
	toolbox_put_string(call, "text", text_string(&text));
	text_free(&text);
	toolbox_close(call);
}

/* Put up to @n lines of @journal, the oldest first. Return how many, or a negative errno. */
static int put_lines(struct toolbox_call call, sd_journal *journal, unsigned int n)
{
	int r = sd_journal_seek_tail(journal);
	unsigned int n_back = 0;

	while (r >= 0 && n_back < n && (r = sd_journal_previous(journal)) > 0)
		n_back++;
	/* After the end, the first line is the next one. */
	if (r == 0)
		r = sd_journal_seek_head(journal);
	if (r >= 0 && n_back < n)
		r = sd_journal_next(journal);
	for (unsigned int i = 0; r >= 0 && i < n_back; i++) {
		put_line(call, journal);
		r = sd_journal_next(journal);
	}
	return r < 0 ? r : (int)n_back;
}

/* Return whether @name is a file of a journal, or the folder of a machine. */
static bool is_of_journal(const char *name)
{
	return strstr(name, ".journal") ||
	       (strlen(name) == 32 && strspn(name, "0123456789abcdef") == 32);
}

/* Open the file or folder @name of the folder @at, and up to @depth levels of a journal in it:
 * libsystemd leaves out without a word what it may not read. Return 0 or a negative errno. */
static int try_files(int at, const char *name, int depth)
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	DIR *folder = fd < 0 || depth == 0 ? NULL : fdopendir(fd);
	int r = folder || (fd >= 0 && depth == 0) ? 0 : -errno;
	const struct dirent *entry;

	while (r == 0 && folder && (entry = readdir(folder)))
		if (is_of_journal(entry->d_name))
			r = try_files(fd, entry->d_name, depth - 1);
	if (folder)
		closedir(folder);
	else if (fd >= 0)
		close(fd);
	/* It is a file among the folders of machines, or has just been removed. */
	return r == -ENOTDIR || r == -ENOENT ? 0 : r;
}

/* Open the first folder of `journals` that can be read. */
static int open_journal(
	struct toolbox_call configuration, sd_journal **ret_journal, const char **ret_folder)
{
	uint32_t n = 0;
	int r = 0;

	*ret_folder = NULL;
	toolbox_get_count(configuration, "journals", &n);
	for (uint32_t i = 0; i < n; i++) {
		char pointer[32];

		snprintf(pointer, sizeof(pointer), "/journals/%u", i);
		if (toolbox_get_string(configuration, pointer, ret_folder, NULL) != TOOLBOX_OK)
			continue;
		r = sd_journal_open_directory(ret_journal, *ret_folder, 0);
		if (r >= 0)
			return 0;
	}
	return r;
}

void journal_answer(struct toolbox_call call, struct toolbox_call configuration, const char *name,
	unsigned int n)
{
	sd_journal *journal = NULL;
	const char *folder = NULL;
	int r = open_journal(configuration, &journal, &folder);

	if (!folder) {
		fail(call, "`toolboxes.system.journals` of the configuration names no folder: add "
			   "\"/var/log/journal\", or \"/run/log/journal\" where the journal is "
			   "lost at a restart");
		return;
	}
	r = r < 0 ? r : match_unit(journal, name);
	if (r >= 0) {
		put_lossy(call, "unit", name);
		toolbox_open_array(call, "lines");
		r = put_lines(call, journal, n);
		toolbox_close(call);
		r = r ? r : try_files(AT_FDCWD, folder, 2);
	}
	if (r < 0)
		fail(call,
			"not all of the journal in %s can be read: %s. The user of toolboxd has to "
			"be in "
			"the group systemd-journal",
			folder, strerror(-r));
	else
		toolbox_reply(call);
	sd_journal_close(journal);
}
