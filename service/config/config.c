/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/access.h"
#include "config/callers.h"
#include "config/http.h"
#include "config/keys.h"
#include "config/profiles.h"
#include "config/reader.h"
#include "config/remembered.h"
#include "config/token.h"
#include "config/toolboxes.h"
#include "config/websocket.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/digest.h"
#include "util/paths.h"

/*
 *   files ─stack▶ merged document ◀─environment─ variables, flags
 *                       │
 *                     text ─▶ tape ─keys, websocket, toolboxes, plugins▶ struct config
 *
 * Everything is merged as JSON first and read once, so the origin of a value makes no difference to
 * its check, and `merged` is the text that was read.
 */

static const char *const sections[] = {"toolboxd", "websocket"};

static int merge(struct config_reader *reader, const struct config_flags *flags,
	struct document **ret_merged)
{
	cleanup(document_cleanup) struct document *merged = document_new();
	int r = merged ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(sections); i++)
		r = document_set(merged, sections[i], "{}", strlen("{}"));
	if (r == 0)
		r = config_stack_read(flags->config, &reader->closing, &reader->stack);
	/* A file that was skipped may name one. */
	reader->is_token_hidden = reader->closing.is_closed;
	if (r == 0)
		r = config_stack_merge(&reader->stack, merged);
	if (r == 0)
		r = config_environment_apply(flags, &reader->closing, merged, &reader->environment);
	if (r == 0 && flags->is_second)
		r = document_set(merged, "toolboxd.http", "null", strlen("null"));
	if (r == 0)
		*ret_merged = take_ptr(merged);
	return r;
}

/* Add $PREFIX/lib/toolboxd/toolbox.d, /etc/toolboxd/toolbox.d,
 * $XDG_DATA_HOME/toolboxd/toolbox.d. */
