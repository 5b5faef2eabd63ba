/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "mailbox.h"
#include "message.h"

Test(mail_mailbox, is_a_name_at_a_host)
{
	static const char *const good[] = {
		"a@b", "first.last+tag@mail.example.org", "x_y@h-1.org", "!#$%&'*+/=?^_`{|}~-@a.b"};
	static const char *const bad[] = {"", "a", "@b", "a@", "a@@b", "a@b@c", "a b@c", "a@b c",
		"a@b\n", "a\r\nRCPT TO:<x@y>@b", ".a@b", "a.@b", "a..b@c", "a@.b", "a@b.", "a@b..c",
		"a@-b", "a@b-", "a@b-.c", "a@b.-c", "<a@b>", "a@b>", "\"a\"@b", "a@[127.0.0.1]",
		"é@b", "a@é", "a@b,c@d"};
	char longest[80];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(mailbox_is_good(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_not(mailbox_is_good(bad[i]), "%s", bad[i]);
	memset(longest, 'a', sizeof(longest));
	memcpy(longest + 64, "@b", 3);
	cr_expect(mailbox_is_good(longest));
	memcpy(longest + 64, "a@b", 4);
	cr_expect_not(mailbox_is_good(longest));
}

static const struct message_recipient one_recipient = {.address = "to@b", .name = ""};

static struct message usual(void)
{
	return (struct message){
		.from = "me@a",
		.recipients = &one_recipient,
		.n_recipients = 1,
		.subject = "Hi",
		.content = "text",
		.content_size = 4,
		.id = "1@a",
		.boundary = "_1",
	};
}

static void expect_message(const struct message *message, const char *expected)
{
	struct text out = {0};

	message_write(message, &out);
	cr_expect_str_eq(text_string(&out), expected);
	text_free(&out);
}

Test(mail_message, has_headers_and_a_body)
{
	struct message message = usual();

	message.date = 951827696; /* a leap day */
	expect_message(&message,
		"Date: Tue, 29 Feb 2000 12:34:56 +0000\r\nFrom: <me@a>\r\nTo: <to@b>\r\n"
		"Subject: =?utf-8?B?SGk=?=\r\nMessage-ID: <1@a>\r\nMIME-Version: 1.0\r\n"
		"Content-Type: text/plain; charset=utf-8\r\n"
		"Content-Transfer-Encoding: base64\r\n\r\ndGV4dA==\r\n");
}

Test(mail_message, has_the_line_ends_of_a_mail_and_html)
{
	struct message message = usual();
	struct text out = {0};

	message.content = "<html>\na\r\nb";
	message.content_size = strlen(message.content);
	message_write(&message, &out);
	cr_expect(strstr(text_string(&out), "text/html; charset=utf-8"));
	cr_expect(strstr(text_string(&out), "\r\n\r\nPGh0bWw+DQphDQpi\r\n"), "%s", out.data);
	text_free(&out);
	cr_expect(message_is_html(" \n<!DOCTYPE html>", 17));
	cr_expect_not(message_is_html("a <html>", 8));
	cr_expect_not(message_is_html("", 0));
}

Test(mail_message, has_attachments_with_their_names)
{
	const struct message_attachment attachments[] = {
		{.name = "a b\"\r\n.txt", .bytes = "", .size = 0},
		{.name = "a-long-name-of-a-file-é.txt", .bytes = "x", .size = 1}};
	struct message message = usual();
	struct text out = {0};

	message.attachments = attachments;
	message.n_attachments = 2;
	message_write(&message, &out);
	cr_expect(strstr(text_string(&out), "filename*0*=utf-8''a%20b%22%0D%0A.txt\r\n"));
	cr_expect(strstr(text_string(&out), "filename*0*=utf-8''a-long-name-of-a-fil;\r\n"
					    " filename*1*=e-%C3%A9.txt\r\n"));
	cr_expect(strstr(text_string(&out), "base64\r\n\r\neA==\r\n--_1--\r\n"));
	text_free(&out);
}

/* Whatever a caller writes: every line is a header of ours, or goes on with one, or is base64. */
Test(mail_message, lets_no_text_end_its_header)
{
	static const char evil[] = "x\r\nBcc: evil@e\r\n\r\nbody \xC3\xA9 \xFF ?= =?utf-8?B?";
	const struct message_recipient recipient = {.address = "to@b", .name = evil};
	const struct message_attachment attachment = {
		.name = evil, .bytes = evil, .size = sizeof(evil) - 1};
	struct message message = usual();
	struct text out = {0};

	message.recipients = &recipient;
	message.subject = message.content = evil;
	message.content_size = sizeof(evil) - 1;
	message.attachments = &attachment;
	message.n_attachments = 1;
	message_write(&message, &out);
	cr_expect_null(strstr(text_string(&out), "evil@"));
	cr_expect_null(strstr(text_string(&out), "Bcc:"));
	for (const char *line = text_string(&out); *line; line = strstr(line, "\r\n") + 2) {
		const char *end = strstr(line, "\r\n");

		cr_assert_not_null(end);
		cr_expect_leq(end - line, 76);
		for (; line < end; line++)
			cr_expect(*line >= ' ' && *line < 0x7F);
	}
	text_free(&out);
}

Test(mail_message, splits_words_between_characters)
{
	struct message message = usual();
	struct text subject = {0};
	struct text out = {0};

	for (int i = 0; i < 50; i++)
		text_put(&subject, "é");
	message.subject = text_string(&subject);
	message_write(&message, &out);
	/* 38 bytes are 19 characters. */
	cr_expect(strstr(text_string(&out), "w6k=?=\r\n =?utf-8?B?w6nDq"), "%s", out.data);
	text_free(&subject);
	text_free(&out);
}
