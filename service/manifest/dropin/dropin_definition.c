/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/dropin_definition.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "json/reader.h"
#include "json/writer.h"
#include "manifest/dropin/head.h"
#include "manifest/dropin/dropin_program.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"

#define DEFINITION_BYTES_MAX (1u << 20)

/* ── the file beside it ──────────────────────────────────────────────────────────────────────── */

char *dropin_definition_path(const struct dropin *dropin)
{
	size_t size;
	const char *stem = dropin_stem(dropin->path, &size);
	char *path;

	return asprintf(&path, "%.*s.json", (int)(stem - dropin->path + (ptrdiff_t)size),
		       dropin->path) < 0
		       ? NULL
		       : path;
}

static void begin_dropin_entry(const struct dropin *dropin, struct buffer *entry)
{
	buffer_append_string(entry, "{\"name\":");
	json_write_bytes_lossy(entry, dropin->name, strlen(dropin->name));
}

/* End the entry, with @more members of its command. */
static void end_entry(const struct dropin *dropin, const struct buffer *more, struct buffer *entry)
{
	buffer_append_string(entry, ",\"command\":{\"argv\":[");
	json_write_text(entry, dropin->path);
	buffer_append_char(entry, ']');
	buffer_append(entry, more->data, more->size);
	buffer_append_string(entry, "}}");
}

/* Copy the members of the definition; what follows from the file itself may not be among them. */
static int copy_definition(
	const struct json_tape *tape, const char *path, struct buffer *entry, struct buffer *reason)
{
	static const char *const own[] = {"name", "command", "native"};

	if (json_type_at(tape, 0) != JSON_OBJECT) {
		buffer_printf(reason, "%s: must be an object, a tool entry without 'name'", path);
		return DROPIN_E_REFUSED;
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (json_find(tape, 0, own[i])) {
			buffer_printf(reason,
				"%s: '%s' follows from the program's file; leave it out", path,
				own[i]);
			return DROPIN_E_REFUSED;
		}
	json_each_key(key, tape, 0) {
		json_write_member_copy(entry, tape, key);
	}
	return 0;
}

static int read_definition(
	const char *path, const struct buffer *bytes, struct buffer *entry, struct buffer *reason)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	unsigned int line;
	unsigned int column;
	int r = json_tape_read(
		&tape, buffer_text(bytes), bytes->size, JSON_DEPTH_DEFAULT - 8, &error);

	if (r == 0)
		return copy_definition(&tape, path, entry, reason);
	if (r < 0)
		return r;
	json_locate(buffer_text(bytes), error.offset, &line, &column);
	buffer_printf(reason, "%s:%u: column %u: %s", path, line, column, error.message);
	return DROPIN_E_REFUSED;
}

/* ── either ──────────────────────────────────────────────────────────────────────────────────── */

/* Read the beginning of a program. A runnable but unreadable program has no beginning. */
static int read_beginning(const char *path, struct buffer *bytes)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int r = fd < 0 ? -errno : file_read_fd(fd, DROPIN_HEAD_BYTES_MAX, bytes);

	return r < 0 && file_error_is_shortage(r) ? r : 0;
}

/* Refuse two comments with the same definition. They make an object with a repeated key. */
static int refuse_repetition(
	const struct dropin *dropin, const struct buffer *entry, struct buffer *reason)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	int r = json_tape_read(&tape, entry->data, entry->size, JSON_DEPTH_DEFAULT, &error);

	if (r <= 0)
		return r;
	buffer_printf(reason, "%s: has a duplicate key, or too many levels: %s", dropin->path,
		error.message);
	return buffer_status(reason) ? -ENOMEM : DROPIN_E_REFUSED;
}

/* Refuse what would fail with every call. */
static int refuse_program(
	const struct dropin *dropin, const struct buffer *beginning, struct buffer *reason)
{
	cleanup(buffer_deinit) struct buffer why = {0};

	dropin_program_check(dropin->path, beginning, &why);
	if (buffer_status(&why) < 0)
		return -ENOMEM;
	if (why.size == 0)
		return 0;
	buffer_printf(reason, "%s: %.*s", dropin->path, (int)why.size, why.data);
	return buffer_status(reason) ? -ENOMEM : DROPIN_E_REFUSED;
}

int dropin_define(const struct dropin *dropin, struct buffer *entry, struct buffer *reason,
	struct diagnostics *problems)
{
	cleanup(buffer_deinit) struct buffer beginning = {0};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(buffer_deinit) struct buffer command = {0};
	cleanup_free char *path = dropin_definition_path(dropin);
	int r = path ? read_beginning(dropin->path, &beginning) : -ENOMEM;

	if (r != 0)
		return r;
	r = file_read(path, DEFINITION_BYTES_MAX, &bytes);
	if (r < 0 && file_error_is_shortage(r))
		return r;
	begin_dropin_entry(dropin, entry);
	if (r == -ENOENT) {
		r = dropin_head_read(dropin->path, &beginning, entry, &command, reason, problems);
	} else if (r < 0) {
		buffer_printf(reason, "%s: cannot be read: %s", path, strerror(-r));
		r = DROPIN_E_REFUSED;
	} else {
		r = read_definition(path, &bytes, entry, reason);
	}
	end_entry(dropin, &command, entry);
	if (r >= 0 && (buffer_status(entry) || buffer_status(&command) || buffer_status(reason)))
		return -ENOMEM;
	r = r ? r : refuse_repetition(dropin, entry, reason);
	return r ? r : refuse_program(dropin, &beginning, reason);
}
