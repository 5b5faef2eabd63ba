/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/diagnose.h"

#include "schema/words/describe.h"

void diagnose_found(struct diagnostics *problems, const struct json_tape *tape, uint32_t token,
	const char *expected)
{
	cleanup(buffer_deinit) struct buffer found = {0};

	describe_value(tape, token, &found);
	diagnose(problems, DIAGNOSTIC_ERROR, tape, token, "%s; came: %s", expected,
		buffer_terminate(&found) ? found.data : "?");
}
