/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/plugin/call.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/pace.h"
#include "wire/wire.h"
#include "worker/float_mode.h"
#include "worker/plugin/values.h"
#include "worker/plugin/writer.h"
#include "worker/progress.h"
#include "worker/sandbox/sandbox.h"
#include "worker/send.h"

/* The memory of arguments larger than this is freed. */
#define KEEP_BYTES (256u << 10)

enum outcome {
	OUTCOME_NONE, /* not answered yet */
	OUTCOME_RESULT,
	OUTCOME_FAILED,
	OUTCOME_REFUSED,
};

/* A call that the plugin has. */
struct given {
	uint64_t id; /* number of the call; 0: no call */
	enum outcome outcome;
	bool may_be_kept;
	bool is_kept;
	bool is_left; /* its handler has returned: the answer is sent where it is given */
	bool is_check;
	uint32_t output_max;
	uint64_t deadline_ms;
	struct pace pace;   /* for its progress reports */
	struct buffer text; /* its arguments and its caller, if another frame may come meanwhile */
	struct plugin_values arguments;
	struct plugin_values caller;
	struct plugin_values extra;  /* for toolbox_given(); no tokens: nothing is given */
	struct plugin_writer writer; /* writer of the result */
	struct buffer path;          /* pointer of a refusal */
	struct buffer reason;        /* text of a failure or a refusal */
	struct buffer about;         /* text for the person who is asked about the call */
};

static struct {
	pthread_mutex_t lock; /* guards all members */
	pthread_cond_t answered;
	int wire;
	bool is_configuring;
	bool carries;   /* several calls: calls are begun, not run */
	bool is_loaded; /* the toolbox was reported as loaded: frames may be sent */
	bool is_in_use; /* by toolbox_use() before that */
	struct buffer config_text;
	struct plugin_values config;
	struct buffer reason;   /* why the plugin cannot be loaded */
	struct buffer out;      /* the frame to send */
	struct json_tape check; /* tape of a result */
	unsigned int n_calls;   /* places of calls[] used so far */
	struct given calls[WIRE_CALLS_MAX];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .answered = PTHREAD_COND_INITIALIZER, .wire = -1};

static pthread_mutex_t *lock(void)
{
	pthread_mutex_lock(&state.lock);
	return &state.lock;
}

static void unlock(pthread_mutex_t *const *held)
{
	pthread_mutex_unlock(*held);
}

/* Hold the lock until the end of the scope. */
#define LOCKED cleanup(unlock) pthread_mutex_t *const held __attribute__((unused)) = lock()

/* Return @call if it can still be answered, or NULL. */
static struct given *find_open(struct toolbox_call call)
{
	for (unsigned int i = 0; call.id != 0 && i < state.n_calls; i++)
		if (state.calls[i].id == call.id)
			return state.calls[i].outcome == OUTCOME_NONE ? &state.calls[i] : NULL;
	return NULL;
}

/* Return the status for a call that cannot be answered. */
static int gone_status(struct toolbox_call call)
{
	return call.id == 0 ? TOOLBOX_E_MISUSE : TOOLBOX_E_GONE;
}

/*
 * ── input ───────────────────────────────────────────────────────────────────────────────────────
 */

/* Return the values for the getters of @call, or NULL. */
static struct plugin_values *values_of(struct toolbox_call call)
{
	struct given *given;

	if (call.id == 0)
		return &state.config;
	if (call.id & TOOLBOX_GIVEN) {
		call.id &= ~TOOLBOX_GIVEN;
		given = find_open(call);
		return given ? &given->extra : NULL;
	}
	given = find_open(call);
	return given ? &given->arguments : NULL;
}

static enum toolbox_type type(struct toolbox_call call, const char *key)
{
	LOCKED;
	struct plugin_values *values = values_of(call);

	return values ? plugin_values_type(values, key) : TOOLBOX_ABSENT;
}

/* The getter of one scalar, as struct toolbox_host has it. */
#define GETTER(name, type)                                                                         \
	static int get_##name(struct toolbox_call call, const char *key, type *ret)                \
	{                                                                                          \
		LOCKED;                                                                            \
		struct plugin_values *values = values_of(call);                                    \
                                                                                                   \
		return values ? plugin_values_get_##name(values, key, ret) : TOOLBOX_E_GONE;       \
	}
