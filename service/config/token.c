/* SPDX-License-Identifier: Apache-2.0 */
#include "config/token.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "config/secret_line.h"
#include "util/cleanup.h"
#include "util/stringify.h"
#include "util/text/text.h"

_Static_assert(BUS_TOKEN_BYTES - 1 == 256, "as the mistake has it");

/* The rights that others must not have, nor the group. */
#define FORBIDDEN_MODE (S_IRWXO | S_IWGRP)

static bool is_token_byte(char c)
{
	return text_is_alphanumeric(c) || (c && strchr("-._~", c));
}

int config_token_read(const char *path, char ret_token[BUS_TOKEN_BYTES])
{
	cleanup(secret_line_deinit) struct buffer line = {0};
	int r = secret_line_read(path, FORBIDDEN_MODE, BUS_TOKEN_BYTES - 1, &line);

	if (r < 0)
		return r;
	if (line.size < CONFIG_TOKEN_BYTES_MIN)
		return -EINVAL;
	for (size_t i = 0; i < line.size; i++)
		if (!is_token_byte(line.data[i]))
			return -EINVAL;
	memcpy(ret_token, line.data, line.size);
	ret_token[line.size] = '\0';
	return 0;
}

const char *config_token_expected(int error)
{
	switch (error) {
	case -EPERM:
		return "must name a file that only its owner may write to, and others cannot read "
		       "(mode 0600 or 0640)";
	case -EINVAL:
		return "must name a file whose one line has " STRINGIFY(
			CONFIG_TOKEN_BYTES_MIN) " to 256 letters, digits, '-', '.', "
						"'_' or '~'";
	default:
		return "must name a file that can be read";
	}
}
