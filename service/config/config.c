/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/layers/check.h"
#include "config/fields.h"
#include "config/reader.h"
#include "config/agent/section.h"
#include "config/token.h"
#include "config/websocket.h"
#include "json/member.h"
#include "json/writer.h"
#include "search/language.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/digest.h"
#include "util/file/paths.h"

/*
 *   files ─stack▶ layers ◀─environment─ variables, flags
 *                   │
 *              merged text ─▶ tape ─keys, websocket, toolboxes, plugins▶ struct config
 *
 * Everything is merged as JSON first and read once, so the origin of a value makes no difference to
 * its check, and `merged` is the text read.
 */

#define MIB (UINT64_C(1) << 20)

static const char *const duplicates_words[] = {
	[CONFIG_DUPLICATES_ERROR] = "error", [CONFIG_DUPLICATES_LAST] = "last", NULL};

/* The members of `toolboxd`, without the sections that have files of their own (contract.md,
 * Configuration). */
#define FIELDS_OF struct config
static const struct config_field fields[] = {
	CONFIG_INVERTED("enabled", is_disabled),
	CONFIG_SET_NAMES("toolbox_dirs", toolbox_dirs, has_toolbox_dirs),
	CONFIG_NAMES("tools_enabled", tools_enabled),
	CONFIG_NAMES("tools_disabled", tools_disabled),
	CONFIG_NAMES("experimental", experimental),
	CONFIG_WORD("duplicate_names", duplicate_names, duplicates_words, CONFIG_DUPLICATES_ERROR),
	CONFIG_WORD("approval.mode", approval_mode, approval_mode_names, APPROVAL_EXECUTE),
	CONFIG_NAMES("approval.allow", approval_allow),
	CONFIG_NUMBER("approval.timeout_ms", approval_timeout_ms, 30000),
	CONFIG_SET_NAMES("approval.answer_sources", answer_sources, has_answer_sources),
	CONFIG_TEXT("approval.key_file", approval_key_file),
	CONFIG_NUMBER("result_max_chars", result_max_chars, 20000),
	CONFIG_WORD("sandbox_max", sandbox_max, sandbox_class_names, SANDBOX_NONE),
	CONFIG_NUMBER("timeout_ms", timeout_ms, 0),
	CONFIG_NUMBER("job_timeout_ms", job_timeout_ms, 3600000),
	CONFIG_NUMBER("jobs.keep_hours", jobs_keep_hours, 24),
	CONFIG_NUMBER("start_timeout_ms", start_timeout_ms, 10000),
	CONFIG_NUMBER("idle_s", idle_s, 60),
	CONFIG_NUMBER("drain_ms", drain_ms, 2000),
	CONFIG_NUMBER("crash_limit", crash_limit, 5),
	CONFIG_NUMBER("crash_window_s", crash_window_s, 60),
	CONFIG_NUMBER("limits.frame_bytes", limits.frame_bytes, 10 * MIB),
	CONFIG_NUMBER("limits.args_bytes", limits.args_bytes, 4 * MIB),
	CONFIG_NUMBER("limits.depth", limits.depth, 128),
	CONFIG_NUMBER("limits.in_flight", limits.in_flight, 1024),
	CONFIG_NUMBER("limits.queue", limits.queue, 256),
	CONFIG_NUMBER("limits.output_queue_bytes", limits.output_queue_bytes, 64 * MIB),
	CONFIG_NUMBER("limits.peer_bytes", limits.peer_bytes, 64 * MIB),
	CONFIG_NUMBER("limits.host_output_bytes", limits.host_output_bytes, 8 * MIB),
	CONFIG_NUMBER("limits.stderr_bytes", limits.stderr_bytes, 8192),
	CONFIG_NUMBER("limits.pending_approvals", limits.pending_approvals, 64),
	CONFIG_NUMBER("limits.tools", limits.tools, 10000),
	CONFIG_NUMBER("limits.toolboxes", limits.toolboxes, 1000),
	CONFIG_NUMBER("limits.pattern_steps", limits.pattern_steps, 100000),
	CONFIG_NUMBER("limits.check_ms", limits.check_ms, 20),
	CONFIG_NAMES("embedded.origins", embedded_origins),
	CONFIG_TEXT("embedded.token_file", embedded_token_file),
	CONFIG_NUMBER("embedded.stall_s", embedded_stall_s, 10),
	CONFIG_FLAG("guests.enabled", guests.is_enabled, false),
	CONFIG_NUMBER("guests.max", guests.max, 32),
	CONFIG_NUMBER("guests.tools", guests.tools, 256),
	CONFIG_WORD("guests.risk", guests.risk, tool_risk_names, TOOL_EXECUTE),
	CONFIG_FLAG("events.calls", events_calls, false),
	CONFIG_FLAG("events.arguments", events_arguments, false),
	CONFIG_FLAG("events.results", events_results, false),
	CONFIG_TEXT("audit.file", audit_file),
	CONFIG_NUMBER("audit.max_bytes", audit_max_bytes, 10 * MIB),
	CONFIG_FLAG("audit.arguments", audit_arguments, false),
	CONFIG_FLAG("audit.required", audit_required, false),
	CONFIG_TEXT("search.language", search_language),
	CONFIG_WORD("log.level", log_level, log_level_names, LOG_LEVEL_INFO),
	CONFIG_WORD("log.format", log_format, log_format_names, LOG_FORMAT_TEXT),
};
#undef FIELDS_OF