GETTER(bool, bool)
GETTER(i64, int64_t)
GETTER(u64, uint64_t)
GETTER(double, double)
GETTER(count, uint32_t)

static int get_string(struct toolbox_call call, const char *key, const char **ret, size_t *ret_size)
{
	LOCKED;
	struct plugin_values *values = values_of(call);

	return values ? plugin_values_get_string(values, key, ret, ret_size) : TOOLBOX_E_GONE;
}

static int get_json(struct toolbox_call call, const char *key, const char **ret, size_t *ret_size)
{
	LOCKED;
	struct plugin_values *values = values_of(call);

	return values ? plugin_values_get_json(values, key, ret, ret_size) : TOOLBOX_E_GONE;
}

/* ── the call ────────────────────────────────────────────────────────────────────────────────── */

static const char *caller(struct toolbox_call call, enum toolbox_caller what)
{
	static const char *const keys[] = {
		"call_id", "session_id", "lang", "traceparent", "tracestate", "baggage", "source"};
	const char *text = "";
	LOCKED;
	struct given *given = find_open(call);

	if (given && (size_t)what < ARRAY_SIZE(keys))
		plugin_values_get_string(&given->caller, keys[what], &text, NULL);
	return text;
}

static uint32_t ms_left(struct toolbox_call call)
{
	uint64_t now_ms = clock_now_ms();
	LOCKED;
	const struct given *given = find_open(call);

	/* The time limit of init() is unknown here, and long. */
	if (call.id == 0)
		return state.is_configuring ? UINT32_MAX : 0;
	if (!given || now_ms >= given->deadline_ms)
		return 0;
	return (uint32_t)(given->deadline_ms - now_ms);
}

static int keep_call(struct toolbox_call call)
{
	LOCKED;
	struct given *given = find_open(call);

	if (!given)
		return gone_status(call);
	if (!given->may_be_kept)
		return TOOLBOX_E_MISUSE;
	given->is_kept = true;
	return TOOLBOX_OK;
}

/* Send @frame, and empty it. The worker's own thread writes nothing while a call is open, or writes
 * it here. */
static int transmit(struct buffer *frame)
{
	return send_frame(state.wire, frame) < 0 ? TOOLBOX_E_GONE : TOOLBOX_OK;
}

static int progress(struct toolbox_call call, double value, const char *text)
{
	cleanup(buffer_deinit) struct buffer frame = {0};
	uint64_t now_ms = clock_now_ms();
	LOCKED;
	struct given *given = find_open(call);

	if (!given)
		return gone_status(call);
	/* The caller may be in an innermost loop. */
	if (!pace_take(&given->pace, now_ms))
		return TOOLBOX_OK;
	progress_append(&frame, call.id, value, text, text ? strnlen(text, PLUGIN_TEXT_BYTES) : 0);
	return buffer_status(&frame) ? TOOLBOX_E_MEMORY : transmit(&frame);
}

static int send_use(bool is_in_use)
{
	cleanup(buffer_deinit) struct buffer frame = {0};
	size_t start = wire_begin(&frame);

	buffer_printf(&frame, "{\"is_in_use\":%s}", is_in_use ? "true" : "false");
	wire_finish(&frame, start, WIRE_USE, 0);
	return buffer_status(&frame) ? TOOLBOX_E_MEMORY : transmit(&frame);
}

/* Only the host of a toolbox for several calls may send without a call, and stay in use. */
static int use(struct toolbox_call call, bool is_in_use)
{
	LOCKED;

	(void)call;
	if (!state.carries || state.is_configuring)
		return TOOLBOX_E_MISUSE;
	if (state.is_loaded)
		return send_use(is_in_use);
	state.is_in_use = is_in_use;
	return TOOLBOX_OK;
}

/* ── the result ──────────────────────────────────────────────────────────────────────────────── */

/* Begin a value. Return the buffer for its text, or NULL. */
static struct buffer *begin_value(struct toolbox_call call, const char *key)
{
	struct given *given = find_open(call);

	return given ? plugin_writer_begin(&given->writer, key) : NULL;
}

