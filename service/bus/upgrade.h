/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "request/reader.h"
#include "request/response.h"
#include "util/buffer.h"

/*
 * The opening handshake of a websocket, from both sides (RFC 6455 §4), as functions of bytes:
 *
 *   client   key ─▶ upgrade_ask ──┐        ┌─▶ upgrade_read ─▶ frames (bus/websocket.h)
 *   server                        └─▶ upgrade_check ─▶ upgrade_grant ─▶ frames
 */

/* The bytes of a key, decoded, and its text with its NUL. */
#define UPGRADE_KEY_BYTES      16
#define UPGRADE_KEY_TEXT_BYTES 25

/* The longest head of a response, and the longest body read of a refusal. */
#define UPGRADE_HEAD_BYTES 16384
#define UPGRADE_BODY_BYTES 4096

/* The room for a reason, with its NUL. */
#define UPGRADE_REASON_BYTES 512

enum upgrade_status {
	UPGRADE_MORE,    /* the response is not over */
	UPGRADE_GRANTED, /* frames follow */
	UPGRADE_REFUSED,
};

/* Write the text of the key @bytes to @ret_text. */
void upgrade_encode_key(
	const unsigned char bytes[UPGRADE_KEY_BYTES], char ret_text[UPGRADE_KEY_TEXT_BYTES]);

/* Append the request of an upgrade to @out. @token is the bus's token, or "". */
void upgrade_ask(
	const char *path, const char *host, const char *key, const char *token, struct buffer *out);

/*
 * Read the response to the request with @key from the @size bytes received so far; @is_over: no
 * more come. *ret_size is the size of a granting head; @ret_reason is the reason of a refusal, with
 * the `error` of its body.
 */
enum upgrade_status upgrade_read(const char *bytes, size_t size, bool is_over, const char *key,
	size_t *ret_size, char ret_reason[UPGRADE_REASON_BYTES]);

/* Return whether @request asks for a websocket of version 13; else fill @ret_refusal. Extensions
 * and subprotocols are not granted. */
bool upgrade_check(const struct http_reader *request, struct http_refusal *ret_refusal);

/* Append the response that grants @request, as judged by upgrade_check(). It has nothing of the
 * client's but a digest of its key. */
void upgrade_grant(const struct http_reader *request, struct buffer *out);
