/* SPDX-License-Identifier: Apache-2.0 */
#include "util/sha256.h"

#include <string.h>

void sha256(const void *bytes, size_t size, unsigned char ret[SHA256_DIGEST_LENGTH])
{
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, bytes, size);
	SHA256Final(ret, &context);
}

/* Write the SHA-256 of @key, each byte changed by @pad, and the @size bytes at @bytes to @ret. */
static void hash_keyed(const unsigned char key[SHA256_BLOCK_LENGTH], unsigned char pad,
	const void *bytes, size_t size, unsigned char ret[SHA256_DIGEST_LENGTH])
{
	unsigned char block[SHA256_BLOCK_LENGTH];
	SHA2_CTX context;

	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = key[i] ^ pad;
	SHA256Init(&context);
	SHA256Update(&context, block, sizeof(block));
	SHA256Update(&context, bytes, size);
	SHA256Final(ret, &context);
	explicit_bzero(block, sizeof(block));
	explicit_bzero(&context, sizeof(context));
}

void sha256_authenticate(const void *key, size_t key_size, const void *bytes, size_t size,
	unsigned char ret[SHA256_DIGEST_LENGTH])
{
	unsigned char block[SHA256_BLOCK_LENGTH] = {0};

	if (key_size > sizeof(block))
		sha256(key, key_size, block);
	else
		memcpy(block, key, key_size);
	hash_keyed(block, 0x36, bytes, size, ret);
	hash_keyed(block, 0x5c, ret, SHA256_DIGEST_LENGTH, ret);
	explicit_bzero(block, sizeof(block));
}

bool sha256_is_same(const void *a, const void *b, size_t size)
{
	/* volatile: no compiler may stop at the first difference. */
	const volatile unsigned char *left = a;
	const volatile unsigned char *right = b;
	unsigned char difference = 0;

	for (size_t i = 0; i < size; i++)
		difference |= left[i] ^ right[i];
	return difference == 0;
}
