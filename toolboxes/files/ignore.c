/* SPDX-License-Identifier: Apache-2.0 */
#include "ignore.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "glob.h"

/* The most bytes of one file of rules; what follows is not read. */
#define FILE_BYTES (256u << 10)

struct rule {
	const char *pattern;
	bool is_negated;  /* the file is not left out */
	bool for_folders; /* only folders */
	bool is_anchored; /* a path from the folder of the rules; else a name */
};

struct ignore {
	const struct ignore *above;
	size_t folder_size; /* of the path of its folder */
	struct rule *rules;
	size_t n;
	char *text; /* of the files, in which the patterns are */
};

/* Append the file @name of the folder @fd to the text, of *@size bytes. */
static void read_rules(int fd, const char *name, struct ignore *ignore, size_t *size)
{
	int file = openat(fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *text = file < 0 ? NULL : realloc(ignore->text, *size + FILE_BYTES + 2);
	ssize_t n = text ? read(file, text + *size, FILE_BYTES) : 0;

	if (text)
		ignore->text = text;
	if (n > 0) {
		*size += (size_t)n;
		text[(*size)++] = '\n';
		text[*size] = '\0';
	}
	if (file >= 0)
		close(file);
}

/* Add the rule of @line, which is changed. */
static void add_rule(struct ignore *ignore, char *line)
{
	struct rule rule = {0};
	size_t size = strlen(line);

	while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\r') &&
		!(size > 1 && line[size - 2] == '\\'))
		size--;
	line[size] = '\0';
	if (size == 0 || *line == '#')
		return;
	rule.is_negated = *line == '!';
	line += rule.is_negated;
	size -= rule.is_negated;
	rule.for_folders = size > 0 && line[size - 1] == '/';
	if (rule.for_folders)
		line[--size] = '\0';
	rule.is_anchored = strchr(line, '/') != NULL;
	rule.pattern = line + (*line == '/');
	if (*rule.pattern)
		ignore->rules[ignore->n++] = rule;
}

static bool parse_rules(struct ignore *ignore)
{
	size_t n_lines = 1;
	char *rest = ignore->text;
	char *line;

	for (const char *c = ignore->text; (c = strchr(c, '\n')); c++)
		n_lines++;
	ignore->rules = calloc(n_lines, sizeof(*ignore->rules));
	while (ignore->rules && (line = strsep(&rest, "\n")))
		add_rule(ignore, line);
	return ignore->rules && ignore->n > 0;
}

const struct ignore *ignore_read(int fd, size_t folder_size, const struct ignore *above)
{
	static const char *const names[] = {".gitignore", ".ignore", ".rgignore"};
	struct ignore here = {.above = above, .folder_size = folder_size};
	struct ignore *ignore = NULL;
	size_t size = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		read_rules(fd, names[i], &here, &size);
	if (size > 0 && parse_rules(&here))
		ignore = malloc(sizeof(*ignore));
	if (!ignore) {
		free(here.rules);
		free(here.text);
		return above;
	}
	*ignore = here;
	return ignore;
}

void ignore_free(const struct ignore *ignore, const struct ignore *above)
{
	if (ignore == above)
		return;
	free(ignore->rules);
	free(ignore->text);
	free((struct ignore *)ignore);
}

bool ignore_has(const struct ignore *ignore, const char *path, const char *name, bool is_folder)
{
	for (; ignore; ignore = ignore->above) {
		const char *relative = path + ignore->folder_size + 1;

		for (size_t i = ignore->n; i > 0; i--) {
			const struct rule *rule = &ignore->rules[i - 1];

			if ((!rule->for_folders || is_folder) &&
				glob_match(rule->pattern, rule->is_anchored ? relative : name))
				return !rule->is_negated;
		}
	}
	return false;
}
