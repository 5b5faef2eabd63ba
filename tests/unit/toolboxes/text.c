/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "scarce.h"
#include "text.h"

static void expect_json(const char *bytes, size_t size, const char *json)
{
	struct text text = {0};

	text_add_json(&text, bytes, size);
	cr_expect_str_eq(text_string(&text), json);
	text_free(&text);
}

Test(text, is_written_as_a_string_of_json)
{
	expect_json("", 0, "\"\"");
	expect_json("a\"b\\c/é", 8, "\"a\\\"b\\\\c/é\"");
	expect_json("\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"");
	expect_json("a\0b\x1f\x7f", 5, "\"a\\u0000b\\u001f\x7f\"");
	expect_json("\n", 1, "\"\\n\"");
}

Test(text, that_lacks_memory_has_failed)
{
	for (size_t n = 0; scarce_once_after(n); n++) {
		struct text text = {0};

		for (unsigned int i = 0; i < 100; i++)
			text_add_json(&text, "\"a\"b\n", 5);
		cr_expect_eq(text.has_failed, scarce_has_failed());
		cr_expect(text.has_failed || text.size == 1000);
		text_free(&text);
	}
}
