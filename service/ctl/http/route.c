/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/http/route.h"

#include <errno.h>
#include <string.h>

#include "ctl/response.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/text/text.h"

#define MEMBERS_MAX 8

/* The members of a request's data go to the path (in the place of {}), the query or the body. */
struct route {
	const char *topic;
	const char *method;
	const char *path;
	const char *segment;
	const char *in_query[MEMBERS_MAX]; /* the same name there, or MEMBER=NAME */
	const char *query;                /* more of it, unless the data has that member; or NULL */
	const char *in_body[MEMBERS_MAX]; /* "args": the body is its value */
	bool has_effect;
	bool is_watch;
};

static const struct route routes[] = {
	{.topic = "ovos.tools.list",
		.method = "GET",
		.path = "/v1/tools",
		.in_query = {"toolbox_id", "profile", "format", "toolboxes"},
		.query = "format=full"},
	{.topic = "ovos.tools.get",
		.method = "GET",
		.path = "/v1/tools/{}",
		.segment = "name",
		.in_query = {"toolbox_id", "profile", "deadline"}},
	{.topic = "ovos.tools.invoke",
		.method = "POST",
		.path = "/v1/tools/{}",
		.segment = "name",
		.in_query = {"toolbox_id", "profile", "call_id", "timeout_ms", "background"},
		.in_body = {"args"},
		.has_effect = true},
	{.topic = "ovos.tools.validate",
		.method = "POST",
		.path = "/v1/tools/{}",
		.segment = "name",
		.in_query = {"toolbox_id", "profile"},
		.query = "dry_run=1",
		.in_body = {"args"}},
	{.topic = "ovos.tools.match",
		.method = "GET",
		.path = "/v1/match",
		.in_query = {"utterance", "lang", "profile"}},
	{.topic = "ovos.tools.search",
		.method = "GET",
		.path = "/v1/tools",
		.in_query = {"query=q", "limit", "toolbox_id", "profile", "format"},
		.query = "format=full"},
	{.topic = "ovos.tools.status",
		.method = "GET",
		.path = "/v1/status",
		.in_query = {"toolbox_id"}},
	{.topic = "ovos.tools.reload", .method = "POST", .path = "/v1/reload"},
	{.topic = "ovos.tools.calls",
		.method = "GET",
		.path = "/v1/calls",
		.in_query = {"state", "name", "toolbox_id", "source", "since_s", "limit",
			"profile"}},
	{.topic = "ovos.tools.cancel", .method = "DELETE", .path = "/v1/calls/{}", .segment = "id"},
	{.topic = "ovos.tools.job.list", .method = "GET", .path = "/v1/jobs"},
	{.topic = "ovos.tools.job.get",
		.method = "GET",
		.path = "/v1/jobs/{}",
		.segment = "job_id",
		.in_query = {"wait_ms"}},
	{.topic = "ovos.tools.job.cancel",
		.method = "DELETE",
		.path = "/v1/jobs/{}",
		.segment = "job_id"},
	{.topic = "ovos.tools.watch", .method = "GET", .path = "/v1/events", .is_watch = true},
	{.topic = "ovos.tools.approval.list",
		.method = "GET",
		.path = "/v1/approvals",
		.in_query = {"after"}},
	{.topic = "ovos.tools.approval.respond",
		.method = "POST",
		.path = "/v1/approvals/{}",
		.segment = "id",
		.in_body = {"decision", "reason"}},
};

void route_request_deinit(struct route_request *request)
{
	buffer_deinit(&request->target);
	buffer_deinit(&request->body);
}

/* Append @text with every byte encoded that a segment or a value of a query cannot have (RFC 3986
 * §2.3). */
static void append_encoded(struct buffer *out, const char *text, size_t size)
{
	static const char plain[] = TEXT_ALPHANUMERIC "-._~";

	for (size_t i = 0; i < size; i++) {
		if (text[i] && strchr(plain, text[i]))
			buffer_append_char(out, text[i]);
		else
			buffer_printf(out, "%%%02X", (unsigned char)text[i]);
	}
}

