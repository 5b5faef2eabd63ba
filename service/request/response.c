/* SPDX-License-Identifier: Apache-2.0 */
#include "request/response.h"

#include "util/cleanup.h"

/* RFC 9110 §15 and RFC 6585 §5. */
static const struct status {
	unsigned int number;
	const char *phrase;
	const char *code;
} statuses[] = {
	{400, "Bad Request", "bad_request"},
	{401, "Unauthorized", "unauthorized"},
	{403, "Forbidden", "forbidden"},
	{408, "Request Timeout", "request_timeout"},
	{413, "Content Too Large", "too_large"},
	{414, "URI Too Long", "headers_too_large"},
	{426, "Upgrade Required", "upgrade_required"},
	{431, "Request Header Fields Too Large", "headers_too_large"},
	{501, "Not Implemented", "not_implemented"},
	{503, "Service Unavailable", "overloaded"},
	{505, "HTTP Version Not Supported", "version_not_supported"},
};

static const struct status *find_status(unsigned int number)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
		if (statuses[i].number == number)
			return &statuses[i];
	return &statuses[0];
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
