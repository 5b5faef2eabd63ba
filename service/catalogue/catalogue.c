/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/catalogue.h"

#include <errno.h>
#include <stdatomic.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/model_names.h"
#include "catalogue/package.h"
#include "util/array.h"
#include "util/assert.h"
#include "util/digest.h"
#include "util/text/text.h"

#define NO_TOOL UINT32_MAX

/* A factor that spreads the bits of a digest over its middle: 2^64 by the golden ratio. */
#define SPREAD UINT64_C(0x9E3779B97F4A7C15)

/* `toolbox__name`: the form of a shared name if only one word is allowed. */
#define OWNER_SEPARATOR       "__"
#define OWNER_SEPARATOR_BYTES 2
#define QUALIFIED_NAME_BYTES  (TOOLBOX_ID_BYTES + OWNER_SEPARATOR_BYTES + TOOL_NAME_BYTES)

struct owner {
	struct toolbox *toolbox;
	size_t first_tool;
	size_t n_tools;    /* offered */
	char *disabled_by; /* why none of its tools is offered, or NULL */
	/* 0, or from 1 the number of the failure keeping its last good version */
	size_t kept_for;
};

struct offered {
	const struct tool *tool;
	uint64_t hash; /* the hash of its name */
	uint32_t
		/* the next tool of the same name, or NO_TOOL: in list order, guests last */
		next_same;
	bool is_shared;         /* it does not have its bare name alone */
	const char *model_name; /* the third form of its name (model_names.h), or NULL */
};

/* Catalogues made so far: some beside the loop. */
static atomic_uint_fast64_t n_catalogues;

struct catalogue {
	uint64_t generation;
	uint64_t serial;
	struct owner *owners; /* by id */
	size_t n_owners;
	struct offered *tools; /* in list order */
	size_t n_tools;
	uint32_t *buckets; /* hash of a name → its first tool, or NO_TOOL; open addressing */
	size_t n_buckets;  /* a power of two */
	struct model_names names;
	struct near_names near;
	struct catalogue_failure *failures;
	size_t n_failures;
	struct catalogue_skipped *skipped;
	size_t n_skipped;
	struct package **held; /* a reference of each */
	size_t n_held;
};

static int compare_owners(const void *a, const void *b)
{
	return strcmp(
		((const struct owner *)a)->toolbox->id, ((const struct owner *)b)->toolbox->id);
}

static bool has_name(const struct offered *offered, uint64_t hash, const char *name, size_t size)
{
	const char *own;

	/* Names lie all over the memory: only a name of the same hash is worth a look. */
	if (offered->hash != hash)
		return false;
	own = offered->tool->name;
	return text_is(name, size, own);
}

/* Return the bucket of @name: of its first tool, or the free bucket at its place. */
static uint32_t *bucket_of_hash(
	const struct catalogue *catalogue, uint64_t hash, const char *name, size_t size)
{
	/* The low bits of the digests of "sin_1", "sin_2", … are nearly the same. */
	size_t at = (size_t)(hash * SPREAD >> 32) & (catalogue->n_buckets - 1);

	while (catalogue->buckets[at] != NO_TOOL &&
		!has_name(&catalogue->tools[catalogue->buckets[at]], hash, name, size))
		at = (at + 1) & (catalogue->n_buckets - 1);
	return &catalogue->buckets[at];
}

static uint32_t *bucket_of(const struct catalogue *catalogue, const char *name, size_t size)
{
	return bucket_of_hash(catalogue, digest_bytes(DIGEST_SEED, name, size), name, size);
}

static bool is_guest(const struct tool *tool)
{
	return package_is_guest(tool->toolbox->package);
}

/* Return the tool after @at with the same bare name and as much right to it, or NO_TOOL. */
static uint32_t next_equal(const struct catalogue *catalogue, uint32_t at)
{
	uint32_t next = catalogue->tools[at].next_same;

	return next != NO_TOOL && is_guest(catalogue->tools[next].tool) ==
					  is_guest(catalogue->tools[at].tool)
		       ? next
		       : NO_TOOL;
}

