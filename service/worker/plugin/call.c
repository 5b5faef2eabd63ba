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

enum outcome {
	OUTCOME_NONE, /* not answered yet */
	OUTCOME_RESULT,
	OUTCOME_FAILED,
	OUTCOME_REFUSED,
};

static struct {
	pthread_mutex_t lock; /* guards all members */
	pthread_cond_t answered;
	int wire;
	bool is_configuring;
	struct buffer config_text;
	struct plugin_values config;
	uint64_t id; /* number of the call; 0: no call */
	enum outcome outcome;
	bool may_be_kept;
	bool is_kept;
	uint64_t deadline_ms;
	struct pace pace; /* for its progress reports */
	struct plugin_values arguments;
	struct plugin_values caller;
	struct plugin_writer writer; /* writer of the result */
	struct buffer path;          /* pointer of a refusal */
	struct buffer reason;        /* text of a failure or a refusal */
	struct json_tape check;      /* tape of the result */
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

/* Return whether the call can still be answered. */
static bool is_open(struct toolbox_call call)
{
	return call.id != 0 && call.id == state.id && state.outcome == OUTCOME_NONE;
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
	if (call.id == 0)
		return &state.config;
	return is_open(call) ? &state.arguments : NULL;
}

static enum toolbox_type type(struct toolbox_call call, const char *key)
{
	LOCKED;
	struct plugin_values *values = values_of(call);

