/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker/exec_host.h"
#include "json/member.h"
#include "worker/driver.h"

/*
 * Kind `python`: the host becomes an interpreter of the user's that runs
 * service/python/toolbox_python.py. From then on the interpreter uses the wire.
 */

#define PROGRAM "toolbox_python.py"

/* Most interpreters to try. */
#define INTERPRETERS_MAX 8

/* The program, the missing restrictions of the sandbox, then the other interpreters. */
#define ARGUMENTS_MAX (INTERPRETERS_MAX + 3)

static int refuse_interpreters(
	struct diagnostics *problems, const struct json_tape *tape, int error)
{
	return driver_refuse(problems, tape, json_find(tape, 0, "python"),
		"no Python interpreter can be started: %s (the last one tried)",
		strerrordesc_np(-error));
}

/* Read the member `python`: paths, and names to search in PATH. They are freed with the process. */
static int read_interpreters(
	const struct json_tape *tape, char *ret_interpreters[INTERPRETERS_MAX + 1])
{
	uint32_t list = json_find_typed_at(tape, 0, "python", JSON_ARRAY);
	size_t n = 0;

	if (list == JSON_NONE)
		return -EPROTO;
	for (uint32_t at = json_first(tape, list);
		at < json_end(tape, list) && n < INTERPRETERS_MAX; at = json_next(tape, at)) {
		if (json_type_at(tape, at) != JSON_STRING)
			return -EPROTO;
		ret_interpreters[n] = json_string_dup(tape, at, NULL);
		if (!ret_interpreters[n++])
			return -ENOMEM;
	}
	ret_interpreters[n] = NULL;
	return n > 0 ? 0 : -EPROTO;
}

/* Execute the first interpreter that starts. Returns only if none starts. */
static int become(char *const *interpreters, const char *program, const char *missing)
{
	int r = -ENOENT;

	for (; *interpreters; interpreters++) {
		const char *arguments[ARGUMENTS_MAX + 1] = {*interpreters, program, missing};
		size_t n = 3;

		for (char *const *others = interpreters + 1; *others; others++)
			arguments[n++] = *others;
		execvp(*interpreters, (char *const *)arguments);
		r = -errno;
	}
	return r;
}

static int load_python(
	const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	char *interpreters[INTERPRETERS_MAX + 1];
	char program[PATH_MAX];
	int r = read_interpreters(load->tape, interpreters);

	(void)ret_driver;
	r = r ? r : exec_host_prepare(load);
	/* The output of a tool is logged when it is printed, not when the process ends. */
	if (r == 0 && setenv("PYTHONUNBUFFERED", "1", 1) < 0)
		r = -errno;
	if (r)
		return r;
	r = exec_host_find(PROGRAM, R_OK, program);
	r = r ? r : become(interpreters, program, load->missing);
	return refuse_interpreters(problems, load->tape, r);
}

static void free_nothing(void *driver)
{
	(void)driver;
}

const struct driver python_driver = {
	.kind = "python",
	.load = load_python,
	.free = free_nothing,
};