/* Put the tool at @at before the tools of its name. */
static void index_tool(struct catalogue *catalogue, uint32_t at)
{
	struct offered *offered = &catalogue->tools[at];
	const char *name = offered->tool->name;
	uint32_t *first = bucket_of_hash(catalogue, offered->hash, name, strlen(name));

	offered->next_same = *first;
	if (*first != NO_TOOL)
		catalogue->tools[*first].is_shared = true;
	*first = at;
	offered->is_shared = next_equal(catalogue, at) != NO_TOOL;
}

/* Put the guests, or all others, before the tools of their names: from the last to the first,
 * however many. */
static void index_tools(struct catalogue *catalogue, bool are_guests)
{
	for (size_t at = catalogue->n_owners; at-- > 0;) {
		const struct owner *owner = &catalogue->owners[at];

		if (package_is_guest(owner->toolbox->package) != are_guests)
			continue;
		for (size_t i = owner->first_tool + owner->n_tools; i-- > owner->first_tool;)
			index_tool(catalogue, (uint32_t)i);
	}
}

/* The tool called exactly @name in the toolbox called @id, or NULL. */
static const struct tool *find_in(const struct catalogue *catalogue, const char *name,
	size_t name_size, const char *id, size_t id_size)
{
	for (uint32_t at = *bucket_of(catalogue, name, name_size); at != NO_TOOL;
		at = catalogue->tools[at].next_same) {
		const struct tool *tool = catalogue->tools[at].tool;

		if (text_is(id, id_size, tool->toolbox->id))
			return tool;
	}
	return NULL;
}

/* @name as `toolbox__name`. Ids and names may hold "__" themselves, so every place is tried; a
 * guest is only meant where no other tool is. */
static const struct tool *find_qualified(const struct catalogue *catalogue, const char *name,
	size_t name_size, const char *id, size_t id_size)
{
	const struct tool *guest = NULL;

	/* A caller's name may have megabytes, and each "__" in it would cost a look at the rest. */
	if (name_size > QUALIFIED_NAME_BYTES)
		return NULL;
	for (size_t at = 1; at + OWNER_SEPARATOR_BYTES < name_size; at++) {
		const char *rest = name + at + OWNER_SEPARATOR_BYTES;
		const struct tool *tool;

		if (memcmp(name + at, OWNER_SEPARATOR, OWNER_SEPARATOR_BYTES) != 0)
			continue;
		if (id && (id_size != at || memcmp(id, name, at) != 0))
			continue;
		tool = find_in(catalogue, rest, name_size - at - OWNER_SEPARATOR_BYTES, name, at);
		if (tool && !is_guest(tool))
			return tool;
		guest = guest ? guest : tool;
	}
	return guest;
}

/* Return the installed tool whose qualified form is the bare name of the guest at @at, or NULL. */
static const struct tool *find_covered(
	const struct catalogue *catalogue, uint32_t at, const char *name, size_t size)
{
	const struct tool *tool = is_guest(catalogue->tools[at].tool)
					  ? find_qualified(catalogue, name, size, NULL, 0)
					  : NULL;

	return tool && !is_guest(tool) ? tool : NULL;
}

/* A guest loses a bare name equal to the qualified form of an installed tool. */
static void share_covered(struct catalogue *catalogue)
{
	for (size_t i = 0; i < catalogue->n_tools; i++) {
		const char *name = catalogue->tools[i].tool->name;

		if (is_guest(catalogue->tools[i].tool) && model_names_may_clash(name) &&
			find_covered(catalogue, (uint32_t)i, name, strlen(name)))
			catalogue->tools[i].is_shared = true;
	}
}

/* Collect the tools whose names for models may be another's, or too long. */
static size_t collect_candidates(
	const struct catalogue *catalogue, struct model_candidate *candidates)
{
	size_t n_candidates = 0;

	for (size_t i = 0; i < catalogue->n_tools; i++) {
		const struct offered *offered = &catalogue->tools[i];

		if (offered->is_shared || model_names_may_clash(offered->tool->name))
			candidates[n_candidates++] =
				model_names_candidate(offered->tool, i, offered->is_shared);
	}
	return n_candidates;
}

