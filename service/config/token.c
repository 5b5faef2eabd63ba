/* SPDX-License-Identifier: Apache-2.0 */
#include "config/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/file.h"
#include "util/text.h"

/* The rights that others must not have, nor the group. */
#define FORBIDDEN_MODE (S_IRWXO | S_IWGRP)

static bool is_token_byte(char c)
{
	return text_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("-._~", c));
}

static int take_token(const struct buffer *text, char ret_token[BUS_TOKEN_BYTES])
{
	size_t size = text->size;

	if (size > 0 && text->data[size - 1] == '\n')
		size--;
	if (size < CONFIG_TOKEN_BYTES_MIN || size >= BUS_TOKEN_BYTES)
		return -EINVAL;
	for (size_t i = 0; i < size; i++)
		if (!is_token_byte(text->data[i]))
			return -EINVAL;
	memcpy(ret_token, text->data, size);
	ret_token[size] = '\0';
	return 0;
}

int config_token_read(const char *path, char ret_token[BUS_TOKEN_BYTES])
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	cleanup(buffer_deinit) struct buffer text = {0};
	struct stat status;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	if (status.st_mode & FORBIDDEN_MODE)
		return -EPERM;
	r = file_read_fd(fd, BUS_TOKEN_BYTES, &text);
	if (r < 0)
		return r == -EFBIG ? -EINVAL : r;
	return take_token(&text, ret_token);
}

const char *config_token_expected(int error)
{
	switch (error) {
	case -EPERM:
		return "must name a file that only its owner may write to, and others cannot read "
		       "(mode 0600 or 0640)";
	case -EINVAL:
		return "must name a file whose one line has 16 to 256 letters, digits, '-', '.', "
		       "'_' or '~'";
	default:
		return "must name a file that can be read";
	}
}
