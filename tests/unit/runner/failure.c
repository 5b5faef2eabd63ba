/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/failure.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "host/host.h"
#include "json/reader.h"
#include "util/cleanup.h"

Test(failure, is_told_in_the_words_that_there_are)
{
	static const struct {
		enum call_outcome outcome;
		struct host_exit exit;
		const char *expected;
	} rows[] = {
		{CALL_FAILED, {0}, "words"},
		{CALL_UNAVAILABLE, {0}, "words"},
		{CALL_DENIED, {0}, "words"},
		{CALL_ERROR, {0}, "it \"failed\""},
		{CALL_RESULT, {0}, ""},
		{CALL_TIMED_OUT, {0}, ""},
		{CALL_CANCELLED, {0}, ""},
		{CALL_COOLING, {0}, ""},
		{CALL_TOO_LARGE, {.reason = HOST_TOO_LARGE, .actual = 11, .max = 10},
			"its host sent 11 bytes, 10 are allowed"},
		{CALL_CRASHED, {.reason = HOST_SIGNALED, .signal = SIGSEGV}, "SIGSEGV"},
		{CALL_CRASHED, {.reason = HOST_EXITED, .exit_code = 3, .refused = "fork"},
			"exit 3 (the sandbox refused: fork)"},
		{CALL_CRASHED, {.reason = HOST_MALFORMED, .printed = "no key"},
			"a malformed frame; stderr: \"no key\""},
	};
	static const char reported[] = "{\"code\":\"x\",\"message\":\"it \\\"failed\\\"\"}";
	struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, reported, strlen(reported), 8, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		const struct call_result result = {.outcome = rows[i].outcome,
			.text = "words…",
			.size = 5,
			.tape = &tape,
			.exit = &rows[i].exit};

		failure_write(&result, &out);
		cr_expect_str_eq(buffer_terminate(&out), rows[i].expected);
	}
	json_tape_deinit(&tape);
}
