/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

/* RFC 2045, 6.8, and RFC 2047, 2: bytes that fit into an encoded word with its frame. */
#define LINE_BYTES 57
#define WORD_BYTES 39

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* ── base64 ──────────────────────────────────────────────────────────────────────────────────── */

/* Append @size bytes, at most LINE_BYTES, as base64. */
static void add_base64(struct text *out, const char *bytes, size_t size)
{
	char line[(LINE_BYTES + 2) / 3 * 4];
	size_t n = 0;

	for (size_t i = 0; i < size; i += 3) {
		uint32_t group = (uint32_t)(unsigned char)bytes[i] << 16;

		if (i + 1 < size)
			group |= (uint32_t)(unsigned char)bytes[i + 1] << 8;
		if (i + 2 < size)
			group |= (unsigned char)bytes[i + 2];
		line[n++] = digits[group >> 18];
		line[n++] = digits[group >> 12 & 63];
		line[n++] = i + 1 < size ? digits[group >> 6 & 63] : '=';
		line[n++] = i + 2 < size ? digits[group & 63] : '=';
	}
	text_add(out, line, n);
}

static void add_body(struct text *out, const char *bytes, size_t size)
{
	text_put(out, "Content-Transfer-Encoding: base64\r\n\r\n");
	for (size_t i = 0; i < size; i += LINE_BYTES) {
		add_base64(out, bytes + i, size - i < LINE_BYTES ? size - i : LINE_BYTES);
		text_put(out, "\r\n");
	}
}

/* ── headers ─────────────────────────────────────────────────────────────────────────────────── */

/* Append @text, of a caller, as encoded words, a line each. Controls become spaces. */
static void add_words(struct text *out, const char *text)
{
	size_t size = strlen(text);
	size_t at = 0;

	while (at < size) {
		char word[WORD_BYTES + 4];
		size_t n = 0;

		while (at < size) {
			size_t step = utf8_size(text + at, size - at);

			step = step ? step : 1;
			if (n + step > WORD_BYTES)
				break;
			memcpy(word + n, text + at, step);
			if ((unsigned char)word[n] < ' ' || word[n] == 0x7F)
				word[n] = ' ';
			n += step;
			at += step;
		}
		text_put(out, "=?utf-8?B?");
		add_base64(out, word, n);
		text_put(out, at < size ? "?=\r\n " : "?=");
	}
}

static void add_recipients(struct text *out, const struct message *message)
{
	text_put(out, "To: ");
	for (size_t i = 0; i < message->n_recipients; i++) {
		const struct message_recipient *one = &message->recipients[i];

		text_put(out, i > 0 ? ",\r\n " : "");
		if (one->name && *one->name) {
			add_words(out, one->name);
			text_put(out, "\r\n ");
		}
		text_printf(out, "<%s>", one->address);
	}
	text_put(out, "\r\n");
}

/* strftime() would take names of days from the locale. */
static void add_date(struct text *out, time_t date)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct tm utc;

	gmtime_r(&date, &utc);
	text_printf(out, "Date: %.3s, %02d %.3s %d %02d:%02d:%02d +0000\r\n",
		days + 3l * utc.tm_wday, utc.tm_mday, months + 3l * utc.tm_mon, utc.tm_year + 1900,
		utc.tm_hour, utc.tm_min, utc.tm_sec);
}

/* ── parts ───────────────────────────────────────────────────────────────────────────────────── */

bool message_is_html(const char *content, size_t size)
{
	while (size > 0 && *content && strchr(" \t\r\n", *content)) {
		content++;
		size--;
	}
	return (size >= 9 && strncasecmp(content, "<!doctype", 9) == 0) ||
	       (size >= 5 && strncasecmp(content, "<html", 5) == 0);
}

/* Append the content with the line ends of a mail. */
static void add_content(struct text *out, const struct message *message)
{
	const char *content = message->content;
	struct text lines = {0};

	for (size_t i = 0; i < message->content_size; i++) {
		bool is_end = content[i] == '\n' && (i == 0 || content[i - 1] != '\r');

		text_add(&lines, is_end ? "\r\n" : content + i, is_end ? 2 : 1);
	}
	text_printf(out, "Content-Type: text/%s; charset=utf-8\r\n",
		message_is_html(content, message->content_size) ? "html" : "plain");
	add_body(out, text_string(&lines), lines.size);
	out->has_failed |= lines.has_failed;
	text_free(&lines);
}

/* Append @name as a parameter with %XX (RFC 2231), on lines of their own. */
static void add_name(struct text *out, const char *name)
{
	size_t size = strlen(name);
	unsigned int n = 0;

	for (size_t at = 0; at < size || n == 0; n++) {
		text_printf(out, ";\r\n filename*%u*=%s", n, n == 0 ? "utf-8''" : "");
		for (size_t end = at + 20; at < size && at < end; at++)
			if (strchr("!#$&+-.^_`{}~", name[at]) ||
				memchr(digits, name[at], sizeof(digits) - 3))
				text_add(out, name + at, 1);
			else
				text_printf(out, "%%%02X", (unsigned char)name[at]);
	}
}

static void add_attachment(struct text *out, const struct message_attachment *attachment)
{
	text_put(out, "Content-Type: application/octet-stream\r\nContent-Disposition: attachment");
	add_name(out, attachment->name);
	text_put(out, "\r\n");
	add_body(out, attachment->bytes, attachment->size);
}

void message_write(const struct message *message, struct text *out)
{
	add_date(out, message->date);
	text_printf(out, "From: <%s>\r\n", message->from);
	add_recipients(out, message);
	text_put(out, "Subject: ");
	add_words(out, message->subject);
	text_printf(out, "\r\nMessage-ID: <%s>\r\nMIME-Version: 1.0\r\n", message->id);
	if (message->n_attachments == 0) {
		add_content(out, message);
		return;
	}
	text_printf(out, "Content-Type: multipart/mixed;\r\n boundary=\"%s\"\r\n\r\n--%s\r\n",
		message->boundary, message->boundary);
	add_content(out, message);
	for (size_t i = 0; i < message->n_attachments; i++) {
		text_printf(out, "--%s\r\n", message->boundary);
		add_attachment(out, &message->attachments[i]);
	}
	text_printf(out, "--%s--\r\n", message->boundary);
}
