/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/http_tokens.h"
#include "config/remembered.h"
#include "ctl/command.h"
#include "ctl/policy/own_files.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "ctl/tool_names.h"
#include "json/reader.h"
#include "json/writer.h"
#include "policy/hex.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/stringify.h"

/*
 * toolboxctl token: make, list and revoke the tokens by which clients of HTTP come in. A token is
 * printed once, when it is made; its SHA-256 is kept in tokens.json of the service
 * (config/http_tokens.h).
 */

#define SECRET_BYTES 32

/* The tokens of the service's own file, and its folder. */
struct kept_tokens {
	struct text_list folders;
	const char *folder; /* the one that is written to */
	struct http_tokens tokens;
	int lock; /* no other toolboxctl changes the file until it is closed; -1: none */
};

static void deinit_kept(struct kept_tokens *kept)
{
	text_list_deinit(&kept->folders);
	http_tokens_deinit(&kept->tokens);
	if (kept->lock >= 0)
		close(kept->lock);
}

/* Read the tokens of the file. Return 0, or CTL_ERROR after a complaint: a file that cannot be read
 * is not replaced. */
static int read_kept(struct kept_tokens *kept)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup_free char *path = NULL;
	struct config_mistake mistake = {.text = "it is not JSON"};
	int r;

	if (asprintf(&path, "%s/%s", kept->folder, REMEMBERED_TOKENS) < 0)
		return CTL_ERROR;
	r = file_read(path, REMEMBERED_BYTES_MAX, &bytes);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r == 0)
		r = json_tape_read(
			&tape, buffer_text(&bytes), bytes.size, JSON_DEPTH_DEFAULT, NULL);
	if (r == 0)
		r = http_tokens_read_file(&tape, &kept->tokens, &mistake);
	if (r != 0)
		terminal_complain(
			"%s cannot be used: %s", path, r < 0 ? strerror(-r) : mistake.text);
	return r == 0 ? 0 : CTL_ERROR;
}

static void write_token(const struct http_token *token, struct buffer *out)
{
	char digest[2 * HTTP_TOKEN_DIGEST_BYTES + 1];

	text_write_hex(token->digest, HTTP_TOKEN_DIGEST_BYTES, digest);
	buffer_append_char(out, '{');
	json_write_member_text(out, "name", token->name);
	json_write_member_text(out, "token_sha256", digest);
	if (token->profile)
		json_write_member_text(out, "profile", token->profile);
	if (token->is_admin)
		buffer_append_string(out, ",\"admin\":true");
	if (token->since)
		json_write_member_text(out, "since", token->since);
	buffer_append_char(out, '}');
}

/* Write all tokens but the one called @without (NULL: none), and @added, which may be NULL. Return
 * 0 or an enum ctl_status after a complaint. */
static int write_kept(const struct ctl_options *options, const struct kept_tokens *kept,
	const char *without, const struct http_token *added)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	const char *separator = "\n  ";

	buffer_append_char(&text, '[');
	for (size_t i = 0; i <= kept->tokens.n_items; i++) {
		const struct http_token *token =
			i < kept->tokens.n_items ? &kept->tokens.items[i] : added;

		if (!token || (without && strcmp(token->name, without) == 0))
			continue;
		buffer_append_string(&text, separator);
		write_token(token, &text);
		separator = ",\n  ";
	}
	buffer_append_string(&text, "\n]\n");
	if (buffer_status(&text) < 0)
		return CTL_ERROR;
	return own_files_write(options, &kept->folders, "", REMEMBERED_TOKENS, &text);
}

/* Return whether the file, which the service has read, has the token @name: of @digest, or none at
 * all (NULL). */
static bool holds(const struct kept_tokens *kept, const char *name, const unsigned char *digest)
{
	const struct http_token *token = http_tokens_find(&kept->tokens, name);

	return digest ? token && memcmp(token->digest, digest, HTTP_TOKEN_DIGEST_BYTES) == 0
		      : !token;
}

/* Let others change the file again, have the service read it, without the response on stdout, and
 * check the token @name there against @digest (NULL: no such token). Return an enum ctl_status. */
static int put_in_force(struct ctl_session *session, const struct ctl_options *options,
	struct kept_tokens *kept, const char *name, const unsigned char *digest)
{
	struct ctl_options quiet = *options;
	struct kept_tokens now = {.folder = kept->folder};
	int r;

	close(take_fd(kept->lock));
	quiet.json = false;
	r = own_files_reload(session, &quiet);
	r = r ? r : read_kept(&now);
	if (r == 0 && !holds(&now, name, digest))
		r = own_files_complain_lost(name);
	http_tokens_deinit(&now.tokens);
	return r;
}

/* ── new ─────────────────────────────────────────────────────────────────────────────────────── */

static void print_secret(const struct ctl_options *options, const char *name, const char *secret)
{
	if (options->json)
		printf("{\"name\":\"%s\",\"token\":\"%s\"}\n", name, secret);
	else
		printf("%s\n", secret);
	fflush(stdout);
}

/* Complain when @profile offers no tool: its name may be wrong. Return 0 or an enum ctl_status. */
static int check_profile(struct ctl_session *session, const char *profile)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = tool_names_list(session, profile, &response);
	uint32_t tools = r == 0 ? ctl_response_find(&response, 0, "tools", JSON_ARRAY) : JSON_NONE;

	if (r == 0 && (tools == JSON_NONE || json_count(&response.tape, tools) == 0))
		terminal_complain(
			"there is no profile '%s', or it has no tool that is offered: until there "
			"is, the token may use nothing",
			profile);
	return r;
}

