/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MAIL_MESSAGE_H
#define MAIL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "text.h"

/*
 * A mail as it goes over SMTP (RFC 5322, RFC 2045 to 2047, RFC 2231).
 *
 *   From, To, Subject, Date, Message-ID      texts of a caller only as encoded words
 *   text/plain or text/html                  in base64
 *   attachments                              in base64, names as %XX
 *
 * No byte of a caller reaches a header as it is, except of addresses, which have been judged
 * (mailbox.h). So no text can end its header.
 */

struct message_recipient {
	const char *address;
	const char *name; /* UTF-8, or NULL */
};

struct message_attachment {
	const char *name; /* UTF-8, without a folder */
	const char *bytes;
	size_t size;
};

struct message {
	const char *from; /* an address */
	const struct message_recipient *recipients;
	size_t n_recipients;
	const char *subject;
	const char *content; /* HTML when it begins with <!doctype or <html */
	size_t content_size;
	const struct message_attachment *attachments;
	size_t n_attachments;
	const char *id;       /* of Message-ID, without <> */
	const char *boundary; /* not in base64, as with an '_' */
	time_t date;
};

/* Append @message, with CR LF. */
void message_write(const struct message *message, struct text *out);

/* Return whether @content is sent as HTML. */
bool message_is_html(const char *content, size_t size);

#endif
