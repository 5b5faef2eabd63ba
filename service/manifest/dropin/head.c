/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/head.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "json/number.h"
#include "json/reader.h"
#include "json/writer.h"
#include "manifest/dropin/dropin_hint.h"
#include "manifest/dropin/head_schema.h"
#include "manifest/dropin/head_words.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/text/utf8.h"

#define DAY_S 86400

/* The words that define something, for a warning. */
#define HEADS "the words with a colon are description, risk, timeout, title, cooldown and output"

/* The characters of a comment in a warning. */
#define HINT_POINTS 40

/* The top of a program while it is read. */
struct head {
	const char *path;
	unsigned int line; /* the line being read */
	bool is_in_code;   /* a line of code came before */
	bool has_values;   /* the output of the program is JSON */
	struct buffer description;
	struct dropin_schema arguments;
	struct dropin_schema result;
	unsigned int returns_line; /* the first line with `returns`; 0: none */
	struct buffer returns_why; /* its mistake, with its place; empty: none */
	struct buffer triggers;    /* the elements of a list … */
	struct buffer examples;    /* … likewise */
	struct buffer others;      /* ,"key":value */
	struct buffer command;     /* likewise, of the command */
	struct buffer *reason;
	struct diagnostics *problems;
};

static int refuse_line(struct head *head, const char *expected)
{
	buffer_printf(head->reason, "%s:%u: %s", head->path, head->line, expected);
	return DROPIN_E_REFUSED;
}

/* Begin the member @key of @out, for the one line that may begin with @word. */
static int begin_single(struct head *head, struct buffer *out, const char *key, const char *word)
{
	char begin[32];
	int size = snprintf(begin, sizeof(begin), ",\"%s\":", key);

	/* Quotes in values are escaped. */
	if (out->size > 0 && memmem(out->data, out->size, begin, (size_t)size)) {
		buffer_printf(
			head->reason, "%s:%u: '# %s' is there twice", head->path, head->line, word);
		return DROPIN_E_REFUSED;
	}
	buffer_append(out, begin, (size_t)size);
	return 0;
}

static void warn(struct head *head, unsigned int line, const char *text)
{
	diagnostics_add(
		head->problems, DIAGNOSTIC_WARNING, 0, "", "%s:%u: %s", head->path, line, text);
}

static void begin_item(struct buffer *list)
{
	if (list->size > 0)
		buffer_append_char(list, ',');
}

/* ── one comment ─────────────────────────────────────────────────────────────────────────────── */

/* times integer? = 2 How often */
static int read_param(struct head *head, struct text_view line)
{
	cleanup(buffer_deinit) struct buffer why = {0};
	int r = dropin_schema_add(&head->arguments, line, true, &why);

	if (r == DROPIN_E_REFUSED)
		buffer_printf(head->reason, "%s:%u: '# param' %.*s", head->path, head->line,
			(int)why.size, why.data);
	return buffer_status(&why) ? -ENOMEM : r;
}

/* Read a member of the result. A mistake counts only if the output is JSON: such a line may be a
 * sentence of the program's author. */
static int read_returns(struct head *head, struct text_view line)
{
	cleanup(buffer_deinit) struct buffer why = {0};
	int r = dropin_schema_add(&head->result, line, false, &why);

	if (r == DROPIN_E_REFUSED && head->returns_why.size == 0)
		buffer_printf(&head->returns_why, "%s:%u: '# returns' %.*s", head->path, head->line,
			(int)why.size, why.data);
	else if (r == 0 && head->returns_line == 0)
		head->returns_line = head->line;
	if (buffer_status(&why))
		return -ENOMEM;
	return r < 0 ? r : 0;
}

/* Read the seconds after a head; the value of a wrong text is negative. */
static int read_seconds(struct text_view line, double *ret_seconds)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, line.text, line.size, 1, NULL);

	*ret_seconds = -1;
	if (r < 0)
		return r;
	if (r == 0 && json_type_at(&tape, 0) == JSON_NUMBER)
		json_number_f64(&tape, 0, ret_seconds);
	return 0;
}

static int read_timeout(struct head *head, struct text_view line)
{
	double seconds;
	int r = read_seconds(line, &seconds);

	if (r < 0)
		return r;
	if (!(seconds > 0) || seconds > DAY_S)
		return refuse_line(head, "'# timeout:' must be followed by a number of seconds");
	r = begin_single(head, &head->others, "timeout_ms", "timeout:");
	json_write_u64(&head->others, clock_round_up(seconds * 1000));
	return r;
}

static int read_cooldown(struct head *head, struct text_view line)
{
	double seconds;
	int r = read_seconds(line, &seconds);

	if (r < 0)
		return r;
	if (!(seconds >= 0) || seconds > DAY_S || seconds != (double)(unsigned int)seconds)
		return refuse_line(
			head, "'# cooldown:' must be followed by a whole number of seconds");
	r = begin_single(head, &head->others, "cooldown_s", "cooldown:");
	json_write_u64(&head->others, (unsigned int)seconds);
	return r;
}

