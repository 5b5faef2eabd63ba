/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The frames of a websocket (RFC 6455 §5), as functions of bytes: they know no socket. A client
 * masks its frames, a server does not, and each side refuses frames of its own kind.
 *
 *   bytes ─▶ HEADER ─┬─ text, binary, continuation ─▶ PAYLOAD ─▶ a piece for each chunk of bytes
 *              ▲     └─ ping, pong, close ──────────▶ CONTROL ─▶ the whole payload
 *              └──────────────────────────────────────────┘
 *
 * Everything from and for a bus passes here, so the functions are inline.
 */

/* The longest header of a frame, with its mask, and the longest payload of a control frame (§5.2,
 * §5.5). */
#define WEBSOCKET_HEADER_BYTES  14
#define WEBSOCKET_CONTROL_BYTES 125
#define WEBSOCKET_MASK_BYTES    4

enum websocket_opcode {
	WEBSOCKET_CONTINUATION = 0x0,
	WEBSOCKET_TEXT = 0x1,
	WEBSOCKET_BINARY = 0x2,
	WEBSOCKET_CLOSE = 0x8,
	WEBSOCKET_PING = 0x9,
	WEBSOCKET_PONG = 0xA,
};

struct websocket_reader {
	bool is_server; /* the frames come from a client, and are masked */
	unsigned char header[WEBSOCKET_HEADER_BYTES];
	size_t header_size;
	uint64_t left;      /* missing bytes of the payload */
	bool is_in_payload; /* the header is read */
	bool is_in_message; /* a fragment other than the last has come */
	bool is_text;       /* the message is text */
	unsigned char control[WEBSOCKET_CONTROL_BYTES];
	size_t control_size;
};

enum websocket_event {
	WEBSOCKET_E_MORE,    /* all bytes are used */
	WEBSOCKET_E_PIECE,   /* bytes of a message */
	WEBSOCKET_E_CONTROL, /* a frame of the opcode, whose payload is reader->control */
	WEBSOCKET_E_BROKEN,  /* the peer breaks the protocol: the connection is to be closed */
};

struct websocket_piece {
	const char *bytes; /* in the received bytes */
	size_t size;       /* may be 0 */
	bool is_last;      /* the end of its message */
	bool is_text;
};

#define WEBSOCKET_HEADER_FIRST_BYTES 2
#define WEBSOCKET_FINAL_BIT          0x80
#define WEBSOCKET_RESERVED_BITS      0x70
#define WEBSOCKET_OPCODE_BITS        0x0F
#define WEBSOCKET_MASKED_BIT         0x80
#define WEBSOCKET_SIZE_BITS          0x7F
#define WEBSOCKET_SIZE_IN_2_BYTES    126
#define WEBSOCKET_SIZE_IN_8_BYTES    127

static inline enum websocket_opcode websocket_opcode_of(const struct websocket_reader *reader)
{
	return (enum websocket_opcode)(reader->header[0] & WEBSOCKET_OPCODE_BITS);
}

static inline bool websocket_is_final(const struct websocket_reader *reader)
{
	return (reader->header[0] & WEBSOCKET_FINAL_BIT) != 0;
}

static inline bool websocket_is_control(enum websocket_opcode opcode)
{
	return opcode >= WEBSOCKET_CLOSE;
}

static inline bool websocket_is_masked(const struct websocket_reader *reader)
{
	return (reader->header[1] & WEBSOCKET_MASKED_BIT) != 0;
}

/* Return the size of the header before its mask, by its first two bytes. */
static inline size_t websocket_sizes_end(const struct websocket_reader *reader)
{
	switch (reader->header[1] & WEBSOCKET_SIZE_BITS) {
	case WEBSOCKET_SIZE_IN_2_BYTES:
		return WEBSOCKET_HEADER_FIRST_BYTES + 2;
	case WEBSOCKET_SIZE_IN_8_BYTES:
		return WEBSOCKET_HEADER_FIRST_BYTES + 8;
	default:
		return WEBSOCKET_HEADER_FIRST_BYTES;
	}
}

