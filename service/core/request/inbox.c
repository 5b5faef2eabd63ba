/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/inbox.h"

#include "util/assert.h"

#include <errno.h>
#include <stdlib.h>

void inbox_init(struct inbox *inbox)
{
	list_init(&inbox->frames);
	inbox->n_frames = 0;
}

void inbox_deinit(struct inbox *inbox)
{
	struct inbox_frame *frame;

	while ((frame = inbox_take_first(inbox)))
		inbox_frame_unref(frame);
}

int inbox_frame_new(struct account *account, struct address *address,
	const struct request_text *text, struct inbox_frame **ret_frame)
{
	size_t size = request_text_size(text);
	struct inbox_frame *frame = malloc(sizeof(*frame) + size);

	if (!frame)
		return -ENOMEM;
	if (!account_hold(account, size)) {
		free(frame);
		return INBOX_E_FULL;
	}
	frame->references = 1;
	frame->account = account_ref(account);
	frame->address = address_ref(address);
	list_init(&frame->link);
	frame->text = request_text_copy(text, frame->bytes);
	*ret_frame = frame;
	return 0;
}

int inbox_defer(struct inbox *inbox, uint32_t max, struct account *account, struct address *address,
	const struct request_text *text)
{
	struct inbox_frame *frame;
	int r;

	if (inbox->n_frames >= max)
		return INBOX_E_FULL;
	r = inbox_frame_new(account, address, text, &frame);
	if (r != 0)
		return r;
	list_append(&inbox->frames, &frame->link);
	inbox->n_frames++;
	return 0;
}

struct inbox_frame *inbox_take_first(struct inbox *inbox)
{
	struct list *link = list_take_first(&inbox->frames);

	if (!link)
		return NULL;
	check(inbox->n_frames > 0);
	inbox->n_frames--;
	return container_of(link, struct inbox_frame, link);
}

void inbox_frame_unref(struct inbox_frame *frame)
{
	if (!frame)
		return;
	check(frame->references > 0);
	if (--frame->references > 0)
		return;
	account_release(frame->account, request_text_size(&frame->text));
	account_unref(frame->account);
	address_unref(frame->address);
	free(frame);
}