/* Return the status of the last put. */
static int put_status(struct toolbox_call call)
{
	const struct given *given = find_open(call);

	if (!given)
		return gone_status(call);
	if (given->writer.mistake)
		return TOOLBOX_E_MISUSE;
	return buffer_status(&given->writer.out) ? TOOLBOX_E_MEMORY : TOOLBOX_OK;
}

/* Put a value by its JSON text. */
static int put_text(struct toolbox_call call, const char *key, const char *json, size_t size)
{
	LOCKED;
	struct buffer *out = begin_value(call, key);

	if (out)
		buffer_append(out, json, size);
	return put_status(call);
}

static int put_null(struct toolbox_call call, const char *key)
{
	return put_text(call, key, "null", strlen("null"));
}

static int put_bool(struct toolbox_call call, const char *key, bool value)
{
	return value ? put_text(call, key, "true", strlen("true"))
		     : put_text(call, key, "false", strlen("false"));
}

static int put_i64(struct toolbox_call call, const char *key, int64_t value)
{
	LOCKED;
	struct buffer *out = begin_value(call, key);

	if (out)
		json_write_i64(out, value);
	return put_status(call);
}

static int put_u64(struct toolbox_call call, const char *key, uint64_t value)
{
	LOCKED;
	struct buffer *out = begin_value(call, key);

	if (out)
		json_write_u64(out, value);
	return put_status(call);
}

static int put_double(struct toolbox_call call, const char *key, double value)
{
	LOCKED;
	struct buffer *out = begin_value(call, key);

	if (out && isfinite(value))
		json_write_f64(out, value);
	else if (out)
		plugin_writer_fail(
			&find_open(call)->writer, "NaN or infinity, which JSON does not have");
	return put_status(call);
}

static int put_string(struct toolbox_call call, const char *key, const char *text, size_t size)
{
	LOCKED;
	struct buffer *out = begin_value(call, key);

	if (out && text)
		json_write_string(out, text, size == SIZE_MAX ? strlen(text) : size);
	else if (out)
		buffer_append_string(out, "null");
	return put_status(call);
}

static int put_json(struct toolbox_call call, const char *key, const char *json, size_t size)
{
	if (!json)
		return put_null(call, key);
	return put_text(call, key, json, size == SIZE_MAX ? strlen(json) : size);
}

static int open_one(struct toolbox_call call, const char *key, bool is_array)
{
	LOCKED;
	struct given *given = find_open(call);

	if (given)
		plugin_writer_open(&given->writer, key, is_array);
	return put_status(call);
}

static int open_object(struct toolbox_call call, const char *key)
{
	return open_one(call, key, false);
}

static int open_array(struct toolbox_call call, const char *key)
{
	return open_one(call, key, true);
}

static int close_last(struct toolbox_call call)
{
	LOCKED;
	struct given *given = find_open(call);

	if (given)
		plugin_writer_close(&given->writer);
	return put_status(call);
}

/* ── the answer ──────────────────────────────────────────────────────────────────────────────── */

static void send_outcome(struct given *given);

static int answer(struct given *given, enum outcome outcome)
{
	given->outcome = outcome;
	if (given->is_left)
		send_outcome(given);
	else
		pthread_cond_signal(&state.answered);
	return TOOLBOX_OK;
}

static int reply(struct toolbox_call call)
{
	LOCKED;
	struct given *given = find_open(call);

	if (!given)
		return gone_status(call);
	plugin_writer_finish(&given->writer);
	return answer(given, OUTCOME_RESULT);
}

static int reply_json(struct toolbox_call call, const char *json, size_t size)
{
	LOCKED;
	struct given *given = find_open(call);

	if (!given)
		return gone_status(call);
	plugin_writer_reset(&given->writer);
	if (json)
		buffer_append(&given->writer.out, json, size == SIZE_MAX ? strlen(json) : size);
	return answer(given, OUTCOME_RESULT);
}

#define NO_REASON "it gave no reason"
#define NO_MEMORY "there was no memory for its values"

/* Copy the first bytes of @text, or @fallback if it is NULL or empty. */
static void set_text(struct buffer *reason, const char *text, const char *fallback)
{
	buffer_reset(reason);
	if (text && *text)
		buffer_append(reason, text, strnlen(text, PLUGIN_TEXT_BYTES));
	else
		buffer_append_string(reason, fallback);
}

