/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/websocket.h"

#include <criterion/criterion.h>
#include <string.h>

#include "bus/frame.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/* Append what is read from the @size bytes at @bytes, at most @step at a time: the bytes of each
 * message, with `|` after a text and `#` after other messages; of a control frame `<`, its opcode
 * and its payload and `>`; `!` and nothing more when the protocol is broken. */
static void read_in_pieces(
	bool is_server, const char *text, size_t size, size_t step, struct buffer *out)
{
	struct websocket_reader reader = {.is_server = is_server};
	cleanup_free char *bytes = malloc(size);

	memcpy(bytes, text, size);
	for (size_t at = 0; at < size; at += step) {
		size_t part = size - at < step ? size - at : step;
		size_t used = 0;

		while (used < part) {
			struct websocket_piece piece;
			enum websocket_opcode opcode;

			switch (websocket_read(&reader, bytes + at, part, &used, &piece, &opcode)) {
			case WEBSOCKET_E_MORE:
				break;
			case WEBSOCKET_E_PIECE:
				buffer_append(out, piece.bytes, piece.size);
				if (piece.is_last)
					buffer_append_char(out, piece.is_text ? '|' : '#');
				break;
			case WEBSOCKET_E_CONTROL:
				buffer_printf(out, "<%X", opcode);
				buffer_append(out, (char *)reader.control, reader.control_size);
				buffer_append_char(out, '>');
				break;
			case WEBSOCKET_E_BROKEN:
				buffer_append_char(out, '!');
				return;
			}
		}
	}
}

static void expect_frames(bool is_server, const char *bytes, size_t size, const char *expected)
{
	for (size_t step = 1; step <= size; step++) {
		cleanup(buffer_deinit) struct buffer out = {0};

		read_in_pieces(is_server, bytes, size, step, &out);
		cr_assert(buffer_terminate(&out));
		cr_expect_str_eq(out.data, expected, "%zu: %s", step, out.data);
	}
}

/* Frames of a server. */
#define EXPECT_FRAMES(bytes_, expected_) expect_frames(false, bytes_, sizeof(bytes_) - 1, expected_)

/* Frames of a client. */
#define EXPECT_CLIENT_FRAMES(bytes_, expected_)                                                    \
	expect_frames(true, bytes_, sizeof(bytes_) - 1, expected_)

Test(bus_websocket, reads_frames_in_any_pieces)
{
	EXPECT_FRAMES("\x81\x02hi\x81\x01x", "hi|x|");
	EXPECT_FRAMES("\x81\x00\x82\x01x", "|x#");
	EXPECT_FRAMES("\x01\x02hi\x00\x01 \x80\x02ho", "hi ho|");
	EXPECT_FRAMES("\x02\x01x\x80\x01y\x81\x01z", "xy#z|");
	EXPECT_FRAMES("\x01\x01x\x80\x00\x81\x7e\x00\x03xyz", "x|xyz|");
	EXPECT_FRAMES("\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x02xy", "xy|");
}

Test(bus_websocket, reads_control_frames_between_fragments)
{
	EXPECT_FRAMES("\x01\x01x\x89\x02pp\x80\x01y", "x<9pp>y|");
	EXPECT_FRAMES("\x8a\x00\x88\x02\x03\xe8", "<A><8\x03\xe8>");
}

Test(bus_websocket, reads_a_long_message)
{
	enum { SIZE = 70000 };
	static char bytes[SIZE + 10] = "\x81\x7f\x00\x00\x00\x00\x00\x01\x11\x70";
	cleanup(buffer_deinit) struct buffer out = {0};

	memset(bytes + 10, 'x', SIZE);
	read_in_pieces(false, bytes, sizeof(bytes), 4096, &out);
	cr_expect_eq(out.size, SIZE + 1);
	cr_expect_eq(out.data[SIZE], '|');
}

Test(bus_websocket, refuses_frames_that_a_server_must_not_send)
{
	EXPECT_FRAMES("\x81\x81mask-", "!");
	EXPECT_FRAMES("\xc1\x01x", "!");
	EXPECT_FRAMES("\x91\x01x", "!");
	EXPECT_FRAMES("\x83\x01x", "!");
	EXPECT_FRAMES("\x8b\x01x", "!");
	EXPECT_FRAMES("\x80\x01x", "!");
	EXPECT_FRAMES("\x81\x01x\x00\x01x", "x|!");
	EXPECT_FRAMES("\x01\x01x\x81\x01x", "x!");
	EXPECT_FRAMES("\x09\x01x", "!");
	EXPECT_FRAMES("\x89\x7e\x00\x7e", "!");
	EXPECT_FRAMES("\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00", "!");
}

/* The mask is the last four bytes of a header: 1, 2, 3, 4, or zeros. */
Test(bus_websocket, unmasks_the_frames_of_a_client_in_any_pieces)
{
	EXPECT_CLIENT_FRAMES("\x81\x82\1\2\3\4ik", "hi|");
	EXPECT_CLIENT_FRAMES("\x81\x80\1\2\3\4\x82\x81\1\2\3\4y", "|x#");
	EXPECT_CLIENT_FRAMES("\x81\x8b\1\2\3\4````dddlhhh\x81\x81\0\0\0\0a", "abcdefghijk|a|");
	EXPECT_CLIENT_FRAMES("\x01\x81\1\2\3\4y\x89\x82\0\0\0\1pp\x80\x81\2\2\2\2{", "x<9pp>y|");
	EXPECT_CLIENT_FRAMES("\x88\x82\1\2\3\4\2\xea", "<8\x03\xe8>");
	EXPECT_CLIENT_FRAMES("\x81\xfe\x00\x03\0\0\0\1xyz", "xyz|");
	EXPECT_CLIENT_FRAMES("\x81\xff\x00\x00\x00\x00\x00\x00\x00\x02\1\1\1\1yx", "xy|");
}

