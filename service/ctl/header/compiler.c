/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/compiler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/header/child.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/* The status of a shell without the program. */
#define STATUS_ABSENT 127
/* The status of our script for a failure of pkg-config, whose reason is printed. */
#define STATUS_PKG 120

/* $1: the package or empty; $2: the words of --cflags; $3: our own words. CC and the flags are
 * words of the user with white space between them, so the shell splits them, and does no more. */
static const char script[] = "set -f\n"
			     "words=\n"
			     "if [ -n \"$1\" ]; then\n"
			     "	words=$(pkg-config --cflags -- \"$1\") || exit 120\n"
			     "fi\n"
			     "LC_ALL=C exec ${CC:-cc} $words $2 $3 -x c -\n";

static const struct child_limits limits = {
	.seconds = COMPILER_SECONDS_MAX,
	.wait_seconds = COMPILER_WAIT_SECONDS_MAX,
	.memory_bytes = COMPILER_MEMORY_BYTES_MAX,
	.file_bytes = COMPILER_OUTPUT_BYTES_MAX,
};

const char *compiler_find_file(const char *name, char path[PATH_MAX])
{
	return access(name, F_OK) == 0 ? realpath(name, path) : NULL;
}

/* Return whether an #include can have the name: no byte ends it or begins an escape. */
static bool is_includable(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || strchr("\"<>\\\x7f", *name))
			return false;
	return true;
}

/* Append the source: the headers, a line for each, by its path where it is a file; and @lines.
 * Return 0, or COMPILER_E_FAILED. */
static int write_source(const struct compiler *compiler, const struct buffer *lines,
	struct buffer *out, struct buffer *messages)
{
	for (size_t i = 0; i < compiler->n_headers; i++) {
		char path[PATH_MAX];
		const char *file = compiler_find_file(compiler->headers[i], path);
		const char *name = file ? file : compiler->headers[i];

		if (!is_includable(name)) {
			buffer_printf(messages, "no #include can have the name '%s'\n", name);
			return COMPILER_E_FAILED;
		}
		buffer_printf(out, file ? "#include \"%s\"\n" : "#include <%s>\n", name);
	}
	if (lines)
		buffer_append_buffer(out, lines);
	return buffer_status(out);
}

static int read_back(int fd, struct buffer *out)
{
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return file_read_fd(fd, COMPILER_OUTPUT_BYTES_MAX, out);
}

static int judge_status(const struct compiler *compiler, int status, struct buffer *messages)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_PKG) {
		buffer_printf(messages,
			"pkg-config does not know the package '%s': is its -dev package "
			"installed?\n",
			compiler->pkg);
		return COMPILER_E_ABSENT;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_ABSENT) {
		buffer_reset(messages);
		buffer_append_string(messages,
			"there is no C compiler 'cc', which alone can read a header: install gcc "
			"or clang, or name one in the variable CC\n");
		return COMPILER_E_ABSENT;
	}
	if (WIFSIGNALED(status))
		buffer_printf(messages, "the C compiler was ended by a signal (%s)\n",
			strsignal(WTERMSIG(status)));
	return COMPILER_E_FAILED;
}

const char *compiler_reason(const struct buffer *messages, size_t *ret_size)
{
	const char *end = messages->data + messages->size;
	const char *reason = "";
	size_t size;

	*ret_size = 0;
	for (const char *line = messages->data; line < end; line += size + 1) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		bool is_error;

		size = (size_t)((stop ? stop : end) - line);
		is_error = memmem(line, size, "error:", strlen("error:"));
		if (is_error || (*ret_size == 0 && size > 0)) {
			reason = line;
			*ret_size = size;
		}
		if (is_error)
			break;
	}
	return reason;
}

int compiler_run(const struct compiler *compiler, const char *flags, const struct buffer *lines,
	struct buffer *output, struct buffer *messages)
{
	cleanup(buffer_deinit) struct buffer source = {0};
	cleanup_close int in = memfd_create("source", MFD_CLOEXEC);
	cleanup_close int out = memfd_create("output", MFD_CLOEXEC);
	cleanup_close int err = memfd_create("messages", MFD_CLOEXEC);
	const int fds[3] = {in, out, err};
	char *arguments[] = {"/bin/sh", "-c", (char *)script, "sh",
		(char *)(compiler->pkg ? compiler->pkg : ""),
		(char *)(compiler->cflags ? compiler->cflags : ""), (char *)flags, NULL};
	int status = 0;
	int r;

	if (in < 0 || out < 0 || err < 0)
		return -errno;
	r = write_source(compiler, lines, &source, messages);
	r = r ? r : file_write_all(in, source.data, source.size);
	if (r == 0 && lseek(in, 0, SEEK_SET) < 0)
		r = -errno;
	r = r ? r : child_run(arguments, fds, &limits, &status);
	if (r == CHILD_E_LATE) {
		buffer_printf(messages, "the C compiler took more than %d s: it was ended\n",
			COMPILER_WAIT_SECONDS_MAX);
		return COMPILER_E_FAILED;
	}
	r = r ? r : read_back(out, output);
	r = r ? r : read_back(err, messages);
	return r ? r : judge_status(compiler, status, messages);
}
