/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/dropin_definition.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "json/number.h"
#include "json/reader.h"
#include "json/writer.h"
#include "manifest/dropin/dropin_hint.h"
#include "manifest/dropin/dropin_program.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/file/file.h"
#include "util/text/utf8.h"

#define DEFINITION_BYTES_MAX (1u << 20)

#define DAY_S 86400

/* The characters of a comment in a warning. */
#define HINT_POINTS 40

/* ── the file beside it ──────────────────────────────────────────────────────────────────────── */

char *dropin_definition_path(const struct dropin *dropin)
{
	size_t size;
	const char *stem = dropin_stem(dropin->path, &size);
	char *path;

	return asprintf(&path, "%.*s.json", (int)(stem - dropin->path + (ptrdiff_t)size),
		       dropin->path) < 0
		       ? NULL
		       : path;
}

static void begin_dropin_entry(const struct dropin *dropin, struct buffer *entry)
{
	buffer_append_string(entry, "{\"name\":");
	json_write_bytes_lossy(entry, dropin->name, strlen(dropin->name));
}

static void end_entry(const struct dropin *dropin, struct buffer *entry)
{
	buffer_append_string(entry, ",\"command\":{\"argv\":[");
	json_write_text(entry, dropin->path);
	buffer_append_string(entry, "]}}");
}

/* Copy the members of the definition; what follows from the file itself may not be among them. */
static int copy_definition(
	const struct json_tape *tape, const char *path, struct buffer *entry, struct buffer *reason)
{
	static const char *const own[] = {"name", "command", "native"};

	if (json_type_at(tape, 0) != JSON_OBJECT) {
		buffer_printf(reason, "%s: must be an object, a tool entry without 'name'", path);
		return DROPIN_E_REFUSED;
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (json_find(tape, 0, own[i])) {
			buffer_printf(reason,
				"%s: '%s' follows from the program's file; leave it out", path,
				own[i]);
			return DROPIN_E_REFUSED;
		}
	json_each_key(key, tape, 0) {
		buffer_append_char(entry, ',');
		json_write_compact(entry, tape, key);
		buffer_append_char(entry, ':');
		json_write_compact(entry, tape, key + 1);
	}
	return 0;
}

static int read_definition(
	const char *path, const struct buffer *bytes, struct buffer *entry, struct buffer *reason)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	unsigned int line;
	unsigned int column;
	int r = json_tape_read(
		&tape, bytes->data ? bytes->data : "", bytes->size, JSON_DEPTH_DEFAULT - 8, &error);

	if (r == 0)
		return copy_definition(&tape, path, entry, reason);
	if (r < 0)
		return r;
	json_locate(bytes->data ? bytes->data : "", error.offset, &line, &column);
	buffer_printf(reason, "%s:%u: column %u: %s", path, line, column, error.message);
	return DROPIN_E_REFUSED;
}

/* ── comments ────────────────────────────────────────────────────────────────────────────────── */

/* The top of a program while it is read: the members of its entry. */
struct head {
	const char *path;
	unsigned int line; /* the line being read */
	struct buffer description;
	struct buffer properties;
	struct buffer required;
	struct buffer others; /* ,"key":value */
	struct buffer *reason;
	struct diagnostics *problems;
};

/* A stretch of the line being read. */
struct words {
	const char *at;
	size_t size;
};