static int fail_call(struct toolbox_call call, const char *text)
{
	bool is_init = call.id == 0;
	LOCKED;
	struct given *given = find_open(call);

	if (is_init ? !state.is_configuring : !given)
		return TOOLBOX_E_GONE;
	set_text(given ? &given->reason : &state.reason, text, NO_REASON);
	return given ? answer(given, OUTCOME_FAILED) : TOOLBOX_OK;
}

static int refuse_call(struct toolbox_call call, const char *path, const char *text)
{
	LOCKED;
	struct given *given = find_open(call);

	if (!given)
		return gone_status(call);
	set_text(&given->path, path, "");
	set_text(&given->reason, text, "is not accepted");
	return answer(given, OUTCOME_REFUSED);
}

static int describe_call(struct toolbox_call call, const char *text)
{
	LOCKED;
	struct given *given = find_open(call);

	if (!given)
		return gone_status(call);
	set_text(&given->about, text, "");
	return TOOLBOX_OK;
}

static bool is_confined(struct toolbox_call call)
{
	(void)call;
	return sandbox_confines_files();
}

static const struct toolbox_host functions = {
	.api_version = TOOLBOX_API_VERSION,
	.size = sizeof(functions),
	.type = type,
	.get_bool = get_bool,
	.get_i64 = get_i64,
	.get_u64 = get_u64,
	.get_double = get_double,
	.get_string = get_string,
	.get_json = get_json,
	.get_count = get_count,
	.caller = caller,
	.ms_left = ms_left,
	.progress = progress,
	.keep = keep_call,
	.put_null = put_null,
	.put_bool = put_bool,
	.put_i64 = put_i64,
	.put_u64 = put_u64,
	.put_double = put_double,
	.put_string = put_string,
	.put_json = put_json,
	.open_object = open_object,
	.open_array = open_array,
	.close = close_last,
	.reply = reply,
	.reply_json = reply_json,
	.fail = fail_call,
	.refuse = refuse_call,
	.is_confined = is_confined,
	.use = use,
	.describe = describe_call,
};

/* ── for the driver ──────────────────────────────────────────────────────────────────────────── */

static int negative(int status)
{
	return status > 0 ? -EPROTO : status;
}

int plugin_call_configure(int wire, const char *config, size_t size, struct toolbox_call *ret_call)
{
	LOCKED;
	int r;

	state.wire = wire;
	buffer_append(&state.config_text, config, size);
	r = buffer_status(&state.config_text);
	r = r ? r : plugin_values_read(&state.config, state.config_text.data, size);
	state.is_configuring = r == 0;
	*ret_call = (struct toolbox_call){.host = &functions};
	return negative(r);
}

const char *plugin_call_configured(void)
{
	LOCKED;

	state.is_configuring = false;
	if (state.config.is_short)
		return NO_MEMORY;
	if (state.reason.size == 0 && buffer_status(&state.reason) == 0)
		return NULL;
	return buffer_terminate(&state.reason) ? state.reason.data : NO_REASON;
}

/* Return a place for a call, or NULL. */
static struct given *free_given(void)
{
	unsigned int i = 0;

	while (i < state.n_calls && state.calls[i].id != 0)
		i++;
	if (i == WIRE_CALLS_MAX)
		return NULL;
	state.n_calls = i == state.n_calls ? i + 1 : state.n_calls;
	return &state.calls[i];
}

/* Read what the daemon gives with the call, if it does. */
static int read_extra(struct given *given)
{
	const char *json;
	size_t size;

	if (plugin_values_get_json(&given->caller, "given", &json, &size) != TOOLBOX_OK)
		return 0;
	return plugin_values_read(&given->extra, json, size);
}

/* Read what @call gives. */
static int read_into(struct given *given, const struct driver_call *call)
{
	const char *caller_text = call->caller;
	const char *arguments = call->arguments;
	int r;

	if (state.carries) {
		buffer_reset(&given->text);
		buffer_append(&given->text, call->caller, call->caller_size);
		buffer_append(&given->text, call->arguments, call->size);
		if (buffer_status(&given->text))
			return buffer_status(&given->text);
		caller_text = given->text.data;
		arguments = given->text.data + call->caller_size;
	}
	r = plugin_values_read(&given->arguments, arguments, call->size);
	if (r == 0 && call->caller_size > 0)
		r = plugin_values_read(&given->caller, caller_text, call->caller_size);
	r = r ? r : read_extra(given);
	return negative(r);
}

