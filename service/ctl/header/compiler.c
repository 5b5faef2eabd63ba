/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/compiler.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/process/spawn.h"

/* The status of a shell without the program. */
#define STATUS_ABSENT 127
/* Our status for a failure of pkg-config, whose reason is printed. */
#define STATUS_PKG 120

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x

/* $1: the package or empty; $2: the words of --cflags; $3: our own words. CC and the flags are
 * command lines of the user, so the shell splits them. ulimit -f counts 512 bytes. */
static const char script[] = "ulimit -f 131072 -t " TEXT_OF(
	COMPILER_SECONDS_MAX) " 2>/dev/null\n"
			      "words=\n"
			      "if [ -n \"$1\" ]; then\n"
			      "	words=$(pkg-config --cflags -- \"$1\") || exit " TEXT_OF(
				      STATUS_PKG) "\n"
						  "fi\n"
						  "LC_ALL=C exec ${CC:-cc} $words $2 $3 -x c -\n";

/* Append the source: the headers, each by its path where it is a file, and @lines. */
static void write_source(
	const struct compiler *compiler, const struct buffer *lines, struct buffer *out)
{
	for (size_t i = 0; i < compiler->n_headers; i++) {
		const char *header = compiler->headers[i];
		char path[PATH_MAX];

		if (access(header, F_OK) == 0 && realpath(header, path))
			buffer_printf(out, "#include \"%s\"\n", path);
		else
			buffer_printf(out, "#include <%s>\n", header);
	}
	if (lines)
		buffer_append_buffer(out, lines);
}

/* Start the shell on the three descriptors, and wait for its end. Return 0 with *ret_status, or a
 * negative errno. */
static int run_script(
	const struct compiler *compiler, const char *flags, const int fds[3], int *ret_status)
{
	char *arguments[] = {"sh", "-c", (char *)script, "sh",
		(char *)(compiler->pkg ? compiler->pkg : ""),
		(char *)(compiler->cflags ? compiler->cflags : ""), (char *)flags, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r = -posix_spawn_file_actions_init(&actions);

	if (r < 0)
		return r;
	for (int i = 0; r == 0 && i < 3; i++)
		r = -posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	if (r == 0)
		r = -spawn_process(&pid, "/bin/sh", &actions, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (r < 0)
		return r;
	while (waitpid(pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
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

int compiler_run(const struct compiler *compiler, const char *flags, const struct buffer *lines,
	struct buffer *output, struct buffer *messages)
{
	cleanup(buffer_deinit) struct buffer source = {0};
	cleanup_close int in = memfd_create("source", MFD_CLOEXEC);
	cleanup_close int out = memfd_create("output", MFD_CLOEXEC);
	cleanup_close int err = memfd_create("messages", MFD_CLOEXEC);
	const int fds[3] = {in, out, err};
	int status = 0;
	int r;

	if (in < 0 || out < 0 || err < 0)
		return -errno;
	write_source(compiler, lines, &source);
	r = buffer_status(&source);
	r = r ? r : file_write_all(in, source.data, source.size);
	if (r == 0 && lseek(in, 0, SEEK_SET) < 0)
		r = -errno;
	r = r ? r : run_script(compiler, flags, fds, &status);
	r = r ? r : read_back(out, output);
	r = r ? r : read_back(err, messages);
	return r ? r : judge_status(compiler, status, messages);
}
