/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/member.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "worker/driver.h"
#include "worker/exec_host.h"

/*
 * Kind `python`: the host becomes an interpreter of the user's that runs
 * service/python/toolbox_python.py. From then on the interpreter uses the wire. A manifest with
 * `file` has functions in place of plugins: the interpreter gets the source after the LOAD frame,
 * from the daemon's copy of the file (worker/sandbox/seal.h), or else from the file.
 *
 *   LOAD_FD:  LOAD frame, one line │ "sealed" or "file", one line │ source
 */

#define PROGRAM "toolbox_python.py"

/* A larger file is no source of a person's. */
#define SOURCE_BYTES_MAX (1u << 20)

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
	json_each_while(n < INTERPRETERS_MAX, at, tape, list) {
		if (json_type_at(tape, at) != JSON_STRING)
			return -EPROTO;
		ret_interpreters[n] = json_string_dup(tape, at, NULL);
		if (!ret_interpreters[n++])
			return -ENOMEM;
	}
	ret_interpreters[n] = NULL;
	return n > 0 ? 0 : -EPROTO;
}

static int read_source(const struct seal *seal, struct buffer *rest)
{
	char link[sizeof("/proc/self/fd/2147483647")];

	if (seal->fd < 0)
		return file_read(seal->name, SOURCE_BYTES_MAX, rest);
	/* The hosts share the descriptor, and so its place in the file: each opens it anew. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", seal->fd);
	return file_read(link, SOURCE_BYTES_MAX, rest);
}

/* Append the source of the file in the LOAD frame, after the line about its seal; nothing without
 * a file. Return 0, DRIVER_E_REFUSED, or -ENOMEM. */
static int append_source(
	const struct driver_load *load, struct buffer *rest, struct diagnostics *problems)
{
	int r;

	if (load->n_seals == 0)
		return 0;
	buffer_append_string(rest, load->seals->fd < 0 ? "\nfile\n" : "\nsealed\n");
	r = read_source(load->seals, rest);
	if (r == -ENOMEM || (r == 0 && buffer_status(rest)))
		return -ENOMEM;
	if (r == -EFBIG)
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "/file", "%s has more than %u bytes",
			load->seals->name, SOURCE_BYTES_MAX);
	else if (r < 0)
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "/file", "%s cannot be read: %s",
			load->seals->name, strerrordesc_np(-r));
	return r < 0 ? DRIVER_E_REFUSED : 0;
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
	cleanup(buffer_deinit) struct buffer rest = {0};
	char program[PATH_MAX];
	int r = read_interpreters(load->tape, interpreters);

	(void)ret_driver;
	r = r ? r : append_source(load, &rest, problems);
	r = r ? r : exec_host_prepare(load, &rest);
	/* The output of a tool is logged when it is printed, not when the process ends. */
	if (r == 0 && setenv("PYTHONUNBUFFERED", "1", 1) < 0)
		r = -errno;
	if (r)
		return r;
	r = exec_host_find(PROGRAM, R_OK, program);
	r = r ? r : become(interpreters, program, load->missing);
	return refuse_interpreters(problems, load->tape, r);
}

const struct driver python_driver = {
	.kind = "python",
	.load = load_python,
};
