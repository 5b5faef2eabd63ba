/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/told.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "loader/checker.h"
#include "util/cleanup.h"
#include "util/digest.h"
#include "util/stamp.h"

bool told_is_awaited(const struct toolbox *toolbox)
{
	return kind_facts(toolbox->kind)->tells_tools && toolbox->n_tools == 0 && !toolbox->host;
}

static int take(struct manifest_reader *reader, struct toolbox *toolbox, const char *told,
	size_t size, struct problems *problems)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t tools = JSON_NONE;
	int r = json_tape_read(&tape, told, size, JSON_DEPTH_DEFAULT, NULL);

	if (r == 0 && json_type_at(&tape, 0) == JSON_OBJECT)
		tools = json_find(&tape, 0, "tools");
	if (r >= 0 && tools == JSON_NONE) {
		problems_add_line(problems, PROBLEM_ERROR, 0, "", "its host tells no tools");
		return MANIFEST_E_REFUSED;
	}
	if (r == 0)
		r = manifest_take_tools(reader, &tape, tools, toolbox, problems);
	if (r)
		return r;
	checker_note(toolbox, &tape);
	toolbox->is_checked = true;
	return 0;
}

int told_recall(
	struct manifest_reader *reader, struct toolbox *toolbox, char ret_key[TOLD_KEY_BYTES])
{
	cleanup(problems_deinit) struct problems problems = {0};
	cleanup(buffer_deinit) struct buffer told = {0};
	uint64_t depends;
	int r = toolbox_library_look(&toolbox->library);

	*ret_key = '\0';
	if (r < 0)
		return r == -ENOMEM ? r : -ENOENT;
	told_cache_key(toolbox, ret_key);
	r = told_cache_read(ret_key, &told, &depends);
	r = r ? r : take(reader, toolbox, told.data, told.size, &problems);
	return r > 0 ? -ENOENT : r;
}

int told_hear(struct manifest_reader *reader, struct toolbox *toolbox, const char *told,
	size_t size, const char *key, struct problems *problems)
{
	char key_now[TOLD_KEY_BYTES];
	int r;

	told_cache_key(toolbox, key_now);
	r = take(reader, toolbox, told, size, problems);
	if (r == 0 && strcmp(key, key_now) == 0)
		told_cache_write(key, told, size, 0);
	return r;
}

/* ── what depends on more than a library ─────────────────────────────────────────────────────── */

/* Call @found with each absolute path of the array @list. */
static void each_path(const struct json_tape *tape, uint32_t list,
	void (*found)(void *data, const char *path), void *data)
{
	for (uint32_t at = json_first(tape, list); at < json_end(tape, list);
		at = json_next(tape, at)) {
		cleanup_free char *path = json_type_at(tape, at) == JSON_STRING
						  ? json_string_dup(tape, at, NULL)
						  : NULL;

		if (path && *path == '/')
			found(data, path);
	}
}

/* The array `depends` of what was told, or JSON_NONE: also when it is too long. */
static uint32_t find_depends(const struct json_tape *told)
{
	uint32_t list =
		json_type_at(told, 0) == JSON_OBJECT ? json_find(told, 0, "depends") : JSON_NONE;

	if (list == JSON_NONE || json_type_at(told, list) != JSON_ARRAY ||
		json_count(told, list) > TOLD_DEPENDS_MAX)
		return JSON_NONE;
	return list;
}

void told_each_dependency(
	const struct toolbox *toolbox, void (*found)(void *data, const char *path), void *data)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t list = JSON_NONE;

	if (json_tape_read(&tape, toolbox->told, toolbox->told_size, JSON_DEPTH_DEFAULT, NULL) == 0)
		list = find_depends(&tape);
	if (list != JSON_NONE)
		each_path(&tape, list, found, data);
}

/* What inodes say. */
struct inodes {
	uint64_t digest;
	int64_t since_ns;
	bool is_younger; /* one of them was changed since */
};

/* What is not there counts as that: it may come. */
static void digest_inode(void *data, const char *path)
{
	struct inodes *inodes = data;
	struct stamp stamp = {0};
	struct stat status;
	uint64_t digest = digest_bytes(inodes->digest, path, strlen(path) + 1);

	if (stat(path, &status) == 0)
		stamp_take(&status, &stamp);
	inodes->is_younger = inodes->is_younger || stamp.noted_ns >= inodes->since_ns;
	digest = digest_word(digest, stamp.device);
	digest = digest_word(digest, stamp.inode);
	digest = digest_word(digest, stamp.size);
	digest = digest_word(digest, (uint64_t)stamp.changed_ns);
	inodes->digest = digest_word(digest, (uint64_t)stamp.noted_ns);
}

uint64_t told_depends(const struct toolbox *toolbox, const struct json_tape *told, int64_t since_ns)
{
	cleanup(json_tape_cleanup) struct json_tape interpreters = {0};
	const char *text = toolbox->python.interpreters;
	struct inodes inodes = {.digest = DIGEST_SEED, .since_ns = since_ns};
	uint32_t list = find_depends(told);

	if (list == JSON_NONE ||
		json_tape_read(&interpreters, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0)
		return 0;
	each_path(&interpreters, 0, digest_inode, &inodes);
	each_path(told, list, digest_inode, &inodes);
	return inodes.is_younger ? 0 : inodes.digest;
}

int told_recall_text(struct toolbox *toolbox, char ret_key[TOLD_KEY_BYTES], struct buffer *ret_told)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint64_t depends;
	int r;

	told_cache_key(toolbox, ret_key);
	r = told_cache_read(ret_key, ret_told, &depends);
	if (r)
		return r;
	r = json_tape_read(&tape, ret_told->data, ret_told->size, JSON_DEPTH_DEFAULT, NULL);
	if (r)
		return r < 0 ? r : -ENOENT;
	toolbox->depends = told_depends(toolbox, &tape, INT64_MAX);
	return depends != 0 && toolbox->depends == depends ? 0 : -ENOENT;
}
