/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/chat/line.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* editline/readline.h of libedit 3.1 */
typedef char *(*readline_function)(const char *prompt);
typedef int (*add_history_function)(const char *line);
typedef int (*initialize_function)(void);
typedef void (*prepare_function)(int meta);

static struct {
	bool is_sought;
	bool is_begun;
	readline_function read;
	add_history_function add;
	initialize_function initialize;
	prepare_function prepare;
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
	editing.initialize = (initialize_function)dlsym(library, "rl_initialize");
	editing.prepare = (prepare_function)dlsym(library, "rl_prep_terminal");
	if (editing.add && editing.initialize && editing.prepare)
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

/*
 * Read a line with libedit. Keys arrive as they are pressed before the prompt is shown: libedit
 * changes the terminal after it, and a Ctrl-D between the two would be an end of input of
 * the terminal, which libedit reads as NUL. libedit would leave the terminal so; the mode from
 * before is set again.
 */
static char *read_edited(const char *prompt)
{
	struct termios before;
	char *line;

	if (!editing.is_begun)
		editing.initialize();
	editing.is_begun = true;
	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return editing.read(prompt);
	editing.prepare(0);
	line = editing.read(prompt);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
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
	line = read_edited(prompt);
	if (line && *line)
		editing.add(line);
	return line;
}
