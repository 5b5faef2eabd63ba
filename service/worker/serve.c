/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/file/host_folder.h"
#include "util/process/send_fd.h"
#include "wire/wire.h"
#include "worker/exec_host.h"
#include "worker/driver.h"
#include "worker/send.h"
#include "worker/sandbox/guard.h"
#include "worker/sandbox/sandbox.h"
#include "worker/sandbox/seal.h"
#include "worker/sandbox/trace.h"

/*
 * Each answer leaves by itself, in the ring or in a send of its own (worker/send.h), also when the
 * next call lies in the socket already. An answer that waits in this process for others is lost
 * when the next call crashes it, and its tool, which has run, is reported as crashed; and it is
 * late when the next call hangs. Neither a signal handler nor a thread would send it then: the
 * toolbox may have broken the memory, or be killed.
 */

static const struct driver *const drivers[] = {&native_driver, &command_driver, &plugin_driver,
	&concurrent_plugin_driver, &python_driver, &mcp_driver};

struct serving {
	int wire;
	struct wire_reader reader;
	struct buffer out;                     /* the answer, as a whole frame */
	struct seal seals[WIRE_LIBRARIES_MAX]; /* the libraries to load */
	size_t n_seals;
	char *folder;          /* for temporary files of its own, or NULL */
	struct buffer missing; /* restrictions missing from the sandbox */
	const struct driver *kind;
	void *driver; /* state of kind */
};

/* Let the driver work until there is something on the wire, if it has work. */
static int attend_daemon(struct serving *worker)
{
	if (!worker->driver || !worker->kind->attend)
		return 0;
	return worker->kind->attend(worker->driver, worker->wire);
}

/* Wait for the next frame. Return 0, -EPIPE at the end of file, or another negative errno. */
static int receive(struct serving *worker, struct wire_frame *ret_frame)
{
	for (;;) {
		int r = wire_reader_next(&worker->reader, ret_frame);
		char *space;
		size_t size;
		ssize_t n;

		if (r != WIRE_E_MORE)
			return r ? -EPROTO : 0;
		space = wire_reader_space(&worker->reader, &size);
		if (!space)
			return -ENOMEM;
		r = attend_daemon(worker);
		if (r < 0)
			return r;
		n = recv(worker->wire, space, size, 0);
		/* ECONNRESET: the daemon closed its end before it read all of our bytes */
		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return -EPIPE;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			wire_reader_received(&worker->reader, (size_t)n);
	}
}

/* Append `"key":` and @text, perhaps empty or of any bytes. */
static void write_member(struct serving *worker, const char *key, const char *text, size_t size)
{
	json_write_key(&worker->out, key);
	json_write_bytes_lossy(&worker->out, text, size);
}

static int send_loaded(struct serving *worker)
{
	size_t start = wire_begin(&worker->out);

	buffer_append_char(&worker->out, '{');
	write_member(worker, "missing", worker->missing.size > 0 ? worker->missing.data : "",
		worker->missing.size);
	worker->kind->describe(worker->driver, &worker->out);
	buffer_append_char(&worker->out, '}');
	wire_finish(&worker->out, start, WIRE_LOADED, 0);
	return send_frame(worker->wire, &worker->out);
}

/* Send the first of @problems. */
static int send_refused(struct serving *worker, const struct diagnostics *problems)
{
	const struct diagnostic *first = &problems->items[0];
	size_t start;

	if (problems->n_items == 0)
		return -ENOMEM;
	start = wire_begin(&worker->out);
	buffer_append_char(&worker->out, '{');
	write_member(worker, "pointer", first->pointer, strlen(first->pointer));
	buffer_append_char(&worker->out, ',');
	write_member(worker, "message", first->text, strlen(first->text));
	buffer_append_char(&worker->out, '}');
	wire_finish(&worker->out, start, WIRE_REFUSED, 0);
	return send_frame(worker->wire, &worker->out);
}

/* Read the members `sandbox` and `memory_mb`. A frame without `sandbox` asks for no sandbox. */
static int read_sandbox_members(const struct json_tape *tape, struct toolbox_sandbox *sandbox)
{
	uint32_t object = json_find(tape, 0, "sandbox");
	uint32_t memory = json_find(tape, 0, "memory_mb");
	struct sandbox_mistake mistake;
	uint64_t number = 0;
	int r = 0;

	if (object != JSON_NONE)
		r = toolbox_sandbox_read(tape, object, NULL, sandbox, &mistake);
	if (memory != JSON_NONE && json_number_u64(tape, memory, &number) != 0)
		return -EPROTO;
	sandbox->memory_mb = (uint32_t)number;
	return r > 0 ? -EPROTO : r;
}

static bool wants_guard(const struct json_tape *tape)
{
	return json_member_is_true(tape, 0, "guard");
}

