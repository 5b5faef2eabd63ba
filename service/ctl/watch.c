/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/text/text.h"

/*
 * toolboxctl watch: print calls as they happen, until it is interrupted.
 *
 * The service broadcasts call events only for the time that a client has asked for. So this one
 * asks again and again, each time for longer than until the next. A service that was started again
 * has not been asked: it is missed for that long at most.
 */

#define WATCH_SECONDS "60"
#define RENEW_MS      5000

#define PERCENT 100.0

/* The columns of append_time(). */
#define TIME_COLUMNS 14

#define STARTED_TOPIC   "ovos.tools.call.started"
#define PROGRESS_TOPIC  "ovos.tools.call.progress"
#define COMPLETED_TOPIC "ovos.tools.call.completed"
#define CHANGED_TOPIC   "ovos.tools.changed"

/* The last topic reports changes: a service that belongs to the command has them in its log. */
static const char *const topics[] = {
	STARTED_TOPIC,
	PROGRESS_TOPIC,
	COMPLETED_TOPIC,
	CHANGED_TOPIC,
};
#define N_TOPICS ARRAY_SIZE(topics)

struct watch {
	const struct ctl_options *options;
	struct ctl_session *session;
	unsigned long n_left; /* calls to end before the watch is over; 0: never over */
	bool is_over;
	bool is_settled; /* whether events have arguments is known, or --arguments was not given */
	struct buffer bare; /* the id of the last call whose start had none */
};

static void append_time(struct buffer *line)
{
	struct timespec now;
	struct tm parts;
	char stamp[16];

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &parts);
	strftime(stamp, sizeof(stamp), "%H:%M:%S", &parts);
	buffer_printf(line, "%s.%03ld  ", stamp, now.tv_nsec / 1000000);
}

/* Append the member as text, after @before; nothing when it is absent, null or an empty array. */
static void append_event_member(
	struct buffer *line, const struct json_tape *event, const char *key, const char *before)
{
	uint32_t token = json_find_root(event, key);

	if (token == JSON_NONE ||
		(json_type_at(event, token) == JSON_ARRAY && json_count(event, token) == 0))
		return;
	buffer_append_string(line, before);
	terminal_append_value(line, event, token);
}

/* Append the id, the tool and the caller. */
static void append_call(struct buffer *line, const struct json_tape *event)
{
	append_event_member(line, event, "id", "");
	append_event_member(line, event, "toolbox_id", "  ");
	append_event_member(line, event, "name", json_find_root(event, "toolbox_id") ? "/" : "  ");
	append_event_member(line, event, "source", " for ");
}

static void append_started(struct buffer *line, const struct json_tape *event, bool shows_arguments)
{
	buffer_append_string(line, "  started");
	if (shows_arguments)
		append_event_member(line, event, "args", ": ");
}

static void append_progress(struct buffer *line, const struct json_tape *event)
{
	double part;

	buffer_append_string(line, "  running");
	if (json_read_f64(event, json_find(event, 0, "progress"), &part))
		buffer_printf(line, "  [%.0f %%]", part * PERCENT);
	append_event_member(line, event, "text", "  ");
}

static bool has_failed(const struct json_tape *event)
{
	uint32_t is_good = json_find(event, 0, "ok");

	return is_good == JSON_NONE || !json_is_true(event, is_good);
}

static void append_completed(struct buffer *line, const struct json_tape *event)
{
	buffer_append_string(line, has_failed(event) ? "  failed" : "  done");
	append_event_member(line, event, "duration_ms", " after ");
	buffer_append_string(line, " ms");
	append_event_member(line, event, "error", ": ");
	append_event_member(line, event, "result", ": ");
}

static void append_changed(struct buffer *line, const struct json_tape *event)
{
	buffer_append_string(line, "the tools have changed");
	append_event_member(line, event, "total_tools", "; there are ");
	append_event_member(line, event, "added", ", added ");
	append_event_member(line, event, "removed", ", removed ");
	append_event_member(line, event, "changed", ", changed ");
}

static bool member_is(
	const struct json_tape *event, const char *key, const char *wanted, size_t size)
{
	uint32_t token = json_find_root(event, key);

	return token != JSON_NONE && json_type_at(event, token) == JSON_STRING &&
	       json_string_equals(event, token, wanted, size);
}

/* Return whether @event has @wanted as its @key; @wanted NULL: any. */
static bool member_matches(const struct json_tape *event, const char *key, const char *wanted)
{
	return !wanted || member_is(event, key, wanted, strlen(wanted));
}

/* Return whether @event of @topic is among those that the options name: by TOOL or TOOLBOX/TOOL,
 * toolbox, source and outcome. */
static bool is_watched(
	const struct ctl_options *options, const char *topic, const struct json_tape *event)
{
	const char *tool = options->tool;
	const char *slash = tool ? strchr(tool, '/') : NULL;
	bool is_end = strcmp(topic, COMPLETED_TOPIC) == 0;

	if ((options->ended || options->failed) && !is_end)
		return false;
	if (options->failed && !has_failed(event))
		return false;
	if (slash && !member_is(event, "toolbox_id", tool, (size_t)(slash - tool)))
		return false;
	return member_matches(event, "name", slash ? slash + 1 : tool) &&
	       member_matches(event, "toolbox_id", options->toolbox_id) &&
	       member_matches(event, "source", options->source);
}