static int refuse_line(struct head *head, const char *expected)
{
	buffer_printf(head->reason, "%s:%u: %s", head->path, head->line, expected);
	return DROPIN_E_REFUSED;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void skip_spaces(struct words *words)
{
	while (words->size > 0 && is_space(*words->at)) {
		words->at++;
		words->size--;
	}
}

static bool skip(struct words *words, const char *text)
{
	size_t size = strlen(text);

	if (words->size < size || memcmp(words->at, text, size) != 0)
		return false;
	words->at += size;
	words->size -= size;
	return true;
}

/* Take the first @size bytes. */
static struct words take(struct words *words, size_t size)
{
	struct words taken = {words->at, size};

	words->at += size;
	words->size -= size;
	return taken;
}

static struct words take_word(struct words *words)
{
	size_t size = 0;

	while (size < words->size && !is_space(words->at[size]))
		size++;
	return take(words, size);
}

static struct words take_letters(struct words *words)
{
	size_t size = 0;

	while (size < words->size && words->at[size] >= 'a' && words->at[size] <= 'z')
		size++;
	return take(words, size);
}

/* How far a JSON string, array or object goes; anything else is a word. */
static struct words take_value(struct words *words)
{
	bool is_quoted = false;
	int depth = 0;
	size_t size = 0;

	if (words->size == 0 || !memchr("\"[{", *words->at, 3))
		return take_word(words);
	for (; size < words->size; size++) {
		char c = words->at[size];

		if (is_quoted && c == '\\')
			size++;
		else if (c == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && (c == '[' || c == '{'))
			depth++;
		else if (!is_quoted && (c == ']' || c == '}'))
			depth--;
		if (!is_quoted && depth <= 0)
			break;
	}
	return take(words, size < words->size ? size + 1 : words->size);
}

static bool is_word(struct words word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.at, text, word.size) == 0;
}

static bool is_type(struct words word)
{
	static const char *const types[] = {
		"string", "integer", "number", "boolean", "array", "object"};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (is_word(word, types[i]))
			return true;
	return false;
}

/* Append the default of a parameter of type @type, as JSON. */
static int write_default(struct head *head, struct words type, struct words value)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct buffer *out = &head->properties;
	int r;

	buffer_append_string(out, ",\"default\":");
	if (is_word(type, "string") && (value.size == 0 || *value.at != '"')) {
		json_write_string(out, value.at, value.size);
		return 0;
	}
	r = json_tape_read(&tape, value.at, value.size, JSON_DEPTH_DEFAULT / 2, NULL);
	if (r > 0)
		return refuse_line(head, "the default after '=' must be one JSON value");
	if (r == 0)
		json_write_compact(out, &tape, 0);
	return r;
}

static void write_property(struct head *head, struct words name, struct words type)
{
	struct buffer *out = &head->properties;

	if (out->size > 0)
		buffer_append_char(out, ',');
	json_write_string(out, name.at, name.size);
	buffer_append_string(out, ":{\"type\":");
	json_write_string(out, type.at, type.size);
}

static void write_required(struct head *head, struct words name)
{
	if (head->required.size > 0)
		buffer_append_char(&head->required, ',');
	json_write_string(&head->required, name.at, name.size);
}

/* Refuse an unknown type; many languages have other words for types. */
static int refuse_type(struct head *head, struct words type)
{
	static const char *const others[][2] = {{"int", "integer"}, {"str", "string"},
		{"text", "string"}, {"bool", "boolean"}, {"float", "number"}, {"double", "number"},
		{"list", "array"}, {"dict", "object"}};
	static const char expected[] =
		"'# param' must be followed by a name and a type: string, integer, number, "
		"boolean, array or object, with '?' when it may be absent";

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (is_word(type, others[i][0])) {
			buffer_printf(head->reason, "%s:%u: %s; did you mean '%s'?", head->path,
				head->line, expected, others[i][1]);
			return DROPIN_E_REFUSED;
		}
	return refuse_line(head, expected);
}

/* times integer? = 2 How often */
static int read_parameter(struct head *head, struct words line)
{
	struct words name = take_word(&line);
	struct words type;
	bool is_optional;
	int r = 0;

	skip_spaces(&line);
	type = take_letters(&line);
	if (name.size == 0 || !is_type(type) ||
		(line.size > 0 && !is_space(*line.at) && *line.at != '?' && *line.at != '='))
		return refuse_type(head, type);
	skip_spaces(&line);
	is_optional = skip(&line, "?");
	write_property(head, name, type);
	skip_spaces(&line);
	if (skip(&line, "=")) {
		is_optional = true;
		skip_spaces(&line);
		r = write_default(head, type, take_value(&line));
		skip_spaces(&line);
	}
	if (line.size > 0) {
		buffer_append_string(&head->properties, ",\"description\":");
		json_write_string(&head->properties, line.at, line.size);
	}
	buffer_append_char(&head->properties, '}');
	if (!is_optional)
		write_required(head, name);
	return r;
}