/* ── the merged text ─────────────────────────────────────────────────────────────────────────── */

static int read_layers(struct config_reader *reader, const struct config_flags *flags)
{
	int r = config_stack_read(flags->config, &reader->closing, &reader->stack);

	/* A skipped file may name a token. */
	reader->is_token_hidden = reader->closing.is_closed;
	if (r == 0)
		r = config_environment_read(flags, &reader->closing, &reader->environment);
	return r == 0 ? config_stack_add(&reader->stack, &reader->environment.text) : r;
}

/* Read all layers, and merge their values without mistakes; @is_client: what a client needs. */
static int merge(struct config_reader *reader, const struct config_flags *flags, bool is_client,
	struct buffer *text)
{
	int r = read_layers(reader, flags);

	for (size_t i = 0; r == 0 && i < reader->stack.n_layers; i++) {
		config_check_layer(reader, &reader->stack.layers[i], is_client);
		r = reader->error;
	}
	if (r == 0)
		r = config_stack_merge(&reader->stack, reader->environment.has_bus, text);
	return r == 0 ? json_tape_read(
				&reader->tape, text->data, text->size, JSON_DEPTH_DEFAULT, NULL)
		      : r;
}

/* ── what is not a member of its own ─────────────────────────────────────────────────────────── */

/* Add $PREFIX/lib/toolboxd/toolbox.d, /etc/toolboxd/toolbox.d,
 * $XDG_DATA_HOME/toolboxd/toolbox.d. */
static int add_default_folders(struct text_list *list)
{
	struct paths paths;
	cleanup_free char *home = NULL;
	int r = paths_xdg_home("XDG_DATA_HOME", ".local/share", &home);

	if (r < 0)
		return r;
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

static void read_bus(struct config_reader *reader, struct bus_address *ret_bus)
{
	config_websocket_read(reader, config_find(&reader->tape, 0, "websocket"), ret_bus);
	if (reader->environment.has_bus)
		*ret_bus = reader->environment.bus;
}

/* Digest the values that only a start reads. */
static void digest_start(struct config_reader *reader, struct config *config)
{
	static const char *const paths[] = {"websocket", "toolboxd.limits",
		"toolboxd.embedded.origins", "toolboxd.embedded.stall_s", "toolboxd.http.listen",
		"toolboxd.http.limits"};
	cleanup(buffer_deinit) struct buffer text = {0};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		uint32_t value = config_find(&reader->tape, 0, paths[i]);

		if (value != JSON_NONE)
			json_write_compact(&text, &reader->tape, value);
		buffer_append_char(&text, '\n');
	}
	if (buffer_status(&text) < 0)
		reader->error = buffer_status(&text);
	config->start_digest = digest_bytes(DIGEST_SEED, text.data, text.size);
}

