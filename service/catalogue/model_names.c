/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/model_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/package.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/sha256.h"

#define KEPT_BYTES 57 /* bytes of a name in the third form */

/* Two names of the third form are the same once in 16 million; then a further text is digested. */
#define ROUNDS_MAX 8

/* Room for `toolbox__name`. */
#define WHOLE_BYTES (TOOLBOX_ID_BYTES + TOOL_NAME_BYTES + sizeof("__"))

struct whole {
	const struct model_candidate *candidate;
	char text[WHOLE_BYTES];
};

bool model_names_may_clash(const char *name)
{
	return strstr(name, "__") || strlen(name) == MODEL_NAME_BYTES_MAX;
}

/* In the order of a call's lookup: tools of servers (kind mcp) last, a bare name first, then by the
 * place in the list. */
static int compare_whole(const void *a, const void *b)
{
	const struct whole *left = a;
	const struct whole *right = b;
	int order = strcmp(left->text, right->text);

	if (order == 0)
		order = left->candidate->is_guest - right->candidate->is_guest;
	if (order == 0)
		order = left->candidate->is_shared - right->candidate->is_shared;
	if (order == 0)
		order = left->candidate->index > right->candidate->index ? 1 : -1;
	return order;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(((const struct model_name *)a)->text, ((const struct model_name *)b)->text);
}

static int compare_model_names(const void *a, const void *b)
{
	const struct model_name *left = a;
	const struct model_name *right = b;
	int order = compare_texts(a, b);

	return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

/* Write the third form of @whole with the digest of @digested. */
static void write_form(const char *whole, const char *digested, char ret_text[MODEL_NAME_BYTES])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	sha256(digested, strlen(digested), digest);
	snprintf(ret_text, MODEL_NAME_BYTES, "%.*s_%02x%02x%02x", KEPT_BYTES, whole, digest[0],
		digest[1], digest[2]);
}

static void write_whole(const struct model_candidate *candidate, char ret_text[WHOLE_BYTES])
{
	if (candidate->is_shared)
		snprintf(ret_text, WHOLE_BYTES, "%s__%s", candidate->toolbox_id, candidate->name);
	else
		snprintf(ret_text, WHOLE_BYTES, "%s", candidate->name);
}

/* Write a new name of @candidate, whose last name is taken; its identity is digested. */
static void write_again(const struct model_candidate *candidate, unsigned int round,
	char ret_text[MODEL_NAME_BYTES])
{
	char whole[WHOLE_BYTES];
	char identity[WHOLE_BYTES + 16];

	write_whole(candidate, whole);
	snprintf(identity, sizeof(identity), "%s/%s", candidate->toolbox_id, candidate->name);
	if (round > 1)
		snprintf(identity + strlen(identity), 16, " %u", round);
	write_form(whole, identity, ret_text);
}

static int compare_text_with_whole(const void *text, const void *whole)
{
	return strcmp(text, ((const struct whole *)whole)->text);
}

/* Whether a candidate has the name @text as it is. */
static bool is_whole_name(const struct whole *wholes, size_t n_wholes, const char *text)
{
	return bsearch(text, wholes, n_wholes, sizeof(*wholes), compare_text_with_whole) != NULL;
}

static int compare_index_with_candidate(const void *index, const void *candidate)
{
	size_t left = *(const size_t *)index;
	size_t right = ((const struct model_candidate *)candidate)->index;

	return (left > right) - (left < right);
}

static const struct model_candidate *find_candidate(
	const struct model_candidate *candidates, size_t n_candidates, size_t index)
{
	return bsearch(&index, candidates, n_candidates, sizeof(*candidates),
		compare_index_with_candidate);
}

/* Replace each taken name. */
static void make_unique(const struct model_candidate *candidates, const struct whole *wholes,
	size_t n_candidates, struct model_names *names)
{
	bool has_changed = true;

	for (unsigned int round = 1; has_changed && round <= ROUNDS_MAX; round++) {
		has_changed = false;
		qsort(names->items, names->n_items, sizeof(*names->items), compare_model_names);
		for (size_t i = 0; i < names->n_items; i++) {
			struct model_name *name = &names->items[i];
			bool is_taken = is_whole_name(wholes, n_candidates, name->text) ||
					(i > 0 && strcmp(name[-1].text, name->text) == 0);

			if (!is_taken)
				continue;
			has_changed = true;
			write_again(find_candidate(candidates, n_candidates, name->index), round,
				name->text);
		}
	}
}