/* Return the size of the header, by its first two bytes. */
static inline size_t websocket_header_size(const struct websocket_reader *reader)
{
	return websocket_sizes_end(reader) +
	       (websocket_is_masked(reader) ? WEBSOCKET_MASK_BYTES : 0);
}

static inline uint64_t websocket_payload_size(const struct websocket_reader *reader)
{
	size_t end = websocket_sizes_end(reader);
	uint64_t size = 0;

	if (end == WEBSOCKET_HEADER_FIRST_BYTES)
		return reader->header[1] & WEBSOCKET_SIZE_BITS;
	for (size_t i = WEBSOCKET_HEADER_FIRST_BYTES; i < end; i++)
		size = size << 8 | reader->header[i];
	return size;
}

/* Return whether the peer may send the present header now. */
static inline bool websocket_is_header_good(const struct websocket_reader *reader)
{
	enum websocket_opcode opcode = websocket_opcode_of(reader);

	if ((reader->header[0] & WEBSOCKET_RESERVED_BITS) ||
		websocket_is_masked(reader) != reader->is_server ||
		websocket_payload_size(reader) > INT64_MAX)
		return false;
	switch (opcode) {
	case WEBSOCKET_CONTINUATION:
		return reader->is_in_message;
	case WEBSOCKET_TEXT:
	case WEBSOCKET_BINARY:
		return !reader->is_in_message;
	case WEBSOCKET_CLOSE:
	case WEBSOCKET_PING:
	case WEBSOCKET_PONG:
		return websocket_is_final(reader) &&
		       websocket_payload_size(reader) <= WEBSOCKET_CONTROL_BYTES;
	}
	return false;
}

/* Begin the payload, whose header is read. */
static inline void websocket_begin_payload(struct websocket_reader *reader)
{
	enum websocket_opcode opcode = websocket_opcode_of(reader);

	reader->is_in_payload = true;
	reader->left = websocket_payload_size(reader);
	reader->control_size = 0;
	if (websocket_is_control(opcode))
		return;
	if (opcode != WEBSOCKET_CONTINUATION)
		reader->is_text = opcode == WEBSOCKET_TEXT;
	reader->is_in_message = !websocket_is_final(reader);
}

/* Read on in the header, up to @wanted bytes of it. Return whether it has them. */
static inline bool websocket_read_up_to(struct websocket_reader *reader, size_t wanted,
	const char *bytes, size_t size, size_t *used)
{
	while (reader->header_size < wanted && *used < size)
		reader->header[reader->header_size++] = (unsigned char)bytes[(*used)++];
	return reader->header_size >= wanted;
}

/* Read on in the header. Return whether it is whole, with *ret_is_good. */
static inline bool websocket_read_header(struct websocket_reader *reader, const char *bytes,
	size_t size, size_t *used, bool *ret_is_good)
{
	if (!websocket_read_up_to(reader, WEBSOCKET_HEADER_FIRST_BYTES, bytes, size, used) ||
		!websocket_read_up_to(reader, websocket_header_size(reader), bytes, size, used))
		return false;
	*ret_is_good = websocket_is_header_good(reader);
	websocket_begin_payload(reader);
	return true;
}

static inline void websocket_end_frame(struct websocket_reader *reader)
{
	reader->is_in_payload = false;
	reader->header_size = 0;
}

static inline enum websocket_event websocket_take_control(struct websocket_reader *reader,
	const char *bytes, size_t size, enum websocket_opcode *ret_opcode)
{
	memcpy(reader->control + reader->control_size, bytes, size);
	reader->control_size += size;
	if (reader->left > 0)
		return WEBSOCKET_E_MORE;
	*ret_opcode = websocket_opcode_of(reader);
	websocket_end_frame(reader);
	return WEBSOCKET_E_CONTROL;
}

static inline enum websocket_event websocket_take_piece(struct websocket_reader *reader,
	const char *bytes, size_t size, struct websocket_piece *ret_piece)
{
	*ret_piece = (struct websocket_piece){
		.bytes = bytes,
		.size = size,
		.is_last = reader->left == 0 && !reader->is_in_message,
		.is_text = reader->is_text,
	};
	if (reader->left == 0)
		websocket_end_frame(reader);
	return WEBSOCKET_E_PIECE;
}

