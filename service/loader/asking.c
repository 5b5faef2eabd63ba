/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/asking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/checker.h"
#include "util/assert.h"
#include "util/clock.h"

/* Questions that begin at the same time. A question of more than a moment mostly waits, and counts
 * no more … */
#define YOUNG_MAX 4
#define YOUNG_MS  1000

/* … up to so many hosts. */
#define HOSTS_MAX 64

struct question {
	struct list link;
	struct asking *asking;
	char key[DESCRIBE_CACHE_KEY_BYTES];
	struct package *package; /* held */
	struct checker *checker; /* NULL: it has not begun, or has ended */
	uint64_t begun_ms;       /* 0: it has not begun */
	struct buffer described;
	char *pointer; /* the place of the refusal */
	char *refusal;
	bool is_over; /* it has an answer */
	/* a load has taken the answer: a refusal stays, a description only until its host has
	 * ended */
	bool is_taken;
	bool is_asked; /* by the load under way, or the last one */
	void *item;    /* the item waiting for the answer; NULL: none */
};

struct asking {
	struct loop *loop;
	const char *host_program;
	const struct config *config;
	asking_arrived_function arrived;
	void *data;
	asking_answered_function answered;
	struct loop_timer work;
	struct list questions; /* the oldest first */
};

static struct question *question_of(struct list *link)
{
	return container_of(link, struct question, link);
}

static void question_free(struct question *question)
{
	list_remove(&question->link);
	checker_free(question->checker);
	package_unref(question->package);
	buffer_deinit(&question->described);
	free(question->pointer);
	free(question->refusal);
	free(question);
}

/* ── the hosts ───────────────────────────────────────────────────────────────────────────────── */

/* Give the answer of @question to @item. */
static void give(struct question *question, void *item)
{
	const struct asking_answer answer = {
		.described = question->described,
		.pointer = question->pointer,
		.refusal = question->refusal,
		.package = question->package,
	};

	check(question->is_over && item);
	question->item = NULL;
	question->is_taken = true;
	question->asking->answered(item, &answer);
}

/* @question has its answer. */
static void end_question(struct question *question)
{
	struct asking *asking = question->asking;

	check(!question->is_over);
	question->is_over = true;
	if (question->item)
		give(question, question->item);
	else if (asking->arrived)
		asking->arrived(asking->data);
}

static void take_asked_refusal(void *item, const char *pointer, const char *text)
{
	struct question *question = item;

	/* Without memory the description is an empty one, which is refused. */
	question->pointer = strdup(pointer);
	question->refusal = question->pointer ? strdup(text) : NULL;
	end_question(question);
}

static void take_description(void *item, const char *described, size_t size)
{
	struct question *question = item;

	buffer_append(&question->described, described, size);
	end_question(question);
}

/* The host has ended. The checker may be freed here. */
static void asked_host_has_ended(void *data)
{
	struct question *question = data;
	struct asking *asking = question->asking;

	checker_free(take_ptr(question->checker));
	if (!question->is_over || (question->is_taken && !question->refusal))
		question_free(question);
	loop_timer_arm(&asking->work, 0);
}

static int start_asking(struct question *question)
{
	struct asking *asking = question->asking;
	int r = checker_new(asking->loop, asking->host_program, asking->config, &question->checker);

	r = r ? r : checker_add(question->checker, question->package, question);
	question->begun_ms = clock_now_ms();
	if (r == 0)
		checker_start(question->checker, take_asked_refusal, take_description,
			asked_host_has_ended, question);
	return r;
}