/* Open @call. */
static int open_call(const struct driver_call *call, bool is_check, struct given **ret_given)
{
	LOCKED;
	struct given *given = free_given();
	int r = given ? read_into(given, call) : -EPROTO;

	if (r)
		return r;
	plugin_writer_reset(&given->writer);
	buffer_reset(&given->path);
	buffer_reset(&given->reason);
	buffer_reset(&given->about);
	given->id = call->id;
	given->outcome = OUTCOME_NONE;
	given->may_be_kept = false;
	given->is_kept = false;
	given->is_left = false;
	given->is_check = is_check;
	given->output_max = call->output_max;
	given->deadline_ms = clock_now_ms() + call->timeout_ms;
	given->pace = (struct pace){0};
	*ret_given = given;
	return 0;
}

/* Return whether the call goes on to the handler, where it may be kept. */
static bool is_valid(struct given *given)
{
	LOCKED;

	given->may_be_kept = true;
	return given->outcome == OUTCOME_NONE;
}

/* Append {"code": "tool_failed", …} with @reason, of any bytes. */
static int write_plugin_failure(struct buffer *out, const char *reason, size_t size)
{
	buffer_append_string(out, "{\"code\":\"tool_failed\",\"message\":");
	json_write_bytes_lossy(out, reason, size);
	buffer_append_char(out, '}');
	return DRIVER_E_ERROR;
}

static int write_refusal(const struct given *given, struct buffer *out)
{
	const struct buffer *path = &given->path;
	const struct buffer *reason = &given->reason;

	buffer_append_string(out, "{\"code\":\"invalid_arguments\",\"violations\":[{\"path\":");
	json_write_bytes_lossy(out, path->size ? path->data : "", path->size);
	buffer_append_string(out, ",\"message\":");
	json_write_bytes_lossy(out, reason->size ? reason->data : "", reason->size);
	buffer_append_string(out, "}]}");
	return DRIVER_E_ERROR;
}

/* Append the result if the daemon accepts it, else a failure. */
static int write_result(const struct given *given, struct buffer *out)
{
	const struct plugin_writer *writer = &given->writer;
	cleanup(buffer_deinit) struct buffer reason = {0};
	struct json_error error = {.message = ""};
	int r = buffer_status(&writer->out);

	if (r == 0 && !writer->mistake && writer->out.size > given->output_max) {
		buffer_printf(out, "{\"code\":\"too_large\",\"actual\":%zu,\"max\":%u}",
			writer->out.size, given->output_max);
		return DRIVER_E_ERROR;
	}
	if (r == 0 && !writer->mistake)
		r = json_tape_read(&state.check, writer->out.size ? writer->out.data : "",
			writer->out.size, JSON_DEPTH_DEFAULT, &error);
	if (r < 0)
		return r;
	if (r == 0 && !writer->mistake) {
		buffer_append(out, writer->out.data, writer->out.size);
		return 0;
	}
	if (writer->mistake)
		buffer_printf(&reason, "its result cannot be written: %s", writer->mistake);
	else
		buffer_printf(&reason, "its result is not JSON: %s at byte %zu", error.message,
			error.offset);
	return write_plugin_failure(out, reason.data, reason.size);
}

/* Append that the tool takes the arguments, with its description of the call. */
static int write_taken(const struct given *given, struct buffer *out)
{
	if (given->about.size == 0) {
		buffer_append_string(out, "null");
		return buffer_status(out);
	}
	buffer_append_string(out, "{\"about\":");
	json_write_bytes_lossy(out, given->about.data, given->about.size);
	buffer_append_char(out, '}');
	return buffer_status(out);
}

/* Return whether the plugin has missed a value, or a text of its answer is lost. */
static bool has_missed(const struct given *given)
{
	return given->arguments.is_short || given->caller.is_short || given->extra.is_short ||
	       buffer_status(&given->path) || buffer_status(&given->reason) ||
	       buffer_status(&given->about);
}