static int read_timeout(struct head *head, struct words line)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	double seconds;
	int r = json_tape_read(&tape, line.at, line.size, 1, NULL);

	if (r < 0)
		return r;
	if (r > 0 || json_type_at(&tape, 0) != JSON_NUMBER || json_number_f64(&tape, 0, &seconds) ||
		!(seconds > 0) || seconds > DAY_S)
		return refuse_line(head, "'# timeout:' must be followed by a number of seconds");
	buffer_append_string(&head->others, ",\"timeout_ms\":");
	json_write_u64(&head->others, clock_round_up(seconds * 1000));
	return 0;
}

/* Return whether @word is one of the risks. */
static bool is_risk(struct words word)
{
	return is_word(word, "read") || is_word(word, "write") || is_word(word, "execute");
}

static int read_risk(struct head *head, struct words line)
{
	if (!is_risk(line))
		return refuse_line(head, "'# risk:' must be followed by read, write or execute");
	buffer_printf(&head->others, ",\"risk\":\"%.*s\"", (int)line.size, line.at);
	return 0;
}

/* Return whether the comment is a risk in another spelling. Such a risk is taken, for else the tool
 * would run without a question: `Risk: execute`, `risk : execute`, `risk execute`. */
static bool is_spelled_risk(struct words *line)
{
	struct words rest = *line;

	if (rest.size < strlen("risk") || strncasecmp(rest.at, "risk", strlen("risk")) != 0)
		return false;
	take(&rest, strlen("risk"));
	skip_spaces(&rest);
	skip(&rest, ":");
	skip_spaces(&rest);
	if (!is_risk(rest))
		return false;
	*line = rest;
	return true;
}

static void read_description(struct head *head, struct words line)
{
	if (head->description.size > 0)
		buffer_append_char(&head->description, ' ');
	buffer_append(&head->description, line.at, line.size);
}

/* Skip the mark of a comment. */
static bool skip_mark(struct words *line)
{
	static const char *const others[] = {"// ", "-- ", ";; ", "; "};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (skip(line, others[i]))
			return true;
	return skip(line, "#");
}

static bool is_parameter(struct words line)
{
	return skip(&line, "param") && (line.size == 0 || is_space(*line.at));
}

/* Warn of a comment without effect, if it seems meant as a definition. */
static void hint_at(struct head *head, struct words line)
{
	const char *form = dropin_hint_find(line.at, line.size);

	if (form)
		diagnostics_add(head->problems, DIAGNOSTIC_WARNING, 0, "",
			"%s:%u: the comment '# %.*s' defines nothing; is '%s' meant?", head->path,
			head->line, (int)utf8_prefix(line.at, line.size, HINT_POINTS), line.at,
			form);
}

/* Read one line. Most lines define nothing. */
static int read_line(struct head *head, struct words line)
{
	while (line.size > 0 && is_space(line.at[line.size - 1]))
		line.size--;
	skip_spaces(&line);
	if (!skip_mark(&line))
		return 0;
	skip_spaces(&line);
	if (!utf8_is_valid(line.at, line.size))
		return 0;
	if (is_parameter(line)) {
		skip(&line, "param");
		skip_spaces(&line);
		return read_parameter(head, line);
	}
	if (skip(&line, "description:")) {
		skip_spaces(&line);
		read_description(head, line);
		return 0;
	}
	if (is_spelled_risk(&line) || skip(&line, "risk:")) {
		skip_spaces(&line);
		return read_risk(head, line);
	}
	if (skip(&line, "timeout:")) {
		skip_spaces(&line);
		return read_timeout(head, line);
	}
	hint_at(head, line);
	return 0;
}

static int read_lines(struct head *head, const struct buffer *bytes)
{
	const char *at = bytes->data;
	const char *end = at ? at + bytes->size : at;
	int r = 0;

	for (head->line = 1; r == 0 && at < end && head->line <= DROPIN_LINES_MAX; head->line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((newline ? newline : end) - at);

		r = read_line(head, (struct words){at, size});
		at += size + (newline ? 1 : 0);
	}
	return r;
}

