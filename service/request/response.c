/* SPDX-License-Identifier: Apache-2.0 */
#include "request/response.h"

#include "util/array.h"
#include "util/cleanup.h"

/* RFC 9110 §15 and RFC 6585 §4 and §5; 499 is nginx's. The code names an error of HTTP itself. The
 * first entry is used for a number missing here. */
static const struct status {
	unsigned int number;
	const char *phrase;
	const char *code;
} statuses[] = {
	{400, "Bad Request", "bad_request"},
	{200, "OK", NULL},
	{202, "Accepted", NULL},
	{204, "No Content", NULL},
	{304, "Not Modified", NULL},
	{401, "Unauthorized", "unauthorized"},
	{403, "Forbidden", "forbidden"},
	{404, "Not Found", "not_found"},
	{405, "Method Not Allowed", "method_not_allowed"},
	{408, "Request Timeout", "request_timeout"},
	{409, "Conflict", NULL},
	{411, "Length Required", "length_required"},
	{413, "Content Too Large", "too_large"},
	{414, "URI Too Long", "headers_too_large"},
	{415, "Unsupported Media Type", "unsupported_media_type"},
	{417, "Expectation Failed", "expectation_failed"},
	{422, "Unprocessable Content", NULL},
	{426, "Upgrade Required", "upgrade_required"},
	{429, "Too Many Requests", NULL},
	{431, "Request Header Fields Too Large", "headers_too_large"},
	{499, "Client Closed Request", NULL},
	{500, "Internal Server Error", NULL},
	{501, "Not Implemented", "not_implemented"},
	{502, "Bad Gateway", NULL},
	{503, "Service Unavailable", "overloaded"},
	{504, "Gateway Timeout", NULL},
	{505, "HTTP Version Not Supported", "version_not_supported"},
};

static const struct status *find_status(unsigned int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].number == number)
			return &statuses[i];
	return &statuses[0];
}

const char *http_status_phrase(unsigned int status)
{
	return find_status(status)->phrase;
}

const char *http_status_code(unsigned int status)
{
	return find_status(status)->code;
}

void http_write_refusal(struct buffer *out, const struct http_refusal *refusal)
{
	cleanup(buffer_deinit) struct buffer body = {0};
	const struct status *found = find_status(refusal->status);

	buffer_printf(&body, "{\"error\":\"%s\",\"code\":\"%s\"}\n", refusal->reason, found->code);
	buffer_printf(out,
		"HTTP/1.1 %u %s\r\n"
		"Content-Type: application/json; charset=utf-8\r\n"
		"Content-Length: %zu\r\n"
		"Cache-Control: no-store\r\n"
		"X-Content-Type-Options: nosniff\r\n"
		"Connection: close\r\n"
		"%s\r\n",
		found->number, found->phrase, body.size, refusal->fields);
	buffer_append(out, body.data, body.size);
}
