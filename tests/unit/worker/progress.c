/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/progress.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "util/cleanup.h"
#include "wire/wire.h"

/* Expect the payload of the frame for @value and @text. */
static void expect_payload(double value, const char *text, const char *payload)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	struct wire_header header;

	buffer_append_string(&out, "before");
	progress_append(&out, 7, value, text, text ? strlen(text) : 0);
	cr_assert_not_null(buffer_terminate(&out));
	memcpy(&header, out.data + strlen("before"), sizeof(header));
	cr_expect_eq(header.kind, WIRE_PROGRESS);
	cr_expect_eq(header.id, 7);
	cr_expect_eq(header.size, strlen(payload), "%s", payload);
	cr_expect_str_eq(out.data + strlen("before") + sizeof(header), payload);
}

Test(progress, is_a_number_from_0_to_1_or_unknown)
{
	expect_payload(0, "a", "{\"progress\":0.0,\"text\":\"a\"}");
	expect_payload(0.5, "", "{\"progress\":0.5,\"text\":\"\"}");
	expect_payload(1, NULL, "{\"progress\":1.0,\"text\":null}");
	expect_payload(-0.5, NULL, "{\"progress\":null,\"text\":null}");
	expect_payload(1.5, NULL, "{\"progress\":null,\"text\":null}");
	expect_payload(NAN, "\xFF\"", "{\"progress\":null,\"text\":\"\xEF\xBF\xBD\\\"\"}");
}