/* Find the names for models other than the tools' own. 0 or -ENOMEM. */
static int name_tools(struct catalogue *catalogue)
{
	cleanup_free struct model_candidate *candidates = NULL;
	bool has_shared = false;

	for (size_t i = 0; !has_shared && i < catalogue->n_tools; i++)
		has_shared = catalogue->tools[i].is_shared;
	if (!has_shared)
		return 0;
	candidates = calloc(catalogue->n_tools, sizeof(*candidates));
	if (!candidates || model_names_find(candidates, collect_candidates(catalogue, candidates),
				   &catalogue->names) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < catalogue->names.n_items; i++)
		catalogue->tools[catalogue->names.items[i].index].model_name =
			catalogue->names.items[i].text;
	return 0;
}

static const char *name_of(const void *data, size_t index)
{
	return ((const struct catalogue *)data)->tools[index].tool->name;
}

/* 0 or -ENOMEM. */
static int index_all(struct catalogue *catalogue)
{
	int r = near_names_init(&catalogue->near, name_of, catalogue, catalogue->n_tools);

	if (r < 0)
		return r;
	index_tools(catalogue, true);
	index_tools(catalogue, false);
	share_covered(catalogue);
	return name_tools(catalogue);
}

static void offer_tools(struct catalogue *catalogue, catalogue_offers_function offers, void *data)
{
	for (size_t i = 0; i < catalogue->n_owners; i++) {
		struct owner *owner = &catalogue->owners[i];

		owner->first_tool = catalogue->n_tools;
		for (size_t j = 0; j < owner->toolbox->n_tools; j++) {
			const struct tool *tool = &owner->toolbox->tools[j];

			if (offers && !offers(data, tool))
				continue;
			catalogue->tools[catalogue->n_tools++] = (struct offered){
				.tool = tool,
				.hash = digest_bytes(DIGEST_SEED, tool->name, strlen(tool->name)),
			};
		}
		owner->n_tools = catalogue->n_tools - owner->first_tool;
	}
}

static int make_tool_room(struct catalogue *catalogue, size_t n_owners, size_t n_tools)
{
	catalogue->n_buckets = 16;
	while (catalogue->n_buckets < 2 * n_tools)
		catalogue->n_buckets *= 2;
	catalogue->owners = calloc(n_owners + 1, sizeof(*catalogue->owners));
	catalogue->tools = calloc(n_tools + 1, sizeof(*catalogue->tools));
	catalogue->buckets = malloc(catalogue->n_buckets * sizeof(*catalogue->buckets));
	if (!catalogue->owners || !catalogue->tools || !catalogue->buckets)
		return -ENOMEM;
	memset(catalogue->buckets, 0xFF, catalogue->n_buckets * sizeof(*catalogue->buckets));
	catalogue->serial = atomic_fetch_add(&n_catalogues, 1) + 1;
	return 0;
}

struct catalogue *catalogue_new(struct toolbox *const *toolboxes, size_t n_toolboxes,
	catalogue_offers_function offers, void *data, uint64_t generation)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = calloc(1, sizeof(*catalogue));
	size_t n_tools = 0;

	if (!catalogue)
		return NULL;
	for (size_t i = 0; i < n_toolboxes; i++)
		n_tools += toolboxes[i]->n_tools;
	if (make_tool_room(catalogue, n_toolboxes, n_tools) < 0)
		return NULL;
	catalogue->generation = generation;
	for (size_t i = 0; i < n_toolboxes; i++) {
		package_ref(toolboxes[i]->package);
		catalogue->owners[catalogue->n_owners++].toolbox = toolboxes[i];
	}
	qsort(catalogue->owners, n_toolboxes, sizeof(*catalogue->owners), compare_owners);
	offer_tools(catalogue, offers, data);
	return index_all(catalogue) < 0 ? NULL : take_ptr(catalogue);
}

