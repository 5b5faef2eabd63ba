/* SPDX-License-Identifier: Apache-2.0 */
#include "../unit/fixtures/counting.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Random programs over a library that counts what it gives. Each call has its right signature.
 * A call that begins something has the finally for its end. Names, conditions, rounds, failures,
 * `init` and collected values are by chance. Most names may be used at their place; now and then a
 * step uses any name, which the checker has to refuse.
 *
 * A program that the checker accepts
 *
 *   leaves nothing open        the library counts things, texts, memory and locks
 *   ends nothing twice         the library aborts, as at a use after the end, or of NULL
 *   keeps its own copies       the library frees lent memory at its next call: the sanitizer
 *   keeps them whole           each text has a form with an end, in a call and in the result
 *   keeps no older values      a text of serial() in a list is newer than the text before it
 *   passes true capacities     fill_whole() fills all of its buffer; the guard after it is intact
 *   has a result               JSON, or words of its failure
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAMES_MAX      256
#define CONDITIONS_MAX (2 * NAMES_MAX)

/* The kinds of names of a program. */
enum kind {
	THING,  /* a handle that is closed */
	MEMORY, /* memory for a handle */
	TEXT,
	NUMBER,
	NODE,  /* a struct with a handle in it */
	OWNED, /* a struct that is freed when it has been copied */
	PAIR,  /* a struct with a text */
	PLACE, /* a handle to a pair */
	LIST,
	DATA,
	N_KINDS,
};

/* A name and where it may be used. */
struct name {
	enum kind kind;
	unsigned int round;     /* ends with the rounds of this repeat; 0: with the tool */
	unsigned int condition; /* is set under it; 0: always */
	bool is_process;
	bool is_serial; /* a text of serial() */
	bool is_ended;  /* a thing with another finally than thing_close() */
};

struct writer {
	const uint8_t *data;
	size_t size;
	struct buffer text;
	struct name names[NAMES_MAX];
	unsigned int n_names;
	unsigned int n_rounds;
	unsigned int round;
	unsigned int condition;       /* the condition of the current step */
	unsigned int round_condition; /* the condition of the current repeat */
	bool is_init;
	bool lacks_name; /* the current step uses a kind of names that there is not */
};

/* The structs of thing_node(), thing_pair() and others. */
static const char structs[] =
	"\"structs\":{\"pair\":{\"fields\":[{\"name\":\"number\",\"type\":\"i32\"},{\"name\":"
	"\"text\",\"type\":\"str\"}]},\"node\":{\"fields\":[{\"name\":\"number\",\"type\":\"i32\"},"
	"{\"name\":\"tag\",\"type\":\"str\",\"count\":4},{\"name\":\"places\",\"type\":\"i16\","
	"\"count\":2},{\"name\":\"inner\",\"type\":\"struct\",\"struct\":\"pair\"},{\"name\":"
	"\"next\",\"type\":\"handle\",\"count\":1},{\"name\":\"raw\",\"type\":\"bytes\",\"count\":"
	"2},"
	"{\"name\":\"flags\",\"type\":\"bool\",\"count\":2}]}}";

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

static unsigned int take(struct writer *writer, unsigned int below)
{
	if (writer->size == 0)
		return 0;
	writer->size--;
	return *writer->data++ % below;
}

static void put(struct writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(struct writer *writer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&writer->text, format, arguments);
	va_end(arguments);
}

/* ── names ───────────────────────────────────────────────────────────────────────────────────── */

static bool is_usable(const struct writer *writer, const struct name *name)
{
	return (name->round == 0 || name->round == writer->round) &&
	       (name->condition == 0 || name->condition == writer->condition ||
		       name->condition == writer->round_condition);
}

/* Return a name of the kind by chance, mostly one that may be used; n_names: there is none. */
static unsigned int choose(struct writer *writer, enum kind kind)
{
	bool is_any = take(writer, 24) == 1;
	unsigned int found[NAMES_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < writer->n_names; i++)
		if (writer->names[i].kind == kind &&
			(is_any || is_usable(writer, &writer->names[i])))
			found[n++] = i;
	return n > 0 ? found[take(writer, n)] : writer->n_names;
}

static void write_name(struct writer *writer, unsigned int at, const char *field)
{
	bool is_process = writer->names[at].is_process && !writer->is_init;

	put(writer, "\"%sv%u%s\"", is_process ? "$$" : "$", at, field);
}

