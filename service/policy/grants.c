/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/grants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/package.h"
#include "json/canonical.h"
#include "util/assert.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/sha256.h"

/* A grant is the digest of all its terms. */
struct grant {
	struct list link;
	unsigned char digest[SHA256_DIGEST_LENGTH];
};

/* Append a part with its size before it. */
static void append_part(struct buffer *key, const char *text, size_t size)
{
	buffer_append(key, &size, sizeof(size));
	buffer_append(key, text, size);
}

static int make_digest(const struct tool *tool, const struct buffer *scope,
	const struct policy_caller *caller, uint64_t grantee,
	unsigned char ret[SHA256_DIGEST_LENGTH])
{
	uint64_t libraries = toolbox_library_digest(&tool->toolbox->package->library);
	cleanup(buffer_deinit) struct buffer key = {0};

	append_part(&key, tool->toolbox->id, strlen(tool->toolbox->id));
	append_part(&key, tool->name, strlen(tool->name));
	append_part(&key, tool->definition, tool->definition_size);
	append_part(&key, (const char *)tool->run, sizeof(tool->run));
	append_part(&key, (const char *)&libraries, sizeof(libraries));
	append_part(&key, scope->data, scope->size);
	append_part(&key, caller->session_id.text, caller->session_id.size);
	append_part(&key, caller->source.text, caller->source.size);
	buffer_append(&key, &caller->door, sizeof(caller->door));
	buffer_append(&key, &caller->token, sizeof(caller->token));
	buffer_append(&key, &grantee, sizeof(grantee));
	buffer_fail_with(&key, scope);
	if (buffer_status(&key) < 0)
		return buffer_status(&key);
	sha256(key.data, key.size, ret);
	return 0;
}

static bool has_grant(const struct grants *grants, const unsigned char *digest)
{
	list_each(struct grant, grant, &grants->list, link)
		if (memcmp(grant->digest, digest, SHA256_DIGEST_LENGTH) == 0)
			return true;
	return false;
}

static void drop_oldest(struct grants *grants)
{
	struct list *link = list_take_first(&grants->list);

	check(link && grants->n > 0);
	free(container_of(link, struct grant, link));
	grants->n--;
}

void grants_init(struct grants *grants)
{
	list_init(&grants->list);
	grants->n = 0;
}

void grants_deinit(struct grants *grants)
{
	while (grants->n > 0)
		drop_oldest(grants);
}

uint64_t grantee_of(const struct policy_caller *caller, bool has_connections)
{
	if (caller->token)
		return caller->token;
	if (!caller->account || (caller->door == CALL_DOOR_BUS && !has_connections))
		return 0;
	return caller->account->number;
}

/* Read @arguments to @tape, and find their member @key. Return 0, with JSON_NONE without one, or
 * another value. */
static int find_argument(const struct text_view *arguments, const char *key, struct json_tape *tape,
	uint32_t *ret_value)
{
	int r = json_tape_read(
		tape, arguments->text, arguments->size, JSON_DOCUMENT_DEPTH_MAX, NULL);

	*ret_value = r == 0 ? json_find(tape, 0, key) : JSON_NONE;
	return r;
}

void grants_write_scope(
	const struct tool *tool, const struct text_view *arguments, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t value = JSON_NONE;

	if (!tool->grant_key)
		return;
	/* Without memory there is no grant. */
	if (find_argument(arguments, tool->grant_key, &tape, &value) != 0)
		out->error = -ENOMEM;
	else if (value != JSON_NONE)
		json_write_canonical(out, &tape, value);
}

bool grants_need_none(const struct tool *tool, const struct text_view *arguments)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t value;

	if (!tool->asked_key || find_argument(arguments, tool->asked_key, &tape, &value) != 0)
		return false;
	return value == JSON_NONE || json_type_at(&tape, value) == JSON_NULL ||
	       json_string_equals(&tape, value, "", 0);
}

int grants_add(struct grants *grants, const struct tool *tool, const struct buffer *scope,
	const struct policy_caller *caller, uint64_t grantee)
{
	cleanup_free struct grant *grant = malloc(sizeof(*grant));
	int r;

	if (!grant)
		return -ENOMEM;
	r = make_digest(tool, scope, caller, grantee, grant->digest);
	if (r < 0 || has_grant(grants, grant->digest))
		return r;
	if (grants->n == GRANTS_MAX)
		drop_oldest(grants);
	list_append(&grants->list, &take_ptr(grant)->link);
	grants->n++;
	return 0;
}

bool grants_have(const struct grants *grants, const struct tool *tool, const struct buffer *scope,
	const struct policy_caller *caller, uint64_t grantee)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	return grants->n > 0 && make_digest(tool, scope, caller, grantee, digest) == 0 &&
	       has_grant(grants, digest);
}
