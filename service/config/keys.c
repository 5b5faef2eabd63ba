/* SPDX-License-Identifier: Apache-2.0 */
#include "config/keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/access.h"
#include "config/callers.h"
#include "config/http.h"
#include "config/profiles.h"
#include "config/token.h"
#include "config/toolboxes.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/text/text.h"

#define DAY_S  86400u
#define DAY_MS 86400000u
#define MIB    (UINT64_C(1) << 20)
#define GIB    (UINT64_C(1) << 30)

struct key {
	const char *path; /* below `toolboxd`, keys joined by '.' */
	/* @value is JSON_NONE when the key is absent; NULL: the key is ignored */
	void (*read)(
		struct config_reader *reader, const struct key *key, uint32_t value, void *member);
	size_t offset;             /* the place of the member in struct config */
	size_t size;               /* the size of the member, in bytes */
	struct config_range range; /* the range of a number */
	const char *const *words;  /* the choices of a word, by value; NULL ends them */
	unsigned int fallback; /* for a word, the index of its default; for a feature, see there */
	bool closes; /* it decides who may call or what a process may do: a wrong value has no
		      * default, and closes the configuration */
};

/* ── values ──────────────────────────────────────────────────────────────────────────────────── */

static void report_wrong(struct config_reader *reader, const struct key *key, uint32_t value,
	const char *expected, const char *consequence)
{
	if (key->closes)
		config_reader_close_wrong(reader, value, expected);
	else
		config_reader_report_wrong(reader, DIAGNOSTIC_ERROR, value, expected, consequence);
}

static void store_number(const struct key *key, void *member, uint64_t number)
{
	if (key->size == sizeof(uint32_t))
		*(uint32_t *)member = (uint32_t)number;
	else
		*(uint64_t *)member = number;
}

static void read_number(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	uint64_t number =
		key->closes ? config_reader_number_or_closes(reader, value, &key->range)
			    : config_reader_number(reader, DIAGNOSTIC_ERROR, value, &key->range);

	store_number(key, member, number);
}

/* Read a number whose wrong value is only a warning. */
static void read_lenient_number(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	store_number(
		key, member, config_reader_number(reader, DIAGNOSTIC_WARNING, value, &key->range));
}

/* Read true or false, else false. */
static void read_flag(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	enum json_type type = JSON_FALSE;

	if (value != JSON_NONE)
		type = json_type_at(&reader->tape, value);
	if (type != JSON_TRUE && type != JSON_FALSE)
		report_wrong(reader, key, value, "must be true or false", "false is used");
	*(bool *)member = type == JSON_TRUE;
}

/* The service runs unless the value is false. */
static void read_enabled(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	bool *is_disabled = member;

	if (value == JSON_NONE)
		return;
	read_flag(reader, key, value, is_disabled);
	*is_disabled = json_type_at(&reader->tape, value) == JSON_FALSE;
}

/* Append `"a", "b" or "c"`. */
static void append_words(const char *const *words, struct buffer *out)
{
	for (size_t i = 0; words[i]; i++) {
		if (i > 0)
			buffer_append_string(out, words[i + 1] ? ", " : " or ");
		buffer_printf(out, "\"%s\"", words[i]);
	}
}

static void report_wrong_word(struct config_reader *reader, const struct key *key, uint32_t value)
{
	cleanup(buffer_deinit) struct buffer expected = {0};
	char consequence[64];

	buffer_append_string(&expected, "must be ");
	append_words(key->words, &expected);
	snprintf(consequence, sizeof(consequence), "\"%s\" is used", key->words[key->fallback]);
	if (buffer_terminate(&expected))
		report_wrong(reader, key, value, expected.data, consequence);
	else
		reader->error = buffer_status(&expected);
}

/* Read one of key->words, else the one at key->fallback. @member is an enum. */
static void read_word(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	unsigned int index = key->fallback;
	bool is_known = value == JSON_NONE;

	for (unsigned int i = 0; !is_known && key->words[i]; i++) {
		if (json_type_at(&reader->tape, value) != JSON_STRING ||
			!json_string_equals(
				&reader->tape, value, key->words[i], strlen(key->words[i])))
			continue;
		index = i;
		is_known = true;
	}
	if (!is_known)
		report_wrong_word(reader, key, value);
	*(unsigned int *)member = index;
}

/* Add one trimmed string, unless it is empty or there already. */
static void read_item(
	struct config_reader *reader, const struct key *key, uint32_t value, struct text_list *list)
{
	cleanup_free char *text = NULL;
	char *trimmed;