/* Write a name of the kind, or the field of a struct; the name of nothing, if there is none. Return
 * its number. */
static unsigned int write_use(struct writer *writer, enum kind kind)
{
	static const struct {
		enum kind kind;
		enum kind owner;
		const char *field;
	} fields[] = {
		{THING, NODE, ".next.0"},
		{TEXT, NODE, ".inner.text"},
		{TEXT, OWNED, ".inner.text"},
		{TEXT, NODE, ".tag"},
		{TEXT, PAIR, ".text"},
		{NUMBER, NODE, ".number"},
		{NUMBER, PAIR, ".number"},
		{PAIR, NODE, ".inner"},
		/* Refused. */
		{THING, OWNED, ".next.0"},
	};
	unsigned int chance = take(writer, 32);
	unsigned int at;

	if (chance < sizeof(fields) / sizeof(*fields) && fields[chance].kind == kind) {
		at = choose(writer, fields[chance].owner);
		if (at < writer->n_names) {
			write_name(writer, at, fields[chance].field);
			return at;
		}
	}
	at = choose(writer, kind);
	if (at < writer->n_names)
		write_name(writer, at, "");
	else
		put(writer, "\"$nothing\"");
	writer->lacks_name |= at == writer->n_names;
	return at;
}

/* Return the number of a new name. */
static unsigned int new_name(struct writer *writer, enum kind kind)
{
	unsigned int at = writer->n_names;

	if (at == NAMES_MAX - 1)
		return at;
	writer->names[writer->n_names++] = (struct name){
		.kind = kind,
		.round = writer->round,
		.condition = writer->condition,
		.is_process = writer->is_init,
	};
	return at;
}

/* Write that a conditional value may be null, so that the result may have it. */
static void write_nullable(struct writer *writer)
{
	if (writer->condition != 0 && take(writer, 16) != 1)
		put(writer, ",\"nullable\":true");
}

/* Write the condition of a step: none, the condition of another step, or a new one. */
static void write_condition(struct writer *writer)
{
	unsigned int chance = take(writer, 8);
	unsigned int at = writer->n_names;

	writer->condition = 0;
	if (chance < 5)
		return;
	if (chance == 5) {
		at = choose(writer, take(writer, 2) ? NUMBER : (enum kind)take(writer, N_KINDS));
		if (at == writer->n_names)
			return;
		writer->condition = 1 + 2 * at + take(writer, 2);
	} else {
		unsigned int first = take(writer, NAMES_MAX);

		for (unsigned int i = 0; i < writer->n_names && writer->condition == 0; i++)
			writer->condition = writer->names[(first + i) % writer->n_names].condition;
		if (writer->condition == 0)
			return;
		at = (writer->condition - 1) / 2;
	}
	put(writer, "\"%s\":", (writer->condition - 1) % 2 ? "unless" : "when");
	write_name(writer, at, "");
	put(writer, ",");
}

/* ── steps ───────────────────────────────────────────────────────────────────────────────────── */

/* Write the finally of the handle @at; now and then of another one, which is closed by its own. */
static void write_close(struct writer *writer, unsigned int at)
{
	unsigned int other = take(writer, 32) == 1 ? choose(writer, THING) : at;

	/* The checker compares calls. It does not know that both functions end a thing. */
	if (other == writer->n_names || writer->names[other].is_ended)
		other = at;
	put(writer, ",\"finally\":{\"call\":\"thing_close\",\"args\":[");
	write_name(writer, other, "");
	put(writer, "]}");
}

static void write_open(struct writer *writer)
{
	int kind = (int)take(writer, 10) - (take(writer, 8) == 1);
	unsigned int at = new_name(writer, THING);

	put(writer,
		"\"call\":\"thing_open\",\"args\":[{\"i32\":%d}],\"returns\":{\"name\":\"v%u\","
		"\"type\":\"handle\"}",
		kind, at);
	write_close(writer, at);
}

static void write_try(struct writer *writer)
{
	unsigned int kind = take(writer, 8);
	unsigned int at = new_name(writer, THING);

	put(writer,
		"\"call\":\"thing_try\",\"args\":[{\"i32\":%u},{\"out\":{\"name\":\"v%u\",\"type\":"
		"\"handle\"}}],\"returns\":{\"type\":\"i32\",\"errors\":{\"equals\":%u}",
		kind, at, take(writer, 8));
	if (take(writer, 2))
		put(writer, ",\"message\":{\"call\":\"thing_words\",\"args\":[\"$v%u\"]}", at);
	put(writer, "},\"finally\":{\"call\":\"thing_close\",\"args\":[\"$v%u\"],\"always\":true}",
		at);
}

