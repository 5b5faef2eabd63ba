/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The facts of a manifest known without reading its file as a manifest: the claimed id, the line of
 * a place, whether the file is unchanged.
 */

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "json/pointer.h"
#include "json/member.h"
#include "manifest/manifest.h"
#include "util/digest.h"
#include "util/file/file.h"
#include "util/file/stamp.h"
#include "util/text/text.h"

const char *manifest_stem(const char *path, size_t *ret_size)
{
	const char *name = basename(path);
	size_t suffix = strlen(".json");

	*ret_size = strlen(name);
	if (*ret_size > suffix && strcmp(name + *ret_size - suffix, ".json") == 0)
		*ret_size -= suffix;
	return name;
}

bool manifest_is_id(const char *text)
{
	size_t length = text_span_name(text);

	return length > 0 && text[length] == '\0' && length < MANIFEST_ID_BYTES;
}

void manifest_id(const char *path, char ret_id[MANIFEST_ID_BYTES])
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *id = NULL;
	size_t size;
	const char *stem = manifest_stem(path, &size);

	snprintf(ret_id, MANIFEST_ID_BYTES, "%.*s", (int)size, stem);
	if (file_read(path, MANIFEST_BYTES_MAX, &bytes) < 0 ||
		json_tape_read(&tape, bytes.data, bytes.size, JSON_DEPTH_DEFAULT, NULL) != 0 ||
		json_type_at(&tape, 0) != JSON_OBJECT)
		return;
	id = json_find_dup(&tape, 0, "toolbox_id");
	if (id && manifest_is_id(id))
		snprintf(ret_id, MANIFEST_ID_BYTES, "%s", id);
}

unsigned int manifest_line(const char *path, const char *pointer)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	unsigned int line = 0;
	unsigned int column;

	if (file_read(path, MANIFEST_BYTES_MAX, &bytes) == 0 &&
		json_tape_read(&tape, bytes.data, bytes.size, JSON_DEPTH_DEFAULT, NULL) == 0)
		json_locate(bytes.data,
			json_at(&tape, json_pointer_nearest(&tape, pointer))->offset, &line,
			&column);
	return line;
}

static bool has_same_bytes(const struct package *package)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};

	return file_read(package->file, MANIFEST_BYTES_MAX, &bytes) == 0 &&
	       digest_bytes(DIGEST_SEED, bytes.data, bytes.size) == package->digest;
}

bool manifest_is_unchanged(struct package *package)
{
	struct stamp now;
	struct stat status;

	if (stat(package->file, &status) < 0)
		return false;
	stamp_take(&status, &now);
	if (!stamp_proves_same(&package->stamp, &now) && !has_same_bytes(package))
		return false;
	package->stamp = now;
	if (package->definition.n_items > 0)
		origin_renew(&package->definition.items[0], &now);
	return true;
}