static int make_token(struct ctl_session *session, const struct ctl_options *options,
	struct kept_tokens *kept, char *name)
{
	char since[sizeof("2000-01-01T00:00:00Z")];
	char secret[2 * SECRET_BYTES + 1];
	unsigned char bytes[SECRET_BYTES];
	time_t now = time(NULL);
	struct tm utc;
	struct http_token token = {.name = name, .since = since, .is_admin = options->admin};
	cleanup_free char *profile = options->profile ? strdup(options->profile) : NULL;
	int r;

	if (http_tokens_find(&kept->tokens, name)) {
		terminal_complain(
			"there is a token %s; type: toolboxctl token revoke %s", name, name);
		return CTL_ERROR;
	}
	strftime(since, sizeof(since), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	token.profile = profile;
	if (hex_random(bytes, sizeof(bytes)) < 0) {
		terminal_complain("the system has no random bytes");
		return CTL_ERROR;
	}
	text_write_hex(bytes, sizeof(bytes), secret);
	http_token_digest(secret, strlen(secret), token.digest);
	r = write_kept(options, kept, NULL, &token);
	if (r == 0) {
		print_secret(options, name, secret);
		r = put_in_force(session, options, kept, name, token.digest);
	}
	if (r == 0 && profile)
		r = check_profile(session, profile);
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(secret, sizeof(secret));
	return r;
}

/* ── list and revoke ─────────────────────────────────────────────────────────────────────────── */

static int list_tokens(const struct ctl_options *options, const struct kept_tokens *kept)
{
	static const struct table_column columns[] = {
		{"TOKEN", false}, {"PROFILE", false}, {"ADMIN", false}, {"SINCE", false}};
	cleanup(table_deinit) struct table table = TABLE(columns);
	cleanup(buffer_deinit) struct buffer json = {0};

	for (size_t i = 0; i < kept->tokens.n_items; i++) {
		const struct http_token *token = &kept->tokens.items[i];

		table_add(&table, token->name);
		table_add(&table, token->profile ? token->profile : "");
		table_add(&table, token->is_admin ? "yes" : "no");
		table_add_time(&table, token->since ? token->since : "");
		buffer_append_string(&json, i > 0 ? ",{" : "{");
		json_write_member_text(&json, "name", token->name);
		json_write_member_text(&json, "profile", token->profile);
		buffer_printf(&json, ",\"admin\":%s", token->is_admin ? "true" : "false");
		json_write_member_text(&json, "since", token->since);
		buffer_append_char(&json, '}');
	}
	if (options->json)
		printf("[%.*s]\n", (int)json.size, buffer_text(&json));
	else if (table_rows(&table) > 0)
		table_print(&table);
	else
		terminal_complain("no token is in %s/%s; those of http.tokens are not listed",
			kept->folder, REMEMBERED_TOKENS);
	return CTL_DONE;
}

static int revoke_token(struct ctl_session *session, const struct ctl_options *options,
	struct kept_tokens *kept, const char *name)
{
	int r;

	if (!http_tokens_find(&kept->tokens, name)) {
		terminal_complain("no token %s is in %s/%s", name, kept->folder, REMEMBERED_TOKENS);
		return CTL_ERROR;
	}
	r = write_kept(options, kept, name, NULL);
	return r == 0 ? put_in_force(session, options, kept, name, NULL) : r;
}

/* ── the command ─────────────────────────────────────────────────────────────────────────────── */

/* Return whether the words after `token` are good; else there was a complaint. */
static bool check_words(const struct ctl_options *options)
{
	const char *verb = options->positional[1];
	bool is_list = strcmp(verb, "list") == 0;
	bool is_new = strcmp(verb, "new") == 0;
	bool is_named = is_new || strcmp(verb, "revoke") == 0;

	if (!(is_list && options->n_positional == 2) && !(is_named && options->n_positional == 3)) {
		terminal_complain("expected: token new NAME | list | revoke NAME");
		return false;
	}
	if (!is_new && (options->profile || options->admin)) {
		terminal_complain("--profile and --admin are for token new");
		return false;
	}
	if (is_named && !http_tokens_is_name(options->positional[2])) {
		terminal_complain("'%s' is no name of a token: 1 to " STRINGIFY(
					  HTTP_TOKEN_NAME_CHARS) " letters, digits, '_' and '-'",
			options->positional[2]);
		return false;
	}
	return true;
}

int ctl_token(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(deinit_kept) struct kept_tokens kept = {.lock = -1};
	cleanup_free char *name = NULL;
	bool is_list;
	int r;

	if (!check_words(options))
		return CTL_USAGE;
	r = ctl_session_open(options, &session);
	if (r == 0)
		r = own_files_ask(session, &kept.folders);
	if (r != 0)
		return r;
	kept.folder = kept.folders.items[kept.folders.n_items - 1];
	is_list = strcmp(options->positional[1], "list") == 0;
	if (!is_list)
		r = own_files_lock(options, &kept.folders, REMEMBERED_TOKENS, &kept.lock);
	r = r ? r : read_kept(&kept);
	if (r != 0)
		return r;
	if (is_list)
		return list_tokens(options, &kept);
	name = strdup(options->positional[2]);
	if (!name)
		return CTL_ERROR;
	return strcmp(options->positional[1], "new") == 0
		       ? make_token(session, options, &kept, name)
		       : revoke_token(session, options, &kept, name);
}
