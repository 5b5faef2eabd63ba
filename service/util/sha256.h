/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sha2.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * SHA-256 by libmd, which neither fails nor takes memory. Bytes in parts: SHA256Init() and its
 * like, of <sha2.h>. TLS has digests of its own (tls/session).
 */

/* Write the SHA-256 of the @size bytes at @bytes to @ret. */
void sha256(const void *bytes, size_t size, unsigned char ret[SHA256_DIGEST_LENGTH]);

/* Write the HMAC-SHA256 (RFC 2104) of the @size bytes at @bytes with @key to @ret. */
void sha256_authenticate(const void *key, size_t key_size, const void *bytes, size_t size,
	unsigned char ret[SHA256_DIGEST_LENGTH]);

/* Return whether the @size bytes at @a and @b are the same. The time does not depend on where they
 * differ. */
bool sha256_is_same(const void *a, const void *b, size_t size);