/* Note which variable has the filter. */
static void find_filter_variable(const struct config_reader *reader, struct config *config)
{
	static const char *const pointers[] = {
		"/toolboxd/tools_enabled", "/toolboxd/tools_disabled"};

	for (size_t i = 0; i < 2 && !config->filter_variable; i++)
		config->filter_variable =
			config_environment_locate(&reader->environment, pointers[i]);
}

/* Read the token of the embedded bus, and the key of those who may answer. Without the key there
 * are no answers, which closes more than any other value would; the rest of the configuration is
 * used. */
static void read_secrets(struct config_reader *reader, struct config *config)
{
	const struct json_tape *tape = &reader->tape;
	int r = 0;

	if (config->embedded_token_file)
		r = config_token_read(config->embedded_token_file, config->embedded_token);
	if (r < 0 || reader->is_token_hidden)
		memcpy(config->embedded_token, BUS_TOKEN_UNKNOWN, sizeof(BUS_TOKEN_UNKNOWN));
	if (r < 0)
		config_reader_wrong(reader, config_find(tape, 0, "toolboxd.embedded.token_file"),
			config_token_expected(r));
	if (!config->approval_key_file ||
		approval_key_read(config->approval_key_file, &config->approval_key) == 0)
		return;
	config_reader_report(reader, DIAGNOSTIC_ERROR,
		config_find(tape, 0, "toolboxd.approval.key_file"),
		"%s, not \"%s\"; nobody can answer, and calls that need approval are denied",
		config->approval_key.problem, config->approval_key_file);
}

/* Warn of the value at @path if it does not count, for the reason @why. */
static void warn_of(struct config_reader *reader, const char *path, bool counts, const char *why)
{
	if (!counts)
		config_reader_report(
			reader, DIAGNOSTIC_WARNING, config_find(&reader->tape, 0, path), "%s", why);
}

/* Report values that do not fit together. */
static void check_together(struct config_reader *reader, struct config *config)
{
	static const char unwatched[] =
		"counts only while a client watches, since events.calls is not true";

	if (config->audit_required && !config->audit_file)
		config_reader_close(reader,
			config_find(&reader->tape, 0, "toolboxd.audit.required"),
			"needs \"audit.file\"");
	warn_of(reader, "toolboxd.events.arguments",
		config->events_calls || !config->events_arguments, unwatched);
	warn_of(reader, "toolboxd.events.results", config->events_calls || !config->events_results,
		unwatched);
	warn_of(reader, "toolboxd.tools_disabled",
		config->tools_enabled.n_items == 0 || config->tools_disabled.n_items == 0,
		"is ignored, since tools_enabled is set");
}

/* Choose the stemmer of search.language. */
static void choose_stemmer(struct config_reader *reader, struct config *config)
{
	const char *language = config->search_language;

	config->stemmer = search_language_stemmer(language ? language : SEARCH_LANGUAGE_DEFAULT);
	if (config->stemmer)
		return;
	config->stemmer = SEARCH_LANGUAGE_DEFAULT;
	config_reader_wrong(reader, config_find(&reader->tape, 0, "toolboxd.search.language"),
		"must be " SEARCH_LANGUAGES);
}

/* Read the sections of @toolboxd that have files of their own, and the remembered decisions. */
static void read_sections(struct config_reader *reader, uint32_t toolboxd, struct config *config)
{
	const struct json_tape *tape = &reader->tape;
	/* A part of a command listens nowhere; the merged text still has the names of secrets. */
	uint32_t http = config->is_second ? JSON_NONE : json_find_present(tape, toolboxd, "http");
	const struct config_kept kept = {&config->folders, &config->allowed, &config->enabled,
		&config->disabled, &config->profiles, &config->http};
	int r = config_profiles_read(
		tape, json_find_present(tape, toolboxd, "profiles"), &config->profiles);

	if (r == 0)
		r = config_access_read(tape, json_find_present(tape, toolboxd, "access"),
			&config->access, &config->n_access);
	if (r == 0)
		r = config_callers_read(tape, json_find_present(tape, toolboxd, "callers"),
			&config->callers, &config->n_callers, &config->callers_digest);
	config_toolboxes_read(reader, json_find_present(tape, toolboxd, "toolboxes"),
		&config->toolboxes, &config->n_toolboxes);
	config_http_read(reader, http, &config->http);
	config->listen = config_listen_read(
		tape, json_find_present(tape, toolboxd, "listen"), LISTEN_PRIORITY);
	config_remembered_read(reader, &kept);
	config_profiles_settle(&config->profiles);
	if (r == 0)
		r = remembered_add_allowed(&config->allowed, &config->approval_allow);
	if (r == 0)
		r = remembered_add_reasons(&config->disabled, &config->disabled_why);
	if (r < 0)
		reader->error = r;
	config_http_check(reader, http == JSON_NONE ? toolboxd : http, config->limits.args_bytes,
		&config->http);
}

