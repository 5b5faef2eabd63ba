/* SPDX-License-Identifier: Apache-2.0 */
#include "in_process.h"

#include <criterion/criterion.h>
#include <string.h>

#include "host/native_call.h"

const char *in_process_call(const char *object, void *address, void (*free_result)(void *),
	const char *arguments, bool *ret_is_failure)
{
	static struct buffer answer;
	struct native_scratch scratch = {0};
	struct native_function function;
	struct native_error error = {0};
	struct json_tape tape = {0};
	struct native_call prepared;
	int r;

	cr_assert_eq(json_tape_read(&tape, object, strlen(object), JSON_DEPTH_DEFAULT, NULL), 0);
	r = native_function_read(&tape, 0, &function, &error);
	cr_assert_eq(r, 0, "%s: %s", object, error.message.data ? error.message.data : "");
	cr_assert_eq(native_call_init(&prepared, &function, address, free_result), 0);
	buffer_deinit(&answer);
	r = native_call_run(&prepared, &scratch, arguments, strlen(arguments), &answer);
	cr_assert(r == 0 || r == NATIVE_CALL_E_FAILED, "%s: %d", object, r);
	*ret_is_failure = r != 0;
	native_call_deinit(&prepared);
	native_scratch_deinit(&scratch);
	json_tape_deinit(&tape);
	return buffer_terminate(&answer);
}

bool in_process_is_refused(const char *object)
{
	struct native_function function;
	struct native_error error = {0};
	struct json_tape tape = {0};
	int r;

	cr_assert_eq(json_tape_read(&tape, object, strlen(object), JSON_DEPTH_DEFAULT, NULL), 0,
		"%s", object);
	r = native_function_read(&tape, 0, &function, &error);
	if (r == 0)
		native_function_deinit(&function);
	cr_assert_geq(r, 0);
	buffer_deinit(&error.message);
	json_tape_deinit(&tape);
	return r != 0;
}
