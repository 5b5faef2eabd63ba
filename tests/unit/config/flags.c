/* SPDX-License-Identifier: Apache-2.0 */
#include "config/layers/flags.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

Test(config_flags, have_a_letter_each)
{
	struct config_flags flags = {0};

	cr_expect(config_flags_take(&flags, 'b', "bus"));
	cr_expect(config_flags_take(&flags, 'c', "config"));
	cr_expect(config_flags_take(&flags, 'l', "level"));
	cr_expect(config_flags_take(&flags, 'f', "format"));
	cr_expect_not(config_flags_take(&flags, 'x', "other"));
	cr_expect_str_eq(flags.bus, "bus");
	cr_expect_str_eq(flags.config, "config");
	cr_expect_str_eq(flags.log_level, "level");
	cr_expect_str_eq(flags.log_format, "format");
}

Test(config_flags, that_are_misused_say_how_to_get_help)
{
	cr_redirect_stderr();
	cr_expect_eq(config_flags_misuse("toolboxd", "unexpected argument: ", "a\nb"), 2);
	fflush(stderr);
	cr_expect_stderr_eq_str(
		"toolboxd: unexpected argument: a\\u000ab\nTry 'toolboxd --help'.\n");
}
