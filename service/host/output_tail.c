/* SPDX-License-Identifier: Apache-2.0 */
#include "host/output_tail.h"

#include <stdlib.h>
#include <string.h>

#include "util/file/stamp.h"
#include "util/text/text.h"

void output_tail_add(struct output_tail *tail, const char *text, size_t size)
{
	struct output_tail_line *line;

	if (text_is_stack_frame(text, size))
		return;
	if (!tail->lines)
		tail->lines = calloc(OUTPUT_TAIL_LINES, sizeof(*tail->lines));
	if (!tail->lines)
		return;
	line = &tail->lines[tail->n_lines++ % OUTPUT_TAIL_LINES];
	line->at_ns = stamp_now_ns();
	line->size = size < sizeof(line->text) ? size : sizeof(line->text);
	memcpy(line->text, text, line->size);
}

const struct output_tail_line *output_tail_line(const struct output_tail *tail, size_t index)
{
	uint64_t first = tail->n_lines > OUTPUT_TAIL_LINES ? tail->n_lines - OUTPUT_TAIL_LINES : 0;

	if (index >= tail->n_lines - first)
		return NULL;
	return &tail->lines[(first + index) % OUTPUT_TAIL_LINES];
}

void output_tail_deinit(struct output_tail *tail)
{
	free(tail->lines);
	*tail = (struct output_tail){0};
}