static int add_default_folders(struct text_list *list)
{
	struct paths paths;
	cleanup_free char *home = paths_xdg_home("XDG_DATA_HOME", ".local/share");

	/* The library folder is known even if toolbox-host is missing. */
	(void)paths_find(&paths);
	for (size_t i = 0; i < 3; i++) {
		const char *folders[] = {paths.library_dir, "/etc/toolboxd", home};
		const char *below = i == 2 ? "toolboxd/toolbox.d" : "toolbox.d";
		char *path = NULL;

		if (!folders[i])
			continue;
		if (asprintf(&path, "%s/%s", folders[i], below) < 0 ||
			text_list_take(list, path) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void read_bus(struct config_reader *reader)
{
	config_websocket_read(reader, config_reader_find(reader, 0, "websocket"));
	if (reader->environment.has_bus)
		reader->config->bus = reader->environment.bus;
}

/* Read the section in which ovos-phal-plugin-tools, which we replace, configures its ToolBoxes. */
static void read_plugins(struct config_reader *reader)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t value = config_reader_find(reader, 0, "PHAL");

	if (value != JSON_NONE)
		value = config_reader_find(reader, value, "ovos-phal-plugin-tools");
	if (value == JSON_NONE || json_type_at(&reader->tape, value) != JSON_OBJECT)
		return;
	json_write_compact(&text, &reader->tape, value);
	reader->config->plugins = buffer_take(&text, NULL);
	if (!reader->config->plugins)
		reader->error = -ENOMEM;
}

/* Return the value at @path, of up to three keys, or JSON_NONE. */
static uint32_t find_at(const struct config_reader *reader, const char *const path[3])
{
	uint32_t at = 0;

	for (size_t i = 0; i < 3 && path[i]; i++) {
		if (json_type_at(&reader->tape, at) != JSON_OBJECT)
			return JSON_NONE;
		at = config_reader_find(reader, at, path[i]);
		if (at == JSON_NONE)
			return JSON_NONE;
	}
	return at;
}

/* Return the string `toolboxd.@section.@key`, which the caller frees, or NULL. */
static char *read_section_path(struct config_reader *reader, const char *section, const char *key)
{
	uint32_t at = find_at(reader, (const char *const[3]){"toolboxd", section, key});

	if (at == JSON_NONE || json_type_at(&reader->tape, at) != JSON_STRING)
		return NULL;
	return config_reader_string(reader, at);
}

/* Digest the values that only a start reads. */
static void digest_start(struct config_reader *reader)
{
	static const char *const paths[][3] = {{"websocket"}, {"toolboxd", "limits"},
		{"toolboxd", "embedded", "origins"}, {"toolboxd", "embedded", "stall_s"},
		{"toolboxd", "http", "listen"}, {"toolboxd", "http", "limits"}};
	cleanup(buffer_deinit) struct buffer text = {0};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		uint32_t value = find_at(reader, paths[i]);

		if (value != JSON_NONE)
			json_write_compact(&text, &reader->tape, value);
		buffer_append_char(&text, '\n');
	}
	if (buffer_status(&text) < 0)
		reader->error = buffer_status(&text);
	reader->config->start_digest = digest_bytes(DIGEST_SEED, text.data, text.size);
}

/* Note which variable has the filter. */
static void find_filter_variable(struct config_reader *reader)
{
	static const char *const pointers[] = {
		"/toolboxd/tools_enabled", "/toolboxd/tools_disabled"};

	for (size_t i = 0; i < 2 && !reader->config->filter_variable; i++)
		reader->config->filter_variable =
			config_environment_locate(&reader->environment, pointers[i]);
}

/* Return the token of the section `http`; without one, the token of @toolboxd. */
static uint32_t find_http(const struct config_reader *reader, uint32_t toolboxd)
{
	uint32_t http = config_reader_find(reader, toolboxd, "http");

	return http == JSON_NONE ? toolboxd : http;
}

/* Warn of parts of events that are set while no events are sent, unless a client watches. */
static void check_events(struct config_reader *reader, uint32_t toolboxd)
{
	const struct config *config = reader->config;
	uint32_t events = config_reader_find(reader, toolboxd, "events");
	const struct {
		const char *key;
		bool is_set;
	} parts[] = {{"arguments", config->events_arguments}, {"results", config->events_results}};

	for (size_t i = 0; i < 2 && !config->events_calls; i++)
		if (parts[i].is_set)
			config_reader_report(reader, DIAGNOSTIC_WARNING,
				config_reader_find(reader, events, parts[i].key),
				"counts only while a client watches, since events.calls is not "
				"true");
}

static void read_all(struct config_reader *reader)
{
	uint32_t toolboxd = config_reader_find(reader, 0, "toolboxd"); /* an object, or nothing */

	config_keys_read(reader, toolboxd);
	reader->config->embedded_token_file = read_section_path(reader, "embedded", "token_file");
	if (reader->is_token_hidden)
		memcpy(reader->config->embedded_token, BUS_TOKEN_UNKNOWN,
			sizeof(BUS_TOKEN_UNKNOWN));
	config_remembered_read(reader);
	config_profiles_settle(reader->config);
	config_http_check(reader, find_http(reader, toolboxd));
	find_filter_variable(reader);
	check_events(reader, toolboxd);
	if (reader->config->tools_enabled.n_items > 0 && reader->config->tools_disabled.n_items > 0)
		config_reader_report(reader, DIAGNOSTIC_WARNING,
			config_reader_find(reader, toolboxd, "tools_disabled"),
			"is ignored, since tools_enabled is set");
	read_bus(reader);
	read_plugins(reader);
	digest_start(reader);
	if (reader->error == 0 && !reader->config->has_toolbox_dirs)
		reader->error = add_default_folders(&reader->config->toolbox_dirs);
}

static int read_merged(struct config_reader *reader, const struct document *merged)
{
	struct buffer *text = &reader->config->merged;
	int r;

	document_write(merged, text);
	r = buffer_status(text);
	if (r == 0)
		r = json_tape_read(
			&reader->tape, text->data, text->size, JSON_DOCUMENT_DEPTH_MAX, NULL);
	return r;
}

static int compare_tokens(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

/* Return whether the token is among the refused ones, which are sorted. */
static bool is_refused(const struct config_reader *reader, uint32_t token)
{
	return bsearch(&token, reader->refused.data, reader->refused.size / sizeof(token),
		sizeof(token), compare_tokens);
}

/* Append the value at @token without the members and elements that are not used. */
static void write_used(const struct config_reader *reader, uint32_t token, struct buffer *out)
{
	const struct json_tape *tape = &reader->tape;
	bool is_object = json_type_at(tape, token) == JSON_OBJECT;
	const char *before = "";

	if (!is_object && json_type_at(tape, token) != JSON_ARRAY) {
		json_write_compact(out, tape, token);
		return;
	}
	buffer_append_char(out, is_object ? '{' : '[');
	for (uint32_t i = json_first(tape, token); i < json_end(tape, token);
		i = is_object ? json_next_key(tape, i) : json_next(tape, i)) {
		if (is_refused(reader, i) || (is_object && is_refused(reader, i + 1)))
			continue;
		buffer_append_string(out, before);
		before = ",";
		if (is_object) {
			json_write_compact(out, tape, i);
			buffer_append_char(out, ':');
		}
		write_used(reader, is_object ? i + 1 : i, out);
	}
	buffer_append_char(out, is_object ? '}' : ']');
}

/* Take the values that are not used out of the merged text. Its tape is not read afterwards. */
static int keep_used(struct config_reader *reader)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (reader->refused.size == 0)
		return 0;
	qsort(reader->refused.data, reader->refused.size / sizeof(uint32_t), sizeof(uint32_t),
		compare_tokens);
	write_used(reader, 0, &text);
	if (buffer_status(&text) < 0)
		return buffer_status(&text);
	buffer_reset(&reader->config->merged);
	buffer_append_buffer(&reader->config->merged, &text);
	return buffer_status(&reader->config->merged);
}

static void reader_deinit(struct config_reader *reader)
{
	json_tape_deinit(&reader->tape);
	buffer_deinit(&reader->refused);
	config_stack_deinit(&reader->stack);
	config_closing_deinit(&reader->closing);
}

/* Merge, then call @read to fill @config, which the caller deinits. */
static int read_with(const struct config_flags *flags, diagnostic_function report, void *data,
	void (*read)(struct config_reader *reader), struct config *config)
{
	cleanup(document_cleanup) struct document *merged = NULL;
	cleanup(reader_deinit) struct config_reader reader = {
		.sink = {.function = report, .data = data}, .config = config};
	int r;

	config_closing_init(&reader.closing, &reader.sink);
	r = merge(&reader, flags, &merged);
	if (r == 0)
		r = read_merged(&reader, merged);
	if (r != 0)
		return r;
	read(&reader);
	if (reader.error < 0)
		return reader.error;
	if (reader.is_misused || reader.environment.is_misused)
		return CONFIG_E_USAGE;
	if (reader.is_refused || reader.stack.is_refused)
		return CONFIG_E_REFUSED;
	config->closed = take_ptr(reader.closing.text);
	return reader.closing.is_closed && !config->closed ? -ENOMEM : keep_used(&reader);
}

/* An audit log with two writers would lose its chain. */
static void make_second(struct config *config)
{
	config->is_second = true;
	config->log_format = LOG_FORMAT_PLAIN;
	config->audit_required = false;
	free(take_ptr(config->audit_file));
}

static void make_private(struct config *config, const struct config_flags *flags)
{
	config->is_disabled = false;
	/* The caller is the person who would be asked. */
	if (!flags->keeps_approval)
		config->approval_mode = APPROVAL_OFF;
	snprintf(config->embedded_token, sizeof(config->embedded_token), "%s", flags->private);
}

/* Listen nowhere while it may be unknown which callers are allowed. The digest then differs from
 * the digest of the mended configuration, with which the service starts again. */
static void close_http(struct config *config)
{
	config->start_digest ^= config->http.n_addresses;
	config_http_close(&config->http);
}

int config_read(const struct config_flags *flags, diagnostic_function report, void *data,
	struct config *ret_config)
{
	struct config config = {.trace_files = flags->trace_files};
	int r = read_with(flags, report, data, read_all, &config);

	if (config.closed)
		close_http(&config);
	if (flags->is_second)
		make_second(&config);
	if (flags->private)
		make_private(&config, flags);
	if (r == 0)
		*ret_config = config;
	else
		config_deinit(&config);
	return r;
}

/* Read what a client needs. Ignore a token that this user cannot read. */
static void read_client(struct config_reader *reader)
{
	cleanup_free char *path = NULL;

	read_bus(reader);
	path = read_section_path(reader, "embedded", "token_file");
	if (path && config_token_read(path, reader->config->bus.token) < 0)
		reader->config->bus.token[0] = '\0';
}

/* Read the key of those who may answer, and where it is. */
static void read_answerer(struct config_reader *reader)
{
	struct config *config = reader->config;

	config->approval_key_file = read_section_path(reader, "approval", "key_file");
	if (config->approval_key_file)
		(void)approval_key_read(config->approval_key_file, &config->approval_key);
}

int config_read_bus(const struct config_flags *flags, diagnostic_function report, void *data,
	struct bus_address *ret_address)
{
	cleanup(config_deinit) struct config config = {0};
	int r = read_with(flags, report, data, read_client, &config);

	if (r == 0)
		*ret_address = config.bus;
	return r;
}

int config_read_approval_key(const struct config_flags *flags, diagnostic_function report,
	void *data, char **ret_path, struct approval_key *ret_key)
{
	cleanup(config_deinit) struct config config = {0};
	int r = read_with(flags, report, data, read_answerer, &config);

	if (r == 0) {
		*ret_path = take_ptr(config.approval_key_file);
		*ret_key = config.approval_key;
	}
	return r;
}

struct file_visit {
	void (*visit)(void *data, const char *path);
	void *data;
};

/* A config_file_function. */
static int pass_path(void *data, enum config_origin origin, const char *path)
{
	const struct file_visit *visit = data;

	(void)origin;
	visit->visit(visit->data, path);
	return 0;
}

static void ignore_path(void *data, const char *path)
{
	(void)data;
	(void)path;
}

void config_each_file(
	const struct config_flags *flags, void (*visit)(void *data, const char *path), void *data)
{
	struct file_visit passing = {visit, data};

	/* Without memory fewer files are visited. */
	(void)config_stack_each_file(flags->config, pass_path, &passing);
	config_remembered_each_path(visit, ignore_path, data);
}

void config_each_folder(void (*visit)(void *data, const char *path), void *data)
{
	config_remembered_each_path(ignore_path, visit, data);
}

void config_report_absent_folders(const struct config *config, enum diagnostic_severity severity,
	const struct diagnostic_sink *sink)
{
	struct stat status;

	for (size_t i = 0; config->has_toolbox_dirs && i < config->toolbox_dirs.n_items; i++) {
		const char *folder = config->toolbox_dirs.items[i];

		if (stat(folder, &status) < 0)
			diagnostic_report(sink, severity, NULL, 0, "toolbox_dirs",
				"the folder %s: %s", folder, strerror(errno));
		else if (!S_ISDIR(status.st_mode))
			diagnostic_report(sink, severity, NULL, 0, "toolbox_dirs",
				"%s is not a folder", folder);
	}
}

void config_deinit(struct config *config)
{
	text_list_deinit(&config->toolbox_dirs);
	text_list_deinit(&config->embedded_origins);
	text_list_deinit(&config->tools_enabled);
	text_list_deinit(&config->tools_disabled);
	text_list_deinit(&config->approval_allow);
	remembered_deinit(&config->allowed);
	remembered_deinit(&config->disabled);
	text_list_deinit(&config->disabled_why);
	text_list_deinit(&config->folders);
	config_profiles_deinit(config);
	config_access_deinit(config);
	config_callers_deinit(config);
	text_list_deinit(&config->answer_sources);
	free(config->approval_key_file);
	explicit_bzero(&config->approval_key, sizeof(config->approval_key));
	config_http_deinit(&config->http);
	config_toolboxes_deinit(config);
	free(config->embedded_token_file);
	free(config->audit_file);
	free(config->plugins);
	free(config->closed);
	buffer_deinit(&config->merged);
	*config = (struct config){0};
}
