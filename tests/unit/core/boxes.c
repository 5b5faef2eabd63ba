/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <string.h>

#include "../scratch.h"
#include "registry/manifest.h"

#define BOXES_MAX 8
#define DEPTH     128

struct toolbox *make_box(const char *id, const char *tools)
{
	struct manifest_reader *reader = manifest_reader_new(NULL);
	struct problems problems = {0};
	struct toolbox *toolbox = NULL;
	struct buffer text = {0};
	char name[64];

	scratch_set_up();
	snprintf(name, sizeof(name), "%s.json", id);
	buffer_printf(&text, "{'kind':'native','library':'libc.so.6','tools':[%s]}", tools);
	scratch_write_json(name, buffer_terminate(&text));
	cr_assert_eq(manifest_read(reader, scratch_path(name), &toolbox, &problems), 0, "%s: %s",
		text.data, problems.n_items > 0 ? problems.items[0].text : "");
	problems_deinit(&problems);
	manifest_reader_free(reader);
	buffer_deinit(&text);
	scratch_tear_down();
	return toolbox;
}

struct catalogue *make_catalogue(struct toolbox *first, ...)
{
	struct toolbox *boxes[BOXES_MAX];
	struct catalogue *catalogue;
	size_t n_boxes = 0;
	va_list more;

	va_start(more, first);
	for (struct toolbox *box = first; box; box = va_arg(more, struct toolbox *)) {
		cr_assert_lt(n_boxes, (size_t)BOXES_MAX);
		boxes[n_boxes++] = box;
	}
	va_end(more);
	catalogue = catalogue_new(boxes, n_boxes, NULL, NULL, 1);
	cr_assert(catalogue);
	while (n_boxes > 0)
		toolbox_unref(boxes[--n_boxes]);
	return catalogue;
}

void ask(struct asked *asked, const char *members)
{
	struct buffer text = {0};

	asked_deinit(asked);
	buffer_printf(&text, "{'type':'t','data':{%s}}", members);
	asked->frame = buffer_take(&text, NULL);
	for (char *at = asked->frame; (at = strchr(at, '\'')); at++)
		*at = '"';
	cr_assert_eq(bus_envelope_read(&asked->envelope, asked->frame, strlen(asked->frame), DEPTH),
		0, "%s", members);
	cr_assert(request_read(&asked->request, &asked->envelope, REQUEST_CALL | REQUEST_OWNER),
		"%s", members);
	answer_begin(&asked->answer, &asked->envelope);
}

void expect_answer(const struct asked *asked, const char *expected)
{
	const char *text = asked->answer.message.data + asked->answer.opened;
	size_t size = asked->answer.message.size - asked->answer.opened;

	cr_expect(size == strlen(expected) && memcmp(text, expected, size) == 0, "%.*s", (int)size,
		text);
}

void asked_deinit(struct asked *asked)
{
	answer_deinit(&asked->answer);
	request_deinit(&asked->request);
	bus_envelope_deinit(&asked->envelope);
	free(asked->frame);
	*asked = (struct asked){0};
}
