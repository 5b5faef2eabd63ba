/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * The opening handshake of a websocket, from the client's side (RFC 6455 §4.1), as functions of
 * bytes:
 *
 *   key ─▶ client_upgrade_write ─▶ socket ─▶ client_upgrade_read ─▶ frames (bus/websocket.h)
 */

/* The bytes of a key, decoded, and its text with its NUL. */
#define CLIENT_UPGRADE_KEY_BYTES      16
#define CLIENT_UPGRADE_KEY_TEXT_BYTES 25

/* The longest head of a response, and the longest body read of a refusal. */
#define CLIENT_UPGRADE_HEAD_BYTES 16384
#define CLIENT_UPGRADE_BODY_BYTES 4096

/* The room for a reason, with its NUL. */
#define CLIENT_UPGRADE_REASON_BYTES 512

enum client_upgrade_status {
	CLIENT_UPGRADE_MORE,    /* the response is not over */
	CLIENT_UPGRADE_GRANTED, /* frames follow */
	CLIENT_UPGRADE_REFUSED,
};

/* Write the text of the key @bytes to @ret_text. */
void client_upgrade_encode_key(const unsigned char bytes[CLIENT_UPGRADE_KEY_BYTES],
	char ret_text[CLIENT_UPGRADE_KEY_TEXT_BYTES]);

/* Append the request of an upgrade to @out. @token is the bus's token, or "". */
void client_upgrade_write(
	const char *path, const char *host, const char *key, const char *token, struct buffer *out);

/*
 * Read the response to the request with @key from the @size bytes received so far; @is_over: no
 * more come. *ret_size is the size of a granting head; @ret_reason is the reason of a refusal, with
 * the `error` of its body.
 */
enum client_upgrade_status client_upgrade_read(const char *bytes, size_t size, bool is_over,
	const char *key, size_t *ret_size, char ret_reason[CLIENT_UPGRADE_REASON_BYTES]);
