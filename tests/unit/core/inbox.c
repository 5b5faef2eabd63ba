/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/inbox.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void expect_first(struct inbox *inbox, const char *text)
{
	struct inbox_frame *frame = inbox_take_first(inbox);

	cr_assert(frame);
	cr_expect_null(frame->text.topic);
	cr_expect_eq(frame->text.message.size, strlen(text));
	cr_expect_arr_eq(frame->text.message.text, text, strlen(text));
	inbox_frame_unref(frame);
}

static int defer(struct inbox *inbox, uint32_t max, struct account *account, const char *message)
{
	return inbox_defer(
		inbox, max, account, NULL, &(struct request_text){.message = TEXT_VIEW(message)});
}

Test(inbox, gives_frames_back_in_their_order)
{
	struct inbox inbox;

	inbox_init(&inbox);
	cr_expect_null(inbox_take_first(&inbox));
	cr_expect_eq(defer(&inbox, 3, NULL, "one"), 0);
	cr_expect_eq(defer(&inbox, 3, NULL, "two"), 0);
	expect_first(&inbox, "one");
	cr_expect_eq(defer(&inbox, 3, NULL, "three"), 0);
	expect_first(&inbox, "two");
	expect_first(&inbox, "three");
	cr_expect_null(inbox_take_first(&inbox));
	inbox_deinit(&inbox);
}

Test(inbox, takes_no_more_than_it_may)
{
	struct inbox inbox;

	inbox_init(&inbox);
	cr_expect_eq(defer(&inbox, 1, NULL, "one"), 0);
	cr_expect_eq(defer(&inbox, 1, NULL, "two"), INBOX_E_FULL);
	cr_expect_eq(inbox.n_frames, 1);
	inbox_deinit(&inbox);
	cr_expect_eq(inbox.n_frames, 0);
}

Test(inbox, keeps_the_parts_of_a_request_apart)
{
	char message[] = "{\"name\":\"add\"}";
	char args[] = "{\"a\":1}";
	const struct request_text parts = {
		"ovos.tools.invoke", TEXT_VIEW(message), TEXT_VIEW(args)};
	struct inbox_frame *frame;
	struct inbox inbox;

	inbox_init(&inbox);
	cr_expect_eq(inbox_defer(&inbox, 1, NULL, NULL, &parts), 0);
	memset(message, '#', strlen(message));
	memset(args, '#', strlen(args));
	frame = inbox_take_first(&inbox);
	cr_assert(frame);
	cr_expect_str_eq(frame->text.topic, "ovos.tools.invoke");
	cr_expect_eq(frame->text.message.size, strlen(message));
	cr_expect_arr_eq(frame->text.message.text, "{\"name\":\"add\"}", strlen(message));
	cr_expect_eq(frame->text.args.size, strlen(args));
	cr_expect_arr_eq(frame->text.args.text, "{\"a\":1}", strlen(args));
	inbox_frame_unref(frame);
	inbox_deinit(&inbox);
}

Test(inbox, holds_no_more_bytes_of_one_peer_than_its_share)
{
	struct account_book book = {.bytes_max = 4096};
	struct account *account = account_new(&book);
	struct inbox_frame *frame;
	char text[1001];
	struct inbox inbox;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	inbox_init(&inbox);
	cr_expect_eq(defer(&inbox, 9, account, text), 0);
	cr_expect_eq(defer(&inbox, 9, account, text), INBOX_E_FULL);
	frame = inbox_take_first(&inbox);
	inbox_frame_unref(frame);
	cr_expect_eq(defer(&inbox, 9, account, text), 0);
	inbox_deinit(&inbox);
	cr_expect_eq(book.held, 0);
	account_unref(account);
}
