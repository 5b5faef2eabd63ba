/* SPDX-License-Identifier: Apache-2.0 */
#include "search/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/reader.h"
#include "search/index_parts.h"
#include "util/array.h"
#include "util/assert.h"
#include "util/buffer.h"

#define BLOCK_ROOM_FIRST 2
#define BLOCK_ROOM_MAX   256
#define SLOTS_FIRST      1024

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

/* Make room in @items, of @room elements of @size bytes, for @n of them. Return the room, or 0
 * without memory. */
static size_t grow_items(void **items, size_t room, size_t n, size_t size)
{
	size_t more = room ? room : 64;
	void *grown;

	if (n <= room)
		return room;
	while (more < n)
		more += more / 2;
	grown = reallocarray(*items, more, size);
	if (!grown)
		return 0;
	*items = grown;
	return more;
}

/* Return the place of @n new words of the arena, zeroed; 0 without memory. */
static uint32_t take_words(struct search_index *index, size_t n)
{
	size_t place = index->n_arena;
	size_t room = grow_items(
		(void **)&index->arena, index->arena_room, place + n, sizeof(*index->arena));

	if (room == 0 || place + n > UINT32_MAX) {
		index->error = -ENOMEM;
		return 0;
	}
	index->arena_room = room;
	index->n_arena = place + n;
	memset(index->arena + place, 0, n * sizeof(*index->arena));
	return (uint32_t)place;
}

/* ── terms ───────────────────────────────────────────────────────────────────────────────────── */

static uint64_t hash_stem(const struct search_index *index, const char *stem, size_t size)
{
	struct siphash hash;

	siphash_init(&hash, &index->key);
	siphash_bytes(&hash, stem, size);
	return siphash_finish(&hash);
}

/* Return the slot that has @stem, or the free slot for it. */
static uint32_t *find_slot(const struct search_index *index, const char *stem, size_t size)
{
	size_t at = (size_t)hash_stem(index, stem, size) & (index->n_slots - 1);

	for (;; at = (at + 1) & (index->n_slots - 1)) {
		uint32_t *slot = &index->slots[at];
		const struct term *term = *slot ? &index->terms[*slot - 1] : NULL;

		if (!term ||
			(term->size == size && memcmp(index->arena + term->text, stem, size) == 0))
			return slot;
	}
}

const struct term *search_index_find_term(
	const struct search_index *index, const char *stem, size_t size)
{
	uint32_t *slot = find_slot(index, stem, size);

	return *slot ? &index->terms[*slot - 1] : NULL;
}

/* Double the slots. Return 0 or -ENOMEM. */
static int grow_slots(struct search_index *index)
{
	uint32_t *before = index->slots;
	size_t n = index->n_slots ? 2 * index->n_slots : SLOTS_FIRST;

	index->slots = calloc(n, sizeof(*index->slots));
	if (!index->slots) {
		index->slots = before;
		return -ENOMEM;
	}
	index->n_slots = n;
	free(before);
	for (size_t i = 0; i < index->n_terms; i++) {
		const struct term *term = &index->terms[i];

		*find_slot(index, (const char *)(index->arena + term->text), term->size) =
			(uint32_t)i + 1;
	}
	return 0;
}

/* Return a new term @stem, in the free slot where it belongs; NULL without memory. */
static struct term *add_term(
	struct search_index *index, uint32_t *slot, const char *stem, size_t size)
{
	size_t room = grow_items((void **)&index->terms, index->terms_room, index->n_terms + 1,
		sizeof(*index->terms));
	uint32_t text =
		room ? take_words(index, (size + sizeof(*index->arena) - 1) / sizeof(*index->arena))
		     : 0;
	struct term *term;

	if (!text) {
		index->error = -ENOMEM;
		return NULL;
	}
	index->terms_room = room;
	memcpy(index->arena + text, stem, size);
	term = &index->terms[index->n_terms++];
	*term = (struct term){.text = text, .size = (uint32_t)size};
	*slot = (uint32_t)index->n_terms;
	return term;
}

/* ── postings ────────────────────────────────────────────────────────────────────────────────── */

/* Append a block for @room postings to @term. Return the block; 0 without memory. */
static uint32_t add_block(struct search_index *index, struct term *term, uint32_t room)
{
	uint32_t block = take_words(index, BLOCK_POSTINGS + room);

	if (!block)
		return 0;
	index->arena[block + BLOCK_ROOM] = room;
	if (term->first)
		index->arena[term->last + BLOCK_NEXT] = block;
	else
		term->first = block;
	term->last = block;
	return block;
}

