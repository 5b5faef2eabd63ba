/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mcp/client/discovery.h"
#include "mcp/client/salvage.h"
#include "json/member.h"
#include "util/array.h"
#include "util/text/utf8.h"
#include "util/text/visible.h"
#include "worker/mcp/http.h"

/*
 * The reason for a missing response: a failure of the connection, or other bytes from the server.
 */

/* The longest part of a body in a reason. */
#define QUOTED_BYTES 200

#define OLDER "it may be a server of the older transport HTTP+SSE, which is not supported"

/* Read the body of @request if it is JSON. */
static bool read_body(const struct http_request *request, struct json_tape *tape)
{
	return http_request_is_type(request, "application/json") &&
	       json_tape_read(tape, request->body.data, request->body.size, JSON_DEPTH_DEFAULT,
		       NULL) == 0 &&
	       json_type_at(tape, 0) == JSON_OBJECT;
}

bool http_request_has_response(const struct http_request *request, bool may_lack_id)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t id;

	if (!read_body(request, &tape))
		return false;
	id = json_find_root(&tape, "id");
	if (id == JSON_NONE || mcp_id_number(&tape, id) != request->id)
		return may_lack_id && id == JSON_NONE &&
		       json_find_root(&tape, "jsonrpc") != JSON_NONE &&
		       json_find_root(&tape, "error") != JSON_NONE;
	return true;
}

/* Return whether @code is the end of a connection in a request or its response. */
static bool has_broken(CURLcode code)
{
	return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
	       code == CURLE_PARTIAL_FILE || code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM;
}

/* Append the reason @text of libcurl without the time: the same failure has the same reason, logged
 * once. */
static void write_problem_reason(const char *text, struct buffer *out)
{
	static const char after[] = " after ";
	static const char *const units[] = {" milliseconds", " ms"};
	const char *time = strstr(text, after);
	const char *unit =
		time ? time + strlen(after) + strspn(time + strlen(after), "0123456789") : NULL;

	for (size_t i = 0; unit && i < ARRAY_SIZE(units); i++)
		if (strncmp(unit, units[i], strlen(units[i])) == 0) {
			buffer_append(out, text, (size_t)(time - text));
			buffer_append_string(out, unit + strlen(units[i]));
			return;
		}
	buffer_append_string(out, text);
}

/* Append the beginning of the body of @request, if the body is a text, or the message of an error
 * of JSON-RPC. */
static void write_problem_body(const struct http_request *request, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const struct buffer *body = &request->body;

	if (read_body(request, &tape) && json_find_root(&tape, "jsonrpc") != JSON_NONE) {
		mcp_discovery_write_error(&tape, "", out);
		return;
	}
	if (body->size == 0 || !(http_request_is_type(request, "application/json") ||
				       http_request_is_type(request, "text/plain")))
		return;
	buffer_append_string(out, ": ");
	visible_append(out, body->data, utf8_cut(body->data, body->size, QUOTED_BYTES));
}

/* Append why a status of 400 and above was the response to @request. */
static void write_status(const struct http_request *request, long status, struct buffer *out)
{
	buffer_printf(out, "it answers with the status %ld", status);
	if (status == 401)
		buffer_append_string(out, ": it wants a token, such as in "
					  "mcp.headers.Authorization; logins by OAuth are not "
					  "supported");
	else if (status == 405)
		buffer_append_string(out, ", so it takes no POST: " OLDER);
	else if (status == 404 && !request->http->session.version)
		buffer_append_string(out, ": if the path is right, " OLDER);
	else
		write_problem_body(request, out);
}

/* Append the mistake in a response to @request with a status below 300. */
static void write_fault(const struct http_request *request, struct buffer *out)
{
	const struct mcp_session *session = &request->http->session;
	struct curl_header *encoding;
	char *type = NULL;

	curl_easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &type);
	if (curl_easy_header(request->easy, "Content-Encoding", 0, CURLH_HEADER, -1, &encoding) ==
		CURLHE_OK)
		buffer_printf(out, "it answers with the encoding %s, which is not asked for",
			encoding->value);
	else if (session->n_notes != request->n_notes && session->last_note.size > 0)
		buffer_append_buffer(out, &session->last_note);
	else if (!request->is_stream && request->body.size == 0)
		buffer_append_string(out, "its answer is empty");
	else if (!request->is_stream && !http_request_is_type(request, "application/json"))
		buffer_printf(out,
			"it answers with %s, not with application/json or " HTTP_EVENT_STREAM,
			type ? type : "no type");
	else
		buffer_append_string(out, "it has ended its answer early");
}

void http_problem_note(struct http *http, const struct http_request *request, CURLcode code)
{
	cleanup(buffer_deinit) struct buffer problem = {0};
	long status = http_request_status(request);
	char *target = NULL;

	curl_easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &target);
	http->is_gone = code == CURLE_OK ? status >= 300 : code != CURLE_WRITE_ERROR;
	http->is_too_large = request->is_too_large;
	http->is_broken = code == CURLE_OK ? request->is_stream : has_broken(code);
	if (code == CURLE_WRITE_ERROR)
		buffer_append_string(&problem, "it has sent too much");
	else if (code != CURLE_OK)
		write_problem_reason(
			*request->error ? request->error : curl_easy_strerror(code), &problem);
	else if (target)
		buffer_printf(&problem, "it redirects to %s, which is not followed", target);
	else if (status >= 300)
		write_status(request, status, &problem);
	else
		write_fault(request, &problem);
	/* The server may repeat the secrets, as in a redirect. */
	buffer_reset(&http->problem);
	mcp_secrets_mask(
		&http->session.configuration.secrets, problem.data, problem.size, &http->problem);
}
