/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One round: for each file, how long the reader takes (on a tape that is used again), and cJSON (to
 * parse and to delete). A line each: file, bytes, tokens, nanoseconds of both. The script `run`
 * makes many rounds of it.
 */
#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/file/file.h"

#define FILE_BYTES_MAX ((size_t)64 << 20)

/* How long one measurement lasts, and how often the clock is asked meanwhile. */
#define MEASURE_NS  UINT64_C(15000000)
#define BATCH_BYTES 200000

static struct json_tape tape;

static void read_tape(const struct buffer *text)
{
	if (json_tape_read(&tape, text->data, text->size, JSON_DEPTH_DEFAULT, NULL) != 0)
		abort();
}

static void read_cjson(const struct buffer *text)
{
	cJSON *document = cJSON_ParseWithLength(text->data, text->size);

	if (!document)
		abort();
	cJSON_Delete(document);
}

/* Nanoseconds that @function takes for @text: of the fastest batch, since everything that disturbs
 * only ever adds. */
static double measure(void (*function)(const struct buffer *text), const struct buffer *text)
{
	size_t batch = BATCH_BYTES / (text->size + 50) + 1;
	uint64_t end = clock_now_ns() + MEASURE_NS;
	double best = 0;

	while (clock_now_ns() < end) {
		uint64_t start = clock_now_ns();
		double each;

		for (size_t i = 0; i < batch; i++)
			function(text);
		each = (double)(clock_now_ns() - start) / (double)batch;
		best = best > 0 && best < each ? best : each;
	}
	return best;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		struct json_error error;
		double tape_ns;
		double cjson_ns;
		int r = file_read(argv[i], FILE_BYTES_MAX, &text);

		if (r < 0) {
			fprintf(stderr, "bench-json: %s cannot be read (%d)\n", argv[i], r);
			return 1;
		}
		if (json_tape_read(&tape, text.data, text.size, JSON_DEPTH_DEFAULT, &error) != 0) {
			fprintf(stderr, "bench-json: %s, byte %zu: %s\n", argv[i], error.offset,
				error.message);
			return 1;
		}
		tape_ns = measure(read_tape, &text);
		cjson_ns = measure(read_cjson, &text);
		printf("%s\t%zu\t%u\t%.1f\t%.1f\n", argv[i], text.size, tape.count, tape_ns,
			cjson_ns);
	}
	json_tape_deinit(&tape);
	return 0;
}