char *config_section_text(struct config_reader *reader, const char *path)
{
	uint32_t value = config_find(&reader->tape, 0, path);
	char *text = NULL;

	if (value == JSON_NONE || json_type_at(&reader->tape, value) != JSON_STRING)
		return NULL;
	text = json_string_dup(&reader->tape, value, NULL);
	if (!text)
		reader->error = -ENOMEM;
	return text;
}

static void read_all(struct config_reader *reader, void *target)
{
	struct config *config = target;
	uint32_t toolboxd = config_find(&reader->tape, 0, "toolboxd"); /* an object, or none */
	/* The section of ovos-phal-plugin-tools, which we replace. Nothing has checked it. */
	uint32_t plugins = config_find(&reader->tape, 0, "PHAL.ovos-phal-plugin-tools");

	if (config_fields_read(&reader->tape, toolboxd, fields, ARRAY_SIZE(fields), config) < 0)
		reader->error = -ENOMEM;
	read_secrets(reader, config);
	check_together(reader, config);
	choose_stemmer(reader, config);
	read_sections(reader, toolboxd, config);
	find_filter_variable(reader, config);
	read_bus(reader, &config->bus);
	if (plugins != JSON_NONE && json_type_at(&reader->tape, plugins) == JSON_OBJECT)
		config->plugins = config_reader_json(reader, plugins);
	config->lang = config_section_text(reader, "lang");
	digest_start(reader, config);
	if (reader->error == 0 && !config->has_toolbox_dirs)
		reader->error = add_default_folders(&config->toolbox_dirs);
}

/* ── the ways in ─────────────────────────────────────────────────────────────────────────────── */

/* Take the unused values out of the merged text. Its tape is not read afterwards. */
static int keep_used(struct config_reader *reader, struct buffer *merged)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	if (config_unused_is_empty(&reader->unused))
		return 0;
	r = config_unused_write_rest(&reader->unused, &reader->tape, 0, &text);
	buffer_reset(merged);
	buffer_append_buffer(merged, &text);
	return r < 0 ? r : buffer_status(merged);
}

/* Merge what @is_client needs into @merged, then call @read with @target. */
static int read_merged(struct config_reader *reader, const struct config_flags *flags,
	bool is_client, void (*read)(struct config_reader *reader, void *target), void *target,
	struct buffer *merged)
{
	int r;

	config_closing_init(&reader->closing, &reader->sink);
	r = merge(reader, flags, is_client, merged);
	if (r != 0)
		return r;
	read(reader, target);
	if (reader->error < 0)
		return reader->error;
	if (reader->is_misused || reader->environment.is_misused)
		return CONFIG_E_USAGE;
	return reader->is_refused || reader->stack.is_refused ? CONFIG_E_REFUSED : 0;
}

int config_section_read(const struct config_flags *flags, diagnostic_function report, void *data,
	void (*read)(struct config_reader *reader, void *target), void *target, bool *ret_closed)
{
	cleanup(config_reader_deinit) struct config_reader reader = {
		.sink = {.function = report, .data = data}};
	cleanup(buffer_deinit) struct buffer merged = {0};
	int r = read_merged(&reader, flags, false, read, target, &merged);

	*ret_closed = reader.closing.is_closed;
	return r;
}

