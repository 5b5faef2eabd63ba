/* SPDX-License-Identifier: Apache-2.0 */

/*
 * kinds-command HOST PROGRAM [ROUNDS]: what a call of a command tool costs beside the program
 * itself.
 *
 *   bare   posix_spawn(PROGRAM), waitpid
 *   call   host_invoke ──▶ HOST: PROGRAM with its stdin, stdout, stderr ──▶ answered
 *
 * In turns, round by round; printed are the medians in microseconds, and their ratio.
 */

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/host.h"
#include "loop/loop.h"
#include "util/buffer.h"
#include "util/clock.h"

#define CALLS      200 /* calls of each sort in a round */
#define ROUNDS     15
#define ROUNDS_MAX 1000
#define WAIT_MS    20000

struct bench {
	struct loop *loop;
	struct host *host;
	uint64_t call_id;
	bool has_failed;
};

static void on_loaded(void *data, const char *loaded, size_t size)
{
	struct bench *bench = data;

	(void)loaded;
	(void)size;
	loop_stop(bench->loop);
}

static void on_answered(void *data, uint64_t id, const struct host_answer *answer)
{
	struct bench *bench = data;

	(void)id;
	bench->has_failed = bench->has_failed || answer->kind != HOST_ANSWER_RESULT;
	loop_stop(bench->loop);
}

static void on_ended(void *data, const struct host_exit *end)
{
	struct bench *bench = data;

	fprintf(stderr, "the host has ended: %s\n", end->message ? end->message : "");
	bench->has_failed = true;
	loop_stop(bench->loop);
}

static bool start(struct bench *bench, const char *host_program, const char *program)
{
	static const struct host_handler handler = {
		.loaded = on_loaded, .answered = on_answered, .ended = on_ended};
	struct buffer load = {0};
	struct host_options options = {
		.program = host_program,
		.toolbox_id = "bench",
		.output_max = 1u << 20,
		.stderr_max = 8192,
		.start_timeout_ms = WAIT_MS,
		.has_guard = true,
		.has_ring = true,
	};

	buffer_printf(&load,
		"{\"kind\":\"command\",\"guard\":true,\"sandbox\":{\"class\":\"command\"},"
		"\"tools\":[{\"name\":\"f\",\"argv\":[\"%s\"]}]}",
		program);
	options.load = load.data;
	options.load_size = load.size;
	if (buffer_status(&load) || loop_new(&bench->loop) < 0 ||
		host_spawn(bench->loop, &options, &handler, bench, &bench->host) < 0)
		return false;
	buffer_deinit(&load);
	return loop_run(bench->loop, WAIT_MS) == 0 && !bench->has_failed;
}

static bool call(struct bench *bench)
{
	struct host_call call = {.timeout_ms = WAIT_MS, .arguments = "{}", .size = 2};

	return host_invoke(bench->host, ++bench->call_id, &call) == 0 &&
	       loop_run(bench->loop, WAIT_MS) == 0 && !bench->has_failed;
}

static bool spawn(const char *program)
{
	char *arguments[] = {(char *)program, NULL};
	int status;
	pid_t pid;

	return posix_spawn(&pid, program, NULL, NULL, arguments, environ) == 0 &&
	       waitpid(pid, &status, 0) == pid && status == 0;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

/* Microseconds of one, over CALLS of them; negative when one has failed. */
static double measure(struct bench *bench, const char *program)
{
	uint64_t start_ns = clock_now_ns();

	for (int i = 0; i < CALLS; i++)
		if (bench ? !call(bench) : !spawn(program))
			return -1;
	return (double)(clock_now_ns() - start_ns) / 1000 / CALLS;
}

int main(int argc, char **argv)
{
	static double bare[ROUNDS_MAX];
	static double calls[ROUNDS_MAX];
	struct bench bench = {0};
	int rounds = argc > 3 ? atoi(argv[3]) : ROUNDS;

	if (argc < 3 || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: kinds-command HOST PROGRAM [ROUNDS]\n");
		return 2;
	}
	if (!start(&bench, argv[1], argv[2]))
		return 1;
	for (int i = 0; i < rounds; i++) {
		bare[i] = measure(NULL, argv[2]);
		calls[i] = measure(&bench, argv[2]);
		if (bare[i] < 0 || calls[i] < 0)
			return 1;
	}
	host_free(bench.host);
	loop_free(bench.loop);
	printf("{\"bare_us\":%.1f,\"call_us\":%.1f}\n", median(bare, (size_t)rounds),
		median(calls, (size_t)rounds));
	return 0;
}
