/* SPDX-License-Identifier: Apache-2.0 */
#include "config/approval_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/file.h"

#define DIGITS ((size_t)2 * APPROVAL_KEY_BYTES)

static int digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

static int take_digits(const struct buffer *text, unsigned char ret[APPROVAL_KEY_BYTES])
{
	size_t size = text->size;

	if (size > 0 && text->data[size - 1] == '\n')
		size--;
	if (size != DIGITS)
		return -EINVAL;
	for (size_t i = 0; i < APPROVAL_KEY_BYTES; i++) {
		int high = digit_value(text->data[2 * i]);
		int low = digit_value(text->data[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		ret[i] = (unsigned char)(high << 4 | low);
	}
	return 0;
}

/* Return whether @path is below $CREDENTIALS_DIRECTORY. */
static bool is_credential(const char *path)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	size_t size = folder ? strlen(folder) : 0;

	return size > 0 && strncmp(path, folder, size) == 0 && path[size] == '/' &&
	       !strchr(path + size + 1, '/');
}

static int read_bytes(const char *path, unsigned char ret[APPROVAL_KEY_BYTES])
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	cleanup(buffer_deinit) struct buffer text = {0};
	mode_t forbidden = S_IRWXG | S_IRWXO;
	struct stat status;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	if (is_credential(path))
		forbidden &= (mode_t)~S_IRGRP;
	if (status.st_mode & forbidden)
		return -EPERM;
	r = file_read_fd(fd, DIGITS + 1, &text);
	if (r < 0)
		return r == -EFBIG ? -EINVAL : r;
	r = take_digits(&text, ret);
	explicit_bzero(text.data, text.size);
	return r;
}

int approval_key_read(const char *path, struct approval_key *ret_key)
{
	int r = read_bytes(path, ret_key->bytes);

	ret_key->state = r == 0 ? APPROVAL_KEY_READY : APPROVAL_KEY_UNUSABLE;
	if (r == 0)
		ret_key->problem = NULL;
	else if (r == -EPERM)
		ret_key->problem = "must name a file that only its owner can read and write (mode "
				   "0600 or 0400)";
	else if (r == -EINVAL)
		ret_key->problem = "must name a file whose one line has 64 hexadecimal digits";
	else
		ret_key->problem = "must name a file that can be read";
	return r;
}
