/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "util/cleanup.h"
#include "wire/wire.h"

static void receive(struct wire_reader *reader, const char *bytes, size_t size)
{
	while (size > 0) {
		size_t room;
		char *space = wire_reader_space(reader, &room);

		cr_assert(space);
		room = room < size ? room : size;
		memcpy(space, bytes, room);
		wire_reader_received(reader, room);
		bytes += room;
		size -= room;
	}
}

static void write_header(struct buffer *out, uint32_t size, uint32_t kind, uint64_t id)
{
	struct wire_header header = {.size = size, .kind = kind, .id = id};

	buffer_append(out, &header, sizeof(header));
}

Test(wire, gives_back_what_was_written)
{
	struct wire_reader reader = {.payload_max = 100};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct wire_frame frame;

	wire_write(&bytes, WIRE_INVOKE, 7, "abc", 3, "defg", 4);
	receive(&reader, bytes.data, bytes.size);
	cr_assert_eq(wire_reader_next(&reader, &frame), 0);
	cr_expect_eq(frame.kind, WIRE_INVOKE);
	cr_expect_eq(frame.id, 7);
	cr_assert_eq(frame.size, 7);
	cr_expect_arr_eq(frame.payload, "abcdefg", 7);
	cr_expect_not(wire_reader_has_more(&reader));
	cr_expect_eq(wire_reader_next(&reader, &frame), WIRE_E_MORE);
	wire_reader_deinit(&reader);
}

Test(wire, puts_a_frame_together_from_single_bytes)
{
	struct wire_reader reader = {.payload_max = 100};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct wire_frame frame;

	wire_write(&bytes, WIRE_RESULT, UINT64_MAX, "{}", 2, NULL, 0);
	for (size_t i = 0; i + 1 < bytes.size; i++) {
		receive(&reader, bytes.data + i, 1);
		cr_assert_eq(wire_reader_next(&reader, &frame), WIRE_E_MORE, "byte %zu", i);
	}
	receive(&reader, bytes.data + bytes.size - 1, 1);
	cr_assert_eq(wire_reader_next(&reader, &frame), 0);
	cr_expect_eq(frame.id, UINT64_MAX);
	cr_expect_eq(frame.size, 2);
	wire_reader_deinit(&reader);
}

Test(wire, gives_several_frames_of_one_read_one_by_one)
{
	struct wire_reader reader = {.payload_max = 100};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct wire_frame frame;

	for (uint64_t id = 1; id <= 3; id++)
		wire_write(&bytes, WIRE_RESULT, id, "x", 1, NULL, 0);
	receive(&reader, bytes.data, bytes.size);
	for (uint64_t id = 1; id <= 3; id++) {
		cr_expect_eq(wire_reader_has_more(&reader), true);
		cr_assert_eq(wire_reader_next(&reader, &frame), 0);
		cr_expect_eq(frame.id, id);
	}
	cr_expect_not(wire_reader_has_more(&reader));
	wire_reader_deinit(&reader);
}

Test(wire, takes_a_payload_of_exactly_the_limit_and_of_nothing)
{
	struct wire_reader reader = {.payload_max = 8};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct wire_frame frame;

	wire_write(&bytes, WIRE_RESULT, 1, "12345678", 8, NULL, 0);
	wire_write(&bytes, WIRE_RESULT, 2, NULL, 0, NULL, 0);
	receive(&reader, bytes.data, bytes.size);
	cr_assert_eq(wire_reader_next(&reader, &frame), 0);
	cr_expect_eq(frame.size, 8);
	cr_assert_eq(wire_reader_next(&reader, &frame), 0);
	cr_expect_eq(frame.size, 0);
	wire_reader_deinit(&reader);
}

Test(wire, tells_a_payload_over_the_limit_by_its_header_alone)
{
	struct wire_reader reader = {.payload_max = 8};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct wire_frame frame;

	write_header(&bytes, UINT32_MAX, WIRE_RESULT, 5);
	receive(&reader, bytes.data, bytes.size);
	cr_assert_eq(wire_reader_next(&reader, &frame), WIRE_E_TOO_LARGE);
	cr_expect_eq(frame.kind, WIRE_RESULT);
	cr_expect_eq(frame.id, 5);
	cr_expect_eq(frame.size, UINT32_MAX);
	cr_expect_null(frame.payload);
	wire_reader_deinit(&reader);
}

Test(wire, takes_no_memory_for_what_a_header_promises)
{
	struct wire_reader reader = {.payload_max = UINT32_MAX};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct wire_frame frame;

	write_header(&bytes, UINT32_MAX, WIRE_RESULT, 5);
	receive(&reader, bytes.data, bytes.size);
	cr_expect_eq(wire_reader_next(&reader, &frame), WIRE_E_MORE);
	cr_expect_lt(reader.bytes.capacity, 65536);
	wire_reader_deinit(&reader);
}

Test(wire, refuses_kinds_that_do_not_exist)
{
	static const uint32_t kinds[] = {0, WIRE_LAST + 1, 255, UINT32_MAX};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct wire_reader reader = {.payload_max = 8};
		cleanup(buffer_deinit) struct buffer bytes = {0};
		struct wire_frame frame;

		write_header(&bytes, 0, kinds[i], 1);
		receive(&reader, bytes.data, bytes.size);
		cr_expect_eq(
			wire_reader_next(&reader, &frame), WIRE_E_MALFORMED, "kind %u", kinds[i]);
		wire_reader_deinit(&reader);
	}
}