/* Append @posting to @term, which has postings. */
static void append_posting(struct search_index *index, struct term *term, uint32_t posting)
{
	uint32_t block = term->last;
	uint32_t only = term->last;
	bool is_first = term->first == 0;
	uint32_t room = is_first ? 0 : index->arena[block + BLOCK_ROOM];

	if (is_first || index->arena[block + BLOCK_N] == room)
		block = add_block(index, term,
			is_first                    ? BLOCK_ROOM_FIRST
			: 2 * room < BLOCK_ROOM_MAX ? 2 * room
						    : BLOCK_ROOM_MAX);
	if (!block)
		return;
	if (is_first)
		index->arena[block + BLOCK_POSTINGS + index->arena[block + BLOCK_N]++] = only;
	index->arena[block + BLOCK_POSTINGS + index->arena[block + BLOCK_N]++] = posting;
}

/* Note that the last tool of the index has @stem. */
static bool add_posting(struct search_index *index, const char *stem, size_t size)
{
	uint32_t tool = (uint32_t)index->n_tools - 1;
	uint32_t posting = tool << POSTING_COUNT_BITS | 1;
	uint32_t *slot;
	struct term *term;
	uint32_t *last;

	if (2 * (index->n_terms + 1) > index->n_slots && grow_slots(index) < 0) {
		index->error = -ENOMEM;
		return false;
	}
	slot = find_slot(index, stem, size);
	if (!*slot) {
		term = add_term(index, slot, stem, size);
		if (term)
			term->last = posting;
		return term != NULL;
	}
	term = &index->terms[*slot - 1];
	last = term->first ? &index->arena[term->last + BLOCK_POSTINGS - 1 +
					   index->arena[term->last + BLOCK_N]]
			   : &term->last;
	if (posting_tool(*last) != tool)
		append_posting(index, term, posting);
	else if (posting_count(*last) < POSTING_COUNT_MAX)
		++*last;
	return index->error == 0;
}

/* ── one tool ────────────────────────────────────────────────────────────────────────────────── */

/* Take a word of the last tool (words_function). */
static bool index_word(void *data, const char *stem, size_t size)
{
	struct search_index *index = data;
	struct indexed_tool *tool = &index->tools[index->n_tools - 1];

	if (tool->n_words == SEARCH_TOOL_WORDS)
		return false;
	tool->n_words++;
	return add_posting(index, stem, size);
}

static void index_text(struct search_index *index, const char *text, size_t size, bool is_name)
{
	if (index->error == 0 && index->tools[index->n_tools - 1].n_words < SEARCH_TOOL_WORDS &&
		words_each(index->words, text, size, is_name, index_word, index) < 0)
		index->error = -ENOMEM;
}

static void index_string(
	struct search_index *index, const struct json_tape *tape, uint32_t token, bool is_name)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};

	if (!(json_at(tape, token)->flags & JSON_ESCAPED)) {
		index_text(index, json_bytes(tape, token), json_at(tape, token)->length, is_name);
		return;
	}
	json_string_decode(tape, token, &decoded);
	if (buffer_status(&decoded) < 0)
		index->error = -ENOMEM;
	else if (decoded.size > 0)
		index_text(index, decoded.data, decoded.size, is_name);
}

/* Index the names and descriptions of parameters in the schema at @schema, at any depth. */
static void index_parameters(
	struct search_index *index, const struct json_tape *tape, uint32_t schema)
{
	for (uint32_t at = schema; at < json_end(tape, schema); at++) {
		uint32_t properties;
		uint32_t description;

		if (json_type_at(tape, at) != JSON_OBJECT)
			continue;
		properties = json_find_typed_at(tape, at, "properties", JSON_OBJECT);
		description = at == schema
				      ? JSON_NONE
				      : json_find_typed_at(tape, at, "description", JSON_STRING);
		json_each_key_found(key, tape, properties)
			index_string(index, tape, key, true);
		if (description != JSON_NONE)
			index_string(index, tape, description, false);
	}
}

