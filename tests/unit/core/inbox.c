/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inbox.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void expect_first(struct inbox *inbox, const char *text)
{
	struct inbox_frame *frame = inbox_take_first(inbox);

	cr_assert(frame);
	cr_expect_eq(frame->size, strlen(text));
	cr_expect_arr_eq(frame->text, text, strlen(text));
	inbox_frame_unref(frame);
}

Test(inbox, gives_frames_back_in_their_order)
{
	struct inbox inbox;

	inbox_init(&inbox);
	cr_expect_null(inbox_take_first(&inbox));
	cr_expect_eq(inbox_defer(&inbox, 3, NULL, NULL, "one", 3), 0);
	cr_expect_eq(inbox_defer(&inbox, 3, NULL, NULL, "two", 3), 0);
	expect_first(&inbox, "one");
	cr_expect_eq(inbox_defer(&inbox, 3, NULL, NULL, "three", 5), 0);
	expect_first(&inbox, "two");
	expect_first(&inbox, "three");
	cr_expect_null(inbox_take_first(&inbox));
	inbox_deinit(&inbox);
}

Test(inbox, takes_no_more_than_it_may)
{
	struct inbox inbox;

	inbox_init(&inbox);
	cr_expect_eq(inbox_defer(&inbox, 1, NULL, NULL, "one", 3), 0);
	cr_expect_eq(inbox_defer(&inbox, 1, NULL, NULL, "two", 3), INBOX_E_FULL);
	cr_expect_eq(inbox.n_frames, 1);
	inbox_deinit(&inbox);
	cr_expect_eq(inbox.n_frames, 0);
}

Test(inbox, holds_no_more_bytes_of_one_peer_than_its_share)
{
	struct account_book book = {.bytes_max = 4096};
	struct account *account = account_new(&book);
	struct inbox_frame *frame;
	char text[1000] = "";
	struct inbox inbox;

	inbox_init(&inbox);
	cr_expect_eq(inbox_defer(&inbox, 9, account, NULL, text, sizeof(text)), 0);
	cr_expect_eq(inbox_defer(&inbox, 9, account, NULL, text, sizeof(text)), INBOX_E_FULL);
	frame = inbox_take_first(&inbox);
	inbox_frame_unref(frame);
	cr_expect_eq(inbox_defer(&inbox, 9, account, NULL, text, sizeof(text)), 0);
	inbox_deinit(&inbox);
	cr_expect_eq(book.held, 0);
	account_unref(account);
}