/* ── a part of a catalogue ───────────────────────────────────────────────────────────────────── */

int catalogue_set_init(struct catalogue_set *set, const struct catalogue *catalogue)
{
	size_t n_words = catalogue->n_tools / CATALOGUE_WORD_BITS + 1;

	*set = (struct catalogue_set){calloc(n_words, sizeof(*set->words)), n_words};
	return set->words ? 0 : -ENOMEM;
}

void catalogue_set_deinit(struct catalogue_set *set)
{
	free(set->words);
	*set = (struct catalogue_set){0};
}

static size_t count_set(const struct catalogue_set *set)
{
	size_t n_tools = 0;

	for (size_t i = 0; i < set->n_words; i++)
		n_tools += (size_t)__builtin_popcountll(set->words[i]);
	return n_tools;
}

/* Add the tool at @index of @whole to @part, which has all earlier ones; add its toolbox, too, if
 * it is new. */
static void add_offered(const struct catalogue *whole, size_t index, struct catalogue *part)
{
	const struct offered *offered = &whole->tools[index];
	struct toolbox *toolbox = offered->tool->toolbox;
	size_t n = part->n_owners;

	if (n == 0 || part->owners[n - 1].toolbox != toolbox) {
		package_ref(toolbox->package);
		part->owners[part->n_owners++] =
			(struct owner){.toolbox = toolbox, .first_tool = part->n_tools};
	}
	part->owners[part->n_owners - 1].n_tools++;
	part->tools[part->n_tools++] =
		(struct offered){.tool = offered->tool, .hash = offered->hash};
}

struct catalogue *catalogue_narrow(
	const struct catalogue *catalogue, const struct catalogue_set *set)
{
	cleanup(catalogue_cleanup) struct catalogue *part = calloc(1, sizeof(*part));
	size_t n_tools = count_set(set);

	/* At most one toolbox for each tool. */
	if (!part ||
		make_tool_room(part, n_tools < catalogue->n_owners ? n_tools : catalogue->n_owners,
			n_tools) < 0)
		return NULL;
	part->generation = catalogue->generation;
	for (size_t i = 0; i < set->n_words; i++)
		for (uint64_t word = set->words[i]; word != 0; word &= word - 1)
			add_offered(catalogue,
				i * CATALOGUE_WORD_BITS + (size_t)__builtin_ctzll(word), part);
	return index_all(part) < 0 ? NULL : take_ptr(part);
}

static void free_notes(struct catalogue *catalogue)
{
	for (size_t i = 0; i < catalogue->n_failures; i++) {
		free(catalogue->failures[i].toolbox_id);
		free(catalogue->failures[i].file);
		free(catalogue->failures[i].error);
		failed_unref(catalogue->failures[i].failed);
	}
	for (size_t i = 0; i < catalogue->n_skipped; i++)
		free(catalogue->skipped[i].toolbox_id);
	free(catalogue->failures);
	free(catalogue->skipped);
}

void catalogue_free(struct catalogue *catalogue)
{
	if (!catalogue)
		return;
	for (size_t i = 0; i < catalogue->n_owners; i++) {
		package_unref(catalogue->owners[i].toolbox->package);
		free(catalogue->owners[i].disabled_by);
	}
	for (size_t i = 0; i < catalogue->n_held; i++)
		package_unref(catalogue->held[i]);
	free(catalogue->held);
	free_notes(catalogue);
	model_names_deinit(&catalogue->names);
	near_names_deinit(&catalogue->near);
	free(catalogue->owners);
	free(catalogue->tools);
	free(catalogue->buckets);
	free(catalogue);
}

