/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/pending.h"

#include <stdlib.h>
#include <string.h>

#include "util/assert.h"
#include "util/cleanup.h"

void pending_init(struct pending *pending)
{
	list_init(&pending->drafts);
	list_init(&pending->list);
	pending->n = 0;
	pending->n_asked = 0;
}

static void drop_all(struct pending *pending, struct list *questions)
{
	list_each(struct pending_question, question, questions, link) {
		pending_take(pending, question);
		pending_question_free(question);
	}
}

void pending_deinit(struct pending *pending)
{
	drop_all(pending, &pending->drafts);
	drop_all(pending, &pending->list);
}

static bool has_source(const struct policy_caller *a, const struct policy_caller *b)
{
	return a->source.size == b->source.size &&
	       (a->source.size == 0 || memcmp(a->source.text, b->source.text, a->source.size) == 0);
}

static bool is_client(const struct policy_caller *a, const struct policy_caller *b)
{
	bool is_bus = a->door == CALL_DOOR_BUS;

	if (is_bus != (b->door == CALL_DOOR_BUS))
		return false;
	return is_bus ? a->account == b->account : has_source(a, b);
}

/* Return half of @n, rounded up. */
static uint32_t half(uint32_t n)
{
	return n - n / 2;
}

bool pending_has_room(
	const struct pending *pending, const struct policy_caller *caller, uint32_t most)
{
	uint32_t n_client = 0;
	uint32_t n_source = 0;
	uint32_t share;

	list_each(struct pending_question, question, &pending->list, link) {
		const struct policy_caller *other = question->caller;

		if (!other || !is_client(caller, other))
			continue;
		n_client++;
		n_source += has_source(caller, other);
	}
	if (pending->n >= most)
		return false;
	share = half(most - (pending->n - n_client));
	return n_client < share && (caller->door != CALL_DOOR_BUS || n_source < half(share));
}

struct pending_question *pending_new(struct pending *pending, void *call)
{
	cleanup_free struct pending_question *question = calloc(1, sizeof(*question));

	if (!question || hex_write_id(question->id) < 0)
		return NULL;
	question->call = call;
	list_append(&pending->drafts, &question->link);
	return take_ptr(question);
}

void pending_ask(struct pending *pending, struct pending_question *question, uint64_t expires_ms)
{
	check(!question->is_asked);
	list_remove(&question->link);
	list_append(&pending->list, &question->link);
	pending->n++;
	question->is_asked = true;
	question->number = ++pending->n_asked;
	question->expires_ms = question->is_withdrawn ? 0 : expires_ms;
}

struct pending_question *pending_find(const struct pending *pending, const char *id, size_t size)
{
	if (size != HEX_ID_CHARS)
		return NULL;
	list_each(struct pending_question, question, &pending->list, link)
		if (memcmp(question->id, id, size) == 0)
			return question->is_withdrawn ? NULL : question;
	return NULL;
}

struct pending_question *pending_find_call(const struct pending *pending, const void *call)
{
	list_each(struct pending_question, question, &pending->list, link)
		if (question->call == call)
			return question;
	return NULL;
}

struct pending_question *pending_expired(const struct pending *pending, uint64_t now_ms)
{
	list_each(struct pending_question, question, &pending->list, link)
		if (question->expires_ms <= now_ms)
			return question;
	return NULL;
}

struct pending_question *pending_reported(const struct pending *pending, uint64_t now_ms)
{
	list_each(struct pending_question, question, &pending->list, link)
		if (question->report_ms && question->report_ms <= now_ms)
			return question;
	return NULL;
}

static bool withdraw(struct list *questions,
	bool (*is_over)(const struct pending_question *question, const void *data),
	const void *data)
{
	bool is_any = false;

	list_each(struct pending_question, question, questions, link) {
		if (question->is_withdrawn || !is_over(question, data))
			continue;
		question->is_withdrawn = is_any = true;
		question->expires_ms = 0;
	}
	return is_any;
}

bool pending_withdraw(struct pending *pending,
	bool (*is_over)(const struct pending_question *question, const void *data),
	const void *data)
{
	withdraw(&pending->drafts, is_over, data);
	return withdraw(&pending->list, is_over, data);
}

uint64_t pending_next_ms(const struct pending *pending)
{
	uint64_t next_ms = UINT64_MAX;

	list_each(const struct pending_question, question, &pending->list, link) {
		if (question->expires_ms < next_ms)
			next_ms = question->expires_ms;
		if (question->report_ms && question->report_ms < next_ms)
			next_ms = question->report_ms;
	}
	return next_ms;
}

void pending_take(struct pending *pending, struct pending_question *question)
{
	list_remove(&question->link);
	check(!question->is_asked || pending->n > 0);
	if (question->is_asked)
		pending->n--;
}

void pending_question_free(struct pending_question *question)
{
	if (!question)
		return;
	policy_caller_free(question->caller);
	buffer_deinit(&question->members);
	buffer_deinit(&question->arguments);
	buffer_deinit(&question->grant);
	free(question);
}
