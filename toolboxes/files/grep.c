/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#define PCRE2_CODE_UNIT_WIDTH 8

#include <errno.h>
#include <fcntl.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "glob.h"
#include "walk.h"

/*
 * grep_files: the files with a line that a pattern matches, the newest first.
 *
 *   walk.c ─▶ include ─▶ blocks of whole lines ─▶ PCRE2 ─▶ found: the newest `limit` of them
 *
 * A block is searched as a whole, which is quick; where a match goes over the end of a line, the
 * lines are looked at one by one, since the pattern is about lines.
 */

/* The time of a search. */
#define SEARCH_S 30

/* The bytes that are searched at once; a longer line is searched in parts. */
#define BLOCK_BYTES (256u << 10)

/* A file with a NUL in its first bytes is no text. */
#define HEAD_BYTES 8192

/* The steps of one match. */
#define STEPS_MAX 10000000

struct found {
	char *path;
	struct timespec changed;
};

struct search {
	struct toolbox_call call;
	const char *include;
	size_t root_size; /* of the path of the searched folder */
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	char *block;
	struct found *found;
	size_t n_found; /* kept */
	size_t n_all;   /* all that were found */
	size_t limit;
	size_t n_files;
	size_t n_costly;     /* files whose lines take too long to match */
	size_t n_unreadable; /* files */
	time_t end;
	bool is_late;
	bool has_failed;
};

/* ── the newest ──────────────────────────────────────────────────────────────────────────────── */

/* Order by time, the newest first, then by path. */
static int compare_found(const void *a, const void *b)
{
	const struct found *left = a;
	const struct found *right = b;

	if (left->changed.tv_sec != right->changed.tv_sec)
		return left->changed.tv_sec < right->changed.tv_sec ? 1 : -1;
	if (left->changed.tv_nsec != right->changed.tv_nsec)
		return left->changed.tv_nsec < right->changed.tv_nsec ? 1 : -1;
	return strcmp(left->path, right->path);
}

/* Sort what was found, and keep the newest. */
static void keep_newest(struct search *search)
{
	qsort(search->found, search->n_found, sizeof(*search->found), compare_found);
	while (search->n_found > search->limit)
		free(search->found[--search->n_found].path);
}

static void add_found(struct search *search, const char *path, const struct stat *status)
{
	struct found *found = &search->found[search->n_found];

	found->path = strdup(path);
	found->changed = status->st_mtim;
	search->has_failed |= !found->path;
	search->n_found += found->path != NULL;
	search->n_all++;
	if (search->n_found == 2 * search->limit)
		keep_newest(search);
}

/* ── one file ────────────────────────────────────────────────────────────────────────────────── */

static bool time_is_up(struct search *search)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	search->is_late |= now.tv_sec >= search->end || is_late(search->call);
	return search->is_late;
}

enum verdict {
	NO_MATCH,
	MATCH,
	TOO_COSTLY,
};

static enum verdict match_at(struct search *search, const char *bytes, size_t size, size_t from,
	size_t *ret_begin, size_t *ret_end)
{
	int r = pcre2_match(
		search->code, (PCRE2_SPTR)bytes, size, from, 0, search->match, search->context);
	const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(search->match);

	if (r == PCRE2_ERROR_NOMATCH)
		return NO_MATCH;
	if (r < 0)
		return TOO_COSTLY;
	*ret_begin = ends[0];
	*ret_end = ends[1];
	return MATCH;
}

/* Search the lines of @bytes from @from on one by one. */
static enum verdict match_lines(struct search *search, const char *bytes, size_t size, size_t from)
{
	while (from < size) {
		const char *newline = memchr(bytes + from, '\n', size - from);
		size_t n = newline ? (size_t)(newline - bytes) - from : size - from;
		size_t begin;
		size_t end;
		enum verdict verdict = match_at(search, bytes + from, n, 0, &begin, &end);

		if (verdict != NO_MATCH)
			return verdict;
		from += n + 1;
	}
	return NO_MATCH;
}