/* A call that hands over a thing and a text, and may fail then. */
static void write_break(struct writer *writer)
{
	unsigned int thing = new_name(writer, THING);
	unsigned int text = new_name(writer, TEXT);

	writer->names[thing].is_ended = true;
	put(writer,
		"\"call\":\"thing_break\",\"args\":[{\"i32\":%u},{\"out\":{\"name\":\"v%u\","
		"\"type\":\"handle\"}}],\"returns\":{\"name\":\"v%u\",\"type\":\"str\","
		"\"transfer\":\"full\",\"free\":\"text_free\",\"errors\":\"errno\"%s",
		take(writer, 4) ? 0 : 5, thing, text, take(writer, 2) ? ",\"message\":" : "");
	if (writer->text.data[writer->text.size - 1] == ':')
		put(writer, "\"$v%u\"", text);
	write_nullable(writer);
	put(writer,
		"},\"finally\":{\"call\":\"thing_end\",\"args\":[\"$v%u\",\"$v%u\"],\"always\":"
		"true}",
		thing, text);
}

static void write_child(struct writer *writer)
{
	unsigned int at;

	put(writer, "\"call\":\"thing_child\",\"args\":[");
	write_use(writer, THING);
	at = new_name(writer, THING);
	put(writer, "],\"returns\":{\"name\":\"v%u\",\"type\":\"handle\"}", at);
	write_close(writer, at);
}

static void write_lock(struct writer *writer)
{
	bool may_fail = take(writer, 2);
	size_t before, after;
	unsigned int at;

	put(writer, "\"call\":\"%s\",\"args\":[", may_fail ? "thing_try_lock" : "lock");
	before = writer->text.size;
	at = write_use(writer, THING);
	after = writer->text.size;
	put(writer, "]%s,\"finally\":{\"call\":\"unlock\",\"args\":[",
		may_fail ? ",\"returns\":{\"type\":\"i32\",\"errors\":\"nonzero\"}" : "");
	if (buffer_reserve(&writer->text, after - before))
		buffer_append(&writer->text, writer->text.data + before, after - before);
	put(writer, "]%s}",
		at < writer->n_names && writer->names[at].is_process ? ",\"frees\":false" : "");
}

static void write_serial(struct writer *writer)
{
	unsigned int at = new_name(writer, TEXT);

	writer->names[at].is_serial = true;
	put(writer, "\"call\":\"serial\",\"returns\":{\"type\":\"str\",\"name\":\"v%u\"", at);
	write_nullable(writer);
	put(writer, "}");
}

static void write_text(struct writer *writer)
{
	static const char *const forms[][2] = {
		{"thing_name", ""},
		{"thing_name", ",\"nullable\":true"},
		{"thing_text", ",\"transfer\":\"full\",\"free\":\"text_free\""},
	};
	unsigned int form = take(writer, 4);

	if (form == 3) {
		write_serial(writer);
		return;
	}
	put(writer, "\"call\":\"%s\",\"args\":[", forms[form][0]);
	write_use(writer, THING);
	put(writer, "],\"returns\":{\"type\":\"str\"%s,\"name\":\"v%u\"", forms[form][1],
		new_name(writer, TEXT));
	if (form != 1)
		write_nullable(writer);
	put(writer, "}");
}

/* A text that the function allocates and hands over. */
static void write_give(struct writer *writer)
{
	static const char *const rules[] = {"none", "none", "zero", "nonzero"};
	unsigned int at;

	put(writer, "\"call\":\"thing_give\",\"args\":[");
	write_use(writer, THING);
	at = new_name(writer, TEXT);
	put(writer,
		",{\"out\":{\"name\":\"v%u\",\"type\":\"str\",\"transfer\":\"full\",\"free\":"
		"\"text_free\",\"nullable\":true}}],\"returns\":{\"type\":\"i32\",\"errors\":"
		"\"%s\"",
		at, rules[take(writer, 4)]);
	if (take(writer, 2))
		put(writer, ",\"message\":\"$v%u\"", at);
	put(writer, "}");
}

