/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/new/given.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "catalogue/toolbox.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "json/writer.h"
#include "mcp/client/secrets.h"
#include "util/file/file.h"
#include "util/file/paths.h"

/* A word of letters and digits that is as long is a secret. */
#define KEY_BYTES 16

/* The name of a variable of this process that lends a secret to the server. */
#define LENT       "TOOLBOXCTL_NEW_%zu"
#define LENT_BYTES 48

struct given {
	const char *name;
	size_t name_size;
	const char *value; /* NULL: the value of toolboxd's variable */
};

static size_t count(const struct ctl_options *options)
{
	return options->n_variables + options->n_headers;
}

/* Read the variable or header @index, the variables first. */
static struct given read_given(const struct ctl_options *options, size_t index)
{
	bool is_header = index >= options->n_variables;
	const char *text = is_header ? options->headers[index - options->n_variables]
				     : options->variables[index];
	size_t size = strcspn(text, is_header ? ":" : "=");
	const char *value = text[size] ? text + size + 1 : NULL;

	if (is_header && value)
		value += strspn(value, " ");
	return (struct given){text, size, value};
}

static bool ends_with(const struct given *given, const char *end)
{
	size_t size = strlen(end);

	return given->name_size >= size &&
	       strncasecmp(given->name + given->name_size - size, end, size) == 0;
}

/* Return whether @value is a URL with a user, who may have a password. */
static bool has_user(const char *value)
{
	const char *host = strstr(value, "://");

	return host && memchr(host + 3, '@', strcspn(host + 3, "/?#"));
}

/* Return whether @value is one word that looks like a key. */
static bool is_given_key(const char *value)
{
	bool has_letter = false;
	bool has_digit = false;

	for (const char *at = value; *at; at++) {
		if (!isalnum((unsigned char)*at) && !strchr("-_+=.", *at))
			return false;
		has_letter = has_letter || isalpha((unsigned char)*at);
		has_digit = has_digit || isdigit((unsigned char)*at);
	}
	return has_letter && has_digit && strlen(value) >= KEY_BYTES;
}

static bool is_secret(const struct given *given)
{
	if (!given->value || !*given->value || strstr(given->value, "${"))
		return false;
	return mcp_names_secret(given->name, given->name_size) || ends_with(given, "pass") ||
	       ends_with(given, "pwd") || has_user(given->value) || is_given_key(given->value);
}

/* Append the path of the file of a secret; without @given, the folder. */
static void append_path(const char *id, const struct given *given, struct buffer *out)
{
	cleanup_free char *home = NULL;
	int r = paths_xdg_home("XDG_CONFIG_HOME", ".config", &home);

	if (r < 0)
		out->error = r;
	buffer_printf(out, "%s/toolboxd/secrets", home ? home : "");
	if (given)
		buffer_printf(out, "/%s.%.*s", id, (int)given->name_size, given->name);
}

/* ── the command line ────────────────────────────────────────────────────────────────────────── */

static int refuse_given(const char *flag, const char *expected, const struct given *given)
{
	/* The value may be a secret. */
	terminal_complain(
		"%s must be %s, not '%.*s'", flag, expected, (int)given->name_size, given->name);
	return CTL_USAGE;
}

static int check_one(const struct given *given, bool is_header)
{
	const char *flag = is_header ? "--header" : "--env";
	bool is_name = given->name_size > 0;

	for (size_t i = 0; i < given->name_size; i++)
		is_name = is_name && (isalnum((unsigned char)given->name[i]) ||
					     given->name[i] == '_' || given->name[i] == '-');
	if (is_header && (!is_name || !given->value))
		return refuse_given(
			flag, "'NAME: VALUE', with letters, digits, '_' and '-' in NAME", given);
	if (!is_name)
		return refuse_given(flag,
			"NAME=VALUE, or NAME for a variable of toolboxd, with letters, digits, "
			"'_' and '-' in NAME",
			given);
	return CTL_DONE;
}

