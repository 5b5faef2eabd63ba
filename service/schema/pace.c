/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/pace.h"

#include <pthread.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/clock.h"

static pthread_once_t is_measured = PTHREAD_ONCE_INIT;
static uint64_t all_tokens_ns;

/* Without memory the pace stays 0: large instances get no more time than others. */
static void measure(void)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	buffer_append_string(&text, "[0");
	for (int i = 2; i < PACE_TOKENS; i++)
		buffer_append_string(&text, ",0");
	buffer_append_char(&text, ']');
	for (int round = 0; buffer_status(&text) == 0 && round < PACE_ROUNDS; round++) {
		uint64_t start_ns = clock_thread_ns();
		uint64_t spent_ns;

		if (json_tape_read(&tape, text.data, text.size, JSON_DEPTH_DEFAULT, NULL) != 0)
			return;
		spent_ns = clock_thread_ns() - start_ns;
		if (all_tokens_ns == 0 || spent_ns < all_tokens_ns)
			all_tokens_ns = spent_ns;
	}
}

uint64_t pace_reading_ns(uint32_t n_tokens)
{
	pthread_once(&is_measured, measure);
	return all_tokens_ns * n_tokens / PACE_TOKENS;
}