static void write_number(struct writer *writer)
{
	static const char *const rules[] = {"\"none\"", "\"none\"", "\"negative\"", "\"nonzero\"",
		"{\"equals\":3}", "{\"not_equals\":4}"};

	put(writer, "\"call\":\"%s\",\"args\":[", take(writer, 2) ? "thing_kind" : "thing_next");
	write_use(writer, THING);
	put(writer, "],\"returns\":{\"type\":\"i32\",\"errors\":%s", rules[take(writer, 6)]);
	if (take(writer, 2)) {
		put(writer, ",\"message\":{\"call\":\"thing_error\",\"args\":[");
		write_use(writer, THING);
		put(writer, "]}");
	}
	put(writer, ",\"name\":\"v%u\"", new_name(writer, NUMBER));
	write_nullable(writer);
	put(writer, "}");
}

/* A text that fills the buffer in part, with its length. */
static void write_fill(struct writer *writer)
{
	unsigned int at;

	put(writer, "\"call\":\"thing_fill\",\"args\":[");
	write_use(writer, THING);
	at = new_name(writer, TEXT);
	put(writer, ",{\"out\":{\"name\":\"v%u\",\"type\":\"str\",\"capacity\":", at);
	if (take(writer, 2))
		write_use(writer, NUMBER);
	else
		put(writer, "%u", take(writer, 12));
	write_nullable(writer);
	put(writer,
		"}},{\"inout\":{\"name\":\"l%u\",\"type\":\"usize\",\"length_of\":\"$v%u\"}}],"
		"\"returns\":{\"type\":\"i32\",\"errors\":\"negative\"}",
		at, at);
}

/* A text that fills the buffer to its end, which the function checks. */
static void write_whole(struct writer *writer)
{
	unsigned int capacity = 1 + take(writer, 40);
	bool is_named = take(writer, 2);
	bool is_inout = take(writer, 2);
	unsigned int number = is_named ? choose(writer, NUMBER) : writer->n_names;
	unsigned int at;

	put(writer, "\"call\":\"fill_whole\",\"args\":[{\"%s\":{%s", is_inout ? "inout" : "out",
		is_inout ? "\"value\":" : "");
	if (is_inout) {
		write_use(writer, TEXT);
		put(writer, ",");
	}
	at = new_name(writer, TEXT);
	put(writer, "\"name\":\"v%u\",\"type\":\"str\",\"capacity\":", at);
	if (number < at)
		write_name(writer, number, "");
	else
		put(writer, "%u", capacity);
	write_nullable(writer);
	put(writer, "}},");
	/* The length of an inout is the length of its first value. */
	if (is_inout || take(writer, 2))
		put(writer, "{\"size_of\":\"$v%u\"},", at);
	else
		put(writer, "{\"length_of\":\"$v%u\",\"type\":\"usize\"},", at);
	put(writer, number < at ? "{\"as\":\"usize\",\"value\":" : "{\"usize\":%u}", capacity);
	if (number < at) {
		write_name(writer, number, "");
		put(writer, "}");
	}
	put(writer, "]");
}

static void write_taking(struct writer *writer)
{
	static const struct {
		const char *call;
		const char *type;
		enum kind kind;
	} calls[] = {{"status", "i32", NUMBER}, {"wide", "i64", NUMBER},
		{"text_check", "i32", TEXT}, {"text_check", "i32", TEXT},
		{"pair_number", "i32", PAIR}};
	unsigned int form = take(writer, 5);
	bool is_wide = calls[form].type[1] == '6';

	put(writer, "\"call\":\"%s\",\"args\":[%s", calls[form].call,
		is_wide ? "{\"as\":\"i64\",\"value\":" : "");
	write_use(writer, calls[form].kind);
	put(writer, "%s],\"returns\":{\"type\":\"%s\"}", is_wide ? "}" : "", calls[form].type);
}

static void write_memory(struct writer *writer)
{
	unsigned int at = new_name(writer, MEMORY);

	put(writer,
		"\"call\":\"memory_prepare\",\"args\":[{\"out\":{\"name\":\"v%u\",\"type\":"
		"\"handle\",\"size\":8}},{\"i32\":1}],\"finally\":{\"call\":\"memory_release\","
		"\"args\":[\"$v%u\"]}",
		at, at);
}