Test(bus_websocket, unmasks_a_long_message)
{
	enum { SIZE = 70001 };
	const unsigned char mask[WEBSOCKET_MASK_BYTES] = {0x37, 0xfa, 0x21, 0x3d};
	static char bytes[SIZE + WEBSOCKET_HEADER_BYTES];
	unsigned char header[WEBSOCKET_HEADER_BYTES];

	cr_assert_eq(websocket_write_header(WEBSOCKET_TEXT, true, SIZE, mask, header),
		WEBSOCKET_HEADER_BYTES);
	memcpy(bytes, header, WEBSOCKET_HEADER_BYTES);
	memset(bytes + WEBSOCKET_HEADER_BYTES, 'x', SIZE);
	websocket_mask(bytes + WEBSOCKET_HEADER_BYTES, SIZE, mask);
	for (size_t step = 4093; step < 4101; step++) {
		cleanup(buffer_deinit) struct buffer out = {0};

		read_in_pieces(true, bytes, sizeof(bytes), step, &out);
		cr_assert_eq(out.size, SIZE + 1);
		cr_expect_eq(strspn(out.data, "x"), SIZE, "%zu", step);
	}
}

Test(bus_websocket, refuses_frames_that_a_client_must_not_send)
{
	EXPECT_CLIENT_FRAMES("\x81\x01x", "!");
	EXPECT_CLIENT_FRAMES("\x89\x00", "!");
	EXPECT_CLIENT_FRAMES("\x81\x81\0\0\0\0x\x81\x01x", "x|!");
	EXPECT_CLIENT_FRAMES("\xc1\x81\0\0\0\0x", "!");
	EXPECT_CLIENT_FRAMES("\xa1\x81\0\0\0\0x", "!");
	EXPECT_CLIENT_FRAMES("\x83\x81\0\0\0\0x", "!");
	EXPECT_CLIENT_FRAMES("\x8b\x81\0\0\0\0x", "!");
	EXPECT_CLIENT_FRAMES("\x80\x81\0\0\0\0x", "!");
	EXPECT_CLIENT_FRAMES("\x01\x81\0\0\0\0x\x81\x81\0\0\0\0x", "x!");
	EXPECT_CLIENT_FRAMES("\x09\x81\0\0\0\0x", "!");
	EXPECT_CLIENT_FRAMES("\x89\xfe\x00\x7e\0\0\0\0", "!");
	EXPECT_CLIENT_FRAMES("\x81\xff\x80\x00\x00\x00\x00\x00\x00\x00\0\0\0\0", "!");
}

/* Check the header of a text of @size bytes. */
static void expect_header(size_t size, size_t expected_size, const char *expected)
{
	const unsigned char mask[WEBSOCKET_MASK_BYTES] = {'m', 'a', 's', 'k'};
	unsigned char header[WEBSOCKET_HEADER_BYTES];

	cr_expect_eq(
		websocket_write_header(WEBSOCKET_TEXT, true, size, mask, header), expected_size);
	cr_expect_eq(memcmp(header, expected, expected_size), 0, "%zu", size);
}

Test(bus_websocket, writes_headers_with_the_shortest_size)
{
	const unsigned char mask[WEBSOCKET_MASK_BYTES] = {'m', 'a', 's', 'k'};
	unsigned char header[WEBSOCKET_HEADER_BYTES];

	expect_header(0, 6, "\x81\x80mask");
	expect_header(125, 6, "\x81\xfdmask");
	expect_header(126, 8, "\x81\xfe\x00\x7emask");
	expect_header(65535, 8, "\x81\xfe\xff\xffmask");
	expect_header(65536, 14, "\x81\xff\x00\x00\x00\x00\x00\x01\x00\x00mask");
	websocket_write_header(WEBSOCKET_CONTINUATION, false, 1, mask, header);
	cr_expect_eq(header[0], 0x00);
	websocket_write_header(WEBSOCKET_PONG, true, 1, mask, header);
	cr_expect_eq(header[0], 0x8a);
}

/* RFC 6455 §5.7 */
Test(bus_websocket, masks_each_byte_with_one_of_four)
{
	const unsigned char mask[WEBSOCKET_MASK_BYTES] = {0x37, 0xfa, 0x21, 0x3d};
	char hello[] = "Hello";
	char text[40];

	websocket_mask(hello, 5, mask);
	cr_expect_eq(memcmp(hello, "\x7f\x9f\x4d\x51\x58", 5), 0);
	for (size_t size = 0; size < sizeof(text); size++) {
		memset(text, 'x', sizeof(text));
		websocket_mask(text, size, mask);
		for (size_t i = 0; i < sizeof(text); i++)
			cr_expect_eq((unsigned char)text[i], i < size ? ('x' ^ mask[i % 4]) : 'x');
	}
}

Test(bus_websocket, draws_other_bytes_each_time)
{
	unsigned char first[20] = {0};
	unsigned char second[20] = {0};

	frame_draw(first, sizeof(first));
	frame_draw(second, sizeof(second));
	cr_expect_neq(memcmp(first, second, sizeof(first)), 0);
	cr_expect_neq(memcmp(first, first + 8, 8), 0);
}
