/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "util/buffer.h"

/*
 * The opening handshake of a websocket, from the client's side (RFC 6455 §4.1), as functions of bytes:
 *
 *   key ─▶ client_upgrade_write ─▶ socket ─▶ client_upgrade_read ─▶ frames (bus/websocket.h)
 */

/* The bytes of a key, decoded, and its text with its NUL. */
#define CLIENT_UPGRADE_KEY_BYTES      16
#define CLIENT_UPGRADE_KEY_TEXT_BYTES 25

/* The longest head of a response. */
#define CLIENT_UPGRADE_HEAD_BYTES 16384

/* Write the text of the key @bytes to @ret_text. */
void client_upgrade_encode_key(const unsigned char bytes[CLIENT_UPGRADE_KEY_BYTES],
	char ret_text[CLIENT_UPGRADE_KEY_TEXT_BYTES]);

/* Append the request of an upgrade to @out. @token is that of the bus, or "". */
void client_upgrade_write(
	const char *path, const char *host, const char *key, const char *token, struct buffer *out);

/*
 * Read the response to the request with @key from the @size bytes that have come so far. Return NULL while it is
 * not over (*ret_size is 0), and when it grants the upgrade (*ret_size is its size; frames follow). Else return
 * the reason why it does not, a constant text.
 */
const char *client_upgrade_read(const char *bytes, size_t size, const char *key, size_t *ret_size);
