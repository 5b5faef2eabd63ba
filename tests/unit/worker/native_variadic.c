/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "in_process.h"

/* Functions with a variable number of arguments, which arrive as C widens them. */

#define PRINT(format, parameters)                                                                  \
	"{\"symbol\":\"f\",\"variadic\":3,\"parameters\":[{\"name\":\"text\",\"type\":\"str\","    \
	"\"dir\":\"out\",\"capacity\":100},{\"name\":\"size\",\"type\":\"usize\",\"length_of\":"   \
	"\"text\"},{\"name\":\"format\",\"type\":\"str\",\"value\":\"" format "\"}" parameters     \
	"],\"returns\":{\"name\":null,\"type\":\"i32\",\"length_of\":\"text\"}}"
#define OF(name, type) ",{\"name\":\"" name "\",\"type\":\"" type "\"}"

Test(native_variadic, arguments_are_widened)
{
	static const struct {
		const char *object;
		const char *arguments;
		const char *answer;
	} rows[] = {
		{PRINT("none %%n", ""), "{}", "{\"text\":\"none %n\"}"},
		{PRINT("%d %d %d %d", OF("a", "i8") OF("b", "u8") OF("c", "i16") OF("d", "u16")),
			"{\"a\":-1,\"b\":255,\"c\":-300,\"d\":65535}",
			"{\"text\":\"-1 255 -300 65535\"}"},
		{PRINT("%g %g %d", OF("a", "f32") OF("b", "f64") OF("c", "bool")),
			"{\"a\":0.5,\"b\":-2.25,\"c\":true}", "{\"text\":\"0.5 -2.25 1\"}"},
		{PRINT("%s %ld %zu", OF("a", "str") OF("b", "i64") OF("c", "usize")),
			"{\"a\":\"x\",\"b\":-5000000000,\"c\":7}",
			"{\"text\":\"x -5000000000 7\"}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool is_failure;
		const char *found = in_process_call(
			rows[i].object, (void *)snprintf, NULL, rows[i].arguments, &is_failure);

		cr_expect_not(is_failure);
		cr_expect_str_eq(found, rows[i].answer, "%s: %s", rows[i].object, found);
	}
}

/* Add numbers up to a 0, and store the sum in the last argument. */
static int32_t sum(int32_t first, ...)
{
	va_list arguments;
	int32_t total = first;
	int32_t next;

	va_start(arguments, first);
	while ((next = va_arg(arguments, int32_t)))
		total += next;
	*va_arg(arguments, int64_t *) = total;
	va_end(arguments);
	return total;
}

Test(native_variadic, arguments_come_out_too)
{
	bool is_failure;

	cr_expect_str_eq(
		in_process_call(
			"{\"symbol\":\"f\",\"variadic\":1,\"parameters\":[{\"name\":\"a\","
			"\"type\":\"i32\"},{\"name\":\"b\",\"type\":\"i16\"},{\"name\":"
			"\"end\",\"type\":\"i32\",\"value\":0},{\"name\":\"total\",\"type\":"
			"\"i64\",\"dir\":\"out\"}],\"returns\":{\"type\":\"i32\"}}",
			(void *)sum, NULL, "{\"a\":40,\"b\":-2}", &is_failure),
		"{\"result\":38,\"total\":38}");
}
