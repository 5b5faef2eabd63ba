/* SPDX-License-Identifier: Apache-2.0 */
#include "patch_parse.h"

#include <stdlib.h>
#include <string.h>

#define BEGIN  "*** Begin Patch"
#define END    "*** End Patch"
#define ADD    "*** Add File: "
#define DELETE "*** Delete File: "
#define UPDATE "*** Update File: "
#define MOVE   "*** Move to: "
#define EOF_   "*** End of File"

/* The characters of a line that an error repeats. */
#define SHOWN_BYTES 200

struct parser {
	const char *at; /* the next line */
	const char *end;
	unsigned int number; /* of the line last taken */
	struct patch *patch;
	struct text *why;
};

/* Make room for one more element of @size bytes in the array @items. Return false without memory.
 * */
static bool make_room(void **items, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 16;
	void *grown;

	if (n < *room)
		return true;
	grown = reallocarray(*items, more, size);
	if (!grown)
		return false;
	*items = grown;
	*room = more;
	return true;
}

#define ROOM(patch, items)                                                                         \
	make_room((void **)&(patch)->items, (patch)->n_##items, &(patch)->room_##items,            \
		sizeof(*(patch)->items))

/* ── lines ───────────────────────────────────────────────────────────────────────────────────── */

static bool is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static struct part trim_part(struct part part)
{
	while (part.size > 0 && is_white(part.bytes[part.size - 1]))
		part.size--;
	while (part.size > 0 && is_white(*part.bytes)) {
		part.bytes++;
		part.size--;
	}
	return part;
}

static bool part_equals(struct part part, const char *text)
{
	return part.size == strlen(text) && memcmp(part.bytes, text, part.size) == 0;
}

/* Return whether @part begins with @mark, and drop the mark. */
static bool take_mark(struct part *part, const char *mark)
{
	size_t size = strlen(mark);

	if (part->size < size || memcmp(part->bytes, mark, size) != 0)
		return false;
	part->bytes += size;
	part->size -= size;
	return true;
}

/* Return the line at @at without its line end, and the place of the next one. */
static struct part line_at(const char *at, const char *end, const char **ret_next)
{
	const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
	struct part line = {at, (size_t)((newline ? newline : end) - at)};

	*ret_next = newline ? newline + 1 : end;
	if (line.size > 0 && line.bytes[line.size - 1] == '\r')
		line.size--;
	return line;
}

static bool peek_line(const struct parser *parser, struct part *ret_line)
{
	const char *next;

	if (parser->at >= parser->end)
		return false;
	*ret_line = line_at(parser->at, parser->end, &next);
	return true;
}

static void skip_line(struct parser *parser)
{
	(void)line_at(parser->at, parser->end, &parser->at);
	parser->number++;
}

/* ── errors ──────────────────────────────────────────────────────────────────────────────────── */

/* Refuse the line @number: @before, @shown in quotes, @after. */
static bool refuse_line(const struct parser *parser, unsigned int number, const char *before,
	struct part shown, const char *after)
{
	struct text *why = parser->why;

	text_printf(why, "Invalid patch hunk on line %u: %s", number, before);
	if (shown.bytes) {
		text_put(why, "'");
		text_add_lossy(
			why, shown.bytes, shown.size < SHOWN_BYTES ? shown.size : SHOWN_BYTES);
		text_put(why, "'");
	}
	text_put(why, after);
	return false;
}

static bool refuse_memory(const struct parser *parser)
{
	text_put(parser->why, "out of memory");
	return false;
}

/* ── hunks ───────────────────────────────────────────────────────────────────────────────────── */

static bool add_line(struct parser *parser, char mark, struct part text, bool is_bare)
{
	struct patch *patch = parser->patch;

	if (!ROOM(patch, lines))
		return refuse_memory(parser);
	patch->lines[patch->n_lines++] = (struct patch_line){text, mark, is_bare};
	skip_line(parser);
	return true;
}

/* Return whether @line begins another operation, or ends the patch. */
static bool is_operation(struct part line)
{
	line = trim_part(line);
	return take_mark(&line, ADD) || take_mark(&line, DELETE) || take_mark(&line, UPDATE) ||
	       part_equals(line, END);
}

/* The same inside of a hunk, where a line with white space before is a line of context. */
static bool ends_hunk(struct part line)
{
	return line.size > 0 && *line.bytes == '*' && is_operation(line);
}