static void write_read(struct writer *writer)
{
	static const struct {
		enum kind from;
		const char *type;
		enum kind kind;
	} forms[] = {{MEMORY, "\"type\":\"i32\"", NUMBER}, {PLACE, "\"type\":\"i32\"", NUMBER},
		{PLACE, "\"struct\":\"pair\"", PAIR}, {PLACE, "\"struct\":\"pair\"", PAIR}};
	unsigned int form = take(writer, 4);

	put(writer, "\"read\":");
	write_use(writer, forms[form].from);
	put(writer, ",%s,\"name\":\"v%u\"", forms[form].type, new_name(writer, forms[form].kind));
	write_nullable(writer);
}

/* A value of a thing that is neither a number nor a text. */
static void write_part(struct writer *writer)
{
	static const struct {
		const char *call;
		const char *type;
		enum kind kind;
	} forms[] = {
		{"thing_node", "\"struct\",\"struct\":\"node\"", NODE},
		{"thing_node", "\"struct\",\"struct\":\"node\"", NODE},
		{"node_make",
			"\"struct\",\"struct\":\"node\",\"transfer\":\"full\",\"free\":"
			"\"node_free\"",
			OWNED},
		{"thing_lent", "\"struct\",\"struct\":\"pair\"", PAIR},
		{"thing_list", "\"strv\"", LIST},
		{"thing_place", "\"handle\"", PLACE},
	};
	unsigned int form = take(writer, writer->is_init ? 2 : 6);

	form += writer->is_init ? 4 : 0;
	put(writer, "\"call\":\"%s\",\"args\":[", forms[form].call);
	write_use(writer, THING);
	put(writer, "],\"returns\":{\"name\":\"v%u\",\"type\":%s",
		new_name(writer, forms[form].kind), forms[form].type);
	write_nullable(writer);
	put(writer, "}");
}

static void write_pair(struct writer *writer)
{
	put(writer, "\"call\":\"thing_pair\",\"args\":[");
	write_use(writer, THING);
	put(writer, ",{\"out\":{\"name\":\"v%u\",\"type\":\"struct\",\"struct\":\"pair\"",
		new_name(writer, PAIR));
	write_nullable(writer);
	put(writer, "}}]");
}

/* Bytes of a known number, or the use of such bytes and lists. */
static void write_data(struct writer *writer)
{
	unsigned int form = take(writer, 3);
	size_t before, after;
	unsigned int at;

	if (form == 0) {
		put(writer, "\"call\":\"second\",\"args\":[");
		write_use(writer, LIST);
		put(writer, "],\"returns\":{\"type\":\"str\",\"name\":\"v%u\"",
			new_name(writer, TEXT));
		write_nullable(writer);
		put(writer, "}");
		return;
	}
	if (form == 1) {
		put(writer, "\"call\":\"bytes_check\",\"args\":[");
		before = writer->text.size;
		write_use(writer, DATA);
		after = writer->text.size;
		put(writer, ",{\"length_of\":");
		if (buffer_reserve(&writer->text, after - before))
			buffer_append(&writer->text, writer->text.data + before, after - before);
		put(writer, ",\"type\":\"u32\"}],\"returns\":{\"type\":\"i32\"}");
		return;
	}
	put(writer, "\"call\":\"thing_bytes\",\"args\":[");
	write_use(writer, THING);
	at = new_name(writer, DATA);
	put(writer,
		",{\"out\":{\"name\":\"l%u\",\"type\":\"usize\"%s}}],\"returns\":{\"name\":\"v%u\","
		"\"type\":\"bytes\",\"size\":\"$l%u\"",
		at, writer->condition != 0 ? ",\"nullable\":true" : "", at, at);
	write_nullable(writer);
	put(writer, "}");
}

static void write_steps(struct writer *writer);
static void write_value(struct writer *writer);

/* Write a text that only the first rounds set. */
static void write_sometimes(struct writer *writer)
{
	unsigned int number;

	put(writer, "{\"call\":\"thing_next\",\"args\":[");
	write_use(writer, THING);
	number = new_name(writer, NUMBER);
	put(writer, "],\"returns\":{\"type\":\"i32\",\"name\":\"v%u\"}},", number);
	writer->condition = 1 + 2 * number;
	put(writer, "{\"when\":\"$v%u\",", number);
	write_serial(writer);
	put(writer, "},");
	writer->condition = 0;
}

