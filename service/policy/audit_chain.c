/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/audit_chain.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "policy/hex.h"
#include "util/cleanup.h"
#include "util/sha256.h"

/* Bytes of one read. */
#define CHUNK_BYTES 65536

void audit_hash_line(const char *line, size_t size, struct audit_hash *ret_hash)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	sha256(line, size, digest);
	text_write_hex(digest, sizeof(digest), ret_hash->text);
}

/* Read exactly @size bytes at @offset. Return 0 or a negative errno. */
static int read_chunk(int fd, char *bytes, size_t size, uint64_t offset)
{
	while (size > 0) {
		ssize_t n = pread(fd, bytes, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		bytes += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* Return the bytes up to the last newline among the first @size bytes, with it; 0 without one. */
static int find_newline(int fd, char *chunk, uint64_t size, uint64_t *ret_end)
{
	while (size > 0) {
		size_t n = size < CHUNK_BYTES ? (size_t)size : CHUNK_BYTES;
		const char *newline;
		int r = read_chunk(fd, chunk, n, size - n);

		if (r < 0)
			return r;
		newline = memrchr(chunk, '\n', n);
		if (newline) {
			*ret_end = size - n + (uint64_t)(newline - chunk) + 1;
			return 0;
		}
		size -= n;
	}
	*ret_end = 0;
	return 0;
}

/* Hash the bytes from @start up to @end. */
static int hash_range(
	int fd, char *chunk, uint64_t start, uint64_t end, struct audit_hash *ret_hash)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX context;

	SHA256Init(&context);
	while (start < end) {
		size_t n = end - start < CHUNK_BYTES ? (size_t)(end - start) : CHUNK_BYTES;
		int r = read_chunk(fd, chunk, n, start);

		if (r < 0)
			return r;
		SHA256Update(&context, (const unsigned char *)chunk, n);
		start += n;
	}
	SHA256Final(digest, &context);
	text_write_hex(digest, sizeof(digest), ret_hash->text);
	return 0;
}

int audit_hash_last(int fd, uint64_t size, struct audit_hash *ret_hash, uint64_t *ret_end)
{
	cleanup_free char *chunk = malloc(CHUNK_BYTES);
	struct audit_hash hash = {0};
	uint64_t end;
	uint64_t start;
	int r;

	if (!chunk)
		return -ENOMEM;
	r = find_newline(fd, chunk, size, &end);
	if (r == 0 && end > 0)
		r = find_newline(fd, chunk, end - 1, &start);
	if (r == 0 && end > 0)
		r = hash_range(fd, chunk, start, end - 1, &hash);
	if (r < 0)
		return r;
	*ret_hash = hash;
	*ret_end = end;
	return 0;
}
