/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/operator/fences.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/member.h"
#include "json/reader.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/digest.h"
#include "util/file/paths.h"

/* Keys, passwords and sessions, where programs usually keep them. */
static const char *const secrets[] = {".ssh", ".gnupg", ".pki", ".vault-token", ".my.cnf",
	".cargo/credentials.toml", ".netrc", ".pgpass", ".git-credentials", ".password-store",
	".env", ".env.local", ".env.production", ".npmrc", ".pypirc", ".aws", ".azure", ".kube",
	".docker/config.json", ".config/gh", ".config/hub", ".config/gcloud", ".config/rclone",
	".config/toolboxd", ".local/state/toolboxd", "approval.key", "tokens.json", "id_rsa",
	"id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", ".local/share/keyrings",
	".local/share/kwalletd", ".mozilla", ".thunderbird", ".config/google-chrome",
	".config/google-chrome-beta", ".config/chromium", ".config/BraveSoftware",
	".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".var/app", "snap/chromium"};

/* Files that shells, session managers and the assistant obey without being asked. */
static const char *const obeyed[] = {".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
	".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
	".kshrc", ".cshrc", ".tcshrc", ".login", ".config/fish", ".xinitrc", ".xsession",
	".xsessionrc", ".xprofile", ".pam_environment", ".config/systemd", ".config/autostart",
	".config/environment.d", ".config/mycroft", "mycroft.conf", ".local/share/toolboxd",
	".cache/toolboxd"};

static int add_all(const char *const *texts, size_t n, struct text_list *list)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = text_list_add(list, texts[i]);
	return r;
}

/* Add @folder, with @below at its end. */
static int add_below(const char *folder, const char *below, struct text_list *list)
{
	char *path = NULL;

	return asprintf(&path, "%s%s", folder, below) < 0 ? -ENOMEM : text_list_take(list, path);
}

/* Add @folder, found by a function of util/file/paths.h with the result @r, with @below at its end.
 * A folder that could not be found would be a fence that is lost. */
static int add_found(int r, const char *folder, const char *below, struct text_list *list)
{
	return r < 0 || !folder ? r : add_below(folder, below, list);
}

static int add_xdg(
	const char *variable, const char *fallback, const char *below, struct text_list *list)
{
	cleanup_free char *folder = NULL;
	int r = paths_xdg_home(variable, fallback, &folder);

	return add_found(r, folder, below, list);
}

/* Add the file at the token @value, which is absolute or below ~/. A file below the home of a user
 * without one does not exist. */
static int add_file(const struct json_tape *tape, uint32_t value, struct text_list *list)
{
	cleanup_free char *home = NULL;
	cleanup_free char *path = NULL;
	int r;

	if (value == JSON_NONE || json_type_at(tape, value) != JSON_STRING)
		return 0;
	path = json_string_dup(tape, value, NULL);
	if (!path)
		return -ENOMEM;
	if (path[0] != '~' || path[1] != '/')
		return *path ? add_below(path, "", list) : 0;
	r = paths_home(&home);
	return add_found(r, home, path + 1, list);
}

/* Add the files of the member @key of @object: one, or a list. */
static int add_files(
	const struct json_tape *tape, uint32_t object, const char *key, struct text_list *list)
{
	uint32_t value = json_find_present(tape, object, key);
	int r = 0;

	if (value == JSON_NONE || json_type_at(tape, value) != JSON_ARRAY)
		return add_file(tape, value, list);
	json_each_while(r == 0, at, tape, value)
		r = add_file(tape, at, list);
	return r;
}

/* Add the files with tokens of HTTP, which are in the array @tokens. */
static int add_token_files(const struct json_tape *tape, uint32_t tokens, struct text_list *list)
{
	int r = 0;

	if (tokens == JSON_NONE)
		return 0;
	json_each_while(r == 0, at, tape, tokens)
		r = add_files(tape, json_object_at(tape, at), "token_file", list);
	return r;
}

/* Add the files with secrets that no member of @config names, or none in a part of a command: of
 * HTTP and the audit log, of a toolbox and of toolbox-agent. */
