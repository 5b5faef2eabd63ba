/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_toolboxes.h"
#include "config/config_values.h"
#include "util/cleanup.h"
#include "util/text.h"

/*
 * The keys under `toolboxd` as one table: how each is read, where it goes, what it may be, what
 * stands in for it. Whatever is in the file and not in the table gets a warning.
 */

#define DAY_S  86400u
#define DAY_MS 86400000u
#define MIB    (UINT64_C(1) << 20)

static const char *const duplicates_words[] = {
	[CONFIG_DUPLICATES_ERROR] = "error", [CONFIG_DUPLICATES_LAST] = "last", NULL};
static const char *const approval_words[] = {[APPROVAL_OFF] = "off",
	[APPROVAL_EXECUTE] = "execute",
	[APPROVAL_AUTO] = "auto",
	[APPROVAL_STRICT] = "strict",
	NULL};
static const char *const class_words[] = {[SANDBOX_COMPUTE] = "compute",
	[SANDBOX_NET] = "net",
	[SANDBOX_COMMAND] = "command",
	[SANDBOX_NONE] = "none",
	NULL};
static const char *const level_words[] = {[LOG_LEVEL_DEBUG] = "debug",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_WARNING] = "warning",
	[LOG_LEVEL_ERROR] = "error",
	NULL};
static const char *const format_words[] = {
	[LOG_FORMAT_TEXT] = "text", [LOG_FORMAT_JSON] = "json", NULL};

static void read_toolboxes(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member)
{
	(void)setting;
	(void)member;
	config_toolboxes_read(reader, value);
}

#define MEMBER(member) offsetof(struct config, member), sizeof(((struct config *)0)->member)

#define NUMBER(path, member, least, most, standard)                                                \
	{                                                                                          \
		path, config_value_read_number, MEMBER(member), least, most, standard, NULL, false \
	}
#define FLAG(path, member)                                                                         \
	{                                                                                          \
		path, config_value_read_flag, MEMBER(member), 0, 0, 0, NULL, false                 \
	}
#define WORD(path, member, words, standard, decides)                                               \
	{                                                                                          \
		path, config_value_read_word, MEMBER(member), 0, 0, standard, words, decides       \
	}
#define LIST(path, member, decides)                                                                \
	{                                                                                          \
		path, config_value_read_list, MEMBER(member), 0, 0, 0, NULL, decides               \
	}
#define NO_MEMBER(path, read, standard)                                                            \
	{                                                                                          \
		path, read, 0, 0, 0, 0, standard, NULL, false                                      \
	}

/* contract.md, Configuration. */
static const struct config_setting settings[] = {
	LIST("toolbox_dirs", toolbox_dirs, false),
	LIST("tools_enabled", tools_enabled, true),
	LIST("tools_disabled", tools_disabled, true),
	WORD("duplicate_names", duplicate_names, duplicates_words, CONFIG_DUPLICATES_ERROR, false),
	NO_MEMBER("profiles", config_value_read_unsupported_unless_empty, JSON_OBJECT),
	NO_MEMBER("access", config_value_read_unsupported_unless_empty, JSON_ARRAY),
	WORD("approval.mode", approval_mode, approval_words, APPROVAL_EXECUTE, true),
	LIST("approval.allow", approval_allow, false),
	NUMBER("approval.timeout_ms", approval_timeout_ms, 1, DAY_MS, 30000),
	NO_MEMBER("approval.answer_sources", config_value_read_unsupported, 0),
	{"result_max_chars", config_value_read_lenient_number, MEMBER(result_max_chars), 1,
		1u << 30, 20000, NULL, false},
	WORD("sandbox_max", sandbox_max, class_words, SANDBOX_NONE, true),
	NUMBER("timeout_ms", timeout_ms, 1, DAY_MS, 0),
	NUMBER("start_timeout_ms", start_timeout_ms, 1, DAY_MS, 10000),
	NUMBER("idle_s", idle_s, 0, DAY_S, 60),
	NUMBER("drain_ms", drain_ms, 0, DAY_MS, 2000),
	NUMBER("crash_limit", crash_limit, 0, 1000000, 5),
	NUMBER("crash_window_s", crash_window_s, 1, DAY_S, 60),
	NUMBER("limits.frame_bytes", limits.frame_bytes, 1024, 1u << 30, 10 * MIB),
	NUMBER("limits.args_bytes", limits.args_bytes, 2, 1u << 30, 4 * MIB),
	NUMBER("limits.depth", limits.depth, 1, 512, 128),
	NUMBER("limits.in_flight", limits.in_flight, 1, 1000000, 1024),
	NUMBER("limits.queue", limits.queue, 1, 65536, 64),
	NUMBER("limits.output_queue_bytes", limits.output_queue_bytes, 1024, 1u << 30, 64 * MIB),
	NUMBER("limits.host_output_bytes", limits.host_output_bytes, 1024, 1u << 30, 8 * MIB),
	NUMBER("limits.stderr_bytes", limits.stderr_bytes, 0, MIB, 8192),
	NUMBER("limits.pending_approvals", limits.pending_approvals, 1, 65536, 64),
	NUMBER("limits.tools", limits.tools, 1, 1000000, 10000),
	NUMBER("limits.toolboxes", limits.toolboxes, 1, 100000, 1000),
	NUMBER("limits.pattern_steps", limits.pattern_steps, 1, 1000000000, 100000),
	LIST("embedded.origins", embedded_origins, false),
	FLAG("events.calls", events_calls),
	FLAG("events.results", events_results),
	NO_MEMBER("audit.file", config_value_read_unsupported, 0),
	NO_MEMBER("audit.max_bytes", config_value_read_nothing, 0),
	NO_MEMBER("audit.arguments", config_value_read_nothing, 0),
	WORD("log.level", log_level, level_words, LOG_LEVEL_INFO, false),
	WORD("log.format", log_format, format_words, LOG_FORMAT_TEXT, false),
	NO_MEMBER("toolboxes", read_toolboxes, 0),
};
#define N_SETTINGS (sizeof(settings) / sizeof(*settings))