	if (json_type_at(&reader->tape, value) != JSON_STRING) {
		report_wrong(reader, key, value, "must be a string", "it is skipped");
		return;
	}
	text = config_reader_string(reader, value);
	if (!text && key->closes && reader->error == 0)
		config_reader_close_wrong(reader, value, "must be a name");
	if (!text)
		return;
	trimmed = text_trim(text);
	if (!*trimmed || text_list_has(list, trimmed))
		return;
	if (text_list_add(list, trimmed) < 0)
		reader->error = -ENOMEM;
}

/* Read a list of strings. @member is a struct text_list. */
static void read_text_list(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	struct text_list *list = member;

	if (value == JSON_NONE)
		return;
	if (json_type_at(&reader->tape, value) != JSON_ARRAY) {
		report_wrong(reader, key, value, "must be a list of strings", "it is not used");
		return;
	}
	if (list == &reader->config->toolbox_dirs)
		reader->config->has_toolbox_dirs = true;
	if (list == &reader->config->answer_sources)
		reader->config->has_answer_sources = true;
	json_each(i, &reader->tape, value)
		read_item(reader, key, i, list);
}

/* Refuse a feature that this version does not have. A value of the json_type key->fallback asks for
 * nothing, if it is empty. */
static void read_feature(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)member;
	if (value == JSON_NONE)
		return;
	if (json_type_at(&reader->tape, value) == (enum json_type)key->fallback &&
		json_count(&reader->tape, value) == 0)
		return;
	config_reader_close(reader, value, CONFIG_NOT_SUPPORTED);
}

static void read_toolboxes(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_toolboxes_read(reader, value);
}

static void read_profiles(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_profiles_read(reader, value);
}

static void read_access(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_access_read(reader, value);
}

static void read_callers(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_callers_read(reader, value);
}

/* Read the token of the file that @value names. */
static void read_token_file(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	cleanup_free char *path = NULL;
	int r;

	if (value == JSON_NONE)
		return;
	memcpy(member, BUS_TOKEN_UNKNOWN, sizeof(BUS_TOKEN_UNKNOWN));
	if (json_type_at(&reader->tape, value) != JSON_STRING) {
		report_wrong(reader, key, value, "must be the path of a file", "");
		return;
	}
	path = config_reader_string(reader, value);
	r = path ? config_token_read(path, member) : -EINVAL;
	if (r < 0)
		report_wrong(reader, key, value, config_token_expected(r), "");
}

/* Read an absolute path. @member is a char *. */
static void read_path(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	char **path = member;

	if (value == JSON_NONE)
		return;
	if (json_type_at(&reader->tape, value) == JSON_STRING)
		*path = config_reader_string(reader, value);
	if ((!*path || **path != '/') && reader->error == 0)
		report_wrong(reader, key, value, "must be the absolute path of a file", "");
}

/* Read the key of the file that @value names. Without it there are no answers, which closes more
 * than any other value would; the rest of the configuration is used. */
static void read_approval_key(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	struct approval_key *approval_key = member;
	cleanup_free char *path = NULL;

	if (value == JSON_NONE)
		return;
	if (json_type_at(&reader->tape, value) != JSON_STRING) {
		report_wrong(reader, key, value, "must be the path of a file", "");
		return;
	}
	path = config_reader_string(reader, value);
	if (path && approval_key_read(path, approval_key) < 0)
		config_reader_report_wrong(reader, DIAGNOSTIC_ERROR, value, approval_key->problem,
			"nobody can answer, and calls that need approval are denied");
	else if (!path && reader->error == 0)
		config_reader_close_wrong(reader, value, "must be the path of a file");
}

/* A log that is required has to be somewhere. */
static void read_audit_required(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	read_flag(reader, key, value, member);
	if (reader->config->audit_required && !reader->config->audit_file && reader->error == 0)
		config_reader_close(reader, value, "needs \"audit.file\"");
}

static void read_http_listen(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_http_read_listen(reader, value);
}

static void read_http_tokens(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_http_read_tokens(reader, value);
}

static void read_http_profile(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_http_read_profile(reader, value);
}

static void read_http_hosts(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_http_read_hosts(reader, value);
}

static void read_http_public_url(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_http_read_public_url(reader, value);
}

static void read_http_proxies(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_http_read_proxies(reader, value);
}

