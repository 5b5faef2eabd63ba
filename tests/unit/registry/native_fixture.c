/* SPDX-License-Identifier: Apache-2.0 */
#include "native_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

void native_read_tape(struct json_tape *tape, const char *text)
{
	struct json_error error;

	cr_assert_eq(json_tape_read(tape, text, strlen(text), JSON_DEPTH_DEFAULT, &error), 0,
		"%s: %s", text, error.message);
}

void native_read_good(const char *text, struct native_function *ret_function)
{
	struct native_error error = {0};
	struct json_tape tape = {0};
	int r;

	native_read_tape(&tape, text);
	r = native_function_read(&tape, 0, ret_function, &error);
	cr_assert_eq(r, 0, "%s: %s", text, error.message.data ? error.message.data : "");
	json_tape_deinit(&tape);
	buffer_deinit(&error.message);
}

/* The object is refused with exactly @message, at the token whose text is @place. */
void native_expect_refused(const char *text, const char *place, const char *message)
{
	struct native_function function = {0};
	struct native_error error = {0};
	struct json_tape tape = {0};
	const char *found;
	size_t size;

	native_read_tape(&tape, text);
	cr_assert_eq(native_function_read(&tape, 0, &function, &error), NATIVE_E_REFUSED,
		"%s is not refused", text);
	cr_expect_str_eq(error.message.data, message, "%s: %s", text, error.message.data);
	found = json_value_text(&tape, error.token, &size);
	cr_expect(size == strlen(place) && memcmp(found, place, size) == 0, "%s: at %.*s", text,
		(int)size, found);
	json_tape_deinit(&tape);
	buffer_deinit(&error.message);
}
