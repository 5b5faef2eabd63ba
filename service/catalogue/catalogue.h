/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/failure/failed.h"
#include "catalogue/model_names.h"
#include "catalogue/names/near_names.h"
#include "catalogue/package.h"
#include "util/cleanup.h"

/*
 * The catalogue: every offered tool, made whole beside the old catalogue and swapped in; never
 * changed. All lookups of requests go through it.
 *
 *   toolboxes, by id (bytes)     ┌─ math_tools ─┐ ┌─ volume ─┐
 *   tools, in list order          add  divide …    get  set …
 *   names ─hash▶ first tool of that name ─▶ next tool of the same name ─▶ …
 */
struct catalogue;

/* A toolbox not offered, or offered only in its last good version. */
struct catalogue_failure {
	char *toolbox_id;
	char *file; /* path of the manifest, or of the folder of programs */
	char *error;
	int64_t since_ns;      /* when a load found this error first (CLOCK_REALTIME) */
	bool is_new;           /* this load has */
	struct failed *failed; /* its trial, which later loads need not repeat; or NULL */
};

/* A tool (or a whole toolbox: name NULL) found, but not offered, on purpose. */
struct catalogue_skipped {
	char *toolbox_id; /* the beginning of the block with all three texts */
	const char *name;
	const char *reason;
};

/* Whether the tool may be offered at all (filter). */
typedef bool (*catalogue_offers_function)(void *data, const struct tool *tool);

/* A new catalogue of @toolboxes (it holds their packages; they may come in any order, ids are
 * unique) without the tools refused by @offers (NULL: none). NULL without memory. */
struct catalogue *catalogue_new(struct toolbox *const *toolboxes, size_t n_toolboxes,
	catalogue_offers_function offers, void *data, uint64_t generation);

/* Takes NULL. */
void catalogue_free(struct catalogue *catalogue);

/* Add an entry for status and reload. The texts are copied; @kept is the package offered in its
 * last good version instead, or NULL. Return 0 or -ENOMEM. */
int catalogue_add_failure(struct catalogue *catalogue, const struct catalogue_failure *failure,
	const struct package *kept);
int catalogue_add_skipped(
	struct catalogue *catalogue, const char *toolbox_id, const char *name, const char *reason);

/* Hold @package, whose toolboxes a host describes, whether any of them is offered or not: its
 * description depends on watched files. 0 or -ENOMEM. */
int catalogue_hold(struct catalogue *catalogue, struct package *package);

/* The packages held so. */
size_t catalogue_n_held(const struct catalogue *catalogue);
const struct package *catalogue_held(const struct catalogue *catalogue, size_t index);

/* Note that no tool of the toolbox @toolbox_id, which is in the catalogue, is offered, for @reason
 * (copied). 0 or -ENOMEM. */
int catalogue_disable(struct catalogue *catalogue, const char *toolbox_id, const char *reason);

uint64_t catalogue_generation(const struct catalogue *catalogue);

/* Return the number of @catalogue, unique in this process. */
uint64_t catalogue_serial(const struct catalogue *catalogue);

/* Toolboxes by id; of each, the offered tools are a run of catalogue_tool(). A toolbox without any
 * offered tool is in the list too, with an empty run. */
size_t catalogue_n_toolboxes(const struct catalogue *catalogue);
struct toolbox *catalogue_toolbox(const struct catalogue *catalogue, size_t index,
	size_t *ret_first_tool, size_t *ret_n_tools);

/* Index of the toolbox called @id, or -1. */
long catalogue_find_toolbox(const struct catalogue *catalogue, const char *id, size_t id_size);

size_t catalogue_n_tools(const struct catalogue *catalogue);
const struct tool *catalogue_tool(const struct catalogue *catalogue, size_t index);

/* Return the index of @tool, this very object, in list order, or CATALOGUE_NONE: it is not
 * offered. */
#define CATALOGUE_NONE SIZE_MAX
size_t catalogue_index(const struct catalogue *catalogue, const struct tool *tool);

/* Return whether @catalogue offers @tool, this very object. */
bool catalogue_has(const struct catalogue *catalogue, const struct tool *tool);

/* Walk the tools with the bare name @name, by their indexes, in list order, tools of kind mcp last;
 * CATALOGUE_NONE ends them. */
size_t catalogue_first_named(const struct catalogue *catalogue, const char *name, size_t size);
size_t catalogue_next_named(const struct catalogue *catalogue, size_t index);

