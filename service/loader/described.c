/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/described.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "json/member.h"
#include "loader/checker.h"
#include "loader/pins.h"
#include "manifest/listed.h"
#include "util/cleanup.h"
#include "util/digest.h"
#include "util/file/stamp.h"

bool described_is_awaited(const struct toolbox *toolbox)
{
	const struct kind_facts *facts = kind_facts(toolbox->package->kind);

	return facts->describes_tools && !facts->has_members && toolbox->n_tools == 0;
}

/* Return the digest of the list of a server, and of everything else on which its tools depend: the
 * same list is read otherwise with other pins. */
static uint64_t digest_listed(const struct package *package)
{
	const struct toolbox *toolbox = package->toolboxes[0];
	uint64_t digest = digest_word(package->mcp.list, package->mcp.is_legacy);

	for (size_t i = 0; i < toolbox->n_tools; i++)
		digest = digest_word(digest, (uint64_t)toolbox->tools[i].risk);
	return digest_word(digest, package->left_out.n_items);
}

/* Take the list of a server, and compare it with the pins of its tools. */
static int take_listed(struct manifest_reader *reader, struct package *package,
	const struct json_tape *described, struct diagnostics *problems)
{
	cleanup(pins_deinit) struct pins pins = {.lock = -1};
	int r = pins_read(package, &pins);

	r = r ? r : manifest_take_listed(reader, described, &pins.kept, package, problems);
	return r ? r : pins_compare(&pins, package, described, problems);
}

static int take_tools(struct manifest_reader *reader, struct package *package,
	const char *described, size_t size, struct diagnostics *problems)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t tools = JSON_NONE;
	int r = json_tape_read(&tape, described, size, JSON_DEPTH_DEFAULT, NULL);

	if (r == 0 && json_type_at(&tape, 0) == JSON_OBJECT)
		tools = json_find(&tape, 0, package->kind == KIND_MCP ? "list" : "tools");
	if (r >= 0 && tools == JSON_NONE) {
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "", "its host describes no tools");
		return MANIFEST_E_REFUSED;
	}
	if (r == 0)
		r = package->kind == KIND_MCP
			    ? take_listed(reader, package, &tape, problems)
			    : manifest_take_tools(reader, &tape, tools, package, problems);
	if (r)
		return r;
	if (package->kind == KIND_MCP)
		package->fingerprint = digest_listed(package);
	checker_note(package, &tape);
	package->is_checked = true;
	return 0;
}

int described_load_cached(struct manifest_reader *reader, struct package *package,
	char ret_key[DESCRIBE_CACHE_KEY_BYTES])
{
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};
	cleanup(buffer_deinit) struct buffer described = {0};
	uint64_t depends;
	int r = package->library.path ? toolbox_library_look(&package->library) : 0;

	*ret_key = '\0';
	if (r < 0)
		return r == -ENOMEM ? r : -ENOENT;
	describe_cache_key(package, ret_key);
	r = describe_cache_read(ret_key, &described, &depends);
	r = r ? r : take_tools(reader, package, described.data, described.size, &problems);
	return r > 0 ? -ENOENT : r;
}

bool described_was_legacy(const char *key)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer described = {0};
	uint64_t depends;

	return describe_cache_read(key, &described, &depends) == 0 &&
	       json_tape_read(&tape, described.data, described.size, JSON_DEPTH_DEFAULT, NULL) ==
		       0 &&
	       json_member_is_true(&tape, 0, "legacy");
}

int described_accept(struct manifest_reader *reader, struct package *package, const char *described,
	size_t size, const char *key, struct diagnostics *problems, int *ret_cache_error)
{
	char key_now[DESCRIBE_CACHE_KEY_BYTES];
	int r;

	describe_cache_key(package, key_now);
	r = take_tools(reader, package, described, size, problems);
	if (r == 0 && strcmp(key, key_now) == 0)
		*ret_cache_error = describe_cache_write(key, described, size, 0);
	return r;
}

/* ── descriptions of more than a library ─────────────────────────────────────────────────────── */

/* Call @found with each absolute path of the array @list. Return 0 or -ENOMEM. */
static int each_path(const struct json_tape *tape, uint32_t list,
	void (*found)(void *data, const char *path), void *data)
{
	json_each(at, tape, list) {
		cleanup_free char *path = NULL;

		if (json_type_at(tape, at) != JSON_STRING)
			continue;
		path = json_string_dup(tape, at, NULL);
		if (!path)
			return -ENOMEM;
		if (*path == '/')
			found(data, path);
	}
	return 0;
}

/* Return the array `depends` of a description, or JSON_NONE if it is missing or too long. */
static uint32_t find_depends(const struct json_tape *described)
{
	uint32_t list = json_find_typed_at(described, 0, "depends", JSON_ARRAY);

	if (list == JSON_NONE || json_count(described, list) > DESCRIBED_DEPENDS_MAX)
		return JSON_NONE;
	return list;
}

int described_each_dependency(
	const struct package *package, void (*found)(void *data, const char *path), void *data)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(
		&tape, package->described, package->described_size, JSON_DEPTH_DEFAULT, NULL);
	uint32_t list = r == 0 ? find_depends(&tape) : JSON_NONE;

	if (list != JSON_NONE)
		r = each_path(&tape, list, found, data);
	return r < 0 ? r : 0;
}

/* The digest of some inodes. */
struct inodes {
	uint64_t digest;
	int64_t since_ns;
	bool is_younger; /* a file was changed since */
};

/* A missing file is part of the fingerprint, because creating it later changes the result. */
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

uint64_t described_fingerprint(
	const struct package *package, const struct json_tape *described, int64_t since_ns)
{
	cleanup(json_tape_cleanup) struct json_tape interpreters = {0};
	const char *text = package->python.interpreters;
	struct inodes inodes = {.digest = DIGEST_SEED, .since_ns = since_ns};
	uint32_t list = find_depends(described);

	if (list == JSON_NONE ||
		json_tape_read(&interpreters, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0)
		return 0;
	if (each_path(&interpreters, 0, digest_inode, &inodes) < 0 ||
		each_path(described, list, digest_inode, &inodes) < 0)
		return 0;
	return inodes.is_younger ? 0 : inodes.digest;
}

int described_load_cached_text(struct package *package, char ret_key[DESCRIBE_CACHE_KEY_BYTES],
	struct buffer *ret_described)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint64_t depends;
	int r;

	describe_cache_key(package, ret_key);
	r = describe_cache_read(ret_key, ret_described, &depends);
	if (r)
		return r;
	r = json_tape_read(
		&tape, ret_described->data, ret_described->size, JSON_DEPTH_DEFAULT, NULL);
	if (r)
		return r < 0 ? r : -ENOENT;
	package->fingerprint = described_fingerprint(package, &tape, INT64_MAX);
	return depends != 0 && package->fingerprint == depends ? 0 : -ENOENT;
}