static int refuse_path(struct diagnostics *problems, const struct landlock_failure *failure)
{
	char pointer[64];

	snprintf(pointer, sizeof(pointer), "/sandbox/%s/%zu", failure->list, failure->index);
	if (failure->error == -E2BIG) {
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, pointer,
			"'%s' cannot be opened around the files that stay closed in it: it has "
			"more than %d entries. Name its subfolders in its place",
			failure->path, FENCED_ENTRIES_MAX);
		return DRIVER_E_REFUSED;
	}
	diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, pointer,
		"'%s' must exist when the toolbox starts, but cannot be opened: %s", failure->path,
		strerrordesc_np(-failure->error));
	return DRIVER_E_REFUSED;
}

/* Pass @listener (-1: none) to the daemon, and keep it nowhere else. */
static int send_listener(struct serving *worker, int listener)
{
	struct wire_header header = {.kind = WIRE_LISTENER};

	return pass_send(worker->wire, &header, sizeof(header), listener);
}

/* Start the tracer of this host, if the daemon asks for a report. */
static int split_tracer(struct serving *worker, const struct json_tape *tape, int *ret_tracer)
{
	uint32_t file = json_find_typed_at(tape, 0, "trace_files", JSON_STRING);
	cleanup_free char *report = NULL;

	if (file == JSON_NONE)
		return 0;
	report = json_string_dup(tape, file, NULL);
	return report ? trace_split(report, worker->wire, ret_tracer) : -ENOMEM;
}

/* Take the library that is named at @token. */
static int take_library(struct serving *worker, const struct json_tape *tape, uint32_t token)
{
	cleanup_free char *name = NULL;
	int r;

	if (worker->n_seals >= WIRE_LIBRARIES_MAX || json_type_at(tape, token) != JSON_STRING)
		return -EPROTO;
	name = json_string_dup(tape, token, NULL);
	r = name ? seal_take(name, worker->n_seals, &worker->seals[worker->n_seals]) : -ENOMEM;
	worker->n_seals += r == 0;
	return r;
}

/* Take the member `library` or `libraries`, if there is one. */
static int take_libraries(struct serving *worker, const struct json_tape *tape)
{
	uint32_t library = json_find_typed_at(tape, 0, "library", JSON_STRING);
	uint32_t list = json_find_typed_at(tape, 0, "libraries", JSON_ARRAY);
	int r = library != JSON_NONE ? take_library(worker, tape, library) : 0;

	if (list == JSON_NONE)
		return r;
	for (uint32_t at = json_first(tape, list); r == 0 && at < json_end(tape, list);
		at = json_next(tape, at))
		r = take_library(worker, tape, at);
	return r;
}

/* Take the libraries, then enter the sandbox. */
static int enter(struct serving *worker, const struct json_tape *tape, struct diagnostics *problems)
{
	cleanup(toolbox_sandbox_deinit) struct toolbox_sandbox sandbox = {.class = SANDBOX_NONE};
	struct landlock_failure failure = {0};
	struct landlock_places places;
	cleanup_close int listener = -1;
	cleanup_close int tracer = -1;
	int r = read_sandbox_members(tape, &sandbox);

	if (r)
		return r;
	r = take_libraries(worker, tape);
	if (r == 0 && wants_guard(tape) && sandbox_wants_folder(&sandbox)) {
		int lock = host_folder_make(&worker->folder);

		r = lock < 0 ? lock : 0;
	}
	if (r == 0 && wants_guard(tape)) {
		r = guard_split(worker->wire, worker->folder);
		if (r && worker->folder)
			host_folder_remove(worker->folder);
	}
	if (r == 0)
		r = split_tracer(worker, tape, &tracer);
	places = (struct landlock_places){worker->seals, worker->n_seals, worker->folder};
	if (r == 0)
		r = sandbox_enter(&sandbox, &places, tracer, &worker->missing, &listener, &failure);
	if (r == 0)
		r = send_listener(worker, listener);
	return r == SANDBOX_E_PATH ? refuse_path(problems, &failure) : r;
}

/* Return the driver for the kind in the LOAD frame, or NULL. */
static const struct driver *find_driver(const struct json_tape *tape)
{
	uint32_t kind = json_find(tape, 0, "kind");

	for (size_t i = 0; kind != JSON_NONE && i < ARRAY_SIZE(drivers); i++)
		if (json_string_equals(tape, kind, drivers[i]->kind, strlen(drivers[i]->kind)))
			return drivers[i];
	return NULL;
}

static int load_driver(struct serving *worker, const struct wire_frame *frame,
	const struct json_tape *tape, struct diagnostics *problems)
{
	struct driver_load load = {
		.tape = tape,
		.wire = worker->wire,
		.text = frame->payload,
		.text_size = frame->size,
		.missing = buffer_terminate(&worker->missing),
		.seals = worker->seals,
		.n_seals = worker->n_seals,
	};

	if (!worker->kind)
		worker->kind = find_driver(tape);
	return worker->kind ? worker->kind->load(&load, &worker->driver, problems) : -EPROTO;
}

