/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget_expand.h"
#include "schema/pace.h"
#include "schema/schema.h"
#include "util/clock.h"

/*
 * The budget of a check: (schema, instance, time). The first byte of the input chooses the time and
 * the options; then come the texts of a schema and an instance, split at the first line break,
 * short for long ones (budget_expand.h).
 *
 *   compile ─▶ validate ─┬─ valid ──────────────────────▶ fill
 *                        └─ invalid ─▶ coerce ─▶ again ─┬▶ fill
 *                                                       └▶ explain
 *
 * All from validate on must end within the time that the first byte chose, what reading the
 * instance costs, and a margin, in processor time of this thread. A schema compiles in time, too.
 * At its end the program prints the slowest inputs it has seen.
 *
 * libFuzzer keeps an input that is slower than the others: see `slowness`.
 */

#define SCHEMA_BYTES_MAX   (256u << 10)
#define INSTANCE_BYTES_MAX (1u << 20)
#define SHOWN_BYTES        200

/* The margin beyond the budget: the work between two looks at the clock, and at the end of a
 * check. */
#define MARGIN_MS  60
#define COMPILE_MS 100
#ifdef TOOLBOXD_SANITIZED
#define SLOWNESS 8
#else
#define SLOWNESS 1
#endif

/* A thread's clock counts the caches that others on this machine have emptied, too. */
#define TRIES 3

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Counters read by libFuzzer like counters of branches: one for each time taken by an input, in
 * steps of a half. */
#define SLOWNESS_COUNTERS 64
__attribute__((
	section("__libfuzzer_extra_counters"), used)) static uint8_t slowness[SLOWNESS_COUNTERS];

struct text {
	struct buffer text;
	struct json_tape tape;
};

/* The input under test. */
struct input {
	struct text schema_text;
	struct text instance;
	struct schema_options options;
	uint32_t check_ms;
	struct schema_context *context;
};

/* The slowest so far. */
struct slowest {
	const char *what;
	uint64_t spent_ns;
	uint64_t allowed_ns;
	uint64_t schema_bytes;
	uint64_t instance_bytes;
	char text[SHOWN_BYTES + 1];
};

static unsigned int n_unread, n_refused, n_checked;
static struct slowest slowest_check = {.what = "check"};
static struct slowest slowest_compile = {.what = "compilation"};

static void text_deinit(struct text *text)
{
	json_tape_deinit(&text->tape);
	buffer_deinit(&text->text);
}

static bool text_read(struct text *text)
{
	return json_tape_read(&text->tape, text->text.data ? text->text.data : "", text->text.size,
		       JSON_DEPTH_DEFAULT, NULL) == 0;
}

static void input_deinit(struct input *input)
{
	text_deinit(&input->schema_text);
	text_deinit(&input->instance);
	schema_context_free(input->context);
}

/* ── what a check is ─────────────────────────────────────────────────────────────────────────── */

static void fill(const struct input *input, const struct schema *schema, const struct text *text)
{
	cleanup(buffer_deinit) struct buffer filled = {0};

	schema_fill(schema, input->context, &text->tape, 0, &filled, NULL);
}

static void explain(const struct input *input, const struct schema *schema, const struct text *text)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};

	schema_explain(schema, input->context, &text->tape, 0, &report);
}

/* As a call does it: coerced arguments count when they are valid; else those that came are
 * explained. */
static int coerce(const struct input *input, const struct schema *schema, struct text *ret_coerced)
{
	cleanup(schema_report_deinit) struct schema_report changes = {0};
	int r = schema_coerce(schema, input->context, &input->instance.tape, 0, NULL,
		&ret_coerced->text, &changes);

	if (r == 0 && changes.n_violations == 0)
		r = SCHEMA_E_INVALID;
	if (r == 0 && !text_read(ret_coerced))
		abort();
	return r ? r : schema_validate_again(schema, input->context, &ret_coerced->tape, 0);
}

static void check_once(const struct input *input, const struct schema *schema)
{
	cleanup(text_deinit) struct text coerced = {0};
	int r = schema_validate(schema, input->context, &input->instance.tape, 0);

	if (r == 0) {
		fill(input, schema, &input->instance);
		return;
	}
	if (r == SCHEMA_E_INVALID && coerce(input, schema, &coerced) == 0)
		fill(input, schema, &coerced);
	else
		explain(input, schema, &input->instance);
}

/* ── time ────────────────────────────────────────────────────────────────────────────────────── */

static void note_slowness(uint64_t spent_ns)
{
	unsigned int counter = 0;

	for (uint64_t ns = spent_ns; ns > NS_PER_MS / 8 && counter < SLOWNESS_COUNTERS - 1;
		ns -= ns / 3)
		counter++;
	slowness[counter] = 1;
}