/* Index the words of the triggers at @list: regular expressions, whose escapes are no letters. */
static void index_triggers(struct search_index *index, const struct json_tape *tape, uint32_t list)
{
	json_each(trigger, tape, list) {
		cleanup(buffer_deinit) struct buffer text = {0};

		json_string_decode(tape, trigger, &text);
		for (size_t i = 0; i + 1 < text.size; i++)
			if (text.data[i] == '\\')
				text.data[i] = text.data[i + 1] = ' ';
		if (text.size > 0)
			index_text(index, text.data, text.size, false);
	}
}

/* Add @tool to the tools, and index its words. */
static void index_tool(struct search_index *index, const struct tool *tool)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t schema;
	uint32_t triggers;

	index->tools[index->n_tools++] = (struct indexed_tool){.tool = tool};
	index_text(index, tool->name, strlen(tool->name), true);
	index_text(index, tool->toolbox->id, strlen(tool->toolbox->id), true);
	index_text(index, tool->description, strlen(tool->description), false);
	if (json_tape_read(&tape, tool->definition, tool->definition_size, 2 * JSON_DEPTH_DEFAULT,
		    NULL) != 0) {
		index->error = -ENOMEM;
		return;
	}
	schema = json_find_typed_at(&tape, 0, "argument_schema", JSON_OBJECT);
	triggers = json_find_typed_at(&tape, 0, "triggers", JSON_ARRAY);
	if (schema != JSON_NONE)
		index_parameters(index, &tape, schema);
	if (triggers != JSON_NONE)
		index_triggers(index, &tape, triggers);
}

/* ── toolboxes ───────────────────────────────────────────────────────────────────────────────── */

static int compare_boxes(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)((const struct indexed_box *)a)->toolbox;
	uintptr_t right = (uintptr_t)((const struct indexed_box *)b)->toolbox;

	return (left > right) - (left < right);
}

const struct indexed_box *search_index_find_box(
	const struct search_index *index, const struct toolbox *toolbox)
{
	const struct indexed_box wanted = {.toolbox = (struct toolbox *)toolbox};

	return index->n_sorted == 0 ? NULL
				    : bsearch(&wanted, index->boxes, index->n_sorted,
					      sizeof(*index->boxes), compare_boxes);
}

/* Let the tools of @box leave. Return 0 or -ENOMEM. */
static int leave_box(struct search_index *index, const struct indexed_box *box)
{
	if (array_grow(index->leaving, index->n_leaving) < 0)
		return -ENOMEM;
	index->leaving[index->n_leaving++] = box->toolbox->package;
	for (size_t i = 0; i < box->toolbox->n_tools; i++)
		index->tools[box->first + i].tool = NULL;
	index->n_left += box->toolbox->n_tools;
	return 0;
}

/* Forget all words: the boxes that are left are new again. */
static void forget_words(struct search_index *index)
{
	index->n_arena = 1;
	index->n_terms = 0;
	index->n_tools = index->n_left = 0;
	index->n_sorted = 0;
	if (index->slots)
		memset(index->slots, 0, index->n_slots * sizeof(*index->slots));
}

/* Note which boxes are in @catalogue, and add those that are new. Return 0 or -ENOMEM. */
static int note_boxes(struct search_index *index, const struct catalogue *catalogue)
{
	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++) {
		struct toolbox *toolbox = catalogue_toolbox(catalogue, i, NULL, NULL);
		struct indexed_box *box =
			(struct indexed_box *)search_index_find_box(index, toolbox);

		if (box) {
			box->is_there = true;
			continue;
		}
		if (array_grow(index->boxes, index->n_boxes) < 0)
			return -ENOMEM;
		package_ref(toolbox->package);
		index->boxes[index->n_boxes++] =
			(struct indexed_box){.toolbox = toolbox, .is_there = true};
	}
	return 0;
}

/* Let the boxes leave that are not in the catalogue. Return 0 or -ENOMEM. */
static int drop_boxes(struct search_index *index)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < index->n_boxes; i++) {
		if (!index->boxes[i].is_there && r == 0)
			r = leave_box(index, &index->boxes[i]);
		if (index->boxes[i].is_there || r < 0)
			index->boxes[kept++] = index->boxes[i];
		if (i + 1 == index->n_sorted)
			index->n_sorted = kept;
	}
	index->n_boxes = kept;
	return r;
}

