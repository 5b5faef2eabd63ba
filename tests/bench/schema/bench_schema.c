/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "schema/schema.h"
#include "util/clock.h"
#include "util/file/file.h"

/*
 * The cost of a check, in nanoseconds: the fastest of BATCHES short batches. Other work of the
 * machine only adds to it, and a batch is shorter than the time that a scheduler gives.
 *
 *   bench-schema FOLDER      NAME.schema.json and NAME.{valid,invalid,invalid-early}.json there,
 *                            for the names small, medium, large
 *
 * One line per figure, "CASE INSTANCE WHAT NS": validate (of a tape), parse+validate, compile, and
 * for an invalid instance validate+explain. COPIES copies of the instance are gone through in turn,
 * so not a single hot copy is measured. tests/bench/schema/run puts others beside it. An
 * explanation without violations, or cut short, ends the program: its time would be no figure.
 */

#define BATCHES        61
#define BATCH_NS       1000000
#define COPIES         64
#define FILE_BYTES_MAX (16 << 20)

struct instance {
	struct buffer texts[COPIES];
	struct json_tape tapes[COPIES];
};

struct bench {
	struct buffer schema_text;
	struct json_tape schema_tape;
	struct schema *schema;
	struct schema_context *context;
	struct instance instance;
	struct json_tape scratch;
};

typedef int (*work_function)(struct bench *bench, unsigned int copy);

static int work_validate(struct bench *bench, unsigned int copy)
{
	return schema_validate(bench->schema, bench->context, &bench->instance.tapes[copy], 0);
}

static int work_parse(struct bench *bench, unsigned int copy)
{
	const struct buffer *text = &bench->instance.texts[copy];

	json_tape_read(&bench->scratch, text->data, text->size, JSON_DEPTH_DEFAULT, NULL);
	return schema_validate(bench->schema, bench->context, &bench->scratch, 0);
}

static int work_explain(struct bench *bench, unsigned int copy)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	int r = work_validate(bench, copy);

	if (r == SCHEMA_E_INVALID)
		r = schema_explain(
			bench->schema, bench->context, &bench->instance.tapes[copy], 0, &report);
	if (r != 0 || report.n_violations == 0) {
		fprintf(stderr, "bench-schema: no explanation: %d\n", r);
		exit(EXIT_FAILURE);
	}
	return 0;
}

static int work_compile(struct bench *bench, unsigned int copy)
{
	cleanup(schema_cleanup) struct schema *schema = NULL;
	cleanup(schema_error_deinit) struct schema_error error = {0};

	(void)copy;
	return schema_compile(&bench->schema_tape, 0, NULL, &schema, &error);
}

static double measure(struct bench *bench, work_function work)
{
	double fastest = 0;

	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t start = clock_now_ns();
		uint64_t spent = 0;
		unsigned long rounds = 0;
		double each;

		do {
			for (unsigned int i = 0; i < COPIES; i++)
				work(bench, i);
			rounds += COPIES;
			spent = clock_now_ns() - start;
		} while (spent < BATCH_NS);
		each = (double)spent / (double)rounds;
		if (batch == 0 || each < fastest)
			fastest = each;
	}
	return fastest;
}

static bool read_json(const char *folder, const char *name, const char *kind, struct buffer *text,
	struct json_tape *tape)
{
	cleanup(buffer_deinit) struct buffer path = {0};
	int r;

	buffer_printf(&path, "%s/%s.%s.json", folder, name, kind);
	r = buffer_terminate(&path) ? file_read(path.data, FILE_BYTES_MAX, text) : -ENOMEM;
	if (r == 0)
		r = json_tape_read(tape, text->data, text->size, JSON_DEPTH_DEFAULT, NULL);
	if (r != 0)
		fprintf(stderr, "bench-schema: %s: %s\n", path.data,
			r < 0 ? strerror(-r) : "not JSON");
	return r == 0;
}

static void instance_deinit(struct instance *instance)
{
	for (int i = 0; i < COPIES; i++) {
		json_tape_deinit(&instance->tapes[i]);
		buffer_deinit(&instance->texts[i]);
	}
}

static bool run_instance(
	struct bench *bench, const char *folder, const char *name, const char *kind)
{
	struct instance *instance = &bench->instance;
	bool is_wanted = strcmp(kind, "valid") == 0;

	for (int i = 0; i < COPIES; i++) {
		if (!read_json(folder, name, kind, &instance->texts[i], &instance->tapes[i]))
			return false;
	}
	if ((work_validate(bench, 0) == 0) != is_wanted) {
		fprintf(stderr, "bench-schema: %s.%s has the wrong verdict\n", name, kind);
		return false;
	}
	printf("%s %s validate %.1f\n", name, kind, measure(bench, work_validate));
	printf("%s %s parse+validate %.1f\n", name, kind, measure(bench, work_parse));
	if (!is_wanted)
		printf("%s %s validate+explain %.1f\n", name, kind, measure(bench, work_explain));
	return true;
}

static bool run_case(const char *folder, const char *name)
{
	static const char *const kinds[] = {"valid", "invalid", "invalid-early"};
	static struct bench bench;
	cleanup(schema_error_deinit) struct schema_error error = {0};
	bool is_done;

	bench = (struct bench){.context = schema_context_new()};
	is_done = bench.context &&
		  read_json(folder, name, "schema", &bench.schema_text, &bench.schema_tape);
	if (is_done && schema_compile(&bench.schema_tape, 0, NULL, &bench.schema, &error) != 0) {
		fprintf(stderr, "bench-schema: %s: %s\n", name, error.message.data);
		is_done = false;
	}
	if (is_done)
		printf("%s schema compile %.1f\n", name, measure(&bench, work_compile));
	for (size_t i = 0; is_done && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		is_done = run_instance(&bench, folder, name, kinds[i]);
		instance_deinit(&bench.instance);
		bench.instance = (struct instance){0};
	}
	schema_free(bench.schema);
	schema_context_free(bench.context);
	json_tape_deinit(&bench.schema_tape);
	json_tape_deinit(&bench.scratch);
	buffer_deinit(&bench.schema_text);
	return is_done;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"small", "medium", "large"};

	if (argc != 2) {
		fprintf(stderr, "usage: bench-schema FOLDER\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!run_case(argv[1], names[i]))
			return 1;
	}
	return 0;
}
