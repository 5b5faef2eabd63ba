/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/guest/guest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/reader.h"
#include "util/cleanup.h"

/* A tool of a plugin has the same keys as the tool of a guest: none about the way of a call. */
#define SHAPE_BEGIN "{\"kind\":\"plugin\",\"library\":\"-\","

/* Read the text of @manifest into the tape of @reader, and check its shape. */
static int read_shape(struct manifest_reader *reader, const struct guest_manifest *manifest,
	struct diagnostics *problems)
{
	struct buffer *bytes = &reader->bytes;
	int r;

	buffer_reset(bytes);
	buffer_append_string(bytes, SHAPE_BEGIN);
	buffer_append(bytes, manifest->text.text + 1, manifest->text.size - 1);
	r = buffer_status(bytes);
	r = r ? r
	      : json_tape_read(&reader->tape, bytes->data, bytes->size, JSON_DEPTH_DEFAULT, NULL);
	if (r > 0) {
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "/tools",
			"must be nested at most %d levels deep; it is deeper", JSON_DEPTH_DEFAULT);
		return MANIFEST_E_REFUSED;
	}
	return r ? r : manifest_check_shape(reader, problems);
}

/* Read the text of the member @key of the manifest; NULL when it is absent. 0 or -ENOMEM. */
static int read_guest_text(const struct json_tape *tape, const char *key, char **ret_text)
{
	uint32_t token = json_find(tape, 0, key);

	*ret_text = token == JSON_NONE ? NULL : json_string_dup(tape, token, NULL);
	return token != JSON_NONE && !*ret_text ? -ENOMEM : 0;
}

/* Add the toolbox with the tools to @package. 0 or -ENOMEM. */
static int read_guest_toolbox(
	struct manifest_reader *reader, struct package *package, struct diagnostics *problems)
{
	const struct json_tape *tape = &reader->tape;
	cleanup(toolbox_cleanup) struct toolbox *toolbox = toolbox_new(package, package->id, NULL);
	struct toolbox *added;
	int r;

	if (!toolbox || package_add(package, toolbox) < 0)
		return -ENOMEM;
	added = take_ptr(toolbox);
	r = read_guest_text(tape, "description", &added->description);
	return r ? r
		 : manifest_read_tools(reader, tape, json_find(tape, 0, "tools"), added, problems);
}

int manifest_read_guest(struct manifest_reader *reader, const struct guest_manifest *manifest,
	struct package **ret_package, struct diagnostics *problems)
{
	cleanup(package_cleanup) struct package *package = NULL;
	int r = read_shape(reader, manifest, problems);

	if (r != 0)
		return r;
	package = package_new();
	if (!package)
		return -ENOMEM;
	package->kind = KIND_GUEST;
	package->risk = manifest->risk;
	package->limits.workers = kind_facts(KIND_GUEST)->workers;
	package->sandbox.class = kind_facts(KIND_GUEST)->sandbox;
	package->is_checked = true;
	package->file = strdup("");
	package->guest_source = strdup(manifest->source);
	r = package->file && package->guest_source
		    ? read_guest_text(&reader->tape, "toolbox_id", &package->id)
		    : -ENOMEM;
	r = r ? r : read_guest_toolbox(reader, package, problems);
	if (r < 0)
		return r;
	if (problems->n_errors > 0)
		return MANIFEST_E_REFUSED;
	r = package_prepare(package);
	if (r == 0)
		*ret_package = take_ptr(package);
	return r;
}