static int read_description(struct head *head, struct text_view line)
{
	if (head->description.size > 0)
		buffer_append_char(&head->description, ' ');
	buffer_append(&head->description, line.text, line.size);
	return 0;
}

static int read_title(struct head *head, struct text_view line)
{
	int r = begin_single(head, &head->others, "title", "title:");

	json_write_string(&head->others, line.text, line.size);
	return r;
}

static int read_utterance(struct head *head, struct text_view line)
{
	begin_item(&head->triggers);
	json_write_string(&head->triggers, line.text, line.size);
	return 0;
}

/* Read the form of the output. Another word makes the line a sentence of the program's author. */
static int read_form(struct head *head, struct text_view line)
{
	static const char *const forms[] = {"text", "json", "json_lines", "content"};
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (!text_view_is(line, forms[i]))
			continue;
		head->has_values = i > 0;
		r = begin_single(head, &head->command, "output", "output:");
		buffer_printf(&head->command, "\"%s\"", forms[i]);
		return r;
	}
	warn(head, head->line,
		"'# output:' has an effect only with text, json, json_lines or content");
	return 0;
}

/* {"times": 3} -> {"rung": 3} */
static int read_example(struct head *head, struct text_view line)
{
	static const char expected[] =
		"'# example' must be followed by an object of arguments, and perhaps '->' and the "
		"result, all in JSON on one line";
	struct text_view arguments = words_take_value(&line);
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer example = {0};
	int r;

	buffer_append_string(&example, "{\"args\":");
	buffer_append(&example, arguments.text, arguments.size);
	words_skip_spaces(&line);
	if (words_skip(&line, "->")) {
		json_write_member_json(&example, "result", line.text, line.size);
	} else if (line.size > 0) {
		return refuse_line(head, expected);
	}
	buffer_append_char(&example, '}');
	if (buffer_status(&example))
		return -ENOMEM;
	r = json_tape_read(&tape, example.data, example.size, JSON_DEPTH_DEFAULT / 2, NULL);
	if (r > 0)
		return refuse_line(head, expected);
	if (r < 0)
		return r;
	begin_item(&head->examples);
	json_write_compact(&head->examples, &tape, 0);
	return 0;
}

/* Return whether @word is one of the risks. */
static bool is_risk(struct text_view word)
{
	return text_view_is(word, "read") || text_view_is(word, "write") ||
	       text_view_is(word, "execute");
}

static int read_risk(struct head *head, struct text_view line)
{
	int r;

	if (!is_risk(line))
		return refuse_line(head, "'# risk:' must be followed by read, write or execute");
	r = begin_single(head, &head->others, "risk", "risk:");
	buffer_printf(&head->others, "\"%.*s\"", (int)line.size, line.text);
	return r;
}

/* Return whether the comment is a risk in another spelling. Such a risk is taken, for else the tool
 * would run without a question: `Risk: execute`, `risk : execute`, `risk execute`. */
static bool is_spelled_risk(struct text_view *line)
{
	struct text_view rest = *line;

	if (rest.size < strlen("risk") || strncasecmp(rest.text, "risk", strlen("risk")) != 0)
		return false;
	words_take(&rest, strlen("risk"));
	words_skip_spaces(&rest);
	words_skip(&rest, ":");
	words_skip_spaces(&rest);
	if (!is_risk(rest))
		return false;
	*line = rest;
	return true;
}

/* ── lines ───────────────────────────────────────────────────────────────────────────────────── */

static const struct definition {
	const char *word;
	char next;            /* the first byte of the rest; '\0': any byte */
	bool is_also_in_code; /* it counts after the first line of code, too */
	int (*read)(struct head *head, struct text_view rest);
} forms[] = {
	{"param", '\0', true, read_param},
	{"description:", '\0', true, read_description},
	{"risk:", '\0', true, read_risk},
	{"timeout:", '\0', true, read_timeout},
	{"title:", '\0', false, read_title},
	{"cooldown:", '\0', false, read_cooldown},
	{"trigger", '\0', false, read_utterance},
	{"output:", '\0', false, read_form},
	{"returns", '\0', false, read_returns},
	{"example", '{', false, read_example},
};

/* Return whether *line has the form; its rest is then in *line. */
static bool has_form(const struct definition *form, struct text_view *line)
{
	struct text_view rest = *line;
	size_t size = strlen(form->word);

	if (!words_skip(&rest, form->word))
		return false;
	if (form->word[size - 1] != ':' && rest.size > 0 && !words_is_space(*rest.text))
		return false;
	words_skip_spaces(&rest);
	if (form->next != '\0' && (rest.size == 0 || *rest.text != form->next))
		return false;
	*line = rest;
	return true;
}

/* Skip the mark of a comment. */
static bool skip_mark(struct text_view *line)
{
	static const char *const others[] = {"// ", "-- ", ";; ", "; "};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (words_skip(line, others[i]))
			return true;
	return words_skip(line, "#");
}

