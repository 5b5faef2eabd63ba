/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../scratch.h"
#include "manifest/manifest.h"
#include "util/buffer.h"
#include "util/clock.h"

/* The patterns of the test take about 150 microseconds each: all of them over a second. */
#define PATTERNS 8000

static struct manifest_reader *reader;
static atomic_bool is_stopped;

static void set_up(void)
{
	scratch_set_up();
	reader = manifest_reader_new(NULL);
	cr_assert(reader);
}

static void tear_down(void)
{
	manifest_reader_free(reader);
	scratch_tear_down();
}

TestSuite(manifest_bound, .init = set_up, .fini = tear_down, .timeout = 60);

/* Write a manifest of @n_tools tools, which have all patterns together. */
static void write_costly(unsigned int n_tools)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	unsigned int n_patterns = 0;

	buffer_append_string(&text, "{\"kind\":\"command\",\"tools\":[");
	for (unsigned int i = 0; i < n_tools; i++) {
		buffer_printf(&text,
			"%s{\"name\":\"t%u\",\"command\":{\"shell\":\":\"},\"argument_schema\":{"
			"\"properties\":{\"x\":true",
			i > 0 ? "," : "", i);
		for (unsigned int n = 0; n < PATTERNS / n_tools; n++, n_patterns++)
			buffer_printf(&text, ",\"p%u\":{\"pattern\":\"^(?:a%u){1,2000}$\"}",
				n_patterns, n_patterns);
		buffer_append_string(&text, "}}}");
	}
	buffer_append_string(&text, "]}");
	cr_assert(buffer_terminate(&text));
	scratch_write("costly.json", text.data);
}

/* Read it, and return the result with the first error and the time of this thread in ms. */
static int read_costly(char *ret_error, size_t size, uint64_t *ret_ms)
{
	cleanup(package_cleanup) struct package *package = NULL;
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};
	uint64_t start_ns = clock_thread_ns();
	int r = manifest_read(reader, scratch_path("costly.json"), &package, &problems);

	*ret_ms = (clock_thread_ns() - start_ns) / NS_PER_MS;
	snprintf(ret_error, size, "%s", problems.n_items > 0 ? problems.items[0].text : "");
	return r;
}

Test(manifest_bound, refuses_one_tool_that_takes_too_long)
{
	char error[256];
	uint64_t ms;

	write_costly(1);
	manifest_reader_bound(reader, NULL, 20);
	cr_expect_eq(read_costly(error, sizeof(error), &ms), MANIFEST_E_REFUSED);
	cr_expect(strstr(error, "no time left to compile this pattern"), "%s", error);
	cr_expect_lt(ms, 500);
}

Test(manifest_bound, refuses_many_tools_that_take_too_long_together)
{
	char error[256];
	uint64_t ms;

	write_costly(PATTERNS);
	manifest_reader_bound(reader, NULL, 1);
	cr_expect_eq(read_costly(error, sizeof(error), &ms), MANIFEST_E_REFUSED);
	cr_expect(strstr(error, "reading the tools takes longer than 1 ms: ") ||
			  strstr(error, "no time left"),
		"%s", error);
	/* The shape of so many tools is checked before. */
	cr_expect_lt(ms, 1000);
}

static void *stop(void *unused)
{
	struct timespec pause = {.tv_nsec = 10 * (long)NS_PER_MS};

	nanosleep(&pause, NULL);
	is_stopped = true;
	return unused;
}

Test(manifest_bound, ends_when_it_is_stopped)
{
	char error[256];
	pthread_t thread;
	uint64_t ms;

	write_costly(PATTERNS / 4);
	manifest_reader_bound(reader, &is_stopped, 60000);
	cr_assert_eq(pthread_create(&thread, NULL, stop, NULL), 0);
	cr_expect_eq(read_costly(error, sizeof(error), &ms), -ECANCELED);
	cr_expect_lt(ms, 1000);
	pthread_join(thread, NULL);
}

Test(manifest_bound, is_none_unless_it_is_set)
{
	char error[256];
	uint64_t ms;

	write_costly(1);
	cr_expect_eq(read_costly(error, sizeof(error), &ms), 0, "%s", error);
}
