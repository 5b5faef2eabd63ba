/* SPDX-License-Identifier: Apache-2.0 */
#include "../unit/fixtures/counting.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Random programs over a library that counts what it gives. Each call has its right signature, and
 * what begins something has the finally that ends it; names, conditions, rounds, failures and what
 * is collected are by chance. A program that the checker accepts leaves nothing open, ends nothing
 * twice, uses nothing after its end, and has a result that is JSON or words of its failure.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAMES_MAX 24

/* The kinds of names of a program. */
enum kind { THING, MEMORY, TEXT, NUMBER, NODE, N_KINDS };

struct writer {
	const uint8_t *data;
	size_t size;
	struct buffer text;
	unsigned int n_names[N_KINDS];
	bool is_first;
};

/* The struct of thing_node(). */
static const char node[] =
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

/* Write a name of the kind: one that is there, now and then any other, or the field of a node. */
static void write_use(struct writer *writer, enum kind kind)
{
	static const char *const fields[N_KINDS] = {
		".next.0", NULL, ".inner.text", ".number", NULL};
	unsigned int chance = take(writer, 64);
	bool is_field = fields[kind] && chance % 4 == 1;
	unsigned int n = writer->n_names[is_field ? NODE : kind];

	buffer_printf(&writer->text, "\"$%c%u%s\"", is_field ? 'q' : "tmsnq"[kind],
		chance == 0 || n == 0 ? take(writer, NAMES_MAX) : take(writer, n),
		is_field ? fields[kind] : "");
}