/* Keep the text of @input if nothing took longer. */
static void note_slowest(
	struct slowest *slowest, const struct input *input, uint64_t spent_ns, uint64_t allowed_ns)
{
	if (spent_ns <= slowest->spent_ns)
		return;
	slowest->spent_ns = spent_ns;
	slowest->allowed_ns = allowed_ns;
	slowest->schema_bytes = input->schema_text.text.size;
	slowest->instance_bytes = input->instance.text.size;
	snprintf(slowest->text, sizeof(slowest->text), "%.*s",
		(int)(slowest->schema_bytes < SHOWN_BYTES ? slowest->schema_bytes : SHOWN_BYTES),
		input->schema_text.text.data);
}

static void print_one(const struct slowest *slowest)
{
	if (slowest->spent_ns > 0)
		printf("slowest %s: %.1f ms of %.1f ms, schema of %llu bytes, instance of %llu "
		       "bytes: %s\n",
			slowest->what, (double)slowest->spent_ns / NS_PER_MS,
			(double)slowest->allowed_ns / NS_PER_MS,
			(unsigned long long)slowest->schema_bytes,
			(unsigned long long)slowest->instance_bytes, slowest->text);
}

static void print_slowest(void)
{
	printf("%u pairs checked, %u schemas refused, %u inputs not read\n", n_checked, n_refused,
		n_unread);
	print_one(&slowest_check);
	print_one(&slowest_compile);
}

/* Abort when @spent_ns is more than @allowed_ns. */
static void judge(
	struct slowest *slowest, const struct input *input, uint64_t spent_ns, uint64_t allowed_ns)
{
	note_slowness(spent_ns);
	note_slowest(slowest, input, spent_ns, allowed_ns);
	if (spent_ns <= allowed_ns)
		return;
	print_one(slowest);
	fflush(stdout);
	abort();
}

/* The schema, or NULL when it is refused. */
static struct schema *compile(const struct input *input)
{
	const uint64_t allowed_ns = NS_PER_MS * COMPILE_MS * SLOWNESS;
	struct schema *schema = NULL;
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < TRIES && best_ns > allowed_ns; i++) {
		cleanup(schema_error_deinit) struct schema_error error = {0};
		uint64_t start_ns = clock_thread_ns();
		uint64_t spent_ns;

		schema_free(schema);
		schema = NULL;
		schema_compile(&input->schema_text.tape, 0, &input->options, &schema, &error);
		spent_ns = clock_thread_ns() - start_ns;
		best_ns = spent_ns < best_ns ? spent_ns : best_ns;
	}
	judge(&slowest_compile, input, best_ns, allowed_ns);
	return schema;
}

static void check_in_time(const struct input *input, const struct schema *schema)
{
	const uint64_t reading_ns = pace_reading_ns(input->instance.tape.count);
	const uint64_t allowed_ns =
		input->check_ms * NS_PER_MS + (reading_ns + MARGIN_MS * NS_PER_MS) * SLOWNESS;
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < TRIES && best_ns > allowed_ns; i++) {
		uint64_t start_ns = clock_thread_ns();
		uint64_t spent_ns;

		check_once(input, schema);
		spent_ns = clock_thread_ns() - start_ns;
		best_ns = spent_ns < best_ns ? spent_ns : best_ns;
	}
	judge(&slowest_check, input, best_ns, allowed_ns);
}

/* ── the input ───────────────────────────────────────────────────────────────────────────────── */

/* False when the bytes are no pair of JSON texts. */
static bool read_input(struct input *input, const char *text, size_t size)
{
	const char *line_break = memchr(text, '\n', size);
	size_t schema_size = line_break ? (size_t)(line_break - text) : size;

	return line_break &&
	       budget_expand(text, schema_size, SCHEMA_BYTES_MAX, &input->schema_text.text) &&
	       budget_expand(line_break + 1, size - schema_size - 1, INSTANCE_BYTES_MAX,
		       &input->instance.text) &&
	       text_read(&input->schema_text) && text_read(&input->instance);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	atexit(print_slowest);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t times_ms[] = {20, 1, 5, 10};
	cleanup(input_deinit) struct input input = {0};
	cleanup(schema_cleanup) struct schema *schema = NULL;

	if (size == 0 || !read_input(&input, (const char *)data + 1, size - 1)) {
		n_unread++;
		return 0;
	}
	input.check_ms = times_ms[data[0] % 4];
	input.options.assert_formats = data[0] / 4 % 2 == 1;
	input.context = schema_context_new();
	if (!input.context)
		return 0;
	schema_context_limit_time(input.context, input.check_ms);
	schema = compile(&input);
	if (schema)
		check_in_time(&input, schema);
	*(schema ? &n_checked : &n_refused) += 1;
	return 0;
}
