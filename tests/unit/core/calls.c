/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "registry/manifest.h"

#define FD_MAX  64
#define WAIT_MS 60000
#define STEP_MS 1

struct calls calls;

static void call_is_done(
	void *data, struct runner_call *runner_call, const struct runner_ending *ending)
{
	struct call *call = (struct call *)runner_call;

	cr_expect_eq(data, &calls);
	call->n_ends++;
	call->position = ++calls.n_ends;
	call->outcome = ending->outcome;
	if (ending->end)
		call->end = *ending->end;
	if (ending->text)
		snprintf(call->text, sizeof(call->text), "%.*s", (int)ending->size, ending->text);
	cr_expect_eq(ending->tape != NULL, ending->outcome == RUNNER_RESULT);
	loop_stop(calls.loop);
}

static void runner_is_drained(void *data, struct runner *runner)
{
	cr_expect_eq(data, &calls);
	cr_expect_eq(runner, calls.runner);
	calls.n_drains++;
	runner_free(take_ptr(calls.runner));
	loop_stop(calls.loop);
}

static void call_progresses(void *data, struct runner_call *call, const struct json_tape *progress)
{
	cr_expect_eq(data, &calls);
	cr_expect_neq(call->id, 0);
	cr_expect_eq(json_type_at(progress, 0), JSON_OBJECT);
	calls.n_progress++;
}

static const struct runner_handler handler = {
	.done = call_is_done,
	.progressed = call_progresses,
	.drained = runner_is_drained,
};

void calls_set_up_with(const char *path)
{
	struct manifest_reader *reader = manifest_reader_new(NULL);
	struct problems problems = {0};

	cr_assert_eq(manifest_read(reader, path, &calls.toolbox, &problems), 0, "%s: %s", path,
		problems.n_items > 0 ? problems.items[0].text : "");
	manifest_reader_free(reader);
	cr_assert_eq(loop_new(FD_MAX, &calls.loop), 0);
	calls.options = (struct runner_options){
		.host_program = TEST_HOST_PROGRAM,
		.output_max = 8u << 20,
		.stderr_max = 8u << 10,
		.start_timeout_ms = WAIT_MS,
		.idle_s = 60,
		.queue_max = 64,
		.workers = 1,
		.crash_limit = 5,
		.crash_window_s = 60,
	};
	for (unsigned int i = 0; i < CALLS_MAX; i++)
		cr_assert_eq(runner_call_init(&calls.calls[i].runner_call, calls.loop), 0);
}

void calls_set_up(void)
{
	calls_set_up_with(TEST_TOOLBOX_DIR "/misbehave.json");
}

void calls_tear_down(void)
{
	runner_free(calls.runner);
	for (unsigned int i = 0; i < CALLS_MAX; i++) {
		cr_expect_leq(calls.calls[i].n_ends, 1, "call %u ended twice", i);
		runner_call_deinit(&calls.calls[i].runner_call);
	}
	toolbox_unref(calls.toolbox);
	loop_free(calls.loop);
}

void calls_start(void)
{
	cr_assert_eq(runner_new(calls.loop, calls.toolbox, &calls.options, &handler, &calls,
			     &calls.runner),
		0);
}

struct tool *calls_tool(const char *name)
{
	for (size_t i = 0; i < calls.toolbox->n_tools; i++)
		if (strcmp(calls.toolbox->tools[i].name, name) == 0)
			return &calls.toolbox->tools[i];
	cr_assert_fail("no tool '%s'", name);
	return NULL;
}

struct call *calls_submit(
	const char *tool, const char *arguments, uint64_t timeout_ms, int *ret_status)
{
	struct call *call = &calls.calls[calls.n_calls++];
	int r;

	cr_assert_leq(calls.n_calls, (unsigned int)CALLS_MAX);
	call->runner_call.id = calls.n_calls;
	call->runner_call.tool = calls_tool(tool)->index;
	r = runner_submit(
		calls.runner, &call->runner_call, arguments, strlen(arguments), timeout_ms);
	if (ret_status)
		*ret_status = r;
	else
		cr_assert_eq(r, 0, "%s: not taken (%d)", tool, r);
	return call;
}

void calls_wait(unsigned int n_ends)
{
	while (calls.n_ends < n_ends)
		cr_assert_eq(loop_run(calls.loop, WAIT_MS), 0, "%u of %u calls have ended",
			calls.n_ends, n_ends);
}

void calls_wait_for_state(enum runner_state state)
{
	for (int i = 0; runner_state(calls.runner) != state; i++) {
		cr_assert_lt(i, WAIT_MS / STEP_MS, "it is %s, not %s",
			runner_state_name(runner_state(calls.runner)), runner_state_name(state));
		loop_run(calls.loop, STEP_MS);
	}
}

struct call *calls_run(const char *tool, const char *arguments)
{
	unsigned int n_ends = calls.n_ends;
	struct call *call = calls_submit(tool, arguments, WAIT_MS, NULL);

	calls_wait(n_ends + 1);
	cr_assert_eq(call->n_ends, 1);
	return call;
}

pid_t calls_host_process(void)
{
	char path[64];
	char text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "r");
	cr_assert(file);
	cr_assert(fgets(text, sizeof(text), file), "no host runs");
	fclose(file);
	return (pid_t)strtol(text, NULL, 10);
}