/* Append the value at @token: a text as such, true as 1, anything else as JSON. */
static void append_value(struct buffer *out, const struct json_tape *data, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};
	size_t size;
	const char *text = json_value_text(data, token, &size);

	if (json_type_at(data, token) == JSON_TRUE) {
		buffer_append_char(out, '1');
		return;
	}
	if (json_type_at(data, token) == JSON_STRING) {
		json_string_decode(data, token, &decoded);
		buffer_fail_with(out, &decoded);
		text = decoded.data;
		size = decoded.size;
	}
	append_encoded(out, text, size);
}

static void write_target(
	const struct route *route, const struct json_tape *data, struct buffer *out)
{
	const char *hole = strstr(route->path, "{}");
	uint32_t segment = route->segment ? json_find(data, 0, route->segment) : JSON_NONE;
	char before = '?';

	buffer_append(out, route->path, hole ? (size_t)(hole - route->path) : strlen(route->path));
	if (segment != JSON_NONE)
		append_value(out, data, segment);
	for (size_t i = 0; i < MEMBERS_MAX && route->in_query[i]; i++) {
		const char *member = route->in_query[i];
		size_t size = strcspn(member, "=");
		uint32_t value = json_find_sized(data, 0, member, size);

		if (value == JSON_NONE)
			continue;
		buffer_printf(out, "%c%s=", before, member[size] ? member + size + 1 : member);
		append_value(out, data, value);
		before = '&';
	}
	if (route->query &&
		json_find_sized(data, 0, route->query, strcspn(route->query, "=")) == JSON_NONE)
		buffer_printf(out, "%c%s", before, route->query);
}

static void write_body(const struct route *route, const struct json_tape *data, struct buffer *out)
{
	bool is_object = route->in_body[0] && strcmp(route->in_body[0], "args") != 0;

	if (is_object)
		buffer_append_char(out, '{');
	for (size_t i = 0; i < MEMBERS_MAX && route->in_body[i]; i++) {
		uint32_t value = json_find(data, 0, route->in_body[i]);
		size_t size;
		const char *text;

		if (value == JSON_NONE)
			continue;
		if (is_object && out->size > 1)
			buffer_append_char(out, ',');
		if (is_object)
			json_write_key(out, route->in_body[i]);
		text = json_value_text(data, value, &size);
		buffer_append(out, text, size);
	}
	if (is_object)
		buffer_append_char(out, '}');
}

int route_write(const char *topic, const struct buffer *data, struct route_request *ret_request)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const struct route *route = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		if (strcmp(routes[i].topic, topic) == 0)
			route = &routes[i];
	if (!route)
		return -ENOENT;
	if (json_tape_read(&tape, data->data, data->size, CTL_RESPONSE_DEPTH_MAX, NULL) != 0 ||
		json_type_at(&tape, 0) != JSON_OBJECT)
		return -EINVAL;
	ret_request->method = route->method;
	ret_request->has_effect = route->has_effect;
	ret_request->is_watch = route->is_watch;
	ret_request->wants_events = route->is_watch || json_find(&tape, 0, "progress") != JSON_NONE;
	write_target(route, &tape, &ret_request->target);
	write_body(route, &tape, &ret_request->body);
	return buffer_terminate(&ret_request->target) && buffer_status(&ret_request->body) == 0
		       ? 0
		       : -ENOMEM;
}

void route_read(const char *type, const struct text_view *body, struct buffer *out)
{
	static const char markdown[] = "text/markdown";

	buffer_reset(out);
	if (!type || strncmp(type, markdown, strlen(markdown)) != 0) {
		buffer_append(out, body->text, body->size);
		return;
	}
	buffer_append_string(out, "{\"text\":");
	json_write_bytes_lossy(out, body->text, body->size);
	buffer_append_char(out, '}');
}
