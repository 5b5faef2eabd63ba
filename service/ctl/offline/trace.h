/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"
#include "ctl/session.h"
#include "util/buffer.h"

/*
 * toolboxctl invoke --trace-files: the report of the tracers of one call (worker/sandbox/trace.h),
 * and the lines for a manifest.
 */

/* The room for the path of a report. */
#define TRACE_PATH_BYTES 64

/* Make a report, a file in memory, with its path for other processes. Return its descriptor or -1
 * after a complaint. */
int trace_open(char ret_path[TRACE_PATH_BYTES]);

/* Print the report @fd on stderr: the paths, and the lines to add to @file, the manifest of the
 * tool @name. @args is the JSON text of the call's arguments. */
void trace_print(int fd, const char *name, const char *file, const struct buffer *args);

/* Ask the service for the registration file of the tool @name. Return 0 with *ret_file, which the
 * caller frees, or an enum ctl_status after a complaint. */
int trace_find_file(struct ctl_session *session, const struct ctl_options *options,
	const char *name, char **ret_file);
