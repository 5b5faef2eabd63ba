/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/head.h"

#include <stdio.h>
#include <time.h>

#include "request/response.h"

/* Return the time now as HTTP writes it (RFC 9110 §5.6.7). Only the loop asks for it. */
static const char *date_now(void)
{
	static time_t written_s;
	static char date[64];
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t now_s = time(NULL);
	struct tm now;

	if (now_s == written_s)
		return date;
	written_s = now_s;
	gmtime_r(&now_s, &now);
	snprintf(date, sizeof(date), "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
		days + 3 * ((size_t)now.tm_wday % 7), now.tm_mday % 100,
		months + 3 * ((size_t)now.tm_mon % 12), (now.tm_year + 1900) % 10000,
		now.tm_hour % 100, now.tm_min % 100, now.tm_sec % 100);
	return date;
}

static void append_line(struct buffer *head, const char *name, const char *value)
{
	buffer_append_string(head, name);
	buffer_append_string(head, value);
	buffer_append_string(head, "\r\n");
}

static void append_status(struct buffer *head, unsigned int status)
{
	const char digits[] = {(char)('0' + status / 100), (char)('0' + status / 10 % 10),
		(char)('0' + status % 10), ' '};

	buffer_append_string(head, "HTTP/1.1 ");
	buffer_append(head, digits, sizeof(digits));
	buffer_append_string(head, http_status_phrase(status));
}

void http_head_begin(
	struct buffer *head, const struct http_response *response, bool has_body, bool is_kept)
{
	append_status(head, response->status);
	append_line(head, "\r\nDate: ", date_now());
	if (has_body)
		append_line(head, "Content-Type: ",
			response->type ? response->type : "application/json; charset=utf-8");
	append_line(head, "Cache-Control: ", response->cache ? response->cache : "no-store");
	buffer_append_string(head, "X-Content-Type-Options: nosniff\r\n");
	if (!is_kept)
		buffer_append_string(head, "Connection: close\r\n");
}
