/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "wire/wire.h"
#include "worker/driver.h"

/*
 * Kind `python`: the host becomes an interpreter of the user's that runs
 * service/python/toolbox_python.py. The restrictions of the sandbox remain and the wire stays open.
 * The LOAD frame, which was read already, is passed in a descriptor. From then on the interpreter
 * uses the wire.
 */

#define PROGRAM "toolbox_python.py"

/* The descriptor of the LOAD frame. */
#define LOAD_FD 4

/* Most interpreters that are tried. */
#define INTERPRETERS_MAX 8

/* The program, the missing restrictions of the sandbox, then the other interpreters. */
#define ARGUMENTS_MAX (INTERPRETERS_MAX + 3)

/* Put the text of the LOAD frame into LOAD_FD, at its start. */
static int hand_over_load(const struct driver_load *load)
{
	cleanup_close int fd = memfd_create("load", 0);

	if (fd < 0)
		return -errno;
	for (size_t written = 0; written < load->text_size;) {
		ssize_t n = write(fd, load->text + written, load->text_size - written);

		if (n < 0)
			return -errno;
		written += (size_t)n;
	}
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	if (fd == LOAD_FD) {
		fd = -1; /* it is in its place, and must stay open */
		return 0;
	}
	return dup2(fd, LOAD_FD) < 0 ? -errno : 0;
}

/* Find the program, which is installed beside this one. */
static int find_program(char ret_path[PATH_MAX])
{
	ssize_t size = readlink("/proc/self/exe", ret_path, PATH_MAX - sizeof(PROGRAM));
	char *slash;

	if (size < 0)
		return -errno;
	ret_path[size] = '\0';
	slash = strrchr(ret_path, '/');
	snprintf(slash + 1, sizeof(PROGRAM), "%s", PROGRAM);
	return access(ret_path, R_OK) < 0 ? -errno : 0;
}

static int refuse_interpreters(
	struct diagnostics *problems, const struct json_tape *tape, int error)
{
	return driver_refuse(problems, tape, json_find(tape, 0, "python"),
		"no Python interpreter can be started: %s (the last one that was tried)",
		strerrordesc_np(-error));
}

/* Read the member `python`: paths, and names that are searched in PATH. They are freed with the
 * process. */
static int read_interpreters(
	const struct json_tape *tape, char *ret_interpreters[INTERPRETERS_MAX + 1])
{
	uint32_t list = json_find(tape, 0, "python");
	size_t n = 0;

	if (list == JSON_NONE || json_type_at(tape, list) != JSON_ARRAY)
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

/* Execute the first interpreter that starts. Returns only if none does. */
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
	r = r ? r : hand_over_load(load);
	/* The output of a tool is logged when it is printed, not when the process ends. */
	if (r == 0 && (setenv("PYTHONUNBUFFERED", "1", 1) < 0 || fcntl(WIRE_FD, F_SETFD, 0) < 0))
		r = -errno;
	if (r)
		return r;
	r = find_program(program);
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