int catalogue_add_failure(struct catalogue *catalogue, const struct catalogue_failure *failure,
	const struct package *kept)
{
	struct catalogue_failure copy = *failure;
	cleanup_free char *id_copy = copy.toolbox_id = strdup(failure->toolbox_id);
	cleanup_free char *file_copy = copy.file = strdup(failure->file);
	cleanup_free char *error_copy = copy.error = strdup(failure->error);

	if (!id_copy || !file_copy || !error_copy ||
		array_grow(catalogue->failures, catalogue->n_failures) < 0)
		return -ENOMEM;
	failed_ref(copy.failed);
	catalogue->failures[catalogue->n_failures++] = copy;
	id_copy = file_copy = error_copy = NULL;
	for (size_t i = 0; kept && i < catalogue->n_owners; i++)
		if (catalogue->owners[i].toolbox->package == kept)
			catalogue->owners[i].kept_for = catalogue->n_failures;
	return 0;
}

int catalogue_add_skipped(
	struct catalogue *catalogue, const char *toolbox_id, const char *name, const char *reason)
{
	size_t id_size = strlen(toolbox_id) + 1;
	size_t name_size = name ? strlen(name) + 1 : 0;
	size_t reason_size = strlen(reason) + 1;
	char *texts;

	if (array_grow(catalogue->skipped, catalogue->n_skipped) < 0)
		return -ENOMEM;
	texts = malloc(id_size + name_size + reason_size);
	if (!texts)
		return -ENOMEM;
	catalogue->skipped[catalogue->n_skipped++] = (struct catalogue_skipped){
		.toolbox_id = memcpy(texts, toolbox_id, id_size),
		.name = name ? memcpy(texts + id_size, name, name_size) : NULL,
		.reason = memcpy(texts + id_size + name_size, reason, reason_size),
	};
	return 0;
}

uint64_t catalogue_generation(const struct catalogue *catalogue)
{
	return catalogue->generation;
}

uint64_t catalogue_serial(const struct catalogue *catalogue)
{
	return catalogue->serial;
}

size_t catalogue_n_toolboxes(const struct catalogue *catalogue)
{
	return catalogue->n_owners;
}

struct toolbox *catalogue_toolbox(const struct catalogue *catalogue, size_t index,
	size_t *ret_first_tool, size_t *ret_n_tools)
{
	const struct owner *owner = &catalogue->owners[index];

	check(index < catalogue->n_owners);
	if (ret_first_tool)
		*ret_first_tool = owner->first_tool;
	if (ret_n_tools)
		*ret_n_tools = owner->n_tools;
	return owner->toolbox;
}

/* As strcmp, for an id with a length. A caller's may hold U+0000, where strncmp would stop. */
static int compare_id(const char *id, const char *wanted, size_t wanted_size)
{
	size_t size = strlen(id);
	int order = memcmp(id, wanted, size < wanted_size ? size : wanted_size);

	return order != 0 ? order : (size > wanted_size) - (size < wanted_size);
}

/* Return the number of toolboxes whose ids come before @id, and store whether the next one has this
 * id. */