/* Search @bytes, which are whole lines. */
static enum verdict match_block(struct search *search, const char *bytes, size_t size)
{
	size_t begin = 0;
	size_t end = 0;
	enum verdict verdict = match_at(search, bytes, size, 0, &begin, &end);

	if (verdict != MATCH || !memchr(bytes + begin, '\n', end > begin ? end - begin : 0))
		return verdict;
	while (begin > 0 && bytes[begin - 1] != '\n')
		begin--;
	return match_lines(search, bytes, size, begin);
}

/* Return the size of the whole lines of the block, or all of it when it has none. */
static size_t whole_lines(const char *block, size_t size)
{
	const char *newline = memrchr(block, '\n', size);

	return newline ? (size_t)(newline - block) + 1 : size;
}

/* Search the open file @fd. A file that is no text matches nothing. */
static enum verdict search_text(struct search *search, int fd)
{
	size_t kept = 0;
	bool is_first = true;
	enum verdict verdict = NO_MATCH;

	while (verdict == NO_MATCH) {
		ssize_t n = read(fd, search->block + kept, BLOCK_BYTES - kept);
		size_t size = kept + (n > 0 ? (size_t)n : 0);
		size_t lines;

		if (n < 0) {
			search->n_unreadable++;
			break;
		}
		if (is_first && memchr(search->block, '\0', size < HEAD_BYTES ? size : HEAD_BYTES))
			break;
		if (size == 0 || (!is_first && time_is_up(search)))
			break;
		is_first = false;
		/* At the end of the file the last line has no line end. */
		lines = n == 0 ? size : size < BLOCK_BYTES ? 0 : whole_lines(search->block, size);
		if (lines > 0)
			verdict = match_block(search, search->block, lines);
		kept = size - lines;
		memmove(search->block, search->block + lines, kept);
		if (n == 0)
			break;
	}
	return verdict;
}

/* Search the file @name of the folder @folder. Return whether the search goes on. */
static bool search_file(void *data, int folder, const char *name, const char *path)
{
	struct search *search = data;
	struct stat status;
	enum verdict verdict;
	int fd;

	if ((++search->n_files & 63) == 0 && time_is_up(search))
		return false;
	if (*search->include) {
		const char *relative = path + search->root_size;

		relative += *relative == '/';
		if (!glob_match(search->include, strchr(search->include, '/') ? relative : name))
			return true;
	}
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status) < 0)
		search->n_unreadable++;
	else if (S_ISREG(status.st_mode)) {
		verdict = search_text(search, fd);
		search->n_costly += verdict == TOO_COSTLY;
		if (verdict == MATCH)
			add_found(search, path, &status);
	}
	if (fd >= 0)
		close(fd);
	return !search->is_late && !search->has_failed;
}

/* ── the tool ────────────────────────────────────────────────────────────────────────────────── */

/* Compile the pattern. Return whether it is one. */
static bool compile_pattern(struct search *search, struct text *why)
{
	const char *pattern = "";
	PCRE2_UCHAR words[256] = "";
	PCRE2_SIZE offset = 0;
	size_t size = 0;
	int error = 0;

	toolbox_get_string(search->call, "pattern", &pattern, &size);
	search->code = pcre2_compile((PCRE2_SPTR)pattern, size,
		PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
		&error, &offset, NULL);
	if (!search->code) {
		pcre2_get_error_message(error, words, sizeof(words));
		text_printf(why, "the pattern is no regular expression: %s at byte %zu",
			(const char *)words, (size_t)offset);
		return false;
	}
	/* Without a JIT (no memory may be executed) the matches are slower, and the same. */
	(void)pcre2_jit_compile(search->code, PCRE2_JIT_COMPLETE);
	search->match = pcre2_match_data_create_from_pattern(search->code, NULL);
	search->context = pcre2_match_context_create(NULL);
	search->stack = pcre2_jit_stack_create(32 << 10, 1 << 20, NULL);
	search->block = malloc(BLOCK_BYTES);
	search->found = calloc(2 * search->limit, sizeof(*search->found));
	if (!search->match || !search->context || !search->block || !search->found)
		return false;
	pcre2_set_match_limit(search->context, STEPS_MAX);
	if (search->stack)
		pcre2_jit_stack_assign(search->context, NULL, search->stack);
	return true;
}