/* Begin as many questions as may begin. */
static void work(void *data)
{
	struct asking *asking = data;
	uint64_t now_ms = clock_now_ms();
	unsigned int n_hosts = 0;
	unsigned int n_young = 0;

	list_each(const struct question, question, &asking->questions, link) {
		n_hosts += question->checker != NULL;
		n_young += question->checker && !question->is_over &&
			   now_ms - question->begun_ms < YOUNG_MS;
	}
	list_each(struct question, question, &asking->questions, link) {
		if (question->begun_ms > 0)
			continue;
		if (n_young == YOUNG_MAX || n_hosts == HOSTS_MAX) {
			loop_timer_arm(&asking->work, YOUNG_MS / 4);
			return;
		}
		if (start_asking(question) < 0)
			take_asked_refusal(question, "", strerror(ENOMEM));
		n_hosts++;
		n_young++;
	}
}

/* ── for a load ──────────────────────────────────────────────────────────────────────────────── */

static struct question *find(const struct asking *asking, const char *key)
{
	list_each(struct question, question, &asking->questions, link) {
		if (strcmp(question->key, key) == 0 && (!question->is_taken || question->refusal))
			return question;
	}
	return NULL;
}

void asking_begin(struct asking *asking, asking_answered_function answered)
{
	asking->answered = answered;
	list_each(struct question, question, &asking->questions, link)
		question->is_asked = false;
}

int asking_ask(struct asking *asking, struct package *package, const char *key, void *item,
	bool may_ask_again)
{
	struct question *question = find(asking, key);

	if (question && question->is_taken && may_ask_again) {
		question_free(question);
		question = NULL;
	}
	if (!question) {
		question = calloc(1, sizeof(*question));
		if (!question)
			return -ENOMEM;
		question->asking = asking;
		memcpy(question->key, key, sizeof(question->key));
		question->package = package_ref(package);
		list_append(&asking->questions, &question->link);
		loop_timer_arm(&asking->work, 0);
	}
	question->is_asked = true;
	if (!question->is_over) {
		question->item = item;
		return 0;
	}
	give(question, item);
	if (!question->refusal && !question->checker)
		question_free(question);
	return 0;
}

size_t asking_n_waiting(const struct asking *asking)
{
	size_t n = 0;

	list_each(struct question, question, &asking->questions, link)
		n += question->item != NULL;
	return n;
}

void asking_let_go(struct asking *asking, void (*left)(void *item))
{
	list_each(struct question, question, &asking->questions, link) {
		void *item = take_ptr(question->item);

		if (item && left)
			left(item);
	}
}

void asking_end(struct asking *asking)
{
	struct list *link = asking->questions.next;

	while (link != &asking->questions) {
		struct question *question = question_of(link);

		link = link->next;
		/* After its answer, a host ends in order. */
		if (!question->is_asked && !(question->is_taken && question->checker))
			question_free(question);
	}
}

bool asking_has_answers(const struct asking *asking)
{
	list_each(const struct question, question, &asking->questions, link) {
		if (question->is_over && !question->is_taken)
			return true;
	}
	return false;
}

int asking_list(const struct asking *asking, bool has_answers, struct text_list *ids)
{
	int r = 0;

	list_each(const struct question, question, &asking->questions, link) {
		if (r == 0 && !question->is_taken && (has_answers || !question->is_over))
			r = text_list_add(ids, question->package->id);
	}
	return r;
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

int asking_new(struct loop *loop, const char *host_program, const struct config *config,
	asking_arrived_function arrived, void *data, struct asking **ret_asking)
{
	struct asking *asking = calloc(1, sizeof(*asking));

	if (!asking)
		return -ENOMEM;
	*asking = (struct asking){
		.loop = loop,
		.host_program = host_program,
		.config = config,
		.arrived = arrived,
		.data = data,
	};
	list_init(&asking->questions);
	if (loop_timer_init(&asking->work, loop, work, asking) < 0) {
		free(asking);
		return -ENOMEM;
	}
	*ret_asking = asking;
	return 0;
}

void asking_free(struct asking *asking)
{
	if (!asking)
		return;
	while (!list_is_empty(&asking->questions))
		question_free(question_of(asking->questions.next));
	loop_timer_deinit(&asking->work);
	free(asking);
}