/* Load the toolbox of the LOAD frame @frame. @enters: into the sandbox, first. */
static int load_toolbox(struct serving *worker, const struct wire_frame *frame, bool enters)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};
	int r;

	if (frame->kind != WIRE_LOAD)
		return -EPROTO;
	r = json_tape_read(&tape, frame->payload, frame->size, JSON_DEPTH_DEFAULT, NULL);
	if (r)
		return r < 0 ? r : -EPROTO;
	r = enters ? enter(worker, &tape, &problems) : 0;
	if (r == 0)
		r = load_driver(worker, frame, &tape, &problems);
	if (r == 0) {
		r = send_loaded(worker);
		if (r == 0 && worker->kind->loaded)
			r = worker->kind->loaded(worker->driver);
	} else if (r == DRIVER_E_REFUSED)
		r = send_refused(worker, &problems);
	return r;
}

/* Read the @frame, INVOKE or CHECK. 0 or -EPROTO. */
static int read_invoke(const struct wire_frame *frame, struct driver_call *ret_call)
{
	struct wire_invoke invoke;

	if ((frame->kind != WIRE_INVOKE && frame->kind != WIRE_CHECK) ||
		frame->size < sizeof(invoke))
		return -EPROTO;
	memcpy(&invoke, frame->payload, sizeof(invoke));
	if (invoke.caller_size > frame->size - sizeof(invoke))
		return -EPROTO;
	*ret_call = (struct driver_call){
		.id = frame->id,
		.is_check = frame->kind == WIRE_CHECK,
		.program = invoke.program,
		.tool = invoke.tool,
		.timeout_ms = invoke.timeout_ms,
		.output_max = invoke.output_max,
		.stderr_max = invoke.stderr_max,
		.caller = frame->payload + sizeof(invoke),
		.caller_size = invoke.caller_size,
		.arguments = frame->payload + sizeof(invoke) + invoke.caller_size,
		.size = frame->size - sizeof(invoke) - invoke.caller_size,
	};
	return 0;
}

static int invoke_tool(struct serving *worker, const struct wire_frame *frame)
{
	int (*run)(void *, const struct driver_call *, struct buffer *);
	struct driver_call call;
	size_t start;
	int r = worker->driver ? read_invoke(frame, &call) : -EPROTO;

	if (r)
		return r;
	if (worker->kind->begin) {
		r = worker->kind->begin(worker->driver, &call);
		return r == -EINVAL ? -EPROTO : r;
	}
	run = call.is_check ? worker->kind->check : worker->kind->invoke;
	if (!run)
		return -EPROTO;
	start = wire_begin(&worker->out);
	r = run(worker->driver, &call, &worker->out);
	if (r == -EINVAL)
		return -EPROTO;
	return send_answer(worker->wire, &worker->out, start, frame->id, r);
}

static int cancel_call(struct serving *worker, const struct wire_frame *frame)
{
	struct wire_cancel cancel;

	if (!worker->driver || !worker->kind->cancel || frame->size != sizeof(cancel))
		return -EPROTO;
	memcpy(&cancel, frame->payload, sizeof(cancel));
	return worker->kind->cancel(worker->driver, frame->id, cancel.is_late != 0);
}

static int take_frame(struct serving *worker, const struct wire_frame *frame)
{
	if (frame->kind == WIRE_CANCEL)
		return cancel_call(worker, frame);
	if (frame->kind != WIRE_REPLACED)
		return invoke_tool(worker, frame);
	if (worker->driver && worker->kind->replaced)
		worker->kind->replaced(worker->driver);
	return 0;
}

/* Run calls unless @r is an error, until the daemon closes its end; then free the worker. */
static int run_calls(struct serving *worker, int r)
{
	struct wire_frame frame;

	while (r == 0) {
		r = receive(worker, &frame);
		if (r == 0)
			r = take_frame(worker, &frame);
	}
	if (worker->kind && worker->kind->free)
		worker->kind->free(worker->driver);
	for (size_t i = 0; i < worker->n_seals; i++)
		seal_deinit(&worker->seals[i]);
	free(worker->folder);
	buffer_deinit(&worker->missing);
	wire_reader_deinit(&worker->reader);
	buffer_deinit(&worker->out);
	return r == -EPIPE ? 0 : r;
}

int serve_daemon(int wire_fd)
{
	struct serving worker = {.wire = wire_fd, .reader = {.payload_max = JSON_SIZE_MAX}};
	struct wire_frame frame;
	int r = receive(&worker, &frame);

	if (r == 0 && frame.kind == WIRE_ENVIRONMENT) {
		r = exec_host_set_environment(frame.payload, frame.size);
		r = r ? r : receive(&worker, &frame);
	}
	return run_calls(&worker, r ? r : load_toolbox(&worker, &frame, true));
}

int serve_daemon_as(int wire_fd, const char *missing, const struct driver *kind)
{
	struct serving worker = {
		.wire = wire_fd,
		.reader = {.payload_max = JSON_SIZE_MAX},
		.kind = kind,
	};
	cleanup(buffer_deinit) struct buffer text = {0};
	struct wire_frame frame = {.kind = WIRE_LOAD};
	int r = exec_host_receive(&text);

	/* No program started by this one may have the wire. */
	if (r == 0 && fcntl(wire_fd, F_SETFD, FD_CLOEXEC) < 0)
		r = -errno;

	buffer_append_string(&worker.missing, missing);
	frame.payload = text.data;
	frame.size = text.size;
	return run_calls(&worker, r ? r : load_toolbox(&worker, &frame, false));
}
