/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/ovos/speech.h"

#include <string.h>

#include "json/document.h"
#include "json/reader.h"
#include "json/writer.h"
#include "message/response.h"

void speech_context_with(
	const struct buffer *context, const char *key, const char *value, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	uint32_t present;
	size_t start = context->size - 1;
	size_t end = start;

	/* The context was read before, as leniently. */
	if (json_tape_read_lax(
		    &tape, context->data, context->size, JSON_DOCUMENT_DEPTH_MAX, &error) != 0)
		return;
	present = json_find(&tape, 0, key);
	if (present != JSON_NONE) {
		const char *text = json_value_text(&tape, present, &end);

		start = (size_t)(text - context->data);
		end += start;
	}
	buffer_append(out, context->data, start);
	if (present == JSON_NONE) {
		buffer_append_string(out, json_count(&tape, 0) > 0 ? ", " : "");
		json_write_key(out, key);
	}
	buffer_append_string(out, value);
	buffer_append(out, context->data + end, context->size - end);
}

void speech_init(struct speech *speech, const struct bus_envelope *envelope, const char *skill_id,
	bool is_response)
{
	cleanup(buffer_deinit) struct buffer id = {0};
	cleanup(buffer_deinit) struct buffer context = {0};
	size_t size;
	const char *text = json_value_text(&envelope->context, 0, &size);

	speech->share = bus_response_share(envelope);
	speech->skill_id = skill_id;
	if (size > SPEECH_CONTEXT_BYTES)
		return;
	if (is_response)
		bus_context_derive(envelope, &context);
	else
		buffer_append(&context, text, size);
	json_write_text(&id, skill_id);
	if (buffer_status(&context) == 0 && buffer_terminate(&id))
		speech_context_with(&context, "skill_id", id.data, &speech->context);
}

void speech_send(
	const struct speech *speech, struct bus *bus, const char *topic, const struct buffer *data)
{
	cleanup(buffer_deinit) struct buffer context = {0};
	cleanup(buffer_deinit) struct buffer message = {0};

	if (speech->context.size == 0)
		return;
	buffer_append_buffer(&context, &speech->context);
	if (!buffer_terminate(&context))
		return;
	bus_request_begin(&message, topic, context.data);
	buffer_append_buffer(&message, data);
	bus_message_end(&message);
	bus_send(bus, &message, speech->share);
}

void speech_say(const struct speech *speech, struct bus *bus, const struct text_view *sentence,
	const struct buffer *tag, bool expects_answer)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	buffer_append_string(&data, "{\"utterance\":");
	json_write_string(&data, sentence->text, sentence->size);
	buffer_printf(&data, ",\"expect_response\":%s,\"meta\":{\"skill\":\"%s\"},\"lang\":",
		expects_answer ? "true" : "false", speech->skill_id);
	json_write_string(&data, tag->data ? tag->data : "", tag->size);
	buffer_append_char(&data, '}');
	speech_send(speech, bus, "speak", &data);
}

void speech_deinit(struct speech *speech)
{
	buffer_deinit(&speech->context);
}
