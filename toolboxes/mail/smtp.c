/* SPDX-License-Identifier: Apache-2.0 */
#include "smtp.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#define CONNECT_MS     20000
#define REPLY_SIZE_MAX 300

/* A delivery while it runs. */
struct delivery {
	const struct text *mail;
	struct timespec end;
	curl_socket_t socket;
	bool is_late;
	size_t at;
	bool is_complete; /* the server has been given all of the mail */
	char reply[REPLY_SIZE_MAX + 1];
	char error[CURL_ERROR_SIZE];
};

/* ── the server ──────────────────────────────────────────────────────────────────────────────── */

/* Return whether @host, of @size, is this machine. */
static bool is_near(const char *host, size_t size)
{
	char name[64];

	if (size >= sizeof(name))
		return false;
	memcpy(name, host, size);
	name[size] = '\0';
	return strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0 ||
	       (strncmp(name, "127.", 4) == 0 && strspn(name, "0123456789.") == size);
}

/* Return whether the rest of the URL after the host is `:PORT`, or nothing. */
static bool is_port(const char *rest)
{
	unsigned long port;

	if (*rest == '\0')
		return true;
	if (*rest != ':' || strlen(rest) > 6 || rest[1] == '\0' ||
		strspn(rest + 1, "0123456789") != strlen(rest + 1))
		return false;
	port = strtoul(rest + 1, NULL, 10);
	return port > 0 && port <= 65535;
}

static bool read_tls(const char *tls, struct smtp_server *server)
{
	static const char *const names[] = {
		[SMTP_TLS_OFF] = "off",
		[SMTP_TLS_OPTIONAL] = "optional",
		[SMTP_TLS_REQUIRED] = "required",
	};

	server->tls = server->is_near ? SMTP_TLS_OPTIONAL : SMTP_TLS_REQUIRED;
	if (*tls == '\0')
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(tls, names[i]) == 0) {
			server->tls = (enum smtp_tls)i;
			return true;
		}
	return false;
}

bool smtp_server_read(const char *url, const char *tls, struct smtp_server *ret, struct text *why)
{
	const char *host = strncmp(url, "smtp://", 7) == 0    ? url + 7
			   : strncmp(url, "smtps://", 8) == 0 ? url + 8
							      : "";
	size_t size = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");

	if (size == 0 || size > strlen(host) || strpbrk(host, "/@?# \t\r\n%") ||
		!is_port(host + size))
		text_put(why, "server must be smtp://HOST:PORT or smtps://HOST:PORT");
	*ret = (struct smtp_server){
		.url = url, .user = "", .is_near = why->size == 0 && is_near(host, size)};
	if (why->size == 0 && !read_tls(tls, ret))
		text_put(why, "tls must be required, optional or off");
	return why->size == 0;
}

/* ── the delivery ────────────────────────────────────────────────────────────────────────────── */

/* Hand the next part of the mail to libcurl (CURLOPT_READFUNCTION). */
static size_t read_mail(char *to, size_t one, size_t room, void *data)
{
	struct delivery *delivery = data;
	size_t n = delivery->mail->size - delivery->at;

	room *= one;
	n = n < room ? n : room;
	memcpy(to, delivery->mail->data + delivery->at, n);
	delivery->at += n;
	delivery->is_complete = delivery->at == delivery->mail->size;
	return n;
}

/* Keep the last line of the server (CURLOPT_HEADERFUNCTION), without controls; the first one that
 * refuses stays, since the answer to QUIT comes after. */
static size_t keep_reply(char *bytes, size_t one, size_t size, void *data)
{
	struct delivery *delivery = data;
	size_t n = 0;

	size *= one;
	if (*delivery->reply == '4' || *delivery->reply == '5')
		return size;
	for (size_t i = 0; i < size && n < REPLY_SIZE_MAX; i++)
		if ((unsigned char)bytes[i] >= ' ')
			delivery->reply[n++] = bytes[i];
	delivery->reply[n] = '\0';
	return size;
}

/* Make the connection's socket (CURLOPT_OPENSOCKETFUNCTION), and keep it. */
static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct delivery *delivery = data;

	(void)purpose;
	delivery->socket =
		socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	return delivery->socket;
}

/* Shut the connection down when the time is over (CURLOPT_XFERINFOFUNCTION). libcurl would wait for
 * an answer to QUIT, from a server that does not answer. */
static int watch_time(void *data, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct delivery *delivery = data;
	struct timespec now;

	(void)a, (void)b, (void)c, (void)d;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec > delivery->end.tv_sec ||
		(now.tv_sec == delivery->end.tv_sec && now.tv_nsec >= delivery->end.tv_nsec))
		delivery->is_late = true;
	if (delivery->is_late && delivery->socket != CURL_SOCKET_BAD)
		shutdown(delivery->socket, SHUT_RDWR);
	return 0;
}

