/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_log.h"

#include <stdio.h>
#include <string.h>

#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/log.h"

/* "FILE:LINE PATH: text", leaving out what there is not. */
static void write_line(
	struct buffer *out, const char *file, unsigned int line, const char *path, const char *text)
{
	bool has_path = path && *path;

	if (file)
		buffer_append_string(out, file);
	if (file && line)
		buffer_printf(out, ":%u", line);
	if (has_path)
		buffer_printf(out, "%s%s", file ? " " : "", path);
	buffer_printf(out, "%s%s", file || has_path ? ": " : "", text);
}

void config_log(void *data, enum config_severity severity, const char *file, unsigned int line,
	const char *path, const char *text)
{
	enum log_level level = severity == CONFIG_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING;
	cleanup(buffer_deinit) struct buffer out = {0};

	write_line(&out, file, line, path, text);
	if (buffer_terminate(&out))
		text = out.data;
	if (data)
		log_limited(data, level, "%s", text);
	else
		log_write(level, "%s", text);
}

void config_print(void *data, enum config_severity severity, const char *file, unsigned int line,
	const char *path, const char *text)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	unsigned int *n_errors = data;

	*n_errors += severity == CONFIG_ERROR;
	write_line(&out, file, line, path, text);
	fprintf(stderr, "%s %s\n", severity == CONFIG_ERROR ? "error" : "warning",
		buffer_terminate(&out) ? out.data : text);
}
