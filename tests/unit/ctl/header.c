/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/header.h"

#include <criterion/criterion.h>

#include "util/array.h"

TestSuite(ctl_header, .timeout = 20);

Test(ctl_header, is_named_as_a_program_includes_it)
{
	static const char *const cases[][2] = {
		{"/usr/include/zlib.h", "zlib.h"},
		{"/usr/include/sys/time.h", "sys/time.h"},
		{"/usr/include/x86_64-linux-gnu/sys/time.h", "sys/time.h"},
		{"/usr/include/x86_64-linux-gnu.h", "x86_64-linux-gnu.h"},
		{"/usr/include/a/b-linux-gnu/c.h", "a/b-linux-gnu/c.h"},
		{"/usr/include", "/usr/include"},
		{"/usr/includes/zlib.h", "/usr/includes/zlib.h"},
		{"/usr/local/include/zlib.h", "/usr/local/include/zlib.h"},
		{"zlib.h", "zlib.h"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		cr_expect_str_eq(header_short_name(cases[i][0]), cases[i][1], "%s", cases[i][0]);
}