static void search_free(struct search *search)
{
	for (size_t i = 0; i < search->n_found; i++)
		free(search->found[i].path);
	free(search->found);
	free(search->block);
	pcre2_jit_stack_free(search->stack);
	pcre2_match_context_free(search->context);
	pcre2_match_data_free(search->match);
	pcre2_code_free(search->code);
}

/* Search @place, a folder or a file. */
static bool search_place(
	struct search *search, const struct place *place, struct walk *walked, struct text *why)
{
	struct stat status;
	const char *name;
	int fd = fence_open(place, O_PATH);
	int r = fd < 0 ? fd : fstat(fd, &status) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	search->root_size = strcmp(place->path, "/") == 0 ? 0 : strlen(place->path);
	if (r == 0 && S_ISDIR(status.st_mode))
		r = walk(walked, place);
	else if (r == 0) {
		fd = open_regular(place, &status, why);
		if (fd < 0)
			return false;
		close(fd);
		fd = fence_open_parent(place, false, &name);
		r = fd < 0 ? fd : 0;
		if (fd >= 0) {
			(void)search_file(search, fd, name, place->path);
			close(fd);
		}
	}
	if (r == 0)
		return !search->has_failed;
	text_add_name(why, place->path);
	text_printf(why, ": %s", strerror(-r));
	return false;
}

/* Append the paths, and what was left out. */
static void write_found(const struct search *search, const struct walk *walked, struct text *out)
{
	size_t n = 0;

	for (; n < search->n_found && out->size < ANSWER_BYTES_MAX; n++) {
		text_put(out, n > 0 ? "\n" : "");
		text_add_name(out, search->found[n].path);
	}
	if (search->n_all == 0)
		text_put(out, "No matches found.");
	if (search->n_all > n)
		text_printf(out, "\n[%zu more files match; the %zu newest are listed]",
			search->n_all - n, n);
	if (search->is_late)
		text_put(out, "\n[The time of the search is over: not all files were searched. "
			      "Search a subfolder by path, or fewer files by include]");
	if (search->n_costly > 0)
		text_printf(out, "\n[The pattern takes too long on %zu files]", search->n_costly);
	if (search->n_unreadable + walked->n_unreadable > 0)
		text_printf(out, "\n[%zu files and %zu folders cannot be read]",
			search->n_unreadable, walked->n_unreadable);
	if (walked->n_too_deep > 0)
		text_printf(out, "\n[%zu folders are too deep]", walked->n_too_deep);
}

void grep_files(struct toolbox_call call, void *data)
{
	struct search search = {.call = call,
		.limit = (size_t)read_number(call, "limit", GREP_PATHS, GREP_PATHS_MAX)};
	struct walk walked = {.found = search_file, .data = &search};
	const char *root = fence_first_root();
	const char *path;
	struct place place;
	struct timespec now;
	struct text out = {0};
	struct text why = {0};
	bool is_good;

	(void)data;
	search.include = read_path(call, "include", "", &why);
	path = search.include ? read_path(call, "path", root ? root : "", &why) : NULL;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	search.end = now.tv_sec + SEARCH_S;
	if (path && !*path)
		text_put(&why, "no folder may be read: toolboxes.files.roots of the configuration "
			       "names such folders");
	is_good = path && *path && compile_pattern(&search, &why) &&
		  fence_find(path, false, &place, &why) &&
		  search_place(&search, &place, &walked, &why);
	if (is_good) {
		keep_newest(&search);
		write_found(&search, &walked, &out);
	}
	answer(call, "grep_files", is_good, &out, &why);
	search_free(&search);
	text_free(&out);
	text_free(&why);
}