/* Return whether another value is kept in the file of @given. */
static bool is_name_taken(const char *id, const struct given *given, struct buffer *path)
{
	cleanup(buffer_deinit) struct buffer kept = {0};
	int r;

	append_path(id, given, path);
	if (!buffer_terminate(path))
		return true;
	r = file_read(path->data, MCP_SECRET_BYTES, &kept);
	return r != -ENOENT && r != -ENOTDIR && (r < 0 || !buffer_is(&kept, given->value));
}

int new_given_check(const char *id, const struct ctl_options *options)
{
	if ((options->n_variables > 0 && options->url) ||
		(options->n_headers > 0 && !options->url)) {
		terminal_complain("--env is for --command, and --header for --url");
		return CTL_USAGE;
	}
	for (size_t i = 0; i < count(options); i++) {
		struct given given = read_given(options, i);
		cleanup(buffer_deinit) struct buffer path = {0};
		int r = check_one(&given, i >= options->n_variables);

		if (r != CTL_DONE)
			return r;
		if (!is_secret(&given) || !is_name_taken(id, &given, &path))
			continue;
		terminal_complain("'%s' is there already, with another value: remove it, or "
				  "choose another id",
			buffer_text(&path));
		return CTL_ERROR;
	}
	return CTL_DONE;
}

/* ── the manifest and the files ──────────────────────────────────────────────────────────────── */

int new_given_lend(const struct ctl_options *options)
{
	for (size_t i = 0; i < count(options); i++) {
		struct given given = read_given(options, i);
		char name[LENT_BYTES];

		snprintf(name, sizeof(name), LENT, i);
		if (is_secret(&given) && setenv(name, given.value, 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Append what the manifest has for the value of @given, the one at @index. */
static void append_given_value(
	const char *id, const struct given *given, size_t index, bool is_trial, struct buffer *out)
{
	if (!given->value) {
		buffer_printf(out, "${env:%.*s}", (int)given->name_size, given->name);
	} else if (!is_secret(given)) {
		buffer_append_string(out, given->value);
	} else if (is_trial) {
		buffer_printf(out, "${env:" LENT "}", index);
	} else {
		buffer_append_string(out, "${file:");
		append_path(id, given, out);
		buffer_append_char(out, '}');
	}
}

void new_given_write(
	const char *id, const struct ctl_options *options, bool is_trial, struct buffer *out)
{
	if (count(options) == 0)
		return;
	buffer_printf(out, ",\n    \"%s\": {", options->n_headers > 0 ? "headers" : "env");
	for (size_t i = 0; i < count(options); i++) {
		struct given given = read_given(options, i);
		cleanup(buffer_deinit) struct buffer value = {0};

		append_given_value(id, &given, i, is_trial, &value);
		buffer_fail_with(out, &value);
		buffer_append_string(out, i > 0 ? ", " : "");
		json_write_bytes_lossy(out, given.name, given.name_size);
		buffer_append_string(out, ": ");
		json_write_bytes_lossy(out, buffer_text(&value), value.size);
	}
	buffer_append_char(out, '}');
}

/* Make the folder @path and those above it, for their owner alone. 0 or a negative errno. */
static int make_secret_folders(char *path)
{
	for (char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
		int r;

		*end = '\0';
		r = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
		*end = '/';
		if (r < 0)
			return r;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int new_given_keep(const char *id, const struct ctl_options *options, char **ret_folder)
{
	cleanup(buffer_deinit) struct buffer folder = {0};
	bool is_any = false;
	int r = 0;

	*ret_folder = NULL;
	append_path(id, NULL, &folder);
	if (!buffer_terminate(&folder))
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count(options); i++) {
		struct given given = read_given(options, i);
		char name[LENT_BYTES + TOOLBOX_ID_BYTES + 256];

		if (!is_secret(&given))
			continue;
		if (snprintf(name, sizeof(name), "%s.%.*s", id, (int)given.name_size, given.name) >=
			(int)sizeof(name))
			return -ENAMETOOLONG;
		r = is_any ? 0 : make_secret_folders(folder.data);
		r = r ? r : file_replace(folder.data, name, given.value, strlen(given.value), 0600);
		is_any = true;
	}
	if (is_any)
		*ret_folder = buffer_take(&folder, NULL);
	return r;
}
