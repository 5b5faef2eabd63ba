/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/asking.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "json/member.h"
#include "message/response.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/text/text.h"

#define ALIVE_TOPIC "mycroft.toolboxd.is_alive"

static void send_request(struct asking *asking, const char *topic, const struct buffer *person,
	uint64_t number, const struct buffer *data, int *ret_error)
{
	cleanup(buffer_deinit) struct buffer context = {0};
	struct buffer message = {0};

	buffer_append_char(&context, '{');
	if (person && person->size > 0) {
		buffer_append_buffer(&context, person);
		buffer_append_char(&context, ',');
	}
	buffer_printf(&context,
		"\"via\":\"toolbox-agent\",\"" ASKING_MEMBER "\":\"%s-%" PRIu64 "\"}", asking->key,
		number);
	if (!buffer_terminate(&context)) {
		*ret_error = -ENOMEM;
		return;
	}
	bus_request_begin(&message, topic, context.data);
	if (data)
		buffer_append_buffer(&message, data);
	else
		buffer_append_string(&message, "{}");
	bus_message_end(&message);
	*ret_error = asking->send(asking->data, &message);
}

static void end_asked(struct asked *asked, const struct json_tape *response)
{
	list_remove(&asked->link);
	asked->asking = NULL;
	asked->function(asked->data, response);
}

void asking_lose(struct asking *asking)
{
	struct list lost;
	struct list *link;

	/* A function may send further requests. */
	list_init(&lost);
	while ((link = list_take_first(&asking->open)))
		list_append(&lost, link);
	loop_timer_disarm(&asking->timer);
	asking->is_probing = false;
	while ((link = list_take_first(&lost))) {
		struct asked *asked = container_of(link, struct asked, link);

		end_asked(asked, NULL);
	}
}

/* The patience is over. */
static void on_patience(void *data)
{
	struct asking *asking = data;
	int r;

	if (list_is_empty(&asking->open)) {
		asking->is_probing = false;
		return;
	}
	if (!asking->is_probing) {
		asking->is_probing = true;
		send_request(asking, ALIVE_TOPIC, NULL, 0, NULL, &r);
		loop_timer_arm(&asking->timer, ASKING_PATIENCE_MS);
		return;
	}
	if (!asking->is_away)
		log_warning("No tool service answers on this bus");
	asking->is_away = true;
	asking_lose(asking);
}

int asking_init(struct asking *asking, struct loop *loop,
	int (*send)(void *data, struct buffer *message), void *data)
{
	unsigned char random[(ASKING_KEY_BYTES - 1) / 2];

	asking->loop = loop;
	asking->send = send;
	asking->data = data;
	list_init(&asking->open);
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	text_write_hex(random, sizeof(random), asking->key);
	return loop_timer_init(&asking->timer, loop, on_patience, asking);
}

void asking_deinit(struct asking *asking)
{
	struct list *link;

	if (!asking->loop)
		return;
	while ((link = list_take_first(&asking->open)))
		container_of(link, struct asked, link)->asking = NULL;
	loop_timer_deinit(&asking->timer);
}

/* Wait for a response, with a look at the service at once if it was away. */
static void begin_patience(struct asking *asking)
{
	int r;

	if (loop_timer_is_armed(&asking->timer))
		return;
	asking->is_probing = asking->is_away;
	if (asking->is_away)
		send_request(asking, ALIVE_TOPIC, NULL, 0, NULL, &r);
	loop_timer_arm(&asking->timer, asking->is_away ? ASKING_AWAY_MS : ASKING_PATIENCE_MS);
}

int asking_send(struct asking *asking, struct asked *asked, const char *topic,
	const struct buffer *person, const struct buffer *data, asked_function function,
	void *function_data)
{
	int r;

	*asked = (struct asked){
		.topic = topic,
		.number = ++asking->n_requests,
		.function = function,
		.data = function_data,
	};
	list_init(&asked->link);
	r = buffer_status(data);
	if (r == 0)
		send_request(asking, topic, person, asked->number, data, &r);
	if (r < 0)
		return r;
	asked->asking = asking;
	list_append(&asking->open, &asked->link);
	begin_patience(asking);
	return 0;
}

void asking_notify(struct asking *asking, const char *topic, const struct buffer *person,
	const struct buffer *data)
{
	int r;

	send_request(asking, topic, person, ++asking->n_requests, data, &r);
}

void asked_forget(struct asked *asked)
{
	if (!asked->asking)
		return;
	list_remove(&asked->link);
	asked->asking = NULL;
}

static bool is_response_to(const char *topic, size_t size, const char *request)
{
	static const char end[] = ".response";
	size_t n = strlen(request);

	return size == n + sizeof(end) - 1 && memcmp(topic, request, n) == 0 &&
	       memcmp(topic + n, end, sizeof(end) - 1) == 0;
}

bool asking_wants(const struct asking *asking, const char *topic, size_t size)
{
	if (list_is_empty(&asking->open))
		return false;
	if (is_response_to(topic, size, ALIVE_TOPIC))
		return true;
	list_each(struct asked, asked, &asking->open, link)
		if (is_response_to(topic, size, asked->topic))
			return true;
	return false;
}

/* Read our number from the context. Return false when there is none. */
static bool read_number(
	const struct asking *asking, const struct bus_envelope *envelope, uint64_t *ret_number)
{
	const struct json_tape *context = &envelope->context;
	uint32_t value = json_find_typed_at(context, 0, ASKING_MEMBER, JSON_STRING);
	size_t n = strlen(asking->key);
	const char *text;
	size_t size;

	if (value == JSON_NONE)
		return false;
	text = json_bytes(context, value);
	size = json_at(context, value)->length;
	if (size < n + 2 || size > n + 20 || memcmp(text, asking->key, n) != 0 || text[n] != '-')
		return false;
	*ret_number = 0;
	for (size_t i = n + 1; i < size; i++) {
		if (!text_is_digit(text[i]))
			return false;
		*ret_number = 10 * *ret_number + (uint64_t)(text[i] - '0');
	}
	return true;
}

void asking_take(struct asking *asking, const struct bus_envelope *envelope)
{
	uint64_t number;

	if (!read_number(asking, envelope, &number))
		return;
	if (asking->is_away)
		log_info("The tool service is there again");
	/* It is there: wait on, as long as the request needs. */
	asking->is_away = false;
	asking->is_probing = false;
	loop_timer_disarm(&asking->timer);
	list_each(struct asked, asked, &asking->open, link) {
		if (asked->number != number ||
			!is_response_to(envelope->topic, envelope->topic_size, asked->topic))
			continue;
		end_asked(asked, &envelope->data);
		break;
	}
	if (!list_is_empty(&asking->open))
		begin_patience(asking);
}