static void write_repeat(struct writer *writer)
{
	bool is_each = take(writer, 2);
	unsigned int n_before = writer->n_names;
	unsigned int at;

	put(writer, "\"repeat\":{\"call\":\"%s\",\"args\":[",
		is_each ? "thing_each" : "thing_next");
	write_use(writer, THING);
	writer->round_condition = writer->condition;
	writer->condition = 0;
	writer->round = ++writer->n_rounds;
	if (is_each)
		put(writer,
			"],\"returns\":{\"type\":\"handle\",\"name\":\"v%u\",\"errors\":\"none\"},"
			"\"while\":\"not_null\"}",
			new_name(writer, PLACE));
	else
		put(writer, "],\"returns\":{\"type\":\"i32\"},\"while\":{\"equals\":1}}");
	put(writer, ",\"max\":%u,\"cut\":%s,\"steps\":[", 1 + take(writer, 9),
		take(writer, 2) ? "true" : "false");
	if (take(writer, 4) == 1)
		write_sometimes(writer);
	write_steps(writer);
	put(writer, "]");
	writer->condition = 0;
	for (at = writer->n_names; at > n_before && !writer->names[at - 1].is_serial; at--)
		;
	if (at > n_before || take(writer, 2)) {
		put(writer, ",\"collect\":{\"name\":\"c%u\",\"of\":{\"a\":", writer->round);
		write_value(writer);
		if (at > n_before)
			put(writer, ",\"r\":\"$v%u\"", at - 1);
		put(writer, "}}");
	}
	writer->round = 0;
	writer->round_condition = 0;
}

static void write_form(struct writer *writer)
{
	static void (*const of_init[])(struct writer * writer) = {
		write_open, write_text, write_part, write_child};
	static void (*const forms[])(struct writer * writer) = {write_open, write_open, write_try,
		write_break, write_child, write_lock, write_text, write_text, write_give,
		write_number, write_fill, write_whole, write_taking, write_taking, write_taking,
		write_memory, write_read, write_part, write_part, write_pair, write_data,
		write_repeat, write_repeat};
	unsigned int n = sizeof(forms) / sizeof(*forms) - 2 * (writer->round > 0);

	if (writer->is_init)
		of_init[take(writer, 4)](writer);
	else
		forms[take(writer, n)](writer);
}

/* Write a step by chance. Write another step when no name of a needed kind is there. */
static void write_step(struct writer *writer)
{
	unsigned int n_names = writer->n_names;
	size_t start = writer->text.size;

	for (int i = 0;; i++) {
		writer->lacks_name = false;
		put(writer, "{");
		write_condition(writer);
		write_form(writer);
		writer->condition = 0;
		if (!writer->lacks_name || writer->size == 0 || i == 8)
			break;
		writer->n_names = n_names;
		writer->text.size = start;
	}
	writer->lacks_name = false;
	put(writer, "}");
}

static void write_steps(struct writer *writer)
{
	unsigned int most = writer->is_init ? 3 : writer->round > 0 ? 5 : 12;
	unsigned int n = take(writer, most);

	if (writer->round > 0) {
		write_step(writer);
	} else {
		put(writer, "{");
		write_open(writer);
		put(writer, "}");
	}
	for (unsigned int i = 0; i < n; i++) {
		put(writer, ",");
		write_step(writer);
	}
}

/* Write a value of any kind, mostly of those that a result may have. */
static void write_value(struct writer *writer)
{
	enum kind kind = (enum kind)take(writer, N_KINDS);
	size_t start = writer->text.size;

	writer->lacks_name = false;
	write_use(writer, (kind == THING || kind == PLACE) && take(writer, 4) ? TEXT : kind);
	if (!writer->lacks_name)
		return;
	writer->text.size = start;
	write_use(writer, NUMBER);
}

static void write_result(struct writer *writer)
{
	if (take(writer, 2))
		return;
	put(writer, ",\"result\":{\"x\":[");
	write_value(writer);
	put(writer, "],\"y\":");
	write_value(writer);
	put(writer, "}");
}

/* ── programs ────────────────────────────────────────────────────────────────────────────────── */

/* One program, its `init`, and their memory. */
struct program {
	struct native_steps init;
	struct native_frames init_frames;
	struct native_steps steps;
	struct native_frames frames;
	bool has_init;
};

static bool load(const char *text, const struct program *process, struct native_steps *steps,
	struct native_frames *frames)
{
	struct diagnostics problems = {0};
	int r = counting_load(text, process ? &process->init : NULL,
		process ? &process->init_frames : NULL, steps, frames, &problems);

	require(r == 0 || (r == NATIVE_E_REFUSED && problems.n_items > 0));
	diagnostics_deinit(&problems);
	return r == 0;
}

