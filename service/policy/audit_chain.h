/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The chain of the audit log: each line ends with the hash of the line before, so a changed,
 * removed or added line shows (contract.md, Audit).
 *
 *   {"time":…,"prev":""}
 *   {"time":…,"prev":"SHA-256 of the line above, without its newline"}
 */

/* The first bytes of every line. */
#define AUDIT_LINE_START "{\"time\":\""

/* Lower-case hexadecimal digits of SHA-256. */
#define AUDIT_HASH_CHARS 64

/* The hash of a line, NUL-terminated; "": there is no line. */
struct audit_hash {
	char text[AUDIT_HASH_CHARS + 1];
};

/* Write the hash of @line (@size bytes, without a newline) to @ret_hash. */
void audit_hash_line(const char *line, size_t size, struct audit_hash *ret_hash);

/* Find the last whole line of the file @fd, which has @size bytes, and write its hash to @ret_hash:
 * "" without one. *@ret_end: the bytes up to its newline, fewer than @size after a torn line.
 * Return 0 or a negative errno. */
int audit_hash_last(int fd, uint64_t size, struct audit_hash *ret_hash, uint64_t *ret_end);