static size_t place_of_toolbox(
	const struct catalogue *catalogue, const char *id, size_t id_size, bool *ret_is_there)
{
	size_t low = 0;
	size_t high = catalogue->n_owners;

	*ret_is_there = false;
	while (low < high && !*ret_is_there) {
		size_t middle = low + (high - low) / 2;
		int order = compare_id(catalogue->owners[middle].toolbox->id, id, id_size);

		*ret_is_there = order == 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return *ret_is_there ? high : low;
}

long catalogue_find_toolbox(const struct catalogue *catalogue, const char *id, size_t id_size)
{
	bool is_there;
	size_t place = place_of_toolbox(catalogue, id, id_size, &is_there);

	return is_there ? (long)place : -1;
}

size_t catalogue_n_tools(const struct catalogue *catalogue)
{
	return catalogue->n_tools;
}

const struct tool *catalogue_tool(const struct catalogue *catalogue, size_t index)
{
	check(index < catalogue->n_tools);
	return catalogue->tools[index].tool;
}

/* The tools of a toolbox lie in one array, and are offered in its order. */
size_t catalogue_index(const struct catalogue *catalogue, const struct tool *tool)
{
	long at = catalogue_find_toolbox(catalogue, tool->toolbox->id, strlen(tool->toolbox->id));
	const struct owner *owner = at < 0 ? NULL : &catalogue->owners[at];
	size_t low = 0;
	size_t high = 0;

	if (owner && owner->toolbox == tool->toolbox) {
		low = owner->first_tool;
		high = low + owner->n_tools;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct tool *found = catalogue->tools[middle].tool;

		if (found == tool)
			return middle;
		if (found < tool)
			low = middle + 1;
		else
			high = middle;
	}
	return CATALOGUE_NONE;
}

bool catalogue_has(const struct catalogue *catalogue, const struct tool *tool)
{
	uint32_t at = *bucket_of(catalogue, tool->name, strlen(tool->name));

	while (at != NO_TOOL && catalogue->tools[at].tool != tool)
		at = catalogue->tools[at].next_same;
	return at != NO_TOOL;
}

static size_t index_of(uint32_t at)
{
	return at == NO_TOOL ? CATALOGUE_NONE : at;
}

size_t catalogue_first_named(const struct catalogue *catalogue, const char *name, size_t size)
{
	return index_of(*bucket_of(catalogue, name, size));
}

size_t catalogue_next_named(const struct catalogue *catalogue, size_t index)
{
	check(index < catalogue->n_tools);
	return index_of(catalogue->tools[index].next_same);
}

size_t catalogue_n_failures(const struct catalogue *catalogue)
{
	return catalogue->n_failures;
}

const struct catalogue_failure *catalogue_failure(const struct catalogue *catalogue, size_t index)
{
	check(index < catalogue->n_failures);
	return &catalogue->failures[index];
}

const struct catalogue_failure *catalogue_kept_for(const struct catalogue *catalogue, size_t index)
{
	size_t kept_for;

	check(index < catalogue->n_owners);
	kept_for = catalogue->owners[index].kept_for;
	return kept_for > 0 ? &catalogue->failures[kept_for - 1] : NULL;
}

int catalogue_hold(struct catalogue *catalogue, struct package *package)
{
	if (array_grow(catalogue->held, catalogue->n_held) < 0)
		return -ENOMEM;
	catalogue->held[catalogue->n_held++] = package_ref(package);
	return 0;
}

size_t catalogue_n_held(const struct catalogue *catalogue)
{
	return catalogue->n_held;
}

const struct package *catalogue_held(const struct catalogue *catalogue, size_t index)
{
	check(index < catalogue->n_held);
	return catalogue->held[index];
}

int catalogue_disable(struct catalogue *catalogue, const char *toolbox_id, const char *reason)
{
	long at = catalogue_find_toolbox(catalogue, toolbox_id, strlen(toolbox_id));
	char *copy = strdup(reason);

	check(at >= 0 && catalogue->owners[at].n_tools == 0);
	if (!copy)
		return -ENOMEM;
	free(catalogue->owners[at].disabled_by);
	catalogue->owners[at].disabled_by = copy;
	return 0;
}

const char *catalogue_disabled_by(const struct catalogue *catalogue, size_t index)
{
	check(index < catalogue->n_owners);
	return catalogue->owners[index].disabled_by;
}

size_t catalogue_n_skipped(const struct catalogue *catalogue)
{
	return catalogue->n_skipped;
}

const struct catalogue_skipped *catalogue_skipped(const struct catalogue *catalogue, size_t index)
{
	check(index < catalogue->n_skipped);
	return &catalogue->skipped[index];
}

/* The tool named @name in the listings for models, by the third form (model_names.h). */
static const struct tool *find_model_name(const struct catalogue *catalogue, const char *name,
	size_t name_size, const char *id, size_t id_size)
{
	long index = model_names_lookup(&catalogue->names, name, name_size);
	const struct tool *tool = index >= 0 ? catalogue->tools[index].tool : NULL;

	return tool && id && compare_id(tool->toolbox->id, id, id_size) != 0 ? NULL : tool;
}

int catalogue_find(const struct catalogue *catalogue, const char *name, size_t name_size,
	const char *toolbox_id, size_t toolbox_id_size, bool last_wins,
	const struct tool **ret_tool)
{
	uint32_t at = *bucket_of(catalogue, name, name_size);
	const struct tool *tool;

	if (!toolbox_id && at != NO_TOOL) {
		tool = find_covered(catalogue, at, name, name_size);
		if (!tool && next_equal(catalogue, at) != NO_TOOL && !last_wins)
			return CATALOGUE_E_AMBIGUOUS;
		for (uint32_t next = at; next != NO_TOOL; next = next_equal(catalogue, next))
			at = next;
		*ret_tool = tool ? tool : catalogue->tools[at].tool;
		return 0;
	}
	tool = toolbox_id ? find_in(catalogue, name, name_size, toolbox_id, toolbox_id_size) : NULL;
	if (!tool)
		tool = find_qualified(catalogue, name, name_size, toolbox_id, toolbox_id_size);
	if (!tool)
		tool = find_model_name(catalogue, name, name_size, toolbox_id, toolbox_id_size);
	if (!tool)
		return CATALOGUE_E_UNKNOWN;
	*ret_tool = tool;
	return 0;
}

const char *catalogue_model_name(
	const struct catalogue *catalogue, size_t index, char ret_text[MODEL_NAME_BYTES])
{
	const struct offered *offered = &catalogue->tools[index];

	check(index < catalogue->n_tools);
	if (offered->model_name)
		return offered->model_name;
	if (!offered->is_shared)
		return offered->tool->name;
	snprintf(ret_text, MODEL_NAME_BYTES, "%s" OWNER_SEPARATOR "%s", offered->tool->toolbox->id,
		offered->tool->name);
	return ret_text;
}

bool catalogue_is_shared_name(const struct catalogue *catalogue, const char *name)
{
	uint32_t at = *bucket_of(catalogue, name, strlen(name));

	return at != NO_TOOL && catalogue->tools[at].next_same != NO_TOOL;
}

const char *catalogue_owner(
	const struct catalogue *catalogue, const char *name, size_t name_size, size_t position)
{
	uint32_t at = *bucket_of(catalogue, name, name_size);

	while (at != NO_TOOL && position-- > 0)
		at = catalogue->tools[at].next_same;
	return at == NO_TOOL ? NULL : catalogue->tools[at].tool->toolbox->id;
}

size_t catalogue_suggest(const struct catalogue *catalogue, const char *name, size_t name_size,
	const char *toolbox_id, size_t toolbox_id_size,
	const char *ret_names[CATALOGUE_SUGGESTIONS_MAX])
{
	size_t first = 0;
	size_t n_tools = catalogue->n_tools;

	if (toolbox_id) {
		long at = catalogue_find_toolbox(catalogue, toolbox_id, toolbox_id_size);

		if (at < 0)
			return 0;
		first = catalogue->owners[at].first_tool;
		n_tools = catalogue->owners[at].n_tools;
	}
	return near_names_find(
		&catalogue->near, name_of, catalogue, first, n_tools, name, name_size, ret_names);
}

/* From the place of @id in the order of ids, to both sides. */
const char *catalogue_suggest_toolbox(
	const struct catalogue *catalogue, const char *id, size_t id_size)
{
	bool is_there;
	size_t place = place_of_toolbox(catalogue, id, id_size, &is_there);
	size_t n_owners = catalogue->n_owners;
	const char *best = NULL;
	unsigned int than = UINT_MAX;
	size_t work = 0;

	for (size_t i = 0; i < 2 * n_owners && work < NEAR_NAMES_WORK; i++) {
		size_t index = i % 2 == 0 ? place + i / 2 : place - i / 2 - 1;
		const struct owner *owner = index < n_owners ? &catalogue->owners[index] : NULL;

		work++;
		if (owner && owner->n_tools > 0 &&
			text_is_nearer(id, id_size, owner->toolbox->id, strlen(owner->toolbox->id),
				than, &than, &work))
			best = owner->toolbox->id;
	}
	return best;
}