static int add_named_files(const struct config *config, struct text_list *list)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const struct buffer *merged = &config->merged;
	uint32_t ours;
	uint32_t http;
	uint32_t mail;
	int r;

	if (merged->size == 0)
		return 0;
	if (json_tape_read(&tape, merged->data, merged->size, JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	ours = json_find_typed_at(&tape, 0, "toolboxd", JSON_OBJECT);
	http = json_find_typed(&tape, ours, "http", JSON_OBJECT);
	mail = json_find_typed(&tape, ours, "toolboxes", JSON_OBJECT);
	mail = json_find_typed(&tape, mail, "mail", JSON_OBJECT);
	r = add_token_files(&tape, json_find_typed(&tape, http, "tokens", JSON_ARRAY), list);
	r = r ? r : add_files(&tape, json_find_typed(&tape, http, "tls", JSON_OBJECT), "key", list);
	r = r ? r
	      : add_files(&tape, json_find_typed(&tape, ours, "audit", JSON_OBJECT), "file", list);
	r = r ? r : add_files(&tape, mail, "password_file", list);
	return r ? r
		 : add_files(&tape, json_find_typed(&tape, ours, "agent", JSON_OBJECT),
			   "api_key_file", list);
}

/* Add the secrets that the configuration names. */
static int add_own_secrets(const struct config *config, struct text_list *list)
{
	cleanup_free char *state = NULL;
	const char *const own[] = {config->approval_key_file, config->embedded_token_file,
		config->audit_file, config->http.tls_key};
	int r = paths_state(&state);

	/* Pins, sessions, and what toolboxes keep for themselves. */
	r = add_found(r, state, "", list);
	r = r ? r
	      : add_all((const char *const *)config->folders.items, config->folders.n_items, list);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(own); i++)
		r = own[i] ? add_below(own[i], "", list) : 0;
	return r ? r : add_named_files(config, list);
}

/* Add our own folders, and the files of the configuration. */
static int add_own_folders(const struct config *config, struct text_list *list)
{
	static const char *const variables[] = {
		"OVOS_DISTRIBUTION_CONFIG", "MYCROFT_SYSTEM_CONFIG", "CACHE_DIRECTORY"};
	int r = add_all((const char *const *)config->toolbox_dirs.items,
		config->toolbox_dirs.n_items, list);

	r = r ? r : add_xdg("XDG_CACHE_HOME", ".cache", "/toolboxd", list);
	r = r ? r : add_xdg("XDG_CONFIG_HOME", ".config", "/mycroft", list);
	r = r ? r : add_xdg("XDG_CONFIG_HOME", ".config", "/systemd", list);
	r = r ? r : add_xdg("XDG_CONFIG_HOME", ".config", "/autostart", list);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);

		r = value && *value == '/' ? add_below(value, "", list) : 0;
	}
	return r;
}

int fences_find(const struct config *config, struct fences *ret_fences)
{
	int r = add_all(secrets, ARRAY_SIZE(secrets), &ret_fences->hidden);

	r = r ? r : add_own_secrets(config, &ret_fences->hidden);
	r = r ? r : add_all(obeyed, ARRAY_SIZE(obeyed), &ret_fences->kept);
	return r ? r : add_own_folders(config, &ret_fences->kept);
}

int fences_paths(const struct text_list *fences, const char *home,
	const struct text_list *exceptions, struct sandbox_paths *paths)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < fences->n_items; i++) {
		const char *fence = fences->items[i];
		char *path = NULL;

		if (*fence != '/' && !home)
			continue;
		if (asprintf(&path, "%s%s%s", *fence == '/' ? "" : home, *fence == '/' ? "" : "/",
			    fence) < 0)
			return -ENOMEM;
		if (exceptions && text_list_has(exceptions, path))
			free(path);
		else
			r = sandbox_paths_take(paths, path);
	}
	return r;
}

uint64_t fences_digest(const struct fences *fences)
{
	const struct text_list *const lists[] = {&fences->hidden, &fences->kept};
	uint64_t digest = DIGEST_SEED;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		for (size_t j = 0; j < lists[i]->n_items; j++)
			digest = digest_bytes(
				digest, lists[i]->items[j], strlen(lists[i]->items[j]) + 1);
		digest = digest_bytes(digest, "", 1);
	}
	return digest | 1;
}

void fences_deinit(struct fences *fences)
{
	text_list_deinit(&fences->hidden);
	text_list_deinit(&fences->kept);
}
