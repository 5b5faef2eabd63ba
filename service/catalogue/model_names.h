/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "catalogue/toolbox.h"

/*
 * The names of tools in the listings for models. A model knows a tool by one word, so no two names
 * of a listing may be the same, and a name has at most 64 characters (OpenAI: function.name;
 * Anthropic: ^[a-zA-Z0-9_-]{1,64}$):
 *
 *   name                     one toolbox has it
 *   toolbox__name            several have
 *   its first 57, _, 6 hex   over 64 characters, or taken by an earlier tool; the digits are from
 *                            its SHA-256
 */

#define MODEL_NAME_BYTES_MAX 64 /* the longest name */
#define MODEL_NAME_BYTES     (MODEL_NAME_BYTES_MAX + 1)

/* The tools with names of the third form. */
struct model_names {
	struct model_name {
		char text[MODEL_NAME_BYTES];
		size_t index; /* the place of the tool, in list order */
	} * items;            /* ordered by text */
	size_t n_items;
};

/* A tool whose name may be another's, or too long: `toolbox__name` for a shared one. The texts are
 * borrowed. */
struct model_candidate {
	const char *toolbox_id;
	const char *name;
	bool is_guest; /* package_is_guest() */
	bool is_shared;
	size_t index; /* its place, in list order */
};

/* Return whether a tool called @name has to be among the candidates: its bare name may be the
 * `toolbox__name` of another tool, or the third form. */
bool model_names_may_clash(const char *name);

/* Find the names of the third form among the @n_candidates, in list order. 0 with @ret_names, which
 * the caller deinits, or -ENOMEM. */
int model_names_find(const struct model_candidate *candidates, size_t n_candidates,
	struct model_names *ret_names);

/* Mark each of the @n_tools @tools as shared if another one has its name, the others as not shared.
 * 0 or -ENOMEM. */
int model_names_share_same(struct model_candidate *tools, size_t n_tools);

/* Write the names of the @n_tools @tools, in list order from 0, to @ret_texts. No two are the same.
 * 0 or -ENOMEM. */
int model_names_write_whole(
	const struct model_candidate *tools, size_t n_tools, char (*ret_texts)[MODEL_NAME_BYTES]);

/* Return the candidate that @tool, at @index of the list, is. */
struct model_candidate model_names_candidate(const struct tool *tool, size_t index, bool is_shared);

/* Return the index of the tool called @text of @size bytes, or -1. */
long model_names_lookup(const struct model_names *names, const char *text, size_t size);

void model_names_deinit(struct model_names *names);