/* Read the @@ lines of a hunk. */
static bool read_headers(struct parser *parser, struct patch_hunk *hunk)
{
	struct patch *patch = parser->patch;
	struct part line;

	while (peek_line(parser, &line) && take_mark(&line, "@@")) {
		skip_line(parser);
		line = trim_part(line);
		if (line.size == 0)
			continue;
		if (!ROOM(patch, headers))
			return refuse_memory(parser);
		patch->headers[patch->n_headers++] = line;
		hunk->n_headers++;
	}
	return true;
}

/* Read the lines of a hunk. */
static bool read_hunk_lines(struct parser *parser, struct patch_hunk *hunk)
{
	struct patch *patch = parser->patch;
	struct part line;

	while (peek_line(parser, &line) && !ends_hunk(line)) {
		struct part shown = line;

		if (line.size > 0 && *line.bytes == '*' && part_equals(trim_part(line), EOF_)) {
			skip_line(parser);
			hunk->is_at_end = true;
			break;
		}
		if (line.size >= 2 && line.bytes[0] == '@' && line.bytes[1] == '@')
			break;
		if (line.size > 0 && !strchr(" +-", *line.bytes))
			return refuse_line(parser, parser->number + 1,
				"Unexpected line found in update hunk: ", shown,
				". Every line should start with ' ' (context line), '+' (added "
				"line), "
				"or '-' (removed line)");
		if (line.size > 0) {
			line.bytes++;
			line.size--;
		}
		if (!add_line(parser, shown.size ? *shown.bytes : ' ', line, shown.size == 0))
			return false;
		hunk->n_lines++;
	}
	/* Empty lines after the last hunk are only distance. */
	if (!peek_line(parser, &line) || ends_hunk(line))
		while (hunk->n_lines > 0 && patch->lines[patch->n_lines - 1].is_bare) {
			patch->n_lines--;
			hunk->n_lines--;
		}
	return true;
}

static bool read_hunk(struct parser *parser, struct patch_operation *operation)
{
	struct patch *patch = parser->patch;
	struct patch_hunk hunk = {
		.number = parser->number + 1,
		.first_header = patch->n_headers,
		.first_line = patch->n_lines,
	};
	struct part line;

	if (!peek_line(parser, &line))
		return true;
	if (operation->n_hunks > 0 && !(line.size >= 2 && memcmp(line.bytes, "@@", 2) == 0))
		return refuse_line(parser, hunk.number,
			"Expected update hunk to start with a @@ context marker, got: ", line, "");
	if (!read_headers(parser, &hunk) || !read_hunk_lines(parser, &hunk))
		return false;
	if (hunk.n_lines == 0)
		return refuse_line(parser, hunk.number, "Update hunk does not contain any lines",
			(struct part){0}, "");
	if (!ROOM(patch, hunks))
		return refuse_memory(parser);
	patch->hunks[patch->n_hunks++] = hunk;
	operation->n_hunks++;
	return true;
}

/* ── operations ──────────────────────────────────────────────────────────────────────────────── */

/* Go over empty lines. */
static void skip_empty(struct parser *parser)
{
	struct part line;

	while (peek_line(parser, &line) && trim_part(line).size == 0)
		skip_line(parser);
}

static bool read_update(struct parser *parser, struct patch_operation *operation)
{
	struct part line;

	if (peek_line(parser, &line)) {
		line = trim_part(line);
		if (take_mark(&line, MOVE)) {
			skip_line(parser);
			operation->moves_to = trim_part(line);
		}
	}
	if (operation->moves_to.bytes && operation->moves_to.size == 0)
		return refuse_line(
			parser, parser->number, "path cannot be empty", (struct part){0}, "");
	for (skip_empty(parser); peek_line(parser, &line) && !is_operation(line);
		skip_empty(parser))
		if (!read_hunk(parser, operation))
			return false;
	if (operation->n_hunks == 0 && !operation->moves_to.bytes)
		return refuse_line(parser, operation->number, "Update file hunk for path ",
			operation->path, " is empty");
	return true;
}

