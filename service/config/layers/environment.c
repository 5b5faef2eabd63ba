/* SPDX-License-Identifier: Apache-2.0 */
#include "config/layers/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/writer.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/text/text.h"

#define ENABLED_PATH  "toolboxd.tools_enabled"
#define DISABLED_PATH "toolboxd.tools_disabled"
#define LEVEL_PATH    "toolboxd.log.level"
#define FORMAT_PATH   "toolboxd.log.format"
#define DIRS_PATH     "toolboxd.toolbox_dirs"
#define LISTEN_PATH   "toolboxd.http.listen"

struct overriding {
	struct config_closing *closing;
	struct document *document;
	struct config_environment *environment;
};

typedef void (*json_function)(const char *text, struct buffer *out);

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Append the trimmed parts of @text between separators as a list of strings, without empty ones. */
static void parts_to_json(const char *text, char separator, struct buffer *out)
{
	buffer_append_char(out, '[');
	while (*text) {
		const char *stop = strchrnul(text, separator);
		const char *end = stop;

		while (text < end && is_space(*text))
			text++;
		while (end > text && is_space(end[-1]))
			end--;
		if (end > text) {
			json_write_comma(out);
			json_write_bytes_lossy(out, text, (size_t)(end - text));
		}
		text = *stop ? stop + 1 : stop;
	}
	buffer_append_char(out, ']');
}

static void commas_to_json(const char *text, struct buffer *out)
{
	parts_to_json(text, ',', out);
}

static void colons_to_json(const char *text, struct buffer *out)
{
	parts_to_json(text, ':', out);
}

static void word_to_json(const char *text, struct buffer *out)
{
	json_write_bytes_lossy(out, text, strlen(text));
}

/* Append digits as a number and anything else as text, which the check of the key then refuses. */
static void digits_to_json(const char *text, struct buffer *out)
{
	while (*text == '0' && text[1])
		text++;
	if (text[strspn(text, "0123456789")])
		word_to_json(text, out);
	else
		buffer_append_string(out, text);
}

/* The variables that set one key each. */
static const struct variable {
	const char *name;
	const char *path;
	json_function to_json;
} variables[] = {
	{"TOOLBOXD_TOOLBOX_DIRS", DIRS_PATH, colons_to_json},
	{"TOOLBOXD_APPROVAL_MODE", "toolboxd.approval.mode", word_to_json},
	{"TOOLBOXD_EXPERIMENTAL", "toolboxd.experimental", commas_to_json},
	{"TOOLBOXD_SANDBOX_WRITABLE_ROOTS", "toolboxd.toolboxes.files.writable", commas_to_json},
	{"TOOLBOXD_SANDBOX_WRITABLE_ROOTS", "toolboxd.toolboxes.shell.writable", commas_to_json},
	{"TOOLBOXD_SHELL_VARIANT", "toolboxd.toolboxes.shell.variant", word_to_json},
	{"TOOLBOXD_TOOL_RESULT_MAX_CHARS", "toolboxd.result_max_chars", digits_to_json},
	{"TOOLBOXD_LOG_FORMAT", FORMAT_PATH, word_to_json},
};

/* Return the variable's value; NULL when it is unset, or holds only separators. */
static const char *variable_value(const char *name)
{
	const char *value = getenv(name);

	return value && value[strspn(value, " \t\n\r,:")] ? value : NULL;
}

/* Set @json at @path, and note @name as its origin. */
static int set_json(struct overriding *overriding, const char *path, const char *name,
	const struct buffer *json)
{
	struct config_environment *environment = overriding->environment;
	int r = buffer_status(json);

	if (r == 0)
		r = document_set(overriding->document, path, json->data, json->size);
	if (r == 0 && environment->n_items < CONFIG_OVERRIDES_MAX)
		environment->items[environment->n_items++] =
			(struct config_override){.path = path, .name = name};
	return r;
}

static int set_value(struct overriding *overriding, const char *path, const char *name,
	const char *value, json_function to_json)
{
	cleanup(buffer_deinit) struct buffer json = {0};

	to_json(value, &json);
	return set_json(overriding, path, name, &json);
}

static void null_to_json(const char *text, struct buffer *out)
{
	(void)text;
	buffer_append_string(out, "null");
}

/* Set the address of the bus to the one that @url names. */
static int set_bus(struct overriding *overriding, const char *name, const char *url, bool is_flag)
{
	struct config_environment *environment = overriding->environment;
	cleanup(buffer_deinit) struct buffer json = {0};
	struct bus_address address;
	const char *reason = NULL;

	if (bus_address_parse(url, &address, &reason) < 0) {
		diagnostic_report(&overriding->closing->outer, DIAGNOSTIC_ERROR, NULL, 0, name,
			"must be the URL of a bus, like ws://127.0.0.1:8181/core: %s", reason);
		environment->is_misused |= is_flag;
		return 0;
	}
	environment->has_bus = true;
	environment->bus = address;
	buffer_append_string(&json, "{\"host\":");
	json_write_text(&json, address.host);
	buffer_printf(&json, ",\"port\":%u,\"route\":", address.port);
	json_write_text(&json, address.path);
	buffer_printf(&json, ",\"ssl\":%s}", address.is_tls ? "true" : "false");
	return set_json(overriding, "websocket", name, &json);
}

