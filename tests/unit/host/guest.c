/* SPDX-License-Identifier: Apache-2.0 */
#include "guest.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/writer.h"
#include "util/cleanup.h"
#include "util/file.h"

#define WAIT_MS            60000
#define FD_MAX             64
#define MANIFEST_BYTES_MAX (1u << 20)

static const struct guest_options usual = {
	.output_max = 8u << 20,
	.stderr_max = 8u << 10,
	.start_timeout_ms = WAIT_MS,
};

static void set_text(struct buffer *buffer, const char *text, size_t size)
{
	buffer_reset(buffer);
	buffer_append(buffer, text, size);
	cr_assert(buffer_terminate(buffer));
}

static void on_loaded(void *data, const char *loaded, size_t size)
{
	struct guest *guest = data;

	guest->n_loaded++;
	set_text(&guest->loaded, loaded, size);
	loop_stop(guest->loop);
}

static void on_answered(void *data, uint64_t id, const struct host_answer *answer)
{
	struct guest *guest = data;

	cr_expect_eq(id, guest->n_answers + 1, "in the order of the calls");
	cr_expect(!answer->tape || json_type_at(answer->tape, 0) == JSON_OBJECT);
	guest->n_answers++;
	guest->kind = answer->kind;
	guest->is_failure = answer->kind != HOST_ANSWER_RESULT;
	set_text(&guest->answer, answer->text, answer->size);
	loop_stop(guest->loop);
}

static void on_progressed(void *data, uint64_t id, const struct json_tape *progress)
{
	struct guest *guest = data;

	cr_expect_eq(id, guest->call_id);
	cr_expect_eq(json_type_at(progress, 0), JSON_OBJECT);
	guest->n_progress++;
	buffer_reset(&guest->progress);
	json_string_decode(progress, json_find(progress, 0, "text"), &guest->progress);
	cr_assert(buffer_terminate(&guest->progress));
}

static void on_said(void *data, const struct json_tape *object, const char *text, size_t size)
{
	struct guest *guest = data;

	cr_expect(!object || json_type_at(object, 0) == JSON_OBJECT);
	guest->n_said++;
	guest->n_junk += !object;
	set_text(&guest->said, text, size);
	if (guest->hold_ms > 0)
		host_hold(guest->host, guest->hold_ms);
}

static void on_ended(void *data, const struct host_end *end)
{
	struct guest *guest = data;

	guest->n_ends++;
	guest->end = *end;
	if (end->pointer)
		set_text(&guest->pointer, end->pointer, strlen(end->pointer));
	if (end->message)
		set_text(&guest->message, end->message, strlen(end->message));
	loop_stop(guest->loop);
}

static const struct host_handler handler = {.loaded = on_loaded,
	.answered = on_answered,
	.progressed = on_progressed,
	.said = on_said,
	.ended = on_ended};

void guest_wait(struct guest *guest)
{
	cr_assert_eq(loop_run(guest->loop, WAIT_MS), 0, "nothing came from the host in time");
}

void guest_start_load(struct guest *guest, const char *load, const struct guest_options *options)
{
	const struct guest_options *chosen = options ? options : &usual;
	struct host_options host = {
		.program = TEST_HOST_PROGRAM,
		.toolbox_id = "test",
		.load = load,
		.load_size = strlen(load),
		.output_max = chosen->output_max ? chosen->output_max : usual.output_max,
		.stderr_max = chosen->stderr_max ? chosen->stderr_max : usual.stderr_max,
		.start_timeout_ms = chosen->start_timeout_ms ? chosen->start_timeout_ms
							     : usual.start_timeout_ms,
		.has_guard = chosen->has_guard,
		.has_bus = chosen->has_bus,
	};

	if (!guest->loop)
		cr_assert_eq(loop_new(FD_MAX, &guest->loop), 0);
	cr_assert_eq(host_spawn(guest->loop, &host, &handler, guest, &guest->host), 0);
	guest_wait(guest);
}