static void write_head(const struct head *head, struct buffer *entry)
{
	if (head->description.size > 0) {
		buffer_append_string(entry, ",\"description\":");
		json_write_string(entry, head->description.data, head->description.size);
	}
	buffer_append_string(entry, ",\"argument_schema\":{\"type\":\"object\",\"properties\":{");
	buffer_append(entry, head->properties.data, head->properties.size);
	buffer_append_char(entry, '}');
	if (head->required.size > 0) {
		buffer_append_string(entry, ",\"required\":[");
		buffer_append(entry, head->required.data, head->required.size);
		buffer_append_char(entry, ']');
	}
	buffer_append_string(entry, ",\"additionalProperties\":false}");
	buffer_append(entry, head->others.data, head->others.size);
}

static void head_deinit(struct head *head)
{
	buffer_deinit(&head->description);
	buffer_deinit(&head->properties);
	buffer_deinit(&head->required);
	buffer_deinit(&head->others);
}

/* Read the beginning of a program. A runnable but unreadable program has no beginning. */
static int read_beginning(const char *path, struct buffer *bytes)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int r = fd < 0 ? -errno : file_read_fd(fd, DROPIN_HEAD_BYTES_MAX, bytes);

	return r < 0 && file_error_is_shortage(r) ? r : 0;
}

static int read_comments(const char *path, const struct buffer *bytes, struct buffer *entry,
	struct buffer *reason, struct diagnostics *problems)
{
	cleanup(head_deinit) struct head head = {
		.path = path, .reason = reason, .problems = problems};
	int r = read_lines(&head, bytes);

	if (r == 0)
		write_head(&head, entry);
	if (buffer_status(&head.description) || buffer_status(&head.properties) ||
		buffer_status(&head.required) || buffer_status(&head.others))
		return -ENOMEM;
	return r;
}

/* Refuse two comments with the same definition. They make an object with a repeated key. */
static int refuse_repetition(
	const struct dropin *dropin, const struct buffer *entry, struct buffer *reason)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	int r = json_tape_read(&tape, entry->data, entry->size, JSON_DEPTH_DEFAULT, &error);

	if (r <= 0)
		return r;
	buffer_printf(reason, "%s: has a duplicate key, or too many levels: %s", dropin->path,
		error.message);
	return buffer_status(reason) ? -ENOMEM : DROPIN_E_REFUSED;
}

/* ── either ──────────────────────────────────────────────────────────────────────────────────── */

/* Refuse what would fail with every call. */
static int refuse_program(
	const struct dropin *dropin, const struct buffer *beginning, struct buffer *reason)
{
	cleanup(buffer_deinit) struct buffer why = {0};

	dropin_program_check(dropin->path, beginning, &why);
	if (buffer_status(&why) < 0)
		return -ENOMEM;
	if (why.size == 0)
		return 0;
	buffer_printf(reason, "%s: %.*s", dropin->path, (int)why.size, why.data);
	return buffer_status(reason) ? -ENOMEM : DROPIN_E_REFUSED;
}

int dropin_define(const struct dropin *dropin, struct buffer *entry, struct buffer *reason,
	struct diagnostics *problems)
{
	cleanup(buffer_deinit) struct buffer beginning = {0};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup_free char *path = dropin_definition_path(dropin);
	int r = path ? read_beginning(dropin->path, &beginning) : -ENOMEM;

	if (r != 0)
		return r;
	r = file_read(path, DEFINITION_BYTES_MAX, &bytes);
	if (r < 0 && file_error_is_shortage(r))
		return r;
	begin_dropin_entry(dropin, entry);
	if (r == -ENOENT) {
		r = read_comments(dropin->path, &beginning, entry, reason, problems);
	} else if (r < 0) {
		buffer_printf(reason, "%s: cannot be read: %s", path, strerror(-r));
		r = DROPIN_E_REFUSED;
	} else {
		r = read_definition(path, &bytes, entry, reason);
	}
	end_entry(dropin, entry);
	if (r >= 0 && (buffer_status(entry) || buffer_status(reason)))
		return -ENOMEM;
	r = r ? r : refuse_repetition(dropin, entry, reason);
	return r ? r : refuse_program(dropin, &beginning, reason);
}