size_t catalogue_n_failures(const struct catalogue *catalogue);
const struct catalogue_failure *catalogue_failure(const struct catalogue *catalogue, size_t index);

/* Return why no tool of the toolbox at @index of catalogue_toolbox() is offered; NULL: a tool is
 * offered, or the toolbox has none. */
const char *catalogue_disabled_by(const struct catalogue *catalogue, size_t index);

/* Return the failure because of which the toolbox at @index of catalogue_toolbox() is offered in
 * its last good version; NULL for the present version. */
const struct catalogue_failure *catalogue_kept_for(const struct catalogue *catalogue, size_t index);

size_t catalogue_n_skipped(const struct catalogue *catalogue);
const struct catalogue_skipped *catalogue_skipped(const struct catalogue *catalogue, size_t index);

/* Positive results of a lookup. */
enum catalogue_status {
	CATALOGUE_E_UNKNOWN = 1,
	CATALOGUE_E_AMBIGUOUS, /* several toolboxes have the name */
};

/*
 * The tool meant by a call with @name (bare, `toolbox__name`, or as in listings for models) and
 * @toolbox_id (NULL: any). A tool of kind mcp, which its server names, is only meant where no other
 * tool is. @last_wins: a bare name in several toolboxes means the tool of the last toolbox. 0,
 * CATALOGUE_E_UNKNOWN, or CATALOGUE_E_AMBIGUOUS; then catalogue_owner() names the toolboxes.
 */
int catalogue_find(const struct catalogue *catalogue, const char *name, size_t name_size,
	const char *toolbox_id, size_t toolbox_id_size, bool last_wins,
	const struct tool **ret_tool);

/* Return the name of the tool at @index in the listings for models (model_names.h): its own, or a
 * text of the catalogue, or @ret_text. */
const char *catalogue_model_name(
	const struct catalogue *catalogue, size_t index, char ret_text[MODEL_NAME_BYTES]);

/* Return whether more than one toolbox has the bare name. */
bool catalogue_is_shared_name(const struct catalogue *catalogue, const char *name);

/* Return the id of the toolbox at @position (from 0, in list order) among the toolboxes with @name;
 * NULL after the last. */
const char *catalogue_owner(
	const struct catalogue *catalogue, const char *name, size_t name_size, size_t position);

/* A set of tools of one catalogue, by their indexes: a bit for each. */
struct catalogue_set {
	uint64_t *words;
	size_t n_words;
};

#define CATALOGUE_WORD_BITS 64

/* Make @set an empty one for the tools of @catalogue. 0 or -ENOMEM. */
int catalogue_set_init(struct catalogue_set *set, const struct catalogue *catalogue);

/* Free the memory of @set. */
void catalogue_set_deinit(struct catalogue_set *set);

static inline void catalogue_set_add(struct catalogue_set *set, size_t index)
{
	set->words[index / CATALOGUE_WORD_BITS] |= UINT64_C(1) << index % CATALOGUE_WORD_BITS;
}

/* Return whether @set has the tool at @index; CATALOGUE_NONE is in none. */
static inline bool catalogue_set_has(const struct catalogue_set *set, size_t index)
{
	size_t word = index / CATALOGUE_WORD_BITS;

	return word < set->n_words && (set->words[word] >> index % CATALOGUE_WORD_BITS & 1) != 0;
}

/*
 * Return a catalogue of only the tools of @catalogue in @set, and only their toolboxes; nothing in
 * the new catalogue failed or was skipped. It does not need @catalogue. NULL without memory. The
 * time is the number of its tools, and a look at each 64 others.
 */
struct catalogue *catalogue_narrow(
	const struct catalogue *catalogue, const struct catalogue_set *set);

/* Store up to CATALOGUE_SUGGESTIONS_MAX offered names near to @name, nearest first, of the toolbox
 * @toolbox_id (NULL: any). Return how many. The work has a bound (names/near_names.h). */
#define CATALOGUE_SUGGESTIONS_MAX NEAR_NAMES_MAX
size_t catalogue_suggest(const struct catalogue *catalogue, const char *name, size_t name_size,
	const char *toolbox_id, size_t toolbox_id_size,
	const char *ret_names[CATALOGUE_SUGGESTIONS_MAX]);

/* Return the id nearest to @id among the toolboxes with an offered tool, or NULL. Among very many
 * toolboxes, those far from @id in their order are not looked at. */
const char *catalogue_suggest_toolbox(
	const struct catalogue *catalogue, const char *id, size_t id_size);

CLEANUP_DEFINE(catalogue, struct catalogue *, catalogue_free)
