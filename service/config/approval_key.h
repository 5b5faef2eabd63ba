/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The key for answering questions (`approval.key_file`): one line of 64 hexadecimal digits, in a
 * file readable only for its owner. The key is the 32 bytes of these digits.
 *
 * A credential of systemd is read by way of an ACL, which shows as a right of the group: below
 * $CREDENTIALS_DIRECTORY the group may read.
 */
#define APPROVAL_KEY_BYTES 32

enum approval_key_state {
	APPROVAL_KEY_NONE,     /* not configured: answers need no proof */
	APPROVAL_KEY_READY,    /* answers need a proof */
	APPROVAL_KEY_UNUSABLE, /* configured, and not read: there are no answers */
};

struct approval_key {
	enum approval_key_state state;
	unsigned char bytes[APPROVAL_KEY_BYTES];
	const char *problem; /* a constant text, while it is unusable; else NULL */
};

/* Read the file at @path into @ret_key, which is ready or unusable afterwards. Return 0; -EPERM
 * when the group or others may do anything with it; -EINVAL for another text; or the negative errno
 * of reading it. */
int approval_key_read(const char *path, struct approval_key *ret_key);
