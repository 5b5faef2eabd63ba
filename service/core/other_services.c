/* SPDX-License-Identifier: Apache-2.0 */
#include "core/other_services.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/clock.h"
#include "util/log.h"

/* The member of a probe's context. */
#define MARK "toolboxd"

/* The tool that a probe asks for; no toolbox has it. */
#define NO_TOOL "toolboxd:probe"

/* The time in which a probe is answered. */
#define ANSWER_MS 2000

/* ── the probe ───────────────────────────────────────────────────────────────────────────────── */

static void send_probe(void *data)
{
	struct other_services *rivals = data;
	cleanup(buffer_deinit) struct buffer context = {0};
	cleanup(buffer_deinit) struct buffer message = {0};

	buffer_append_string(&context, "{\"source\":\"toolboxd\",\"session\":{\"session_id\":"
				       "\"default\"},\"" MARK "\":{");
	json_write_member_text(&context, "key", rivals->key);
	json_write_member_text(&context, "host", rivals->self.host);
	buffer_printf(&context, ",\"pid\":%" PRIu64 "}}", rivals->self.pid);
	if (!buffer_terminate(&context))
		return;
	bus_request_begin(&message, OTHER_SERVICES_TOPIC, context.data);
	buffer_append_string(&message, "{\"name\":\"" NO_TOOL "\"}");
	bus_message_end(&message);
	if (bus_send(rivals->bus, &message, BUS_SHARE_OWN) != 0)
		return;
	rivals->probed_ms = clock_now_ms();
	if (!other_services_is_open(rivals))
		loop_timer_arm(&rivals->verdict, ANSWER_MS);
}

/* Send a probe @pause_ms after the last one, or now. */
static void want_probe(struct other_services *rivals, uint64_t pause_ms)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t at_ms = rivals->probed_ms ? rivals->probed_ms + pause_ms : now_ms;

	if (loop_timer_is_armed(&rivals->timer) && rivals->next_ms <= at_ms)
		return;
	rivals->next_ms = at_ms;
	loop_timer_arm(&rivals->timer, at_ms > now_ms ? at_ms - now_ms : 1);
}

/* ── what it finds ───────────────────────────────────────────────────────────────────────────── */

static void log_toolboxd(
	const struct other_services *rivals, const struct other_service_process *process)
{
	if (!process->host[0])
		log_error("Another toolboxd is on this bus: every request gets two answers. Stop "
			  "one of them");
	else if (strcmp(process->host, rivals->self.host) == 0)
		log_error("Another toolboxd is on this bus, process %" PRIu64
			  " of this machine: every request gets two answers. Stop one of them "
			  "(systemctl status %" PRIu64 " names its unit)",
			process->pid, process->pid);
	else
		log_error("Another toolboxd is on this bus, process %" PRIu64
			  " of %s: every request gets two answers. Stop one of them",
			process->pid, process->host);
}

static void log_plugin(void)
{
	log_error(
		"Another tool service answers on this bus, most likely the Python plugin "
		"ovos-PHAL-plugin-tools: every request gets two answers. Switch it off: "
		"\"PHAL\": {\"ovos-phal-plugin-tools\": {\"enabled\": false}} in mycroft.conf, or "
		"pip uninstall ovos-phal-plugin-tools");
}

/* The time of the probe is over. While there is a rival, look again for its end. */
static void judge(void *data)
{
	struct other_services *rivals = data;
	struct other_service_findings found = rivals->found;
	struct other_service_findings known = rivals->known;

	rivals->found = (struct other_service_findings){0};
	if (!found.process.host[0])
		found.process = known.process;
	rivals->known = found;
	if (found.has_toolboxd && !known.has_toolboxd)
		log_toolboxd(rivals, &found.process);
	if (found.has_plugin && !known.has_plugin)
		log_plugin();
	if (found.has_toolboxd || found.has_plugin)
		want_probe(rivals, OTHER_SERVICES_PAUSE_MS);
	else if (known.has_toolboxd || known.has_plugin)
		log_info("No other tool service answers on this bus any more");
}

/* ── messages ────────────────────────────────────────────────────────────────────────────────── */

bool other_services_hear_more(struct other_services *rivals, const char *topic, size_t size)
{
	uint64_t sent = bus_count_answers(rivals->bus, 0) - rivals->sent;

	if (rivals->received > sent + rivals->strange) {
		rivals->strange = rivals->received - sent;
		want_probe(rivals, OTHER_SERVICES_PAUSE_MS);
	}
	return other_services_is_open(rivals) && text_is(topic, size, OTHER_SERVICES_RESPONSE);
}

/* Read the mark of another toolboxd's probe. */
static void take_process(
	struct other_services *rivals, const struct json_tape *context, uint32_t mark)
{
	struct other_service_process *process = &rivals->found.process;
	cleanup(buffer_deinit) struct buffer host = {0};
	uint64_t number;

	if (!json_read_u64(context, json_find(context, mark, "pid"), &number) ||
		!json_read_text(context, json_find(context, mark, "host"), &host))
		return;
	if (!buffer_terminate(&host) || host.size == 0 || host.size >= OTHER_SERVICES_HOST_BYTES ||
		strlen(host.data) != host.size)
		return;
	memcpy(process->host, host.data, host.size + 1);
	process->pid = number;
}