static bool add_recipient(struct curl_slist **list, const char *address)
{
	struct curl_slist *longer;
	struct text path = {0};

	text_printf(&path, "<%s>", address);
	longer = path.has_failed ? NULL : curl_slist_append(*list, path.data);
	text_free(&path);
	*list = longer ? longer : *list;
	return longer;
}

/* Set @easy to @server. The name that is said in EHLO is the domain of the sender. */
static bool set_server(
	CURL *easy, const struct smtp_server *server, const char *password, const char *from)
{
	static const long levels[] = {
		[SMTP_TLS_OFF] = CURLUSESSL_NONE,
		[SMTP_TLS_OPTIONAL] = CURLUSESSL_TRY,
		[SMTP_TLS_REQUIRED] = CURLUSESSL_ALL,
	};
	const char *authorities = getenv("SSL_CERT_FILE");
	bool has_port = strchr(strstr(server->url, "://") + 3, ']')
				? strstr(server->url, "]:")
				: strchr(strstr(server->url, "://") + 3, ':');
	struct text url = {0};
	CURLcode code;

	text_printf(&url, "%s%s/%s", server->url,
		has_port || strncmp(server->url, "smtps", 5) == 0 ? "" : ":587",
		strchr(from, '@') + 1);
	code = url.has_failed ? CURLE_OUT_OF_MEMORY : curl_easy_setopt(easy, CURLOPT_URL, url.data);
	text_free(&url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_USE_SSL, levels[server->tls]);
	if (authorities && *authorities)
		curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
	if (code == CURLE_OK && *server->user) {
		code = curl_easy_setopt(easy, CURLOPT_USERNAME, server->user);
		code = code ? code : curl_easy_setopt(easy, CURLOPT_PASSWORD, password);
	}
	return code == CURLE_OK;
}

/* Set the mail, from @from to @recipients. */
static bool set_mail(
	CURL *easy, struct delivery *delivery, const char *from, struct curl_slist *recipients)
{
	struct text path = {0};
	CURLcode code;

	text_printf(&path, "<%s>", from);
	code = path.has_failed ? CURLE_OUT_OF_MEMORY
			       : curl_easy_setopt(easy, CURLOPT_MAIL_FROM, path.data);
	text_free(&path);
	curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, recipients);
	curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)delivery->mail->size);
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_mail);
	curl_easy_setopt(easy, CURLOPT_READDATA, delivery);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, keep_reply);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, delivery);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, delivery);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, watch_time);
	curl_easy_setopt(easy, CURLOPT_XFERINFODATA, delivery);
	curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, delivery->error);
	return code == CURLE_OK;
}

/* Read no more from the server. libcurl ends the connection by QUIT, and would wait for the answer
 * for two minutes. */
static void stop_reading(CURL *easy)
{
	curl_socket_t socket = CURL_SOCKET_BAD;

	if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK &&
		socket != CURL_SOCKET_BAD)
		shutdown(socket, SHUT_RD);
}

/* Append why the delivery ended with @code. */
static void write_failure(const struct delivery *delivery, CURLcode code, struct text *why)
{
	if (code == CURLE_USE_SSL_FAILED)
		text_put(why, "the server offers no TLS, which toolboxes.mail.tls requires");
	else if (code == CURLE_LOGIN_DENIED)
		text_put(why, "the server refuses the login: look at toolboxes.mail.user and its "
			      "password file");
	else if (code == CURLE_OPERATION_TIMEDOUT || delivery->is_late)
		text_put(why, "the server did not answer in time");
	else
		text_put(why, *delivery->error ? delivery->error : curl_easy_strerror(code));
	if (*delivery->reply)
		text_printf(why, " (its last answer: %s)", delivery->reply);
	text_put(why, delivery->is_complete && code != CURLE_WEIRD_SERVER_REPLY
			      ? ". The mail was handed over, and the server did not confirm it: it "
				"may have been sent"
			      : ". Nothing was sent");
}

bool smtp_send(const struct smtp_server *server, const char *password,
	const struct message *message, const struct text *mail, long wait_ms, struct text *why)
{
	struct delivery delivery = {.mail = mail, .socket = CURL_SOCKET_BAD};
	struct curl_slist *recipients = NULL;
	CURL *easy = curl_easy_init();
	CURLcode code = CURLE_OUT_OF_MEMORY;
	bool is_good = easy;

	for (size_t i = 0; is_good && i < message->n_recipients; i++)
		is_good = add_recipient(&recipients, message->recipients[i].address);
	is_good = is_good && set_server(easy, server, password, message->from) &&
		  set_mail(easy, &delivery, message->from, recipients);
	clock_gettime(CLOCK_MONOTONIC, &delivery.end);
	delivery.end.tv_sec += wait_ms / 1000;
	if (is_good) {
		curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
		curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
		curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
		curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, wait_ms);
		code = curl_easy_perform(easy);
		stop_reading(easy);
	}
	if (code != CURLE_OK)
		write_failure(&delivery, code, why);
	curl_slist_free_all(recipients);
	curl_easy_cleanup(easy);
	return code == CURLE_OK;
}
