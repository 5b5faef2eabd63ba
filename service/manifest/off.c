/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/off.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "json/scan.h"
#include "json/writer.h"
#include "manifest/scope.h"
#include "util/cleanup.h"
#include "util/digest.h"

/* The members at the top of a manifest that decide whether its toolbox is off, and the members that
 * are shown of a toolbox that is off. */
enum member {
	MEMBER_ID,
	MEMBER_KIND,
	MEMBER_ENABLED,
	MEMBER_SERVERS, /* a list of servers, whose toolboxes have ids of their own */
	MEMBER_DESCRIPTION,
	MEMBER_SANDBOX,
	N_MEMBERS,
};

static const struct text_view keys[N_MEMBERS] = {{"\"toolbox_id\"", 12}, {"\"kind\"", 6},
	{"\"enabled\"", 9}, {"\"mcpServers\"", 12}, {"\"description\"", 13}, {"\"sandbox\"", 9}};
static const struct text_view class_key = {"\"class\"", 7};

/* Keep the value of the member with the key @key, both as in the text, if it has one of the @n keys
 * @wanted. Return whether no other member has the key. */
static bool keep_member(const struct text_view *wanted, size_t n, struct text_view *members,
	struct text_view key, struct text_view value)
{
	for (size_t i = 0; i < n; i++) {
		if (key.size != wanted[i].size || memcmp(key.text, wanted[i].text, key.size) != 0)
			continue;
		if (members[i].text)
			return false;
		members[i] = value;
	}
	return true;
}

/* Find the members of the object @text that have the @n keys @wanted. Return whether it was
 * understood: a key with an escape may be any key. */
static bool find_members(
	struct text_view text, const struct text_view *wanted, size_t n, struct text_view *members)
{
	size_t at = json_scan_space(text.text, text.size, 0);
	char before = '{';

	while (at < text.size && text.text[at] == before) {
		size_t key = json_scan_space(text.text, text.size, at + 1);
		size_t key_end = json_scan_string(text.text, text.size, key);
		size_t colon = key_end ? json_scan_space(text.text, text.size, key_end) : text.size;
		size_t value = json_scan_space(text.text, text.size, colon + 1);
		size_t end = json_scan_value(text.text, text.size, value);

		if (colon >= text.size || text.text[colon] != ':' || end == 0 ||
			memchr(text.text + key, '\\', key_end - key) ||
			!keep_member(wanted, n, members,
				(struct text_view){text.text + key, key_end - key},
				(struct text_view){text.text + value, end - value}))
			return false;
		at = json_scan_space(text.text, text.size, end);
		before = ',';
	}
	return before == ',' && at < text.size && text.text[at] == '}' &&
	       json_scan_space(text.text, text.size, at + 1) == text.size;
}

/* Store the kind named by @value. Return false for other values, and for a kind whose toolboxes are
 * known only to its hosts. */
static bool read_kind(struct text_view value, enum toolbox_kind *ret_kind)
{
	for (int kind = 0; kind < N_KINDS; kind++) {
		const struct kind_facts *facts = kind_facts((enum toolbox_kind)kind);

		if (value.size != strlen(facts->name) + 2 || facts->has_members ||
			memcmp(value.text + 1, facts->name, value.size - 2) != 0)
			continue;
		*ret_kind = (enum toolbox_kind)kind;
		return *value.text == '"' && *ret_kind != KIND_PYTHON_FILE;
	}
	return false;
}

/* Store the id: @value, a JSON text, or the name of the file or folder @path. Return whether it is
 * an id. */
static bool find_id(const char *path, bool is_folder, struct text_view value, char *ret_id)
{
	struct text_view id;

	id.text = manifest_stem(path, &id.size);
	if (is_folder)
		id.size = strlen(id.text);
	else if (value.text && (value.size < 2 || *value.text != '"'))
		return false;
	else if (value.text)
		id = (struct text_view){value.text + 1, value.size - 2};
	if (id.size >= MANIFEST_ID_BYTES)
		return false;
	memcpy(ret_id, id.text, id.size);
	ret_id[id.size] = '\0';
	return strlen(ret_id) == id.size && manifest_is_id(ret_id);
}