static bool read_add(struct parser *parser, struct patch_operation *operation)
{
	struct part line;

	while (peek_line(parser, &line) && !is_operation(line)) {
		struct part shown = line;

		if (trim_part(line).size == 0) {
			skip_empty(parser);
			if (!peek_line(parser, &line) || is_operation(line))
				break;
			return refuse_line(parser, parser->number,
				"An empty line of an added file is '+'; found ", shown, "");
		}
		if (!take_mark(&line, "+"))
			return refuse_line(parser, parser->number + 1,
				"Every line of an added file should start with '+'; found ", shown,
				"");
		if (!add_line(parser, '+', line, false))
			return false;
		operation->n_lines++;
	}
	return true;
}

static bool read_operation(struct parser *parser)
{
	struct patch *patch = parser->patch;
	struct patch_operation operation = {
		.number = parser->number + 1,
		.first_hunk = patch->n_hunks,
		.first_line = patch->n_lines,
	};
	struct part line = {0};
	bool is_good = true;

	peek_line(parser, &line);
	line = trim_part(line);
	operation.path = line;
	if (take_mark(&operation.path, ADD))
		operation.kind = PATCH_ADD;
	else if (take_mark(&operation.path, DELETE))
		operation.kind = PATCH_DELETE;
	else if (take_mark(&operation.path, UPDATE))
		operation.kind = PATCH_UPDATE;
	else
		return refuse_line(parser, operation.number, "", line,
			" is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', "
			"'*** Delete File: {path}', '*** Update File: {path}'");
	skip_line(parser);
	operation.path = trim_part(operation.path);
	if (operation.path.size == 0)
		return refuse_line(
			parser, operation.number, "path cannot be empty", (struct part){0}, "");
	if (operation.kind == PATCH_ADD)
		is_good = read_add(parser, &operation);
	if (operation.kind == PATCH_UPDATE)
		is_good = read_update(parser, &operation);
	if (!is_good)
		return false;
	if (!ROOM(patch, operations))
		return refuse_memory(parser);
	patch->operations[patch->n_operations++] = operation;
	return true;
}

/* ── the whole ───────────────────────────────────────────────────────────────────────────────── */

/* Drop the first and the last line of a here-document. */
static void drop_heredoc(struct parser *parser)
{
	static const char *const marks[] = {"<<EOF", "<<'EOF'", "<<\"EOF\""};
	struct part whole =
		trim_part((struct part){parser->at, (size_t)(parser->end - parser->at)});
	struct part first;
	bool is_heredoc = false;

	if (!peek_line(parser, &first))
		return;
	first = trim_part(first);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		is_heredoc |= part_equals(first, marks[i]);
	if (!is_heredoc || whole.size < 3 || memcmp(whole.bytes + whole.size - 3, "EOF", 3) != 0)
		return;
	skip_line(parser);
	parser->end = whole.bytes + whole.size;
	while (parser->end > parser->at && parser->end[-1] != '\n')
		parser->end--;
}

/* Drop empty lines before and after. */
static void drop_empty(struct parser *parser)
{
	skip_empty(parser);
	while (parser->end > parser->at && is_white(parser->end[-1]))
		parser->end--;
}

/* Take the last line, which has to end the patch. */
static bool take_end(struct parser *parser)
{
	const char *begin = parser->end;

	while (begin > parser->at && begin[-1] != '\n')
		begin--;
	if (!part_equals(trim_part((struct part){begin, (size_t)(parser->end - begin)}), END)) {
		text_put(parser->why,
			"Invalid patch: The last line of the patch must be '*** End Patch'");
		return false;
	}
	parser->end = begin;
	return true;
}

bool patch_parse(const char *input, size_t size, struct patch *ret_patch, struct text *why)
{
	struct parser parser = {.at = input, .end = input + size, .patch = ret_patch, .why = why};
	struct part line;

	drop_empty(&parser);
	drop_heredoc(&parser);
	drop_empty(&parser);
	if (!peek_line(&parser, &line)) {
		text_put(why, "invalid input: input cannot be empty");
		return false;
	}
	if (!part_equals(trim_part(line), BEGIN)) {
		text_put(why, "Invalid patch: The first line of the patch must be "
			      "'*** Begin Patch'");
		return false;
	}
	skip_line(&parser);
	if (!take_end(&parser))
		return false;
	for (skip_empty(&parser); parser.at < parser.end; skip_empty(&parser))
		if (!read_operation(&parser))
			return false;
	return true;
}

void patch_free(struct patch *patch)
{
	free(patch->operations);
	free(patch->hunks);
	free(patch->headers);
	free(patch->lines);
	*patch = (struct patch){0};
}