/* The variables of the filter; the first that is set decides. */
static const struct {
	const char *name;
	const char *path;
	const char *other;
} filters[] = {
	{"TOOLBOXD_TOOLS_ENABLED", ENABLED_PATH, DISABLED_PATH},
	{"TOOLBOXD_TOOLS_DISABLED", DISABLED_PATH, ENABLED_PATH},
	{"TOOLBOXD_TOOLS", ENABLED_PATH, DISABLED_PATH},
};
#define N_FILTERS ARRAY_SIZE(filters)

/* Report, in one line, the variables of the filter that are set and do not count. */
static void report_ignored(const struct overriding *overriding)
{
	cleanup(buffer_deinit) struct buffer ignored = {0};
	const char *first = NULL;

	for (size_t i = 0; i < N_FILTERS; i++) {
		if (!variable_value(filters[i].name))
			continue;
		if (first)
			buffer_printf(
				&ignored, "%s%s", ignored.size > 0 ? " and " : "", filters[i].name);
		else
			first = filters[i].name;
	}
	if (ignored.size > 0 && buffer_terminate(&ignored))
		diagnostic_report(&overriding->closing->outer, DIAGNOSTIC_WARNING, NULL, 0, first,
			"decides alone which tools are offered; ignored: %s", ignored.data);
}

/* Apply the first of three variables that is set: it alone decides which tools are offered
 * (contract.md, Filter). */
static int apply_filter(struct overriding *overriding)
{
	report_ignored(overriding);
	if (variable_value("TOOLBOXD_TOOLS"))
		diagnostic_report(&overriding->closing->outer, DIAGNOSTIC_WARNING, NULL, 0,
			"TOOLBOXD_TOOLS", "is deprecated; set TOOLBOXD_TOOLS_ENABLED instead");
	for (size_t i = 0; i < N_FILTERS; i++) {
		const char *value = variable_value(filters[i].name);
		int r;

		if (!value)
			continue;
		r = set_value(overriding, filters[i].other, filters[i].name, value, null_to_json);
		if (r == 0)
			r = set_value(overriding, filters[i].path, filters[i].name, value,
				commas_to_json);
		return r;
	}
	return 0;
}

/* TOOLBOXD_LOG_LEVEL takes precedence over TOOLBOXD_DEBUG=1. */
static int apply_log_level(struct overriding *overriding)
{
	const char *level = variable_value("TOOLBOXD_LOG_LEVEL");
	const char *debug = variable_value("TOOLBOXD_DEBUG");

	if (level)
		return set_value(overriding, LEVEL_PATH, "TOOLBOXD_LOG_LEVEL", level, word_to_json);
	if (debug && strcmp(debug, "1") == 0)
		return set_value(overriding, LEVEL_PATH, "TOOLBOXD_DEBUG", "debug", word_to_json);
	return 0;
}

/* ── names that are almost right ─────────────────────────────────────────────────────────────── */

/* The letters in which a name may differ. */
#define LETTERS_THAT_CLOSE 2

/* The variables that decide which calls are allowed. */
static const char *const deciding[] = {"TOOLBOXD_TOOLS_ENABLED", "TOOLBOXD_TOOLS_DISABLED",
	"TOOLBOXD_TOOLS", "TOOLBOXD_APPROVAL_MODE", "TOOLBOXD_TOOLBOX_DIRS"};

/* Report @name, which is not in deciding[], if it may be a misspelling of a variable there. */
static void check_variable(struct config_closing *closing, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(deciding); i++)
		if (strcmp(name, deciding[i]) == 0)
			return;
	for (size_t i = 0; i < ARRAY_SIZE(deciding); i++) {
		if (text_distance(name, strlen(name), deciding[i], strlen(deciding[i]),
			    LETTERS_THAT_CLOSE) > LETTERS_THAT_CLOSE)
			continue;
		diagnostic_report(&closing->sink, DIAGNOSTIC_ERROR, NULL, 0, name,
			"is an unknown variable; did you mean %s? It may be meant to restrict "
			"calls",
			deciding[i]);
		return;
	}
}

static void close_by_near_names(struct config_closing *closing)
{
	for (char *const *entry = environ; *entry; entry++) {
		size_t size = strcspn(*entry, "=");
		char name[TEXT_NAME_BYTES + 1];

		/* A longer name is near to none. */
		if (size > TEXT_NAME_BYTES)
			continue;
		memcpy(name, *entry, size);
		name[size] = '\0';
		if (variable_value(name))
			check_variable(closing, name);
	}
}

