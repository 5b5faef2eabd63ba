/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/chat/questions.h"

#include <string.h>

#include "json/writer.h"

bool chat_questions_add(struct chat_questions *questions, const struct question_mark *mark,
	const struct json_tape *event)
{
	struct chat_question question = {.mark = *mark};

	if (questions->n_items == CHAT_QUESTIONS_MAX)
		return false;
	for (size_t i = 0; i < questions->n_items; i++)
		if (strcmp(questions->items[i].mark.id, mark->id) == 0)
			return false;
	json_write_compact(&question.text, event, 0);
	if (buffer_status(&question.text) < 0) {
		buffer_deinit(&question.text);
		return false;
	}
	questions->items[questions->n_items++] = question;
	return questions->n_items == 1;
}

bool chat_questions_drop(struct chat_questions *questions, size_t i)
{
	if (i >= questions->n_items)
		return false;
	buffer_deinit(&questions->items[i].text);
	questions->n_items--;
	memmove(&questions->items[i], &questions->items[i + 1],
		(questions->n_items - i) * sizeof(*questions->items));
	return i == 0 && questions->n_items > 0;
}

void chat_questions_deinit(struct chat_questions *questions)
{
	while (questions->n_items > 0)
		chat_questions_drop(questions, questions->n_items - 1);
}

bool chat_is_due(uint64_t *due_ms, uint64_t now_ms)
{
	if (now_ms < *due_ms)
		return false;
	*due_ms = now_ms + CHAT_RENEW_MS;
	return true;
}