/* The LOAD payload of a manifest: its tools' native objects. */
static char *make_load(
	struct guest *guest, const char *library, const char *sandbox, bool has_guard)
{
	const struct json_tape *tape = &guest->tape;
	uint32_t tools = json_find(tape, 0, "tools");
	struct buffer load = {0};

	buffer_printf(&load,
		"{\"kind\":\"native\",\"toolbox_id\":\"test\",\"guard\":%s,\"library\":",
		has_guard ? "true" : "false");
	json_write_text(&load, library);
	if (sandbox)
		buffer_printf(&load, ",\"sandbox\":%s", sandbox);
	buffer_append_string(&load, ",\"tools\":[");
	for (uint32_t i = json_first(tape, tools); i < json_end(tape, tools);
		i = json_next(tape, i)) {
		if (i != json_first(tape, tools))
			buffer_append_char(&load, ',');
		json_write_compact(&load, tape, json_find(tape, i, "native"));
	}
	buffer_append_string(&load, "]}");
	return buffer_take(&load, NULL);
}

void guest_start(struct guest *guest, const char *name, const struct guest_options *options)
{
	struct buffer path = {0};
	struct buffer library = {0};
	cleanup_free char *load = NULL;

	buffer_printf(&path, TEST_TOOLBOX_DIR "/%s.json", name);
	buffer_printf(&library, TEST_TOOLBOX_DIR "/libtest_%s.so", name);
	cr_assert_eq(file_read(buffer_terminate(&path), MANIFEST_BYTES_MAX, &guest->manifest), 0);
	cr_assert_eq(json_tape_read(&guest->tape, guest->manifest.data, guest->manifest.size,
			     JSON_DEPTH_DEFAULT, NULL),
		0);
	load = make_load(guest, buffer_terminate(&library), options ? options->sandbox : NULL,
		options && options->has_guard);
	guest_start_load(guest, load, options);
	cr_assert_eq(guest->n_loaded, 1, "the toolbox was not loaded: %s",
		guest->message.data ? guest->message.data : "");
	buffer_deinit(&path);
	buffer_deinit(&library);
}

void guest_stop(struct guest *guest)
{
	host_free(guest->host);
	loop_free(guest->loop);
	json_tape_deinit(&guest->tape);
	buffer_deinit(&guest->manifest);
	buffer_deinit(&guest->loaded);
	buffer_deinit(&guest->answer);
	buffer_deinit(&guest->progress);
	buffer_deinit(&guest->said);
	buffer_deinit(&guest->pointer);
	buffer_deinit(&guest->message);
	*guest = (struct guest){0};
}

uint32_t guest_tool(const struct guest *guest, const char *name)
{
	const struct json_tape *tape = &guest->tape;
	uint32_t tools = json_find(tape, 0, "tools");
	uint32_t index = 0;

	for (uint32_t i = json_first(tape, tools); i < json_end(tape, tools);
		i = json_next(tape, i)) {
		if (json_string_equals(tape, json_find(tape, i, "name"), name, strlen(name)))
			return index;
		index++;
	}
	cr_assert_fail("no tool '%s' in the manifest", name);
	return 0;
}

void guest_send(struct guest *guest, const char *tool, const char *arguments)
{
	struct host_call call = {
		.tool = guest_tool(guest, tool),
		.timeout_ms = WAIT_MS,
		.arguments = arguments,
		.size = strlen(arguments),
	};
	int r = host_invoke(guest->host, ++guest->call_id, &call);

	cr_assert_eq(r, 0, "host_invoke of %s: %d", tool, r);
}

const char *guest_call(struct guest *guest, const char *tool, const char *arguments)
{
	buffer_reset(&guest->answer);
	guest_send(guest, tool, arguments);
	guest_wait(guest);
	return guest->answer.size > 0 ? guest->answer.data : "";
}