/* Return whether the call of @event, which is over, was run and not refused. */
static bool has_run(const struct json_tape *event)
{
	double duration_ms;

	return json_read_f64(event, json_find(event, 0, "duration_ms"), &duration_ms) &&
	       duration_ms > 0;
}

/* Learn from @event whether events have arguments, and complain if they have none. Only a call that
 * was run shows a lack of arguments: a refused call may have no valid ones. */
static void learn_of_arguments(
	struct watch *watch, const char *topic, const struct json_tape *event)
{
	static const char advice[] =
		"the service sends no arguments in its events: \"toolboxd\": {\"events\": "
		"{\"arguments\": true}} in its configuration changes that (toolboxctl help "
		"configuration)";

	if (strcmp(topic, STARTED_TOPIC) == 0) {
		watch->is_settled = json_find_root(event, "args") != JSON_NONE;
		buffer_reset(&watch->bare);
		append_event_member(&watch->bare, event, "id", "");
	} else if (strcmp(topic, COMPLETED_TOPIC) == 0 && has_run(event) && watch->bare.size > 0 &&
		   member_is(event, "id", watch->bare.data, watch->bare.size)) {
		terminal_complain("%s", advice);
		watch->is_settled = true;
	}
}

/* End the watch. Always false: there is nothing more to read. */
static bool end_watch(void *data)
{
	struct watch *watch = data;

	watch->is_over = true;
	ctl_session_wake(watch->session);
	return false;
}

static void print_event(void *data, const char *topic, const struct json_tape *event)
{
	struct watch *watch = data;
	const struct ctl_options *options = watch->options;
	cleanup(buffer_deinit) struct buffer line = {0};

	if (watch->is_over || !is_watched(options, topic, event))
		return;
	if (!watch->is_settled)
		learn_of_arguments(watch, topic, event);
	if (options->json) {
		buffer_append_string(&line, "{\"type\":");
		json_write_text(&line, topic);
		json_write_member_value(&line, "data", event, 0);
		buffer_append_char(&line, '}');
	} else {
		append_time(&line);
		if (strcmp(topic, CHANGED_TOPIC) == 0) {
			append_changed(&line, event);
		} else {
			append_call(&line, event);
			if (strcmp(topic, COMPLETED_TOPIC) == 0)
				append_completed(&line, event);
			else if (strcmp(topic, PROGRESS_TOPIC) == 0)
				append_progress(&line, event);
			else
				append_started(&line, event, options->shows_arguments);
		}
	}
	if (options->json) {
		buffer_append_char(&line, '\n');
		terminal_print_json_text(&line);
	} else {
		terminal_print_paragraph(&line, 0, TIME_COLUMNS);
	}
	if (fflush(stdout) != 0 ||
		(watch->n_left > 0 && strcmp(topic, COMPLETED_TOPIC) == 0 && --watch->n_left == 0))
		end_watch(watch);
}

/* Read --count. Return 0, or CTL_USAGE after a complaint. */
static int read_count(const char *text, unsigned long *ret_count)
{
	char *end;

	*ret_count = 0;
	if (!text)
		return 0;
	*ret_count = strtoul(text, &end, 10);
	if (text_is_digit(*text) && !*end && *ret_count > 0 && *ret_count < ULONG_MAX)
		return 0;
	terminal_complain("--count must be a number of calls, at least 1, not '%s'", text);
	return CTL_USAGE;
}

/* Ask for events for a while. Return 0 or an enum ctl_status that has been reported. */
static int ask_for_events(struct ctl_session *session, const struct ctl_options *options)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	buffer_append_string(&data, "\"seconds\":" WATCH_SECONDS);
	r = ctl_session_ask(session, "ovos.tools.watch", &data, &response);
	if (r != 0)
		return r;
	r = ctl_response_status(&response);
	if (r != CTL_DONE)
		ctl_response_report(&response, options->json, NULL);
	return r;
}

int watch_calls(struct ctl_session *session, const struct ctl_options *options, bool is_own)
{
	struct watch watch = {
		.options = options, .session = session, .is_settled = !options->shows_arguments};
	int r = read_count(options->count, &watch.n_left);

	if (r == 0 && options->shows_arguments && (options->ended || options->failed)) {
		terminal_complain("--arguments is about the beginning of a call, which --ended and "
				  "--failed leave out");
		r = CTL_USAGE;
	}
	if (r != 0)
		return r;
	ctl_session_listen(session, topics, is_own ? N_TOPICS - 1 : N_TOPICS, print_event, &watch);
	ctl_session_watch_readers(session, STDOUT_FILENO, end_watch, &watch);
	r = ask_for_events(session, options);
	if (!is_own)
		ctl_session_stay(session);
	while (r == 0 && !watch.is_over) {
		r = ctl_session_wait(session, RENEW_MS);
		if (r == 0 && !watch.is_over)
			r = ask_for_events(session, options);
		if (r == CTL_NO_BUS && !is_own)
			r = 0;
	}
	buffer_deinit(&watch.bare);
	return r;
}

int ctl_watch(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	int r = ctl_session_open(options, &session);

	return r ? r : watch_calls(session, options, false);
}