/* Mask @size bytes in place, or unmask them. */
static inline void websocket_mask(
	char *bytes, size_t size, const unsigned char mask[WEBSOCKET_MASK_BYTES])
{
	unsigned char twice[sizeof(uint64_t)];
	uint64_t word_mask;
	size_t at = 0;

	memcpy(twice, mask, WEBSOCKET_MASK_BYTES);
	memcpy(twice + WEBSOCKET_MASK_BYTES, mask, WEBSOCKET_MASK_BYTES);
	memcpy(&word_mask, twice, sizeof(word_mask));
	for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, bytes + at, sizeof(word));
		word ^= word_mask;
		memcpy(bytes + at, &word, sizeof(word));
	}
	for (; at < size; at++)
		bytes[at] = (char)((unsigned char)bytes[at] ^ mask[at % WEBSOCKET_MASK_BYTES]);
}

/* Unmask the next @size bytes of the payload, of which @before bytes came before. */
static inline void websocket_unmask(
	const struct websocket_reader *reader, uint64_t before, char *bytes, size_t size)
{
	const unsigned char *mask = reader->header + websocket_sizes_end(reader);
	unsigned char turned[WEBSOCKET_MASK_BYTES];

	for (size_t i = 0; i < WEBSOCKET_MASK_BYTES; i++)
		turned[i] = mask[(before + i) % WEBSOCKET_MASK_BYTES];
	websocket_mask(bytes, size, turned);
}

/*
 * Read on in the @size bytes at @bytes, up to the next event, and add the number of used bytes to
 * *used. The used bytes are unmasked in place. A @reader zeroed but for its side is ready for the
 * first frame. A piece is in *ret_piece; the opcode of a control frame in *ret_opcode.
 */
static inline enum websocket_event websocket_read(struct websocket_reader *reader, char *bytes,
	size_t size, size_t *used, struct websocket_piece *ret_piece,
	enum websocket_opcode *ret_opcode)
{
	char *start;
	size_t taken;
	bool is_good = true;

	if (!reader->is_in_payload && !websocket_read_header(reader, bytes, size, used, &is_good))
		return WEBSOCKET_E_MORE;
	if (!is_good)
		return WEBSOCKET_E_BROKEN;
	taken = size - *used < reader->left ? size - *used : (size_t)reader->left;
	if (taken == 0 && reader->left > 0)
		return WEBSOCKET_E_MORE;
	start = bytes + *used;
	if (reader->is_server)
		websocket_unmask(
			reader, websocket_payload_size(reader) - reader->left, start, taken);
	*used += taken;
	reader->left -= taken;
	if (websocket_is_control(websocket_opcode_of(reader)))
		return websocket_take_control(reader, start, taken, ret_opcode);
	return websocket_take_piece(reader, start, taken, ret_piece);
}

/* Write the header of a frame with @size bytes of payload, masked by @mask, NULL of a server's
 * frame. Return the size of the header. */
static inline size_t websocket_write_header(enum websocket_opcode opcode, bool is_last, size_t size,
	const unsigned char *mask, unsigned char ret_header[WEBSOCKET_HEADER_BYTES])
{
	unsigned char mask_bit = mask ? WEBSOCKET_MASKED_BIT : 0;
	size_t n_bytes = size < WEBSOCKET_SIZE_IN_2_BYTES ? 0 : size <= UINT16_MAX ? 2 : 8;
	size_t at = 0;

	ret_header[at++] = (unsigned char)(opcode | (is_last ? WEBSOCKET_FINAL_BIT : 0));
	ret_header[at++] =
		(unsigned char)(mask_bit | (n_bytes == 0          ? size
						   : n_bytes == 2 ? WEBSOCKET_SIZE_IN_2_BYTES
								  : WEBSOCKET_SIZE_IN_8_BYTES));
	for (size_t i = n_bytes; i > 0; i--)
		ret_header[at++] = (unsigned char)((uint64_t)size >> (8 * (i - 1)));
	if (!mask)
		return at;
	memcpy(ret_header + at, mask, WEBSOCKET_MASK_BYTES);
	return at + WEBSOCKET_MASK_BYTES;
}