int model_names_find(const struct model_candidate *candidates, size_t n_candidates,
	struct model_names *ret_names)
{
	cleanup_free struct whole *wholes = calloc(n_candidates + 1, sizeof(*wholes));
	struct model_names names = {.items = NULL};
	int r = 0;

	*ret_names = names;
	if (n_candidates == 0)
		return 0;
	names.items = calloc(n_candidates, sizeof(*names.items));
	if (!wholes || !names.items)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < n_candidates; i++) {
		wholes[i].candidate = &candidates[i];
		write_whole(&candidates[i], wholes[i].text);
	}
	if (r == 0)
		qsort(wholes, n_candidates, sizeof(*wholes), compare_whole);
	for (size_t i = 0; r == 0 && i < n_candidates; i++) {
		bool is_taken = i > 0 && strcmp(wholes[i - 1].text, wholes[i].text) == 0;

		if (!is_taken && strlen(wholes[i].text) <= MODEL_NAME_BYTES_MAX)
			continue;
		names.items[names.n_items].index = wholes[i].candidate->index;
		write_form(wholes[i].text, wholes[i].text, names.items[names.n_items].text);
		names.n_items++;
	}
	if (r == 0)
		make_unique(candidates, wholes, n_candidates, &names);
	if (r == 0)
		*ret_names = names;
	else
		free(names.items);
	return r;
}

static int compare_own_names(const void *a, const void *b)
{
	return strcmp((*(struct model_candidate *const *)a)->name,
		(*(struct model_candidate *const *)b)->name);
}

int model_names_share_same(struct model_candidate *tools, size_t n_tools)
{
	cleanup_free struct model_candidate **order = calloc(n_tools + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n_tools; i++) {
		tools[i].is_shared = false;
		order[i] = &tools[i];
	}
	qsort(order, n_tools, sizeof(*order), compare_own_names);
	for (size_t i = 1; i < n_tools; i++)
		if (compare_own_names(&order[i - 1], &order[i]) == 0)
			order[i - 1]->is_shared = order[i]->is_shared = true;
	return 0;
}

int model_names_write_whole(
	const struct model_candidate *tools, size_t n_tools, char (*ret_texts)[MODEL_NAME_BYTES])
{
	struct model_names names;
	int r = model_names_find(tools, n_tools, &names);

	for (size_t i = 0; r == 0 && i < n_tools; i++) {
		char whole[WHOLE_BYTES];

		check(tools[i].index == i);
		write_whole(&tools[i], whole);
		/* One that is cut here has the third form. */
		snprintf(ret_texts[i], MODEL_NAME_BYTES, "%.*s", MODEL_NAME_BYTES_MAX, whole);
	}
	for (size_t i = 0; r == 0 && i < names.n_items; i++)
		memcpy(ret_texts[names.items[i].index], names.items[i].text, MODEL_NAME_BYTES);
	model_names_deinit(&names);
	return r;
}

struct model_candidate model_names_candidate(const struct tool *tool, size_t index, bool is_shared)
{
	return (struct model_candidate){
		.toolbox_id = tool->toolbox->id,
		.name = tool->name,
		.is_guest = package_is_guest(tool->toolbox->package),
		.is_shared = is_shared,
		.index = index,
	};
}

long model_names_lookup(const struct model_names *names, const char *text, size_t size)
{
	struct model_name wanted = {.index = 0};
	const struct model_name *found;

	if (names->n_items == 0 || size == 0 || size > MODEL_NAME_BYTES_MAX ||
		memchr(text, '\0', size))
		return -1;
	memcpy(wanted.text, text, size);
	found = bsearch(&wanted, names->items, names->n_items, sizeof(wanted), compare_texts);
	return found ? (long)found->index : -1;
}

void model_names_deinit(struct model_names *names)
{
	free(names->items);
	*names = (struct model_names){0};
}
