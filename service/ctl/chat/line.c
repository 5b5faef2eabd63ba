/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/chat/line.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* editline/readline.h of libedit 3.1 */
typedef char *(*readline_function)(const char *prompt);
typedef int (*add_history_function)(const char *line);

static struct {
	bool is_sought;
	readline_function read;
	add_history_function add;
} editing;

/* Find libedit, once. */
static void seek_library(void)
{
	void *library;

	if (editing.is_sought)
		return;
	editing.is_sought = true;
	library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	editing.add = (add_history_function)dlsym(library, "add_history");
	if (editing.add)
		editing.read = (readline_function)dlsym(library, "readline");
}

static char *read_plainly(const char *prompt)
{
	char *line = NULL;
	size_t capacity = 0;
	ssize_t size;

	if (isatty(STDIN_FILENO)) {
		fputs(prompt, stdout);
		fflush(stdout);
	}
	size = getline(&line, &capacity, stdin);
	if (size < 0) {
		free(line);
		return NULL;
	}
	if (size > 0 && line[size - 1] == '\n')
		line[size - 1] = '\0';
	return line;
}

char *chat_line_read(const char *prompt)
{
	char *line;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return read_plainly(prompt);
	seek_library();
	if (!editing.read)
		return read_plainly(prompt);
	line = editing.read(prompt);
	if (line && *line)
		editing.add(line);
	return line;
}