	return values ? plugin_values_type(values, key) : TOOLBOX_ABSENT;
}

static int get_bool(struct toolbox_call call, const char *key, bool *ret)
{
	LOCKED;
	struct plugin_values *values = values_of(call);

	return values ? plugin_values_get_bool(values, key, ret) : TOOLBOX_E_GONE;
}

static int get_i64(struct toolbox_call call, const char *key, int64_t *ret)
{
	LOCKED;
	struct plugin_values *values = values_of(call);

	return values ? plugin_values_get_i64(values, key, ret) : TOOLBOX_E_GONE;
}

static int get_u64(struct toolbox_call call, const char *key, uint64_t *ret)
{
	LOCKED;
	struct plugin_values *values = values_of(call);

	return values ? plugin_values_get_u64(values, key, ret) : TOOLBOX_E_GONE;
}

static int get_double(struct toolbox_call call, const char *key, double *ret)
{
	LOCKED;
	struct plugin_values *values = values_of(call);

	return values ? plugin_values_get_double(values, key, ret) : TOOLBOX_E_GONE;
}

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

static int get_count(struct toolbox_call call, const char *key, uint32_t *ret)
{
	LOCKED;
	struct plugin_values *values = values_of(call);

	return values ? plugin_values_get_count(values, key, ret) : TOOLBOX_E_GONE;
}

/* ── the call ────────────────────────────────────────────────────────────────────────────────── */

static const char *caller(struct toolbox_call call, enum toolbox_caller what)
{
	static const char *const keys[] = {
		"call_id", "session_id", "lang", "traceparent", "tracestate", "baggage", "source"};
	const char *text = "";
	LOCKED;

	if (is_open(call) && (size_t)what < ARRAY_SIZE(keys))
		plugin_values_get_string(&state.caller, keys[what], &text, NULL);
	return text;
}

static uint32_t ms_left(struct toolbox_call call)
{
	uint64_t now_ms = clock_now_ms();
	LOCKED;

	/* The time limit of init() is unknown here, and long. */
	if (call.id == 0)
		return state.is_configuring ? UINT32_MAX : 0;
	if (!is_open(call) || now_ms >= state.deadline_ms)
		return 0;
	return (uint32_t)(state.deadline_ms - now_ms);
}

static int keep_call(struct toolbox_call call)
{
	LOCKED;

	if (!is_open(call))
		return gone_status(call);
	if (!state.may_be_kept)
		return TOOLBOX_E_MISUSE;
	state.is_kept = true;
	return TOOLBOX_OK;
}

/* The worker writes nothing while a call is open, so this thread may use the wire. */
static int transmit_progress(const struct buffer *frame)
{
	for (size_t sent = 0; sent < frame->size;) {
		ssize_t n = send(state.wire, frame->data + sent, frame->size - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return TOOLBOX_E_GONE;
		sent += n > 0 ? (size_t)n : 0;
	}
	return TOOLBOX_OK;
}

static int progress(struct toolbox_call call, double value, const char *text)
{
	cleanup(buffer_deinit) struct buffer frame = {0};
	uint64_t now_ms = clock_now_ms();
	LOCKED;

	if (!is_open(call))
		return gone_status(call);
	/* The caller may be in an innermost loop. */
	if (!pace_take(&state.pace, now_ms))
		return TOOLBOX_OK;
	progress_append(&frame, call.id, value, text, text ? strnlen(text, PLUGIN_TEXT_BYTES) : 0);
	return buffer_status(&frame) ? TOOLBOX_E_MEMORY : transmit_progress(&frame);
}

/* ── the result ──────────────────────────────────────────────────────────────────────────────── */

/* Begin a value. Return the buffer for its text, or NULL. */
static struct buffer *begin_value(struct toolbox_call call, const char *key)
{
	return is_open(call) ? plugin_writer_begin(&state.writer, key) : NULL;
}

/* Return the status of the last put. */
static int put_status(struct toolbox_call call)
{
	if (!is_open(call))
		return gone_status(call);
	if (state.writer.mistake)
		return TOOLBOX_E_MISUSE;
	return buffer_status(&state.writer.out) ? TOOLBOX_E_MEMORY : TOOLBOX_OK;
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
		plugin_writer_fail(&state.writer, "NaN or infinity, which JSON does not have");
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

	if (is_open(call))
		plugin_writer_open(&state.writer, key, is_array);
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

	if (is_open(call))
		plugin_writer_close(&state.writer);
	return put_status(call);
}

/* ── the answer ──────────────────────────────────────────────────────────────────────────────── */

static int answer(enum outcome outcome)
{
	state.outcome = outcome;
	pthread_cond_signal(&state.answered);
	return TOOLBOX_OK;
}

static int reply(struct toolbox_call call)
{
	LOCKED;

	if (!is_open(call))
		return gone_status(call);
	plugin_writer_finish(&state.writer);
	return answer(OUTCOME_RESULT);
}

static int reply_json(struct toolbox_call call, const char *json, size_t size)
{
	LOCKED;

	if (!is_open(call))
		return gone_status(call);
	plugin_writer_reset(&state.writer);
	if (json)
		buffer_append(&state.writer.out, json, size == SIZE_MAX ? strlen(json) : size);
	return answer(OUTCOME_RESULT);
}

#define NO_REASON "it gave no reason"

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

	if (is_init ? !state.is_configuring : !is_open(call))
		return TOOLBOX_E_GONE;
	set_text(&state.reason, text, NO_REASON);
	return is_init ? TOOLBOX_OK : answer(OUTCOME_FAILED);
}

static int refuse_call(struct toolbox_call call, const char *path, const char *text)
{
	LOCKED;

	if (!is_open(call))
		return gone_status(call);
	set_text(&state.path, path, "");
	set_text(&state.reason, text, "is not accepted");
	return answer(OUTCOME_REFUSED);
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
	if (state.reason.size == 0 && buffer_status(&state.reason) == 0)
		return NULL;
	return buffer_terminate(&state.reason) ? state.reason.data : NO_REASON;
}

/* Make @call the current one. */
static int open_call(const struct driver_call *call)
{
	LOCKED;
	int r = plugin_values_read(&state.arguments, call->arguments, call->size);

	if (r == 0 && call->caller_size > 0)
		r = plugin_values_read(&state.caller, call->caller, call->caller_size);
	if (r)
		return negative(r);
	plugin_writer_reset(&state.writer);
	state.id = call->id;
	state.outcome = OUTCOME_NONE;
	state.may_be_kept = false;
	state.is_kept = false;
	state.deadline_ms = clock_now_ms() + call->timeout_ms;
	state.pace = (struct pace){0};
	return 0;
}

/* Return whether the call goes on to the handler, where it may be kept. */
static bool is_valid(void)
{
	LOCKED;

	state.may_be_kept = true;
	return state.outcome == OUTCOME_NONE;
}

/* Append {"code": "tool_failed", …} with @reason, of any bytes. */
static int write_plugin_failure(struct buffer *out, const char *reason, size_t size)
{
	buffer_append_string(out, "{\"code\":\"tool_failed\",\"message\":");
	json_write_bytes_lossy(out, reason, size);
	buffer_append_char(out, '}');
	return DRIVER_E_ERROR;
}

static int write_refusal(struct buffer *out)
{
	buffer_append_string(out, "{\"code\":\"invalid_arguments\",\"violations\":[{\"path\":");
	json_write_bytes_lossy(out, state.path.size ? state.path.data : "", state.path.size);
	buffer_append_string(out, ",\"message\":");
	json_write_bytes_lossy(out, state.reason.size ? state.reason.data : "", state.reason.size);
	buffer_append_string(out, "}]}");
	return DRIVER_E_ERROR;
}

/* Append the result if the daemon accepts it, else a failure. */
static int write_result(struct buffer *out, uint32_t output_max)
{
	const struct plugin_writer *writer = &state.writer;
	cleanup(buffer_deinit) struct buffer reason = {0};
	struct json_error error = {.message = ""};
	int r = buffer_status(&writer->out);

	if (r == 0 && !writer->mistake && writer->out.size > output_max) {
		buffer_printf(out, "{\"code\":\"too_large\",\"actual\":%zu,\"max\":%u}",
			writer->out.size, output_max);
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

static int write_outcome(struct buffer *out, uint32_t output_max)
{
	static const char silent[] = "its handler returned without an answer";

	switch (state.outcome) {
	case OUTCOME_NONE:
		break;
	case OUTCOME_RESULT:
		return write_result(out, output_max);
	case OUTCOME_FAILED:
		return write_plugin_failure(
			out, state.reason.size ? state.reason.data : "", state.reason.size);
	case OUTCOME_REFUSED:
		return write_refusal(out);
	}
	return write_plugin_failure(out, silent, strlen(silent));
}

static void forget_call(void)
{
	state.id = 0;
	plugin_values_reset(&state.arguments);
	plugin_values_reset(&state.caller);
}

/* Wait for the answer of a kept call, and close the call. */
static int close_call(struct buffer *out, uint32_t output_max)
{
	LOCKED;
	int r;

	while (state.is_kept && state.outcome == OUTCOME_NONE)
		pthread_cond_wait(&state.answered, &state.lock);
	r = write_outcome(out, output_max);
	forget_call();
	return r;
}

/* Close a call after a mere check. */
static int close_check(struct buffer *out, uint32_t output_max)
{
	LOCKED;
	int r = 0;

	if (state.outcome == OUTCOME_NONE)
		buffer_append_string(out, "null");
	else
		r = write_outcome(out, output_max);
	forget_call();
	return r ? r : buffer_status(out);
}

/* Open @call, and let @function refuse its arguments. */
static int open_valid(const struct driver_call *call, const struct plugin_function *function,
	struct toolbox_call *ret_given)
{
	struct float_mode mode = float_mode_get();
	int r = open_call(call);

	*ret_given = (struct toolbox_call){.host = &functions, .id = call->id};
	if (r == 0 && function->validate)
		function->validate(*ret_given, function->data);
	float_mode_restore(mode);
	return r;
}

int plugin_call_run(
	const struct driver_call *call, const struct plugin_function *function, struct buffer *out)
{
	struct float_mode mode = float_mode_get();
	struct toolbox_call given;
	int r = open_valid(call, function, &given);

	if (r)
		return r;
	if (is_valid())
		function->handler(given, function->data);
	float_mode_restore(mode);
	return close_call(out, call->output_max);
}

int plugin_call_check(
	const struct driver_call *call, const struct plugin_function *function, struct buffer *out)
{
	struct toolbox_call given;
	int r = open_valid(call, function, &given);

	return r ? r : close_check(out, call->output_max);
}
