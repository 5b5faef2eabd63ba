/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/ovos/fallback.h"

#include "json/document.h"
#include "json/reader.h"
#include "json/writer.h"
#include "message/response.h"

void fallback_send_registration(
	struct bus *bus, const char *skill_id, uint32_t priority, bool is_end)
{
	struct buffer message = {0};

	if (!bus_is_up(bus))
		return;
	if (is_end)
		bus_broadcast_begin(&message, "ovos.skills.fallback.deregister", skill_id);
	else
		bus_broadcast_begin(&message, "ovos.skills.fallback.register", skill_id);
	buffer_append_string(&message, "{\"skill_id\":");
	json_write_text(&message, skill_id);
	buffer_printf(&message, ",\"priority\":%u}", priority);
	bus_message_end(&message);
	bus_send(bus, &message, BUS_SHARE_OWN);
}

/* Send the topic of the skill that ends with @name. */
static void send_own(
	const struct speech *speech, struct bus *bus, const char *name, const struct buffer *data)
{
	cleanup(buffer_deinit) struct buffer topic = {0};

	buffer_printf(&topic, FALLBACK_TOPIC "%s.%s", speech->skill_id, name);
	if (buffer_terminate(&topic))
		speech_send(speech, bus, topic.data, data);
}

/* Send @topic with the member can_handle. */
static void send_can_handle(
	const struct speech *speech, struct bus *bus, const char *topic, bool can_handle)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	buffer_printf(&data, "{\"skill_id\":\"%s\",\"can_handle\":%s}", speech->skill_id,
		can_handle ? "true" : "false");
	speech_send(speech, bus, topic, &data);
}

void fallback_send_pong(const struct speech *speech, struct bus *bus, bool can_handle)
{
	send_can_handle(speech, bus, FALLBACK_TOPIC "pong", can_handle);
}

void fallback_send_converse(const struct speech *speech, struct bus *bus)
{
	send_can_handle(speech, bus, "skill.converse.pong", false);
}

void fallback_send_start(const struct speech *speech, struct bus *bus)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	buffer_append_string(&data, "{}");
	send_own(speech, bus, "start", &data);
}

bool fallback_is_of_old_core(const struct speech *speech)
{
	cleanup(json_tape_cleanup) struct json_tape context = {0};
	struct json_error error;

	return json_tape_read_lax(&context, speech->context.data, speech->context.size,
		       JSON_DOCUMENT_DEPTH_MAX, &error) == 0 &&
	       json_find(&context, 0, "utterance_id") == JSON_NONE;
}

void fallback_send_end(const struct speech *speech, struct bus *bus, bool is_done, bool is_killed)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	cleanup(buffer_deinit) struct buffer killed = {0};
	cleanup(buffer_deinit) struct buffer none = {0};

	buffer_append_string(&killed, "{\"error\":\"timed out\"}");
	if (is_killed)
		send_own(speech, bus, "killed", &killed);
	buffer_printf(&data, "{\"result\":%s,\"fallback_handler\":", is_done ? "true" : "false");
	json_write_text(&data, is_done ? speech->skill_id : NULL);
	buffer_append_char(&data, '}');
	send_own(speech, bus, "response", &data);
	buffer_append_string(&none, "{}");
	if (fallback_is_of_old_core(speech))
		speech_send(speech, bus, "ovos.utterance.handled", &none);
}