/* Merge what @is_client needs, then call @read to fill @config, which the caller deinits. */
static int read_with(const struct config_flags *flags, diagnostic_function report, void *data,
	bool is_client, void (*read)(struct config_reader *reader, void *target),
	struct config *config)
{
	cleanup(config_reader_deinit) struct config_reader reader = {
		.sink = {.function = report, .data = data}};
	int r = read_merged(&reader, flags, is_client, read, config, &config->merged);

	if (r != 0)
		return r;
	config->closed = take_ptr(reader.closing.text);
	return reader.closing.is_closed && !config->closed ? -ENOMEM
							   : keep_used(&reader, &config->merged);
}

/* An audit log with two writers would lose its chain. */
static void make_second(struct config *config)
{
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
	struct config config = {.trace_files = flags->trace_files, .is_second = flags->is_second};
	int r = read_with(flags, report, data, false, read_all, &config);

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

struct bus_address config_section_bus(struct config_reader *reader)
{
	cleanup_free char *path = config_section_text(reader, "toolboxd.embedded.token_file");
	struct bus_address address;

	read_bus(reader, &address);
	if (path && config_token_read(path, address.token) < 0)
		address.token[0] = '\0';
	return address;
}

static void read_client(struct config_reader *reader, void *target)
{
	struct config *config = target;

	config->bus = config_section_bus(reader);
}

/* Read the key of those who may answer, and where it is. */
static void read_answerer(struct config_reader *reader, void *target)
{
	struct config *config = target;

	config->approval_key_file = config_section_text(reader, "toolboxd.approval.key_file");
	if (config->approval_key_file)
		(void)approval_key_read(config->approval_key_file, &config->approval_key);
}

int config_read_bus(const struct config_flags *flags, diagnostic_function report, void *data,
	struct bus_address *ret_address)
{
	cleanup(config_deinit) struct config config = {0};
	int r = read_with(flags, report, data, true, read_client, &config);

	if (r == 0)
		*ret_address = config.bus;
	return r;
}

int config_read_approval_key(const struct config_flags *flags, diagnostic_function report,
	void *data, char **ret_path, struct approval_key *ret_key)
{
	cleanup(config_deinit) struct config config = {0};
	int r = read_with(flags, report, data, true, read_answerer, &config);

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

int config_each_file(
	const struct config_flags *flags, void (*visit)(void *data, const char *path), void *data)
{
	struct file_visit passing = {visit, data};
	int r = config_stack_each_file(flags->config, pass_path, &passing);

	return r ? r : config_remembered_each_path(visit, NULL, data);
}

int config_each_folder(void (*visit)(void *data, const char *path), void *data)
{
	return config_remembered_each_path(NULL, visit, data);
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

const struct config_toolbox *config_toolbox_find(
	const struct config *config, const char *toolbox_id)
{
	for (size_t i = 0; i < config->n_toolboxes; i++) {
		const char *id = config->toolboxes[i].toolbox_id;

		/* Each tool is looked up: the first letter spares most calls. */
		if (*id == *toolbox_id && strcmp(id, toolbox_id) == 0)
			return &config->toolboxes[i];
	}
	return NULL;
}

bool config_toolbox_is_enabled(const struct config *config, const char *toolbox_id)
{
	const struct config_toolbox *settings = config_toolbox_find(config, toolbox_id);

	return !settings || settings->is_enabled;
}

void config_deinit(struct config *config)
{
	config_fields_deinit(fields, ARRAY_SIZE(fields), config);
	remembered_deinit(&config->allowed);
	remembered_deinit(&config->enabled);
	remembered_deinit(&config->disabled);
	text_list_deinit(&config->disabled_why);
	text_list_deinit(&config->folders);
	config_profiles_deinit(&config->profiles);
	config_access_free(config->access, config->n_access);
	config_callers_free(config->callers, config->n_callers);
	explicit_bzero(&config->approval_key, sizeof(config->approval_key));
	config_http_deinit(&config->http);
	config_toolboxes_free(config->toolboxes, config->n_toolboxes);
	free(config->plugins);
	free(config->lang);
	free(config->closed);
	buffer_deinit(&config->merged);
	*config = (struct config){0};
}
