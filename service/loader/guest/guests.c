/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/guest/guests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/filtered.h"
#include "loader/gate/gate.h"
#include "loader/operator/paths.h"
#include "loader/settings.h"
#include "loader/tool_settings.h"
#include "manifest/guest/guest.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* ── the set ─────────────────────────────────────────────────────────────────────────────────── */

struct guest_text *guest_text_new(const char *bytes, size_t size)
{
	struct guest_text *text = malloc(sizeof(*text) + size + 1);

	if (!text)
		return NULL;
	text->references = 1;
	text->size = size;
	memcpy(text->bytes, bytes, size);
	text->bytes[size] = '\0';
	return text;
}

struct guest_text *guest_text_ref(struct guest_text *text)
{
	text->references++;
	return text;
}

void guest_text_unref(struct guest_text *text)
{
	if (text && --text->references == 0)
		free(text);
}

int guest_set_add(struct guest_set *set, const struct guest_entry *entry)
{
	struct guest_entry copy = *entry;
	cleanup_free char *source = copy.source = strdup(entry->source);

	if (!source || array_grow(set->items, set->n_items) < 0)
		return -ENOMEM;
	guest_text_ref(copy.text);
	if (copy.package)
		package_ref(copy.package);
	set->items[set->n_items++] = copy;
	source = NULL;
	return 0;
}

void guest_set_deinit(struct guest_set *set)
{
	for (size_t i = 0; i < set->n_items; i++) {
		guest_text_unref(set->items[i].text);
		free(set->items[i].source);
		package_unref(set->items[i].package);
		diagnostics_deinit(&set->items[i].problems);
	}
	free(set->items);
	*set = (struct guest_set){0};
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

/* Read @entry. 0 or a negative errno. */
static int read_entry(
	struct manifest_reader *reader, const struct config *config, struct guest_entry *entry)
{
	const struct guest_manifest manifest = {
		.text = {entry->text->bytes, entry->text->size},
		.source = entry->source,
		.risk = config->guests.risk,
	};
	cleanup(package_cleanup) struct package *package = NULL;
	int r = manifest_read_guest(reader, &manifest, &package, &entry->problems);

	entry->is_new = false;

	if (r == MANIFEST_E_REFUSED)
		entry->outcome = GUEST_REFUSED;
	r = r ? r : settings_apply(config, package);
	r = r ? r : tool_settings_apply(config, package->toolboxes[0]);
	if (r == 0 && package->has_gate) {
		diagnostics_add(&entry->problems, DIAGNOSTIC_ERROR, 0, "", GATE_KINDS);
		entry->outcome = GUEST_REFUSED;
		return 0;
	}
	if (r == 0) {
		package_unref(entry->package);
		entry->package = take_ptr(package);
	}
	return r < 0 ? r : 0;
}

int guests_read(struct manifest_reader *reader, const struct config *config, struct guest_set *set)
{
	uint64_t end_ns = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < set->n_items; i++) {
		struct guest_entry *entry = &set->items[i];
		bool is_good = entry->package && entry->package->risk == config->guests.risk &&
			       operator_settings_hold(config, entry->package);

		if (is_good && !entry->is_new)
			continue;
		/* The earlier package stays, unless the configuration has changed. */
		if (!is_good)
			package_unref(take_ptr(entry->package));
		if (clock_is_up(&end_ns, GUESTS_MS_MAX * NS_PER_MS))
			entry->outcome = GUEST_LATER;
		else
			r = read_entry(reader, config, entry);
	}
	return r;
}

/* ── merging ─────────────────────────────────────────────────────────────────────────────────── */

/* The toolboxes of the next catalogue. */
struct merging {
	const struct catalogue *base;
	const struct config *config;
	struct toolbox **toolboxes;
	size_t n_toolboxes;
	size_t n_tools;
};

/* Return whether the toolbox called @id of the base is a guest's. */
static bool is_guest_id(const struct catalogue *base, const char *id)
{
	long index = catalogue_find_toolbox(base, id, strlen(id));

	return index >= 0 &&
	       catalogue_toolbox(base, (size_t)index, NULL, NULL)->package->kind == KIND_GUEST;
}

/* Return whether a file has the toolbox called @id. */
static bool is_file_id(const struct catalogue *base, const char *id)
{
	return catalogue_find_toolbox(base, id, strlen(id)) >= 0 && !is_guest_id(base, id);
}

