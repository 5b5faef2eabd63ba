/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bus/upgrade.h"
#include "bus/websocket.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * Any bytes of a server, as its response to an upgrade and as frames, and the same bytes as frames
 * of a client. The first byte of the input chooses how the others are cut; the whole, the cut and
 * the single bytes must have the same outcome:
 *
 *   all at once ──────────┐
 *   in pieces of n bytes ─┼─▶ the same messages, control frames and end
 *   byte by byte ─────────┘
 */

#define KEY "dGhlIHNhbXBsZSBub25jZQ=="

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_so)
{
	if (!is_so)
		abort();
}

static void note_control(
	const struct websocket_reader *reader, enum websocket_opcode opcode, struct buffer *out)
{
	expect(opcode == WEBSOCKET_PING || opcode == WEBSOCKET_PONG || opcode == WEBSOCKET_CLOSE);
	expect(reader->control_size <= WEBSOCKET_CONTROL_BYTES);
	buffer_append_char(out, (char)opcode);
	buffer_append(out, (const char *)reader->control, reader->control_size);
}

/* Read a copy of the piece at @text, so that the sanitizer sees its end. Return false when the
 * protocol is broken. */
static bool read_piece(
	struct websocket_reader *reader, const char *text, size_t size, struct buffer *out)
{
	char *copy = malloc(size);
	size_t used = 0;
	bool is_good = true;

	expect(copy != NULL);
	memcpy(copy, text, size);
	while (is_good && used < size) {
		struct websocket_piece piece = {0};
		enum websocket_opcode opcode = WEBSOCKET_TEXT;
		size_t before = used;
		enum websocket_event event =
			websocket_read(reader, copy, size, &used, &piece, &opcode);

		expect(used > before && used <= size);
		is_good = event != WEBSOCKET_E_BROKEN;
		if (event == WEBSOCKET_E_PIECE) {
			expect(piece.bytes >= copy && piece.bytes + piece.size <= copy + size);
			buffer_append(out, piece.bytes, piece.size);
			if (piece.is_last)
				buffer_append_char(out, piece.is_text ? '|' : '#');
		}
		if (event == WEBSOCKET_E_CONTROL)
			note_control(reader, opcode, out);
	}
	free(copy);
	return is_good;
}

static void read_all(bool is_server, const char *text, size_t size, size_t step, struct buffer *out)
{
	struct websocket_reader reader = {.is_server = is_server};
	size_t part;

	for (size_t at = 0; at < size; at += part) {
		part = size - at < step ? size - at : step;
		if (!read_piece(&reader, text + at, part, out)) {
			buffer_append_char(out, '!');
			return;
		}
	}
}

static void check_response(const char *text, size_t size)
{
	cleanup_free char *copy = malloc(size);
	size_t head_size = 0;
	char reason[UPGRADE_REASON_BYTES];

	expect(copy != NULL);
	memcpy(copy, text, size);
	for (int is_over = 0; is_over < 2; is_over++) {
		enum upgrade_status status =
			upgrade_read(copy, size, is_over != 0, KEY, &head_size, reason);

		expect(head_size <= size);
		expect((status == UPGRADE_GRANTED) == (head_size > 0));
		expect(status != UPGRADE_REFUSED || strlen(reason) < sizeof(reason));
		expect(status != UPGRADE_MORE || size < UPGRADE_HEAD_BYTES + UPGRADE_BODY_BYTES);
	}
}

static void check_frames(bool is_server, const uint8_t *data, size_t size)
{
	const size_t steps[] = {SIZE_MAX, data[0] % 32 + 2u, 1};
	struct buffer outs[3] = {0};

	for (size_t i = 0; i < 3; i++) {
		read_all(is_server, (const char *)data + 1, size - 1, steps[i], &outs[i]);
		expect(outs[i].size == outs[0].size);
		expect(outs[0].size == 0 || memcmp(outs[i].data, outs[0].data, outs[0].size) == 0);
	}
	for (size_t i = 0; i < 3; i++)
		buffer_deinit(&outs[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	check_response((const char *)data + 1, size - 1);
	check_frames(false, data, size);
	check_frames(true, data, size);
	return 0;
}