static int write_outcome(const struct given *given, struct buffer *out)
{
	static const char silent[] = "its handler returned without an answer";

	if (has_missed(given))
		return write_plugin_failure(out, NO_MEMORY, strlen(NO_MEMORY));
	switch (given->outcome) {
	case OUTCOME_NONE:
		break;
	case OUTCOME_RESULT:
		return write_result(given, out);
	case OUTCOME_FAILED:
		return write_plugin_failure(
			out, given->reason.size ? given->reason.data : "", given->reason.size);
	case OUTCOME_REFUSED:
		return write_refusal(given, out);
	}
	if (given->is_check)
		return write_taken(given, out);
	return write_plugin_failure(out, silent, strlen(silent));
}

static void forget_call(struct given *given)
{
	given->id = 0;
	plugin_values_reset(&given->arguments);
	plugin_values_reset(&given->caller);
	plugin_values_reset(&given->extra);
	buffer_recycle(&given->text, KEEP_BYTES);
}

/* Send the answer of @given, and close the call. A daemon that takes no answer has gone, or finds
 * the end of the wire. */
static void send_outcome(struct given *given)
{
	size_t start = wire_begin(&state.out);
	int status = write_outcome(given, &state.out);

	if (send_answer(state.wire, &state.out, start, given->id, status) < 0)
		shutdown(state.wire, SHUT_RDWR);
	forget_call(given);
}

/* Wait for the answer of a kept call, and close the call. */
static int close_call(struct given *given, struct buffer *out)
{
	LOCKED;
	int r;

	while (given->is_kept && given->outcome == OUTCOME_NONE)
		pthread_cond_wait(&state.answered, &state.lock);
	r = write_outcome(given, out);
	forget_call(given);
	return r;
}

/* Open @call, and let @function refuse its arguments. */
static int open_valid(const struct driver_call *call, const struct plugin_function *function,
	bool is_check, struct given **ret_given)
{
	const struct toolbox_call given = {.host = &functions, .id = call->id};
	struct float_mode mode = float_mode_get();
	int r = open_call(call, is_check, ret_given);

	if (r == 0 && function->validate)
		function->validate(given, function->data);
	float_mode_restore(mode);
	return r;
}

static void handle(
	const struct driver_call *call, const struct plugin_function *function, struct given *given)
{
	struct float_mode mode = float_mode_get();

	if (is_valid(given))
		function->handler(
			(struct toolbox_call){.host = &functions, .id = call->id}, function->data);
	float_mode_restore(mode);
}

int plugin_call_run(
	const struct driver_call *call, const struct plugin_function *function, struct buffer *out)
{
	struct given *given;
	int r = open_valid(call, function, false, &given);

	if (r)
		return r;
	handle(call, function, given);
	return close_call(given, out);
}

int plugin_call_check(
	const struct driver_call *call, const struct plugin_function *function, struct buffer *out)
{
	struct given *given;
	int r = open_valid(call, function, true, &given);

	return r ? r : close_call(given, out);
}

/* ── several calls ───────────────────────────────────────────────────────────────────────────── */

void plugin_call_carry(void)
{
	LOCKED;

	state.carries = true;
}

int plugin_call_loaded(void)
{
	LOCKED;

	state.is_loaded = true;
	return state.is_in_use && send_use(true) == TOOLBOX_E_MEMORY ? -ENOMEM : 0;
}

/* The handler of @given has returned: send the answer, unless the call is kept without one. */
static void leave(struct given *given)
{
	LOCKED;

	given->is_left = true;
	if (given->outcome != OUTCOME_NONE || !given->is_kept)
		send_outcome(given);
}

int plugin_call_begin(const struct driver_call *call, const struct plugin_function *function)
{
	struct given *given;
	int r = open_valid(call, function, call->is_check, &given);

	if (r)
		return r;
	if (!call->is_check)
		handle(call, function, given);
	leave(given);
	return 0;
}

int plugin_call_decline(const struct driver_call *call, const char *text)
{
	LOCKED;
	size_t start = wire_begin(&state.out);

	buffer_append_string(&state.out, text);
	return send_answer(state.wire, &state.out, start, call->id, DRIVER_E_FAILED);
}

void plugin_call_cancel(uint64_t id)
{
	LOCKED;
	struct given *given = find_open((struct toolbox_call){.id = id});

	if (!given)
		return;
	set_text(&given->reason, "the call was cancelled", "");
	answer(given, OUTCOME_FAILED);
}
