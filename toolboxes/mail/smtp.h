/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MAIL_SMTP_H
#define MAIL_SMTP_H

#include <stdbool.h>
#include <stddef.h>

#include "message.h"
#include "text.h"

/* The server of an operator. */
struct smtp_server {
	const char *url;  /* smtp://HOST:PORT or smtps://HOST:PORT */
	const char *user; /* "": no login */
	enum smtp_tls { SMTP_TLS_OFF, SMTP_TLS_OPTIONAL, SMTP_TLS_REQUIRED } tls;
	bool is_near; /* on this machine */
};

/* Read the server of @url, and the setting @tls ("": required unless the server is near). Return
 * false with @why. @ret borrows @url. */
bool smtp_server_read(const char *url, const char *tls, struct smtp_server *ret, struct text *why);

/* Hand @mail, a message of @message, to @server within @wait_ms; log in with @password, if the
 * server has a user. Return whether the server took it for all recipients; else @why has the words,
 * with its last answer. */
bool smtp_send(const struct smtp_server *server, const char *password,
	const struct message *message, const struct text *mail, long wait_ms, struct text *why);

#endif