static void read_http_origins(
	struct config_reader *reader, const struct key *key, uint32_t value, void *member)
{
	(void)key;
	(void)member;
	config_http_read_origins(reader, value);
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

static const char *const duplicates_words[] = {
	[CONFIG_DUPLICATES_ERROR] = "error", [CONFIG_DUPLICATES_LAST] = "last", NULL};

#define MEMBER(member_)                                                                            \
	.offset = offsetof(struct config, member_), .size = sizeof(((struct config *)0)->member_)

#define NUMBER_BY(path_, read_, member, min_, max_, fallback_)                                     \
	{                                                                                          \
		path_, read_, MEMBER(member), .range = { min_, max_, fallback_ }                   \
	}
#define NUMBER(path_, member, min_, max_, fallback_)                                               \
	NUMBER_BY(path_, read_number, member, min_, max_, fallback_)
#define LENIENT_NUMBER(path_, member, min_, max_, fallback_)                                       \
	NUMBER_BY(path_, read_lenient_number, member, min_, max_, fallback_)
#define CLOSING_NUMBER(path_, member, min_, max_, fallback_)                                       \
	{                                                                                          \
		path_, read_number, MEMBER(member), .range = {min_, max_, fallback_},              \
						    .closes = true                                 \
	}
#define FLAG(path_, member)                                                                        \
	{                                                                                          \
		path_, read_flag, MEMBER(member)                                                   \
	}
#define WORD(path_, member, words_, fallback_, closes_)                                            \
	{                                                                                          \
		path_, read_word, MEMBER(member), .fallback = fallback_, .words = words_,          \
						  .closes = closes_                                \
	}
#define LIST(path_, member, closes_)                                                               \
	{                                                                                          \
		path_, read_text_list, MEMBER(member), .closes = closes_                           \
	}
#define FEATURE(path_, empty)                                                                      \
	{                                                                                          \
		path_, read_feature, .fallback = empty, .closes = true                             \
	}

/* contract.md, Configuration. */
static const struct key keys[] = {
	{"enabled", read_enabled, MEMBER(is_disabled), .closes = true},
	LIST("toolbox_dirs", toolbox_dirs, true),
	LIST("tools_enabled", tools_enabled, true),
	LIST("tools_disabled", tools_disabled, true),
	WORD("duplicate_names", duplicate_names, duplicates_words, CONFIG_DUPLICATES_ERROR, false),
	{"profiles", read_profiles, .closes = true},
	{"access", read_access, .closes = true},
	WORD("approval.mode", approval_mode, approval_mode_names, APPROVAL_EXECUTE, true),
	LIST("approval.allow", approval_allow, true),
	NUMBER("approval.timeout_ms", approval_timeout_ms, 1, DAY_MS, 30000),
	LIST("approval.answer_sources", answer_sources, true),
	{"approval.key_file", read_approval_key, MEMBER(approval_key), .closes = true},
	{"callers", read_callers, .closes = true},
	FEATURE("guests", JSON_OBJECT),
	{"http.listen", read_http_listen, .closes = true},
	{"http.tokens", read_http_tokens, .closes = true},
	{"http.profile", read_http_profile, .closes = true},
	{"http.allowed_hosts", read_http_hosts, .closes = true},
	{"http.allowed_origins", read_http_origins, .closes = true},
	{"http.public_url", read_http_public_url, .closes = true},
	{"http.trusted_proxies", read_http_proxies, .closes = true},
	{"http.tls.cert", read_path, MEMBER(http.tls_cert), .closes = true},
	{"http.tls.key", read_path, MEMBER(http.tls_key), .closes = true},
	{"http.insecure", read_flag, MEMBER(http.is_insecure), .closes = true},
	CLOSING_NUMBER("http.limits.connections", http.limits.connections, 1, 65536, 256),
	CLOSING_NUMBER("http.limits.streams", http.limits.streams, 1, 65536, 64),
	CLOSING_NUMBER("http.limits.per_address", http.limits.per_address, 1, 65536, 64),
	CLOSING_NUMBER("http.limits.header_bytes", http.limits.header_bytes, 1024, MIB, 16384),
	CLOSING_NUMBER("http.limits.body_bytes", http.limits.body_bytes, 1024, GIB, 0),
	CLOSING_NUMBER("http.limits.first_byte_s", http.limits.first_byte_s, 1, DAY_S, 10),
	CLOSING_NUMBER("http.limits.request_s", http.limits.request_s, 1, DAY_S, 30),
	CLOSING_NUMBER("http.limits.idle_s", http.limits.idle_s, 1, DAY_S, 75),
	LENIENT_NUMBER("result_max_chars", result_max_chars, 1, 1u << 30, 20000),
	WORD("sandbox_max", sandbox_max, sandbox_class_names, SANDBOX_NONE, true),
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
	NUMBER("limits.queue", limits.queue, 1, 65536, 256),
	NUMBER("limits.output_queue_bytes", limits.output_queue_bytes, 1024, 1u << 30, 64 * MIB),
	NUMBER("limits.peer_bytes", limits.peer_bytes, MIB, 1u << 30, 64 * MIB),
	NUMBER("limits.host_output_bytes", limits.host_output_bytes, 1024, 1u << 30, 8 * MIB),
	NUMBER("limits.stderr_bytes", limits.stderr_bytes, 0, MIB, 8192),
	NUMBER("limits.pending_approvals", limits.pending_approvals, 1, 65536, 64),
	NUMBER("limits.tools", limits.tools, 1, 1000000, 10000),
	NUMBER("limits.toolboxes", limits.toolboxes, 1, 100000, 1000),
	NUMBER("limits.pattern_steps", limits.pattern_steps, 1, 1000000000, 100000),
	NUMBER("limits.check_ms", limits.check_ms, 1, 60000, 20),
	LIST("embedded.origins", embedded_origins, true),
	{"embedded.token_file", read_token_file, MEMBER(embedded_token), .closes = true},
	NUMBER("embedded.stall_s", embedded_stall_s, 1, DAY_S, 10),
	FLAG("events.calls", events_calls),
	FLAG("events.arguments", events_arguments),
	FLAG("events.results", events_results),
	{"audit.file", read_path, MEMBER(audit_file), .closes = true},
	CLOSING_NUMBER("audit.max_bytes", audit_max_bytes, 4096, GIB, 10 * MIB),
	{"audit.arguments", read_flag, MEMBER(audit_arguments), .closes = true},
	{"audit.required", read_audit_required, MEMBER(audit_required), .closes = true},
	WORD("log.level", log_level, log_level_names, LOG_LEVEL_INFO, false),
	WORD("log.format", log_format, log_format_names, LOG_FORMAT_TEXT, false),
	{"toolboxes", read_toolboxes, .closes = true},
};
#define N_KEYS ARRAY_SIZE(keys)

/* Room for the path of a section. */
#define SECTION_BYTES 64

/* Return the value of @key, or JSON_NONE. */
static uint32_t find_value(
	const struct config_reader *reader, uint32_t toolboxd, const struct key *key)
{
	uint32_t object = toolboxd;
	const char *name = key->path;
	const char *dot;

	for (; (dot = strchr(name, '.')); name = dot + 1) {
		char section[SECTION_BYTES] = "";

		memcpy(section, name, (size_t)(dot - name));
		object = config_reader_find(reader, object, section);
		if (object == JSON_NONE || json_type_at(&reader->tape, object) != JSON_OBJECT)
			return JSON_NONE;
	}
	return config_reader_find(reader, object, name);
}

/* ── unknown keys ────────────────────────────────────────────────────────────────────────────── */

/* Return the name (*ret_size bytes) of @key in @section, a path ("": in `toolboxd`); a section in
 * it is a key, too, whose name ends at a '.'. NULL when @key is in another section. */
static const char *name_in(const char *section, const struct key *key, size_t *ret_size)
{
	size_t size = strlen(section);
	const char *name = key->path;

	if (size > 0 && (strncmp(section, name, size) != 0 || name[size] != '.'))
		return NULL;
	name += size > 0 ? size + 1 : 0;
	*ret_size = strcspn(name, ".");
	return name;
}

/* Return whether everything in @section, a path of @size bytes, decides who may call or what a
 * process may do: an unknown key or a wrong type may hide a restriction. */
static bool section_closes(const char *section, size_t size)
{
	static const char *const sections[] = {"approval", "audit", "embedded", "http"};

	if (strcspn(section, ".") < size)
		size = strcspn(section, ".");
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (strlen(sections[i]) == size && strncmp(sections[i], section, size) == 0)
			return true;
	return false;
}

/* The most letters by which an unknown key may differ from a closing key, and still close. */
#define LETTERS_THAT_CLOSE 2

/* Return whether the unknown key @name of @section may be a misspelling of one that closes. */
static bool unknown_closes(const char *section, const char *name)
{
	size_t size;

	if (*section)
		return section_closes(section, strlen(section));
	for (size_t i = 0; i < N_KEYS; i++) {
		const char *known = name_in("", &keys[i], &size);
		bool closes = known[size] == '.' ? section_closes(known, size) : keys[i].closes;

		if (closes && text_distance(name, strlen(name), known, size, LETTERS_THAT_CLOSE) <=
				      LETTERS_THAT_CLOSE)
			return true;
	}
	return false;
}

/* The section of the embedded bus. */
static const char bus_section[] = "embedded";

/* Return whether the unknown key @name of @section may be meant to name the token of the embedded
 * bus. */
static bool may_hide_token(const char *section, const char *name)
{
	if (*section)
		return strcmp(section, bus_section) == 0;
	return text_distance(name, strlen(name), bus_section, sizeof(bus_section) - 1,
		       LETTERS_THAT_CLOSE) <= LETTERS_THAT_CLOSE;
}

/* Report an unknown key, with the known one that is nearest. */
static void report_unknown(
	struct config_reader *reader, const char *section, uint32_t key, const char *name)
{
	unsigned int least = UINT32_MAX;
	unsigned int distance;
	const char *nearest = NULL;
	size_t nearest_size = 0;
	size_t size;
	char hint[SECTION_BYTES + 32] = "";

