/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/request.h"

#include <criterion/criterion.h>

#include "answering.h"
#include "util/cleanup.h"

TestSuite(ctl_request, .timeout = 60);

Test(ctl_request, has_commas_between_its_members)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_member(&data, "absent", NULL);
	ctl_request_member(&data, "a", "x");
	ctl_request_member(&data, "absent", NULL);
	ctl_request_flag(&data, "b");
	ctl_request_member(&data, "c", "");
	cr_expect_str_eq(buffer_terminate(&data), "\"a\":\"x\",\"b\":true,\"c\":\"\"");
}

Test(ctl_request, is_json_whatever_its_texts_are)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_member(&data, "a", "\"\\\n\x1b{");
	ctl_request_member(&data, "b", "\xFF");
	cr_expect_str_eq(
		buffer_terminate(&data), "\"a\":\"\\\"\\\\\\n\\u001b{\",\"b\":\"\xEF\xBF\xBD\"");
}

Test(ctl_request, names_a_tool_by_its_toolbox)
{
	static const struct {
		const char *name;
		const char *toolbox;
		const char *data; /* NULL: they are of different toolboxes */
	} cases[] = {
		{"add", NULL, "\"name\":\"add\""},
		{"add", "math", "\"name\":\"add\",\"toolbox_id\":\"math\""},
		{"math/add", NULL, "\"name\":\"add\",\"toolbox_id\":\"math\""},
		{"math/add", "math", "\"name\":\"add\",\"toolbox_id\":\"math\""},
		{"math/a/b", NULL, "\"name\":\"a/b\",\"toolbox_id\":\"math\""},
		{"/add", NULL, "\"name\":\"add\",\"toolbox_id\":\"\""},
		{"math/add", "mat", NULL},
		{"math/add", "maths", NULL},
		{"math/add", "", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct ctl_options options = {.toolbox_id = cases[i].toolbox};
		cleanup(buffer_deinit) struct buffer data = {0};
		int r;

		capture_begin();
		r = ctl_request_tool(&data, cases[i].name, &options);
		capture_end();
		cr_expect_eq(r, cases[i].data ? 0 : CTL_USAGE, "row %zu", i);
		cr_expect_eq(*command_complaints == '\0', r == 0);
		if (cases[i].data)
			cr_expect_str_eq(buffer_terminate(&data), cases[i].data);
	}
}