/* Return the mark in the context of @envelope, an object with a key; or JSON_NONE. */
static uint32_t find_mark(const struct bus_envelope *envelope, uint32_t *ret_key)
{
	const struct json_tape *context = &envelope->context;
	uint32_t mark = json_find_typed_at(context, 0, MARK, JSON_OBJECT);

	if (mark == JSON_NONE)
		return JSON_NONE;
	*ret_key = json_find(context, mark, "key");
	return *ret_key != JSON_NONE && json_type_at(context, *ret_key) == JSON_STRING ? mark
										       : JSON_NONE;
}

/* Return whether no probe with this key came before, and remember it. Else two services would go on
 * answering each other's probes. */
static bool is_new_key(struct other_services *rivals, const struct json_tape *context, uint32_t key)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	json_string_decode(context, key, &text);
	if (!buffer_terminate(&text) || text.size != OTHER_SERVICES_KEY_BYTES - 1)
		return false;
	for (size_t i = 0; i < OTHER_SERVICES_KEYS; i++)
		if (strcmp(rivals->keys[i], text.data) == 0)
			return false;
	snprintf(rivals->keys[rivals->n_keys++ % OTHER_SERVICES_KEYS], OTHER_SERVICES_KEY_BYTES,
		"%s", text.data);
	return true;
}

/* Take the answer to our probe: only a toolboxd answers with a code. */
static void take_rival_answer(struct other_services *rivals, const struct bus_envelope *envelope)
{
	const struct json_tape *data = &envelope->data;

	if (!other_services_is_open(rivals))
		return;
	if (envelope->data_status == 0 && json_find(data, 0, "code") != JSON_NONE)
		rivals->found.has_toolboxd = true;
	else
		rivals->found.has_plugin = true;
}

bool other_services_take_get(struct other_services *rivals, const struct bus_envelope *envelope)
{
	bool is_probe = text_is(envelope->topic, envelope->topic_size, OTHER_SERVICES_TOPIC);
	bool is_answer = text_is(envelope->topic, envelope->topic_size, OTHER_SERVICES_RESPONSE);
	uint32_t key = JSON_NONE;
	uint32_t mark = is_probe || is_answer ? find_mark(envelope, &key) : JSON_NONE;
	bool is_ours = mark != JSON_NONE && json_string_equals(&envelope->context, key, rivals->key,
						    strlen(rivals->key));

	if (is_probe && mark != JSON_NONE && !is_ours) {
		take_process(rivals, &envelope->context, mark);
		want_probe(rivals, is_new_key(rivals, &envelope->context, key)
					   ? OTHER_SERVICES_RETURN_MS
					   : OTHER_SERVICES_PAUSE_MS);
	} else if (is_answer && is_ours) {
		take_rival_answer(rivals, envelope);
	}
	return is_probe && is_ours;
}

/* ── status ──────────────────────────────────────────────────────────────────────────────────── */

void other_services_write(const struct other_services *rivals, struct answer *answer)
{
	const struct other_service_findings *known = &rivals->known;
	struct buffer *out;

	if (!known->has_toolboxd && !known->has_plugin)
		return;
	out = answer_member(answer, "other_services");
	buffer_append_char(out, '[');
	if (known->has_toolboxd) {
		buffer_append_string(out, "{\"service\":\"toolboxd\"");
		if (known->process.host[0]) {
			json_write_member_text(out, "host", known->process.host);
			buffer_printf(out, ",\"pid\":%" PRIu64, known->process.pid);
		}
		buffer_append_string(out, known->has_plugin ? "}," : "}");
	}
	if (known->has_plugin)
		buffer_append_string(out, "{\"service\":\"ovos-PHAL-plugin-tools\"}");
	buffer_append_char(out, ']');
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

void other_services_begin(struct other_services *rivals)
{
	/* A lost connection loses messages. */
	rivals->received = rivals->strange = 0;
	rivals->sent = bus_count_answers(rivals->bus, 0);
	rivals->found = (struct other_service_findings){0};
	loop_timer_disarm(&rivals->timer);
	loop_timer_disarm(&rivals->verdict);
	want_probe(rivals, OTHER_SERVICES_PAUSE_MS);
}

int other_services_init(struct other_services *rivals, struct loop *loop)
{
	uint64_t chance;
	int r;

	if (getrandom(&chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
		return -EIO;
	snprintf(rivals->key, sizeof(rivals->key), "%016" PRIx64, chance);
	rivals->self.pid = (uint64_t)getpid();
	if (gethostname(rivals->self.host, sizeof(rivals->self.host) - 1) < 0)
		return -errno;
	r = loop_timer_init(&rivals->timer, loop, send_probe, rivals);
	return r ? r : loop_timer_init(&rivals->verdict, loop, judge, rivals);
}

void other_services_deinit(struct other_services *rivals)
{
	loop_timer_deinit(&rivals->timer);
	loop_timer_deinit(&rivals->verdict);
}