	for (size_t i = 0; i < N_KEYS; i++) {
		const char *candidate = name_in(section, &keys[i], &size);

		if (!candidate || !text_is_near(name, strlen(name), candidate, size, &distance))
			continue;
		if (distance >= least)
			continue;
		least = distance;
		nearest = candidate;
		nearest_size = size;
	}
	if (nearest)
		snprintf(
			hint, sizeof(hint), "; did you mean \"%.*s\"?", (int)nearest_size, nearest);
	reader->is_token_hidden |= may_hide_token(section, name);
	if (unknown_closes(section, name))
		config_reader_close(reader, key,
			"is an unknown key%s It may be meant to restrict calls",
			*hint ? hint : ".");
	else
		config_reader_report(reader, DIAGNOSTIC_WARNING, key, "is an unknown key%s", hint);
}

enum name_kind { NAME_UNKNOWN, NAME_KEY, NAME_SECTION };

/* Return the kind of the key at @token in @section. */
static enum name_kind find_kind(
	const struct config_reader *reader, const char *section, uint32_t token)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		size_t size;
		const char *known = name_in(section, &keys[i], &size);

		if (known && json_string_equals(&reader->tape, token, known, size))
			return known[size] == '.' ? NAME_SECTION : NAME_KEY;
	}
	return NAME_UNKNOWN;
}