/* Check TOOLBOXD_SYSROOT, which hosts receive (host/process.c): by it, tests show tools a copy of
 * /proc and /sys. A service of the system never has it. */
static void check_sysroot(struct overriding *overriding)
{
	const struct diagnostic_sink *sink = &overriding->closing->outer;
	const char *root = variable_value("TOOLBOXD_SYSROOT");

	if (!root)
		return;
	if (getenv("STATE_DIRECTORY"))
		diagnostic_report(sink, DIAGNOSTIC_ERROR, NULL, 0, "TOOLBOXD_SYSROOT",
			"is for tests, and refused where STATE_DIRECTORY is set: remove one of "
			"them");
	else if (*root != '/')
		diagnostic_report(sink, DIAGNOSTIC_ERROR, NULL, 0, "TOOLBOXD_SYSROOT",
			"must be an absolute path; found %.512s", root);
	else
		diagnostic_report(sink, DIAGNOSTIC_WARNING, NULL, 0, "TOOLBOXD_SYSROOT",
			"is for tests: tools see %.512s/proc and /sys in place of the kernel's",
			root);
	overriding->environment->is_misused |= getenv("STATE_DIRECTORY") || *root != '/';
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

static int apply_environment(struct overriding *overriding)
{
	const char *url = variable_value("TOOLBOXD_BUS");
	int r = url ? set_bus(overriding, "TOOLBOXD_BUS", url, false) : 0;

	if (r == 0)
		r = apply_filter(overriding);
	if (r == 0)
		r = apply_log_level(overriding);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(variables); i++) {
		const struct variable *variable = &variables[i];
		const char *value = variable_value(variable->name);

		if (value)
			r = set_value(overriding, variable->path, variable->name, value,
				variable->to_json);
	}
	return r;
}

/* Set the list at @path to the @n values of the flag @name, which was given once for each. */
static int apply_repeated(struct overriding *overriding, const char *path, const char *name,
	const char *const *values, size_t n)
{
	cleanup(buffer_deinit) struct buffer json = {0};

	buffer_append_char(&json, '[');
	for (size_t i = 0; i < n; i++) {
		buffer_append_string(&json, i > 0 ? "," : "");
		json_write_bytes_lossy(&json, values[i], strlen(values[i]));
	}
	buffer_append_char(&json, ']');
	return set_json(overriding, path, name, &json);
}

static int apply_flags(struct overriding *overriding, const struct config_flags *flags)
{
	int r = flags->bus ? set_bus(overriding, "--bus", flags->bus, true) : 0;

	if (r == 0 && flags->n_toolbox_dirs > 0)
		r = apply_repeated(overriding, DIRS_PATH, "--toolbox-dir", flags->toolbox_dirs,
			flags->n_toolbox_dirs);
	if (r == 0 && flags->n_http > 0)
		r = apply_repeated(overriding, LISTEN_PATH, "--http", flags->http, flags->n_http);
	if (r == 0 && flags->log_level)
		r = set_value(
			overriding, LEVEL_PATH, "--log-level", flags->log_level, word_to_json);
	if (r == 0 && flags->log_format)
		r = set_value(
			overriding, FORMAT_PATH, "--log-format", flags->log_format, word_to_json);
	return r;
}

int config_environment_read(const struct config_flags *flags, struct config_closing *closing,
	struct config_environment *ret_environment)
{
	cleanup(document_cleanup) struct document *document = document_new();
	struct overriding overriding = {closing, document, ret_environment};
	int r = document ? 0 : -ENOMEM;

	*ret_environment = (struct config_environment){0};
	close_by_near_names(closing);
	check_sysroot(&overriding);
	if (r == 0)
		r = apply_environment(&overriding);
	if (r == 0)
		r = apply_flags(&overriding, flags);
	if (r == 0)
		document_write(document, &ret_environment->text);
	return r == 0 ? buffer_status(&ret_environment->text) : r;
}

void config_environment_deinit(struct config_environment *environment)
{
	buffer_deinit(&environment->text);
}

/* Return whether @pointer is the place of @path or one below it. */
static bool is_at(const char *pointer, const char *path)
{
	if (*pointer++ != '/')
		return false;
	for (; *path; path++, pointer++)
		if (*pointer != (*path == '.' ? '/' : *path))
			return false;
	return *pointer == '\0' || *pointer == '/';
}

const char *config_environment_locate(
	const struct config_environment *environment, const char *pointer)
{
	for (size_t i = environment->n_items; i-- > 0;)
		if (is_at(pointer, environment->items[i].path))
			return environment->items[i].name;
	return NULL;
}
