/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* tests/run sets WITHOUT_JIT for a second run, whose tests have no such memory. */
Test(regex, is_machine_code_where_memory_may_be_executed)
{
	cleanup(regex_deinit) struct regex regex = {0};
	struct regex_error error;
	uint32_t has_jit = 0;

	pcre2_config(PCRE2_CONFIG_JIT, &has_jit);
	cr_expect_eq(regex_can_be_fast(), has_jit && !getenv("WITHOUT_JIT"));
	cr_assert_eq(regex_compile("a+", 2, 0, 0, &regex, &error), 0);
	cr_expect_not(regex.is_fast, "only when it is asked for");
	regex_make_fast(&regex);
	cr_expect_eq(regex.is_fast, regex_can_be_fast());
}