/* Return the number of a new name, now and then of an old one. */
static unsigned int new_name(struct writer *writer, enum kind kind)
{
	if (take(writer, 64) == 1)
		return take(writer, NAMES_MAX);
	return writer->n_names[kind]++;
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

static void write_condition(struct writer *writer)
{
	unsigned int chance = take(writer, 8);

	if (chance > 2)
		return;
	put(writer, ",\"%s\":", chance == 1 ? "unless" : "when");
	write_use(writer, (enum kind)take(writer, N_KINDS));
}

static void write_open(struct writer *writer)
{
	unsigned int at = new_name(writer, THING);

	put(writer,
		"\"call\":\"thing_open\",\"args\":[{\"i32\":%d}],\"returns\":{\"name\":\"t%u\","
		"\"type\":\"handle\"},\"finally\":{\"call\":\"thing_close\",\"args\":[\"$t%u\"]}",
		(int)take(writer, 8) - (take(writer, 8) == 1), at, at);
}

static void write_try(struct writer *writer)
{
	unsigned int at = new_name(writer, THING);

	put(writer,
		"\"call\":\"thing_try\",\"args\":[{\"i32\":%u},{\"out\":{\"name\":\"t%u\",\"type\":"
		"\"handle\"}}],\"returns\":{\"type\":\"i32\",\"errors\":{\"equals\":7}},"
		"\"finally\":{\"call\":\"thing_close\",\"args\":[\"$t%u\"],\"always\":true}",
		take(writer, 8), at, at);
}

static void write_child(struct writer *writer)
{
	unsigned int at;

	put(writer, "\"call\":\"thing_child\",\"args\":[");
	write_use(writer, THING);
	at = new_name(writer, THING);
	put(writer,
		"],\"returns\":{\"name\":\"t%u\",\"type\":\"handle\"},\"finally\":{\"call\":"
		"\"thing_close\",\"args\":[\"$t%u\"]}",
		at, at);
}

static void write_lock(struct writer *writer)
{
	const struct writer before = *writer;
	struct writer again;

	put(writer, "\"call\":\"lock\",\"args\":[");
	write_use(writer, THING);
	put(writer, "],\"finally\":{\"call\":\"unlock\",\"args\":[");
	again = before;
	again.text = writer->text;
	write_use(&again, THING);
	writer->text = again.text;
	put(writer, "]}");
}

static void write_text(struct writer *writer)
{
	static const char *const forms[][2] = {
		{"thing_name", ""},
		{"thing_error", ",\"nullable\":true"},
		{"thing_text", ",\"transfer\":\"full\",\"free\":\"text_free\""},
	};
	unsigned int form = take(writer, 3);

	put(writer, "\"call\":\"%s\",\"args\":[", forms[form][0]);
	write_use(writer, THING);
	put(writer, "],\"returns\":{\"type\":\"str\"%s", forms[form][1]);
	if (take(writer, 4) > 0)
		put(writer, ",\"name\":\"s%u\"", new_name(writer, TEXT));
	put(writer, "}");
}

static void write_number(struct writer *writer)
{
	static const char *const rules[] = {
		"\"none\"", "\"negative\"", "\"nonzero\"", "{\"equals\":3}", "{\"not_equals\":4}"};

	put(writer, "\"call\":\"%s\",\"args\":[", take(writer, 2) ? "thing_kind" : "thing_next");
	write_use(writer, THING);
	put(writer, "],\"returns\":{\"type\":\"i32\",\"errors\":%s", rules[take(writer, 5)]);
	if (take(writer, 2)) {
		put(writer, ",\"message\":{\"call\":\"thing_error\",\"args\":[");
		write_use(writer, THING);
		put(writer, "]}");
	}
	if (take(writer, 4) > 0)
		put(writer, ",\"name\":\"n%u\"%s", new_name(writer, NUMBER),
			take(writer, 2) ? ",\"nullable\":true" : "");
	put(writer, "}");
}

static void write_fill(struct writer *writer)
{
	unsigned int at = new_name(writer, TEXT);

	put(writer, "\"call\":\"thing_fill\",\"args\":[");
	write_use(writer, THING);
	put(writer, ",{\"out\":{\"name\":\"s%u\",\"type\":\"str\",\"capacity\":", at);
	if (take(writer, 2))
		write_use(writer, NUMBER);
	else
		put(writer, "%u", take(writer, 12));
	put(writer,
		"}},{\"inout\":{\"name\":\"l%u\",\"type\":\"usize\",\"length_of\":\"$s%u\"}}],"
		"\"returns\":{\"type\":\"i32\",\"errors\":\"negative\"}",
		at, at);
}

static void write_taking(struct writer *writer)
{
	static const char *const calls[] = {"first", "status", "wide"};
	unsigned int form = take(writer, 3);

	put(writer, "\"call\":\"%s\",\"args\":[", calls[form]);
	if (form == 2)
		put(writer, "{\"as\":\"i64\",\"value\":");
	write_use(writer, form == 0 ? TEXT : NUMBER);
	put(writer, "%s],\"returns\":{\"type\":\"%s\"}", form == 2 ? "}" : "",
		form == 2 ? "i64" : "i32");
}

static void write_memory(struct writer *writer)
{
	unsigned int at = new_name(writer, MEMORY);

	put(writer,
		"\"call\":\"memory_prepare\",\"args\":[{\"out\":{\"name\":\"m%u\",\"type\":"
		"\"handle\",\"size\":8}},{\"i32\":1}],\"finally\":{\"call\":\"memory_release\","
		"\"args\":[\"$m%u\"]}",
		at, at);
}

static void write_read(struct writer *writer)
{
	put(writer, "\"read\":");
	write_use(writer, MEMORY);
	put(writer, ",\"type\":\"i32\",\"name\":\"n%u\"", new_name(writer, NUMBER));
}

static void write_node(struct writer *writer)
{
	put(writer, "\"call\":\"thing_node\",\"args\":[");
	write_use(writer, THING);
	put(writer, "],\"returns\":{\"name\":\"q%u\",\"type\":\"struct\",\"struct\":\"node\"%s}",
		new_name(writer, NODE), take(writer, 4) ? "" : ",\"nullable\":true");
}

static void write_steps(struct writer *writer, unsigned int depth);

static void write_repeat(struct writer *writer, unsigned int depth)
{
	put(writer, "\"repeat\":{\"call\":\"thing_next\",\"args\":[");
	write_use(writer, THING);
	put(writer,
		"],\"returns\":{\"type\":\"i32\"},\"while\":{\"equals\":1}},\"max\":%u,\"cut\":%s,"
		"\"steps\":[",
		1 + take(writer, 9), take(writer, 2) ? "true" : "false");
	write_steps(writer, depth + 1);
	put(writer, "],\"collect\":{\"name\":\"c%u\",\"of\":{\"a\":", take(writer, 8));
	write_use(writer, (enum kind)(TEXT + take(writer, 2)));
	put(writer, ",\"b\":1}}");
}

static void write_step(struct writer *writer, unsigned int depth)
{
	static void (*const forms[])(struct writer * writer) = {write_open, write_try, write_child,
		write_lock, write_text, write_number, write_fill, write_taking, write_memory,
		write_read, write_node, write_number};
	unsigned int form = take(writer, 14);

	put(writer, "{");
	if (form >= 12)
		write_repeat(writer, depth);
	else
		forms[form](writer);
	write_condition(writer);
	put(writer, "}");
}

static void write_steps(struct writer *writer, unsigned int depth)
{
	unsigned int n = 1 + take(writer, depth > 0 ? 4 : 12);

	if (depth > 2)
		n = 1;
	for (unsigned int i = 0; i < n; i++) {
		if (i > 0)
			put(writer, ",");
		if (depth > 2)
			put(writer, "{\"call\":\"words\"}");
		else
			write_step(writer, depth);
	}
}

static void write_result(struct writer *writer)
{
	if (take(writer, 2))
		return;
	put(writer, ",\"result\":{\"x\":[");
	write_use(writer, (enum kind)take(writer, N_KINDS));
	put(writer, "],\"y\":");
	write_use(writer, NUMBER);
	put(writer, "}");
}

/* Run an accepted program twice: the memory of the first run is used again. */
static void run(struct native_steps *steps, struct native_frames *frames)
{
	for (int i = 0; i < 2; i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		cleanup(buffer_deinit) struct buffer out = {0};
		int r = native_steps_run(steps, frames, "{}", 2, 4096, &out);
		struct counting left = counting_now();

		require(r >= 0 && out.size > 0);
		require(left.n_things == 0 && left.n_texts == 0 && left.n_memory == 0 &&
			left.n_locks == 0);
		if (r != NATIVE_STEPS_E_FAILED)
			require(json_tape_read(
					&tape, out.data, out.size, JSON_DEPTH_DEFAULT, NULL) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct writer writer = {.data = data, .size = size};
	struct native_steps steps = {0};
	struct native_frames frames = {0};
	struct diagnostics problems = {0};
	int r;

	put(&writer, "{%s,\"steps\":[", node);
	write_steps(&writer, 0);
	put(&writer, "]");
	write_result(&writer);
	put(&writer, "}");
	require(buffer_terminate(&writer.text) != NULL);
	counting_reset();
	r = counting_load(writer.text.data, NULL, NULL, &steps, &frames, &problems);
	require(r == 0 || (r == NATIVE_E_REFUSED && problems.n_items > 0));
	if (r == 0)
		run(&steps, &frames);
	native_steps_deinit(&steps);
	native_frames_deinit(&frames);
	diagnostics_deinit(&problems);
	buffer_deinit(&writer.text);
	return 0;
}
