/* SPDX-License-Identifier: Apache-2.0 */
#include "config/approval_key.h"

#include <errno.h>
#include <string.h>

#include "config/secret_line.h"
#include "util/cleanup.h"
#include "util/text/text.h"

#define DIGITS ((size_t)2 * APPROVAL_KEY_BYTES)

_Static_assert(DIGITS == 64, "as the problem has it");

static int read_bytes(const char *path, unsigned char ret[APPROVAL_KEY_BYTES])
{
	cleanup(secret_line_deinit) struct buffer line = {0};
	int r = secret_line_read(path, secret_line_forbidden(path), DIGITS, &line);

	if (r < 0)
		return r;
	return text_read_hex(line.data, line.size, ret, APPROVAL_KEY_BYTES) ? 0 : -EINVAL;
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