/* Take the description @value, a JSON text, for @toolbox, unless it is no string. 0 or -ENOMEM. */
static int take_description(struct text_view value, struct toolbox *toolbox)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r;

	if (*value.text != '"')
		return 0;
	if (json_scan_is_plain(value.text, value.size)) {
		toolbox->description = strndup(value.text + 1, value.size - 2);
		return toolbox->description ? 0 : -ENOMEM;
	}
	r = json_tape_read(&tape, value.text, value.size, JSON_DEPTH_DEFAULT, NULL);
	if (r != 0)
		return r < 0 ? r : 0;
	toolbox->description = json_string_dup(&tape, 0, NULL);
	return toolbox->description ? 0 : -ENOMEM;
}

/* Take the class of the sandbox @value, a JSON text, if it has one. */
static void take_class(struct text_view value, struct package *package)
{
	struct text_view class = {0};

	if (!find_members(value, &class_key, 1, &class) || class.size < 2 || *class.text != '"')
		return;
	class = (struct text_view){class.text + 1, class.size - 2};
	for (unsigned int i = 0; i < SANDBOX_N_CLASSES; i++)
		if (text_view_is(class, sandbox_class_names[i]))
			package->sandbox.class = (enum sandbox_class)i;
}

/* Take what is shown of a toolbox that is off, as far as it can be read. 0 or -ENOMEM. */
static int read_shown(const struct text_view *members, struct package *package)
{
	const struct text_view *description = &members[MEMBER_DESCRIPTION];
	const struct text_view *sandbox = &members[MEMBER_SANDBOX];

	package->sandbox.class = kind_facts(package->kind)->sandbox;
	if (sandbox->text)
		take_class(*sandbox, package);
	return description->text ? take_description(*description, package->toolboxes[0]) : 0;
}

/* Make a package like @probe. 0 or -ENOMEM. */
static int make_package(
	const struct package *probe, const struct text_view *members, struct package **ret_package)
{
	cleanup(package_cleanup) struct package *package = package_new();
	cleanup(toolbox_cleanup) struct toolbox *toolbox = NULL;
	int r;

	if (!package)
		return -ENOMEM;
	package->kind = probe->kind;
	package->is_left_out = package->is_scanned = true;
	package->limits.workers = kind_facts(package->kind)->workers;
	package->stamp = probe->stamp;
	package->digest = probe->digest;
	package->id = strdup(probe->id);
	package->file = strdup(probe->file);
	if (!package->id || !package->file)
		return -ENOMEM;
	toolbox = toolbox_new(package, package->id, NULL);
	if (!toolbox || package_add(package, toolbox) < 0)
		return -ENOMEM;
	toolbox = NULL;
	r = read_shown(members, package);
	if (r == 0)
		*ret_package = take_ptr(package);
	return r;
}

int manifest_off_read(const struct manifest_reader *reader, const char *path, bool is_folder,
	struct text_view text, struct package **ret_package)
{
	struct text_view members[N_MEMBERS] = {0};
	char id[MANIFEST_ID_BYTES];
	cleanup_free char *off = NULL;
	struct package probe = {.id = id, .file = (char *)path, .kind = KIND_COMMAND};
	const struct text_view *enabled = &members[MEMBER_ENABLED];
	bool is_disabled;
	int r;

	*ret_package = NULL;
	if (!reader->leaves_out || reader->checks_off ||
		(text.size > 0 && !find_members(text, keys, N_MEMBERS, members)) ||
		members[MEMBER_SERVERS].text || (!is_folder && !members[MEMBER_KIND].text) ||
		(!is_folder && !read_kind(members[MEMBER_KIND], &probe.kind)) ||
		!find_id(path, is_folder, members[MEMBER_ID], id))
		return 0;
	is_disabled = enabled->text && text_view_is(*enabled, "false");
	if (enabled->text && !is_disabled && !text_view_is(*enabled, "true"))
		return 0;
	if (is_disabled && manifest_off_reason(id, NULL, &off) < 0)
		return -ENOMEM;
	probe.off = off;
	if (!is_folder)
		probe.stamp = reader->stamp;
	/* A file at rest is known by its stamp. */
	if (!probe.stamp.is_at_rest)
		probe.digest = digest_bytes(DIGEST_SEED, text.text, text.size);
	if (!reader->leaves_out(reader->leaves_out_data, &probe))
		return 0;
	r = make_package(&probe, members, ret_package);
	if (r == 0)
		(*ret_package)->off = take_ptr(off);
	return r;
}