/* Warn of a comment without effect, if it seems meant as a definition. */
static void hint_at(struct head *head, struct text_view line)
{
	const char *form = dropin_hint_find(line.text, line.size, !head->is_in_code);

	if (form)
		diagnostics_add(head->problems, DIAGNOSTIC_WARNING, 0, "",
			"%s:%u: the comment '# %.*s' defines nothing; is '%s' meant?", head->path,
			head->line, (int)utf8_prefix(line.text, line.size, HINT_POINTS), line.text,
			form);
	else if (!head->is_in_code && dropin_hint_is_unknown(line.text, line.size))
		diagnostics_add(head->problems, DIAGNOSTIC_WARNING, 0, "",
			"%s:%u: the comment '# %.*s' defines nothing: " HEADS, head->path,
			head->line, (int)utf8_prefix(line.text, line.size, HINT_POINTS), line.text);
}

static int read_comment(struct head *head, struct text_view line)
{
	if (is_spelled_risk(&line))
		return read_risk(head, line);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if ((forms[i].is_also_in_code || !head->is_in_code) && has_form(&forms[i], &line))
			return forms[i].read(head, line);
	hint_at(head, line);
	return 0;
}

/* Read one line. Most lines define nothing. */
static int read_line(struct head *head, struct text_view line)
{
	while (line.size > 0 && words_is_space(line.text[line.size - 1]))
		line.size--;
	words_skip_spaces(&line);
	if (line.size == 0)
		return 0;
	if (!skip_mark(&line)) {
		head->is_in_code = true;
		return 0;
	}
	words_skip_spaces(&line);
	return utf8_is_valid(line.text, line.size) ? read_comment(head, line) : 0;
}

static int read_lines(struct head *head, const struct buffer *bytes)
{
	const char *at = bytes->data;
	const char *end = at ? at + bytes->size : at;
	int r = 0;

	for (head->line = 1; r == 0 && at < end && head->line <= DROPIN_LINES_MAX; head->line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((newline ? newline : end) - at);

		r = read_line(head, (struct text_view){at, size});
		at += size + (newline ? 1 : 0);
	}
	return r;
}

/* ── the entry ───────────────────────────────────────────────────────────────────────────────── */

static void write_members(const char *key, const struct buffer *list, struct buffer *entry)
{
	if (list->size == 0)
		return;
	buffer_printf(entry, ",\"%s\":[", key);
	buffer_append(entry, list->data, list->size);
	buffer_append_char(entry, ']');
}

static void write_head(const struct head *head, struct buffer *entry, struct buffer *command)
{
	if (head->description.size > 0) {
		buffer_append_string(entry, ",\"description\":");
		json_write_string(entry, head->description.data, head->description.size);
	}
	buffer_append_string(entry, ",\"argument_schema\":");
	dropin_schema_write(&head->arguments, true, entry);
	if (head->has_values && head->returns_line > 0) {
		buffer_append_string(entry, ",\"output_schema\":");
		dropin_schema_write(&head->result, false, entry);
	}
	write_members("triggers", &head->triggers, entry);
	write_members("examples", &head->examples, entry);
	buffer_append(entry, head->others.data, head->others.size);
	buffer_append(command, head->command.data, head->command.size);
}

/* Judge the lines with `returns`, now that the form of the output is known. */
static int finish_returns(struct head *head)
{
	if (head->has_values && head->returns_why.size > 0) {
		buffer_append(head->reason, head->returns_why.data, head->returns_why.size);
		return DROPIN_E_REFUSED;
	}
	if (!head->has_values && head->returns_line > 0)
		warn(head, head->returns_line,
			"'# returns' describes a result in JSON, and has an effect only with "
			"'# output: json', json_lines or content");
	return 0;
}

static int head_status(const struct head *head)
{
	const struct buffer *const all[] = {&head->description, &head->returns_why, &head->triggers,
		&head->examples, &head->others, &head->command};
	int r = dropin_schema_status(&head->arguments);

	r = r ? r : dropin_schema_status(&head->result);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(all); i++)
		r = buffer_status(all[i]);
	return r;
}

static void head_deinit(struct head *head)
{
	buffer_deinit(&head->description);
	dropin_schema_deinit(&head->arguments);
	dropin_schema_deinit(&head->result);
	buffer_deinit(&head->returns_why);
	buffer_deinit(&head->triggers);
	buffer_deinit(&head->examples);
	buffer_deinit(&head->others);
	buffer_deinit(&head->command);
}

int dropin_head_read(const char *path, const struct buffer *bytes, struct buffer *entry,
	struct buffer *command, struct buffer *reason, struct diagnostics *problems)
{
	cleanup(head_deinit) struct head head = {
		.path = path, .reason = reason, .problems = problems};
	int r = read_lines(&head, bytes);

	if (r == 0)
		r = finish_returns(&head);
	if (r == 0)
		write_head(&head, entry, command);
	return head_status(&head) < 0 ? -ENOMEM : r;
}