static void forget_views(struct search_index *index)
{
	for (size_t i = 0; i < INDEXED_VIEWS; i++) {
		catalogue_set_deinit(&index->views[i].tools);
		index->views[i] = (struct indexed_view){0};
	}
}

/* ── an update ───────────────────────────────────────────────────────────────────────────────── */

bool search_index_is_current(const struct search_index *index, const struct catalogue *catalogue)
{
	return index->is_ready && index->serial == catalogue_serial(catalogue);
}

int search_index_begin(struct search_index *index, const struct catalogue *catalogue)
{
	check(index->error == 0);
	index->is_ready = false;
	index->serial = catalogue_serial(catalogue);
	forget_views(index);
	for (size_t i = 0; i < index->n_boxes; i++)
		index->boxes[i].is_there = false;
	index->error = note_boxes(index, catalogue);
	if (index->error == 0)
		index->error = drop_boxes(index);
	if (index->error == 0 && 2 * index->n_left > index->n_tools)
		forget_words(index);
	return index->error;
}

/* Make room for the tools of the boxes that are new. Return 0 or -ENOMEM. */
static int reserve_tools(struct search_index *index)
{
	size_t n = index->n_tools;
	struct indexed_tool *tools;
	float *scores;
	uint32_t *touched;

	for (size_t i = index->n_sorted; i < index->n_boxes; i++)
		n += index->boxes[i].toolbox->n_tools;
	if (n > UINT32_MAX >> POSTING_COUNT_BITS)
		return -ENOMEM;
	tools = reallocarray(index->tools, n + 1, sizeof(*tools));
	index->tools = tools ? tools : index->tools;
	scores = reallocarray(index->scores, n + 1, sizeof(*scores));
	index->scores = scores ? scores : index->scores;
	touched = reallocarray(index->touched, n + 1, sizeof(*touched));
	index->touched = touched ? touched : index->touched;
	if (!tools || !scores || !touched)
		return -ENOMEM;
	memset(scores, 0, (n + 1) * sizeof(*scores));
	return 0;
}

void search_index_run(struct search_index *index)
{
	if (index->error == 0)
		index->error = reserve_tools(index);
	for (size_t i = index->n_sorted; index->error == 0 && i < index->n_boxes; i++) {
		struct indexed_box *box = &index->boxes[i];

		box->first = (uint32_t)index->n_tools;
		for (size_t j = 0; index->error == 0 && j < box->toolbox->n_tools; j++)
			index_tool(index, &box->toolbox->tools[j]);
	}
	if (index->error < 0)
		return;
	index->n_sorted = index->n_boxes;
	if (index->n_boxes > 0)
		qsort(index->boxes, index->n_boxes, sizeof(*index->boxes), compare_boxes);
}

int search_index_end(struct search_index *index)
{
	for (size_t i = 0; i < index->n_leaving; i++)
		package_unref(index->leaving[i]);
	index->n_leaving = 0;
	index->is_ready = index->error == 0;
	return index->error;
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

int search_index_new(const char *stemmer, struct search_index **ret_index, const char **ret_reason)
{
	cleanup(search_index_cleanup) struct search_index *index = calloc(1, sizeof(*index));
	int r = index ? words_new(stemmer, &index->words, ret_reason) : -ENOMEM;

	if (r < 0)
		return r;
	index->key = siphash_process_key();
	index->n_arena = 0;
	take_words(index, 1);
	if (index->error < 0 || grow_slots(index) < 0)
		return -ENOMEM;
	*ret_index = take_ptr(index);
	return 0;
}

void search_index_free(struct search_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->n_boxes; i++)
		package_unref(index->boxes[i].toolbox->package);
	for (size_t i = 0; i < index->n_leaving; i++)
		package_unref(index->leaving[i]);
	forget_views(index);
	words_free(index->words);
	free(index->arena);
	free(index->terms);
	free(index->slots);
	free(index->tools);
	free(index->boxes);
	free(index->leaving);
	free(index->scores);
	free(index->touched);
	free(index);
}

size_t search_index_bytes(const struct search_index *index)
{
	return sizeof(*index) + index->arena_room * sizeof(*index->arena) +
	       index->terms_room * sizeof(*index->terms) + index->n_slots * sizeof(*index->slots) +
	       index->n_tools *
		       (sizeof(*index->tools) + sizeof(*index->scores) + sizeof(*index->touched)) +
	       index->n_boxes * sizeof(*index->boxes);
}