static void add_toolbox(struct merging *merging, struct toolbox *toolbox)
{
	merging->toolboxes[merging->n_toolboxes++] = toolbox;
	merging->n_tools += toolbox->n_tools;
}

static void add_files(struct merging *merging)
{
	for (size_t i = 0; i < catalogue_n_toolboxes(merging->base); i++) {
		struct toolbox *toolbox = catalogue_toolbox(merging->base, i, NULL, NULL);

		if (toolbox->package->kind != KIND_GUEST)
			add_toolbox(merging, toolbox);
	}
}

/* Add the toolbox of @entry, unless it has to give way. */
static void add_guest(struct merging *merging, struct guest_entry *entry)
{
	const struct config_limits *limits = &merging->config->limits;
	struct toolbox *toolbox = entry->package->toolboxes[0];

	if (is_file_id(merging->base, toolbox->id)) {
		entry->outcome = GUEST_DISPLACED;
	} else if (merging->n_toolboxes + 1 > limits->toolboxes ||
		   merging->n_tools + toolbox->n_tools > limits->tools) {
		entry->outcome = GUEST_NO_ROOM;
	} else {
		add_toolbox(merging, toolbox);
	}
}

/* Copy the failures, and the toolboxes that are disabled. 0 or -ENOMEM. */
static int copy_toolbox_notes(const struct catalogue *base, struct catalogue *merged)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_failures(base); i++) {
		const struct catalogue_failure *failure = catalogue_failure(base, i);
		const struct package *kept = NULL;

		for (size_t j = 0; !kept && j < catalogue_n_toolboxes(base); j++)
			if (catalogue_kept_for(base, j) == failure)
				kept = catalogue_toolbox(base, j, NULL, NULL)->package;
		r = catalogue_add_failure(merged, failure, kept);
	}
	for (size_t i = 0; r == 0 && i < catalogue_n_toolboxes(base); i++) {
		const struct toolbox *toolbox = catalogue_toolbox(base, i, NULL, NULL);
		const char *reason = catalogue_disabled_by(base, i);

		if (reason && toolbox->package->kind != KIND_GUEST)
			r = catalogue_disable(merged, toolbox->id, reason);
	}
	return r;
}

/* Copy the tools that are not offered, and the packages that are only held. 0 or -ENOMEM. */
static int copy_other_notes(const struct catalogue *base, struct catalogue *merged)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_skipped(base); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(base, i);

		if (!is_guest_id(base, skipped->toolbox_id))
			r = catalogue_add_skipped(
				merged, skipped->toolbox_id, skipped->name, skipped->reason);
	}
	for (size_t i = 0; r == 0 && i < catalogue_n_held(base); i++)
		r = catalogue_hold(merged, (struct package *)catalogue_held(base, i));
	return r;
}

static bool offers(void *config, const struct tool *tool)
{
	return settings_offer(config, tool);
}

/* Return the catalogue of the toolboxes in @merging with the notes of the base. */
static struct catalogue *make_merged(
	const struct merging *merging, const struct guest_set *set, uint64_t generation)
{
	cleanup(catalogue_cleanup) struct catalogue *merged = catalogue_new(merging->toolboxes,
		merging->n_toolboxes, offers, (struct config *)merging->config, generation);
	int r = merged ? copy_toolbox_notes(merging->base, merged) : -ENOMEM;

	r = r ? r : copy_other_notes(merging->base, merged);
	for (size_t i = 0; r == 0 && i < set->n_items; i++)
		if (set->items[i].package && set->items[i].outcome <= GUEST_REFUSED)
			r = filtered_note(
				merging->config, set->items[i].package->toolboxes[0], merged);
	return r < 0 ? NULL : take_ptr(merged);
}

struct catalogue *guests_merge(const struct catalogue *base, struct guest_set *set,
	const struct config *config, uint64_t generation)
{
	size_t n_most = catalogue_n_toolboxes(base) + set->n_items;
	cleanup_free struct toolbox **toolboxes = calloc(n_most + 1, sizeof(struct toolbox *));
	struct merging merging = {.base = base, .config = config, .toolboxes = toolboxes};

	if (!toolboxes)
		return NULL;
	add_files(&merging);
	for (size_t i = 0; i < set->n_items; i++)
		if (set->items[i].package)
			add_guest(&merging, &set->items[i]);
	return make_merged(&merging, set, generation);
}