static void check_names(struct config_reader *reader, const char *section, uint32_t object);

/* Return whether the value at @token is the section @name; null counts as absent, and anything but
 * an object is reported. */
static bool is_section(struct config_reader *reader, const char *name, uint32_t token)
{
	enum json_type type = json_type_at(&reader->tape, token);

	if (type == JSON_NULL)
		return false;
	reader->is_token_hidden |= type != JSON_OBJECT && strcmp(name, bus_section) == 0;
	if (section_closes(name, strlen(name)))
		return config_reader_is_object_or_closes(reader, token);
	return config_reader_is_object(reader, token, "its defaults are used");
}

/* Check the name of the key at @token of @section. */
static void check_name(struct config_reader *reader, const char *section, uint32_t token)
{
	enum name_kind kind = find_kind(reader, section, token);
	cleanup_free char *name = json_string_dup(&reader->tape, token, NULL);
	char path[2 * SECTION_BYTES];

	if (!name) {
		reader->error = -ENOMEM;
	} else if (kind == NAME_UNKNOWN) {
		report_unknown(reader, section, token, name);
	} else if (kind == NAME_SECTION) {
		snprintf(path, sizeof(path), "%s%s%s", section, *section ? "." : "", name);
		if (is_section(reader, path, token + 1))
			check_names(reader, path, token + 1);
	}
}

static void check_names(struct config_reader *reader, const char *section, uint32_t object)
{
	json_each_key(token, &reader->tape, object)
		check_name(reader, section, token);
}

void config_keys_read(struct config_reader *reader, uint32_t toolboxd)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		const struct key *key = &keys[i];

		uint32_t value = JSON_NONE;

		if (toolboxd != JSON_NONE)
			value = find_value(reader, toolboxd, key);
		if (key->read)
			key->read(reader, key, value, (char *)reader->config + key->offset);
	}
	if (toolboxd != JSON_NONE)
		check_names(reader, "", toolboxd);
}
