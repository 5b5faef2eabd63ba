/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/python.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/member.h"
#include "json/writer.h"
#include "util/cleanup.h"

/* Append the interpreter of the environment in @below of the folder in @variable; nothing unless
 * the variable has an absolute path. */
static void write_candidate(struct buffer *out, const char *variable, const char *below)
{
	const char *folder = getenv(variable);
	cleanup(buffer_deinit) struct buffer path = {0};

	if (!folder || *folder != '/')
		return;
	buffer_printf(&path, "%s%s/bin/python", folder, below);
	if (buffer_status(&path) < 0)
		out->error = buffer_status(&path);
	else
		json_write_bytes_lossy(out, path.data, path.size);
	buffer_append_char(out, ',');
}

static void write_candidates(struct buffer *out)
{
	buffer_append_char(out, '[');
	write_candidate(out, "VIRTUAL_ENV", "");
	write_candidate(out, "HOME", "/.venvs/ovos");
	buffer_append_string(out, "\"python3\"]");
}

/* Append the interpreter named by the manifest at @token, as an array. */
static int write_given(const struct json_tape *tape, uint32_t token, const char *folder,
	struct diagnostics *problems, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer path = {0};
	cleanup_free char *given = NULL;
	size_t size;

	given = json_string_dup(tape, token, &size);
	if (!given)
		return -ENOMEM;
	if (strlen(given) != size)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, token,
			"must be a path, or a name to look for in PATH, without U+0000");
	if (strchr(given, '/') && *given != '/')
		buffer_printf(&path, "%s/", folder);
	buffer_append_string(&path, given);
	if (!buffer_terminate(&path))
		return -ENOMEM;
	if (strchr(path.data, '/') && access(path.data, X_OK) < 0)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, token,
			"must be a Python interpreter; '%s' cannot be run: %s", path.data,
			strerror(errno));
	buffer_append_char(out, '[');
	json_write_bytes_lossy(out, path.data, path.size);
	buffer_append_char(out, ']');
	return 0;
}

static int read_interpreters(const struct json_tape *tape, const char *folder,
	struct package *package, struct diagnostics *problems)
{
	struct package_python *python = &package->python;
	uint32_t token = json_find(tape, 0, "python");
	cleanup(buffer_deinit) struct buffer out = {0};

	python->is_auto = token == JSON_NONE || json_is_text(tape, token, "auto");
	if (python->is_auto && package->kind == KIND_PYTHON_FILE)
		buffer_append_string(&out, "[\"python3\"]");
	else if (python->is_auto)
		write_candidates(&out);
	else if (write_given(tape, token, folder, problems, &out) < 0)
		return -ENOMEM;
	/* A file is registered on purpose: a lack of Python is a mistake. */
	python->is_auto = python->is_auto && package->kind == KIND_PYTHON;
	python->interpreters = buffer_take(&out, NULL);
	return python->interpreters ? 0 : -ENOMEM;
}

int manifest_python_read(const struct json_tape *tape, const char *folder, struct package *package,
	struct diagnostics *problems)
{
	uint32_t plugins = json_find(tape, 0, "plugins");
	cleanup(buffer_deinit) struct buffer points = {0};
	int r = read_interpreters(tape, folder, package, problems);

	if (r < 0 || plugins == JSON_NONE)
		return r;
	json_write_compact(&points, tape, plugins);
	package->python.plugins = buffer_take(&points, NULL);
	return package->python.plugins ? 0 : -ENOMEM;
}
