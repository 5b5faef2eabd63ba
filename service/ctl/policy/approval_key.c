/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "policy/hex.h"
#include "util/cleanup.h"

/*
 * toolboxctl approval key --new [FILE]: write the key of those who may answer questions.
 *
 *   random bytes ─▶ FILE.new, mode 0600 ─▶ FILE     linked; with --force renamed
 */

#define DIGITS ((size_t)2 * APPROVAL_KEY_BYTES)

static int write_digits(int fd)
{
	unsigned char bytes[APPROVAL_KEY_BYTES];
	char line[DIGITS + 2];
	ssize_t written;
	int r = 0;

	if (hex_random(bytes, sizeof(bytes)) < 0)
		return -EIO;
	text_write_hex(bytes, sizeof(bytes), line);
	line[DIGITS] = '\n';
	written = write(fd, line, sizeof(line) - 1);
	if (written != (ssize_t)sizeof(line) - 1)
		r = written < 0 ? -errno : -EIO;
	else if (fsync(fd) < 0)
		r = -errno;
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(line, sizeof(line));
	return r;
}

/* Write a key to the new file @draft, and give it the name @path. */
static int write_key(const char *draft, const char *path, bool replaces)
{
	cleanup_close int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : 0;

	if (fd < 0)
		return r;
	r = write_digits(fd);
	if (r == 0 && (replaces ? rename(draft, path) : link(draft, path)) < 0)
		r = -errno;
	if (r < 0 || !replaces)
		unlink(draft);
	return r;
}

static int make_key_text(const char *path, bool replaces)
{
	cleanup_free char *draft = NULL;
	int r;

	if (asprintf(&draft, "%s.%ld.new", path, (long)getpid()) < 0) {
		draft = NULL;
		r = -ENOMEM;
	} else {
		r = write_key(draft, path, replaces);
	}
	if (r == 0) {
		printf("%s\n", path);
		return CTL_DONE;
	}
	terminal_complain("the key cannot be written to '%s': %s%s", path, strerror(-r),
		r == -EEXIST ? "; --force replaces it, and earlier copies of it answer no more"
			     : "");
	return CTL_ERROR;
}

int ctl_approval(const struct ctl_options *options)
{
	const struct config_flags flags = {0};
	const char *file = options->n_positional > 2 ? options->positional[2] : NULL;
	struct approval_key key = {0};
	cleanup_free char *path = NULL;

	if (strcmp(options->positional[1], "key") != 0 || !options->makes_new) {
		terminal_complain("what about the approval? toolboxctl approval key --new [FILE]");
		return CTL_USAGE;
	}
	if (file)
		return make_key_text(file, options->force);
	if (config_read_approval_key(&flags, terminal_complain_error, NULL, &path, &key) != 0)
		return CTL_USAGE;
	if (!path) {
		terminal_complain("no file is configured: set approval.key_file of toolboxd in "
				  "mycroft.conf first, or name a FILE");
		return CTL_USAGE;
	}
	return make_key_text(path, options->force);
}