/* Sections are one level deep; the longest path. */
#define PATH_BYTES 64

/* The part of @path in front of the '.', or nothing. */
static size_t section_size(const char *path)
{
	const char *dot = strchr(path, '.');

	return dot ? (size_t)(dot - path) : 0;
}

/* The value of the setting, or JSON_NONE. */
static uint32_t find_value(
	const struct config_reader *reader, uint32_t toolboxd, const struct config_setting *setting)
{
	size_t size = section_size(setting->path);
	char section[PATH_BYTES] = "";
	uint32_t object = toolboxd;

	if (size == 0)
		return config_reader_find(reader, toolboxd, setting->path);
	memcpy(section, setting->path, size);
	object = config_reader_find(reader, toolboxd, section);
	if (object == JSON_NONE || json_type_at(&reader->tape, object) != JSON_OBJECT)
		return JSON_NONE;
	return config_reader_find(reader, object, setting->path + size + 1);
}

/* What a key of @section ("": of `toolboxd` itself) may be called, by setting; NULL when the
 * setting stands elsewhere. The sections themselves are keys too. */
static const char *key_in(
	const char *section, const struct config_setting *setting, size_t *ret_size)
{
	size_t size = section_size(setting->path);

	if (!*section) {
		*ret_size = size > 0 ? size : strlen(setting->path);
		return setting->path;
	}
	if (size != strlen(section) || strncmp(section, setting->path, size) != 0)
		return NULL;
	*ret_size = strlen(setting->path + size + 1);
	return setting->path + size + 1;
}

/* Tell of a key that nobody reads, and what may have been meant. */
static void report_unknown(
	struct config_reader *reader, const char *section, uint32_t key, const char *name)
{
	unsigned int least = UINT32_MAX;
	unsigned int distance;
	const char *nearest = NULL;
	size_t nearest_size = 0;
	size_t size;

	for (size_t i = 0; i < N_SETTINGS; i++) {
		const char *candidate = key_in(section, &settings[i], &size);

		if (!candidate || !text_is_near(name, strlen(name), candidate, size, &distance))
			continue;
		if (distance >= least)
			continue;
		least = distance;
		nearest = candidate;
		nearest_size = size;
	}
	if (nearest)
		config_reader_report(reader, CONFIG_WARNING, key,
			"is an unknown key; did you mean \"%.*s\"?", (int)nearest_size, nearest);
	else
		config_reader_report(reader, CONFIG_WARNING, key, "is an unknown key");
}

/* What a key is known as in @section. */
enum key_kind { KEY_UNKNOWN, KEY_SETTING, KEY_SECTION };

static enum key_kind find_key(const struct config_reader *reader, const char *section, uint32_t key)
{
	for (size_t i = 0; i < N_SETTINGS; i++) {
		size_t size;
		const char *known = key_in(section, &settings[i], &size);

		if (known && json_string_equals(&reader->tape, key, known, size))
			return !*section && section_size(known) > 0 ? KEY_SECTION : KEY_SETTING;
	}
	return KEY_UNKNOWN;
}

static void check_keys(struct config_reader *reader, const char *section, uint32_t object);

/* Check a key of @section by its name; the value is its setting's to check. */
static void check_key(struct config_reader *reader, const char *section, uint32_t key)
{
	enum key_kind kind = find_key(reader, section, key);
	cleanup_free char *name = json_string_dup(&reader->tape, key, NULL);
	char shown[CONFIG_SHOWN_BYTES];
	enum json_type type = json_type_at(&reader->tape, key + 1);

	if (!name)
		reader->error = -ENOMEM;
	else if (kind == KEY_UNKNOWN)
		report_unknown(reader, section, key, name);
	else if (kind == KEY_SECTION && type == JSON_OBJECT)
		check_keys(reader, name, key + 1);
	else if (kind == KEY_SECTION && type != JSON_NULL)
		config_reader_report(reader, CONFIG_ERROR, key + 1,
			"must be an object, not %s; its defaults are used",
			config_reader_show(reader, key + 1, shown));
}

static void check_keys(struct config_reader *reader, const char *section, uint32_t object)
{
	for (uint32_t key = json_first(&reader->tape, object);
		key < json_end(&reader->tape, object); key = json_next_key(&reader->tape, key))
		check_key(reader, section, key);
}

void config_settings_read(struct config_reader *reader, uint32_t toolboxd)
{
	for (size_t i = 0; i < N_SETTINGS; i++) {
		uint32_t value = JSON_NONE;

		if (toolboxd != JSON_NONE)
			value = find_value(reader, toolboxd, &settings[i]);
		settings[i].read(
			reader, &settings[i], value, (char *)reader->config + settings[i].offset);
	}
	if (toolboxd != JSON_NONE)
		check_keys(reader, "", toolboxd);
}