Test(wire, gives_the_memory_of_a_large_frame_back)
{
	struct wire_reader reader = {.payload_max = 16u << 20};
	size_t size = 2u << 20;
	cleanup_free char *payload = calloc(1, size);
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct wire_frame frame;
	size_t room;

	wire_write(&bytes, WIRE_RESULT, 1, payload, size, NULL, 0);
	receive(&reader, bytes.data, bytes.size);
	cr_assert_eq(wire_reader_next(&reader, &frame), 0);
	cr_expect_eq(frame.size, size);
	cr_assert(wire_reader_space(&reader, &room));
	cr_expect_lt(reader.bytes.capacity, 65536);
	wire_reader_deinit(&reader);
}

Test(wire, finishes_a_frame_in_place_behind_another)
{
	struct wire_reader reader = {.payload_max = 100};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct wire_frame frame;
	size_t start;

	wire_write(&bytes, WIRE_FAILED, 1, "no", 2, NULL, 0);
	start = wire_begin(&bytes);
	buffer_append_string(&bytes, "{\"a\":1}");
	wire_finish(&bytes, start, WIRE_RESULT, 2);
	receive(&reader, bytes.data, bytes.size);
	cr_assert_eq(wire_reader_next(&reader, &frame), 0);
	cr_expect_eq(frame.kind, WIRE_FAILED);
	cr_assert_eq(wire_reader_next(&reader, &frame), 0);
	cr_expect_eq(frame.kind, WIRE_RESULT);
	cr_expect_arr_eq(frame.payload, "{\"a\":1}", 7);
	wire_reader_deinit(&reader);
}

Test(wire, keeps_the_beginning_of_a_frame_behind_another)
{
	struct wire_reader reader = {.payload_max = 100};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct wire_frame frame;
	size_t first;

	wire_write(&bytes, WIRE_RESULT, 1, "abc", 3, NULL, 0);
	first = bytes.size;
	wire_write(&bytes, WIRE_FAILED, 2, "defg", 4, NULL, 0);
	for (size_t cut = first; cut < bytes.size; cut++) {
		receive(&reader, bytes.data, cut);
		cr_assert_eq(wire_reader_next(&reader, &frame), 0);
		cr_expect_eq(frame.id, 1);
		cr_expect_eq(wire_reader_next(&reader, &frame), WIRE_E_MORE);
		receive(&reader, bytes.data + cut, bytes.size - cut);
		cr_assert_eq(wire_reader_next(&reader, &frame), 0, "%zu", cut);
		cr_expect_eq(frame.id, 2);
		cr_assert_eq(frame.size, 4);
		cr_expect_arr_eq(frame.payload, "defg", 4);
		cr_expect_not(wire_reader_has_more(&reader));
	}
	wire_reader_deinit(&reader);
}

Test(wire, takes_no_more_memory_for_many_frames_than_for_one)
{
	struct wire_reader reader = {.payload_max = 3000};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	char payload[3000] = "";
	struct wire_frame frame;

	wire_write(&bytes, WIRE_RESULT, 1, payload, sizeof(payload), NULL, 0);
	for (int i = 0; i < 100; i++) {
		receive(&reader, bytes.data, bytes.size);
		cr_assert_eq(wire_reader_next(&reader, &frame), 0);
	}
	cr_expect_leq(reader.bytes.capacity, 16384);
	wire_reader_deinit(&reader);
}

Test(wire, keeps_a_buffer_of_256_kibibytes)
{
	struct wire_reader reader = {.payload_max = 100};

	cr_assert(buffer_reserve(&reader.bytes, 256u << 10));
	cr_assert_eq(reader.bytes.capacity, 256u << 10);
	wire_reader_recycle(&reader);
	cr_expect_eq(reader.bytes.capacity, 256u << 10);
	cr_assert(buffer_reserve(&reader.bytes, (256u << 10) + 1));
	reader.bytes.size = 1;
	wire_reader_recycle(&reader);
	cr_expect_gt(reader.bytes.capacity, 256u << 10, "it has a byte of a frame");
	reader.used = 1;
	wire_reader_recycle(&reader);
	cr_expect_eq(reader.bytes.capacity, 0);
	wire_reader_deinit(&reader);
}

Test(wire, takes_the_first_and_the_last_kind)
{
	static const enum wire_kind kinds[] = {WIRE_LOAD, WIRE_LAST};

	for (size_t i = 0; i < 2; i++) {
		struct wire_reader reader = {.payload_max = 100};
		cleanup(buffer_deinit) struct buffer bytes = {0};
		struct wire_frame frame;

		wire_write(&bytes, kinds[i], 1, NULL, 0, NULL, 0);
		receive(&reader, bytes.data, bytes.size);
		cr_expect_eq(wire_reader_next(&reader, &frame), 0, "%u", kinds[i]);
		wire_reader_deinit(&reader);
	}
}

/* The bytes of such a payload are not looked at. */
Test(wire, finishes_no_frame_whose_size_does_not_fit_in_its_header)
{
	struct wire_header header = {0};
	struct buffer bytes = {
		.data = (char *)&header, .size = sizeof(header) + (size_t)UINT32_MAX};

	wire_finish(&bytes, 0, WIRE_RESULT, 1);
	cr_expect_eq(buffer_status(&bytes), 0);
	cr_expect_eq(header.size, UINT32_MAX);
	bytes.size++;
	wire_finish(&bytes, 0, WIRE_RESULT, 1);
	cr_expect_eq(buffer_status(&bytes), -EMSGSIZE);
}

Test(wire, leaves_a_failed_buffer_alone)
{
	cleanup(buffer_deinit) struct buffer bytes = {.limit = 20};

	wire_write(&bytes, WIRE_RESULT, 1, "123456789", 9, NULL, 0);
	cr_expect_eq(buffer_status(&bytes), -EMSGSIZE);
}
