/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "json/pointer.h"
#include "scarce.h"

static const char text[] = "{\"a\": [1, {\"b/c\": [], \"~\": {}}], \"\": 0, \"\\u0064\": null}";

/* The pointer to each token of the text, in their order. */
static const char *const pointers[] = {"", "/a", "/a", "/a/0", "/a/1", "/a/1/b~1c", "/a/1/b~1c",
	"/a/1/~0", "/a/1/~0", "/", "/", "/d", "/d"};

static void read_text(struct json_tape *tape)
{
	cr_assert_eq(json_tape_read(tape, text, sizeof(text) - 1, JSON_DEPTH_DEFAULT, NULL), 0);
}

Test(json_pointer, names_every_token)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	read_text(&tape);
	cr_assert_eq(tape.count, sizeof(pointers) / sizeof(*pointers));
	for (uint32_t i = 0; i < tape.count; i++) {
		cleanup(buffer_deinit) struct buffer pointer = {0};

		json_pointer_write(&tape, i, &pointer);
		cr_assert_str_eq(buffer_terminate(&pointer), pointers[i], "token %u", i);
	}
}

Test(json_pointer, leads_back_to_the_value)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	read_text(&tape);
	for (uint32_t i = 0; i < tape.count; i++) {
		uint32_t found = json_pointer_nearest(&tape, pointers[i]);

		cr_assert(found == i || found == i + 1, "%s: %u, not %u", pointers[i], found, i);
	}
}

Test(json_pointer, stops_at_the_deepest_token_that_is_there)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	read_text(&tape);
	cr_assert_eq(json_pointer_nearest(&tape, "/x/y"), 0);
	cr_assert_eq(json_pointer_nearest(&tape, "/a/2"), 2);
	cr_assert_eq(json_pointer_nearest(&tape, "/a/x"), 2);
	cr_assert_eq(json_pointer_nearest(&tape, "/a/"), 2);
	cr_assert_eq(json_pointer_nearest(&tape, "/a/99999999999999999999"), 2);
	cr_assert_eq(json_pointer_nearest(&tape, "/a/0/deeper"), 3);
}

Test(json_pointer, finds_the_whole_or_nothing)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t index = 0;

	read_text(&tape);
	cr_expect(json_pointer_find(&tape, "/a/0", NULL, &index));
	cr_expect_eq(index, 3);
	cr_expect(json_pointer_find(&tape, "/", NULL, &index));
	cr_expect_eq(*json_bytes(&tape, index), '0');
	cr_expect(json_pointer_find(&tape, "", NULL, &index));
	cr_expect_eq(index, 0);
	index = 7;
	cr_expect_not(json_pointer_find(&tape, "/a/2", NULL, &index));
	cr_expect_not(json_pointer_find(&tape, "/a/00", NULL, &index));
	cr_expect_not(json_pointer_find(&tape, "/a/0/x", NULL, &index));
	cr_expect_not(json_pointer_find(&tape, "a", NULL, &index));
	cr_expect_eq(index, 7, "nothing is written when nothing is found");
}

Test(json_pointer, finds_elements_in_any_order_with_cursors)
{
	static const char rows[] = "{\"r\":[[0,1,2],[3,4,5],[6,7,8]]}";
	static const unsigned int order[] = {0, 1, 2, 3, 4, 8, 7, 0, 5, 5, 2, 6};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_cursors cursors = {0};
	uint32_t index;

	cr_assert_eq(json_tape_read(&tape, rows, strlen(rows), JSON_DEPTH_DEFAULT, NULL), 0);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		char pointer[32];

		snprintf(pointer, sizeof(pointer), "/r/%u/%u", order[i] / 3, order[i] % 3);
		cr_assert(json_pointer_find(&tape, pointer, &cursors, &index), "%s", pointer);
		cr_expect_eq((unsigned int)(*json_bytes(&tape, index) - '0'), order[i]);
		cr_expect_not(json_pointer_find(&tape, "/r/1/3", &cursors, &index));
	}
}

Test(json_pointer, finds_a_value_without_memory_unless_its_key_is_escaped)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t found;

	read_text(&tape);
	scarce_once_after(0);
	cr_expect(json_pointer_find(&tape, "/a/1", NULL, &found));
	cr_expect_not(scarce_has_failed());
	scarce_once_after(0);
	cr_expect_not(json_pointer_find(&tape, "/a/1/b~1c", NULL, &found));
	cr_expect(scarce_has_failed());
}
