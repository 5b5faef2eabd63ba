/* SPDX-License-Identifier: Apache-2.0 */
#include "asking.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_fixture.h"
#include "core/service.h"

#define FD_MAX       64
#define WAIT_MS      60000
#define STEP_MS      1
#define MESSAGES_MAX 4096

struct service *service;

static struct loop *loop;
static struct bus *seat;
static struct bus *common; /* that the service is a client of; NULL: it is the bus */
static struct config_flags flags;
static const char *folder;

/* What has come, a topic and its data. */
static struct {
	char *topic;
	char *data;
	bool is_seen;
} messages[MESSAGES_MAX];
static size_t n_messages;

static struct bus_envelope envelope;

static char *swap_quotes(const char *text)
{
	char *json = strdup(text);

	for (char *at = json; (at = strchr(at, '\'')); at++)
		*at = '"';
	return json;
}

static void take_frame(void *data, const char *text, size_t size)
{
	const char *found;
	size_t found_size;

	(void)data;
	cr_assert_lt(n_messages, (size_t)MESSAGES_MAX);
	cr_assert_eq(bus_envelope_read(&envelope, text, size, JSON_DEPTH_DEFAULT), 0, "%.*s",
		(int)size, text);
	found = json_value_text(&envelope.data, 0, &found_size);
	messages[n_messages].topic = strdup(envelope.topic);
	messages[n_messages++].data = strndup(found, found_size);
	loop_stop(loop);
}

static void came_up(void *data)
{
	(void)data;
	loop_stop(loop);
}

void asking_set_up(void)
{
	config_set_up();
	folder = strdup(in_folder("box.d"));
	flags.toolbox_dirs = &folder;
	flags.n_toolbox_dirs = 1;
	flags.bus = "ws://127.0.0.1:0/core";
	flags.log_level = "error";
}

static void start(bool is_bus)
{
	static const struct bus_handler handler = {.frame = take_frame, .up = came_up};
	static struct paths paths;
	struct service_options options = {.flags = &flags, .paths = &paths, .is_bus = is_bus};

	snprintf(paths.host_program, sizeof(paths.host_program), "%s", TEST_HOST_PROGRAM);
	cr_assert_eq(read_with(&flags), 0, "%s", told.data);
	config.start_timeout_ms = WAIT_MS;
	log_setup(config.log_level, config.log_format);
	cr_assert_eq(service_new(loop, &options, &config, &service), 0);
	cr_assert_eq(bus_connect(loop, bus_address(service->bus), &bus_limits_default, &handler,
			     NULL, &seat),
		0);
	while (!bus_is_up(seat) || !bus_is_up(service->bus))
		loop_run(loop, STEP_MS);
}

void asking_start(void)
{
	cr_assert_eq(loop_new(FD_MAX, &loop), 0);
	start(true);
}

static void hear_nothing(void *data, const char *text, size_t size)
{
	(void)data;
	(void)text;
	(void)size;
}

void asking_start_as_client(void)
{
	static const struct bus_handler handler = {.frame = hear_nothing};
	static char url[BUS_URL_BYTES];
	struct bus_address address = bus_address_default;

	address.port = 0;
	cr_assert_eq(loop_new(FD_MAX, &loop), 0);
	cr_assert_eq(
		bus_embed(loop, &address, NULL, 0, &bus_limits_default, &handler, NULL, &common),
		0);
	bus_address_format(bus_address(common), url);
	flags.bus = url;
	start(false);
}

void asking_tear_down(void)
{
	bus_free(seat);
	service_free(service);
	bus_free(common);
	loop_free(loop);
	while (n_messages > 0) {
		free(messages[--n_messages].topic);
		free(messages[n_messages].data);
	}
	bus_envelope_deinit(&envelope);
	free((char *)folder);
	config_tear_down();
}

void write_box(const char *name, const char *manifest)
{
	char *json = swap_quotes(manifest);
	char path[64];

	snprintf(path, sizeof(path), "box.d/%s", name);
	write_file(path, json);
	free(json);
}

void send_request(const char *topic, const char *data, const char *context)
{
	char *data_json = swap_quotes(data);
	char *context_json = swap_quotes(context);
	struct buffer message = {0};

	bus_request_begin(&message, topic, context_json);
	buffer_append_string(&message, data_json);
	bus_message_end(&message);
	cr_assert_eq(bus_send(seat, &message), 0);
	free(data_json);
	free(context_json);
}

static const char *take_message(const char *topic)
{
	for (size_t i = 0; i < n_messages; i++)
		if (!messages[i].is_seen && strcmp(messages[i].topic, topic) == 0) {
			messages[i].is_seen = true;
			return messages[i].data;
		}
	return NULL;
}

const char *wait_for(const char *topic)
{
	const char *data;

	while (!(data = take_message(topic)))
		cr_assert_eq(loop_run(loop, WAIT_MS), 0, "no %s came", topic);
	return data;
}

const char *ask_for(const char *topic, const char *data)
{
	char response[BUS_TOPIC_BYTES + sizeof(".response")];

	snprintf(response, sizeof(response), "%s.response", topic);
	send_request(topic, data, "{}");
	return wait_for(response);
}

void expect_part(const char *text, const char *part)
{
	char *json = swap_quotes(part);

	cr_expect(strstr(text, json), "%s\nis not in %s", json, text);
	free(json);
}

unsigned int n_unseen(const char *topic)
{
	unsigned int n = 0;

	for (size_t i = 0; i < n_messages; i++)
		n += !messages[i].is_seen && strcmp(messages[i].topic, topic) == 0;
	return n;
}