/* Return whether the text is base64 of bytes of the library. */
static bool is_base64(const char *text)
{
	return strspn(text, "AQI=") == strlen(text) || strspn(text, "YmJiIg=") == strlen(text);
}

/* Require that each text of the result is whole. */
static void check_texts(const struct json_tape *tape)
{
	for (uint32_t i = 0; i < json_end(tape, 0); i++) {
		size_t size = json_at(tape, i)->length;
		char text[64];

		/* There is no white space after a key. */
		if (json_type_at(tape, i) != JSON_STRING || size >= sizeof(text) ||
			json_bytes(tape, i)[size + 1] == ':')
			continue;
		memcpy(text, json_bytes(tape, i), size);
		text[size] = '\0';
		/* "$$v0" in a result is a text. */
		require(counting_is_text(text) || is_base64(text) || text[0] == '$');
	}
}

/* Require that no text of serial() in a list is older than the one before it. */
static void check_serials(const char *result)
{
	static const char head[] = "\"r\":\"serial ";
	unsigned long last = 0;

	for (const char *at = result; (at = strstr(at, head));) {
		unsigned long number = strtoul(at + strlen(head), (char **)&at, 10);

		require(number > last);
		last = number;
	}
}

static void check_answer(struct buffer *out, int r)
{
	struct json_tape tape = {0};

	require(r >= 0 && out->size > 0 && buffer_terminate(out));
	if (r == NATIVE_STEPS_E_FAILED)
		require(!strstr(out->data, "wrote past"));
	else
		require(json_tape_read(&tape, out->data, out->size, JSON_DEPTH_DEFAULT, NULL) == 0);
	if (r == 0) {
		check_texts(&tape);
		check_serials(out->data);
	}
	json_tape_deinit(&tape);
}

static void check_counts(struct counting before)
{
	struct counting now = counting_now();

	require(now.n_things == before.n_things && now.n_texts == before.n_texts &&
		now.n_memory == before.n_memory && now.n_locks == before.n_locks);
}

/* Run an accepted program twice: the memory of the first run is used again. */
static void run(struct program *program, const char *arguments)
{
	struct buffer out = {0};
	struct counting begun;
	int r = program->has_init ? native_steps_begin(&program->init, &program->init_frames, &out)
				  : 0;

	require(r >= 0);
	begun = counting_now();
	for (int i = 0; r == 0 && i < 2; i++) {
		buffer_reset(&out);
		check_answer(&out, native_steps_run(&program->steps, &program->frames, arguments,
					   strlen(arguments), 4096, &out));
		check_counts(begun);
	}
	if (program->has_init)
		native_steps_end(&program->init, &program->init_frames);
	check_counts((struct counting){0});
	buffer_deinit(&out);
}

static const char *text_of(struct writer *writer)
{
	require(buffer_terminate(&writer->text) != NULL);
	return writer->text.data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct writer writer = {.data = data, .size = size};
	struct program program = {.has_init = false};
	unsigned int number, text;
	char arguments[64];
	bool is_good = true;

	counting_reset();
	if (take(&writer, 3) == 1) {
		program.has_init = writer.is_init = true;
		put(&writer, "[");
		write_steps(&writer);
		put(&writer, "]");
		is_good = load(text_of(&writer), NULL, &program.init, &program.init_frames);
		writer.is_init = false;
		writer.text.size = 0;
	}
	number = new_name(&writer, NUMBER);
	text = new_name(&writer, TEXT);
	snprintf(arguments, sizeof(arguments), "{\"v%u\":%u,\"v%u\":\"text\"}", number,
		take(&writer, 12), text);
	put(&writer,
		"{%s,\"parameters\":[{\"name\":\"v%u\",\"type\":\"i32\"},{\"name\":\"v%u\","
		"\"type\":\"str\"}],\"steps\":[",
		structs, number, text);
	write_steps(&writer);
	put(&writer, "]");
	write_result(&writer);
	put(&writer, "}");
	if (is_good && load(text_of(&writer), program.has_init ? &program : NULL, &program.steps,
			       &program.frames))
		run(&program, arguments);
	native_steps_deinit(&program.steps);
	native_frames_deinit(&program.frames);
	native_steps_deinit(&program.init);
	native_frames_deinit(&program.init_frames);
	buffer_deinit(&writer.text);
	return 0;
}
