/* SPDX-License-Identifier: Apache-2.0 */
#include "answering.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bus/bus.h"
#include "message/envelope.h"
#include "ctl/options.h"
#include "quotes.h"
#include "util/cleanup.h"

#define WORDS_MAX    32
#define LINE_BYTES   4096
#define PREPARED_MAX 64
#define TEXT_BYTES   (256u << 10)

/* Shared with the process of the service. */
static struct {
	volatile uint16_t port;
	volatile size_t size;
	char requests[TEXT_BYTES];
} * shared;

static pid_t service_pid;

/* ── the process of the service ──────────────────────────────────────────────────────────────── */

static struct bus *bus;
static struct bus_envelope envelope;
static const struct prepared *all;
static bool is_used[PREPARED_MAX];

static void note_request(void)
{
	size_t data_size;
	const char *data = json_value_text(&envelope.data, 0, &data_size);
	char *line = shared->requests + shared->size;
	int n = snprintf(
		line, TEXT_BYTES - shared->size, "%s %.*s\n", envelope.topic, (int)data_size, data);

	for (char *c = line; *c; c++)
		*c = *c == '"' ? '\'' : *c;
	shared->size += (size_t)n;
}

/* Return whether this process has sent a frame with @topic. */
static bool is_own(const char *topic)
{
	bool is_ours = strstr(topic, ".response") != NULL;

	for (size_t i = 0; all[i].request; i++)
		is_ours |= all[i].topic && strcmp(all[i].topic, topic) == 0;
	return is_ours;
}

/* Return whether a later message is a response to the request that the message @index is for. */
static bool has_later_response(size_t index)
{
	for (size_t i = index + 1; all[i].request; i++)
		if (!all[i].topic && strcmp(all[i].request, all[index].request) == 0)
			return true;
	return false;
}

static void send_prepared(const struct prepared *one)
{
	cleanup(buffer_deinit) struct buffer response = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	struct buffer *sent = one->topic ? &message : &response;
	cleanup_free char *data = quoted(one->data);

	bus_response_begin(&response, &envelope);
	if (one->topic)
		bus_aside_begin(&message, one->topic, &response, response.size);
	buffer_append_string(sent, data);
	bus_message_end(sent);
	bus_send(bus, sent, BUS_SHARE_OWN);
}

static void take_frame(void *data, const char *text, size_t size)
{
	(void)data;
	if (bus_envelope_read(&envelope, text, size, JSON_DEPTH_DEFAULT) != 0 ||
		is_own(envelope.topic))
		return;
	if (strncmp(envelope.topic, "ovos.tools.", strlen("ovos.tools.")) == 0)
		note_request();
	for (size_t i = 0; all[i].request; i++) {
		if (is_used[i] || strcmp(all[i].request, envelope.topic) != 0)
			continue;
		send_prepared(&all[i]);
		is_used[i] = all[i].topic || has_later_response(i);
		if (!all[i].topic)
			return;
	}
}

__attribute__((noreturn)) static void serve(void)
{
	static const struct bus_handler handler = {.frame = take_frame};
	struct bus_address address = bus_address_default;
	struct loop *loop;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	address.port = 0;
	if (loop_new(&loop) != 0 ||
		bus_embed(loop, &address, NULL, 0, &bus_limits_default, &handler, NULL, &bus) != 0)
		_exit(1);
	shared->port = (uint16_t)bus_address(bus)->port;
	for (;;)
		loop_run(loop, 1000);
}

/* ── the test ────────────────────────────────────────────────────────────────────────────────── */

void answering_start(const struct prepared *messages)
{
	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(shared, MAP_FAILED);
	all = messages;
	fflush(NULL);
	service_pid = fork();
	cr_assert_geq(service_pid, 0);
	if (service_pid == 0)
		serve();
	while (shared->port == 0) {
		cr_assert_eq(waitpid(service_pid, NULL, WNOHANG), 0);
		usleep(1000);
	}
}

void answering_stop(void)
{
	if (service_pid > 0) {
		kill(service_pid, SIGKILL);
		waitpid(service_pid, NULL, 0);
	}
	service_pid = 0;
}

const char *answering_url(void)
{
	static char url[BUS_URL_BYTES];

	snprintf(url, sizeof(url), "ws://127.0.0.1:%u/core", (unsigned int)shared->port);
	return url;
}

const char *answering_requests(void)
{
	return shared->requests;
}

char command_output[TEXT_BYTES];
char command_complaints[TEXT_BYTES];

static struct captured {
	int fd;
	int file;
	int before;
	char *text;
} captured[] = {
	{.fd = STDOUT_FILENO, .text = command_output},
	{.fd = STDERR_FILENO, .text = command_complaints},
};

void capture_begin(void)
{
	fflush(NULL);
	for (size_t i = 0; i < 2; i++) {
		captured[i].file = memfd_create("captured", MFD_CLOEXEC);
		captured[i].before = dup(captured[i].fd);
		cr_assert(captured[i].file >= 0 && captured[i].before >= 0);
		dup2(captured[i].file, captured[i].fd);
	}
}

void capture_end(void)
{
	fflush(NULL);
	for (size_t i = 0; i < 2; i++) {
		ssize_t size = pread(captured[i].file, captured[i].text, TEXT_BYTES - 1, 0);

		captured[i].text[size > 0 ? size : 0] = '\0';
		dup2(captured[i].before, captured[i].fd);
		close(captured[i].before);
		close(captured[i].file);
	}
}

int command_run(command_function command, const char *line)
{
	cleanup(ctl_options_deinit) struct ctl_options options = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	char words[LINE_BYTES];
	char url[BUS_URL_BYTES + sizeof("--bus=")];
	char *argv[WORDS_MAX + 3];
	char *rest = words;
	int argc = 0;
	int r;

	cr_assert_lt(strlen(line), sizeof(words));
	strcpy(words, line);
	while (rest && argc < WORDS_MAX)
		argv[argc++] = strsep(&rest, " ");
	if (shared) {
		snprintf(url, sizeof(url), "--bus=%s", answering_url());
		memmove(argv + 1, argv, (size_t)argc++ * sizeof(*argv));
		argv[0] = url;
	}
	argv[argc] = NULL;
	r = ctl_options_read(argc, argv, &options, &reason);
	cr_assert_eq(r, 0, "%s: %s", line, reason.data);
	capture_begin();
	r = command(&options);
	capture_end();
	return r;
}

void expect_command(command_function command, const char *line, int status, const char *output,
	const char *complaints)
{
	int r = command_run(command, line);
	cleanup(buffer_deinit) struct buffer bare = {0};
	static const char name[] = "toolboxctl: ";

	for (const char *at = command_complaints; *at;) {
		const char *end = strchr(at, '\n');
		size_t size = end ? (size_t)(end + 1 - at) : strlen(at);
		size_t skipped = strncmp(at, name, strlen(name)) == 0 ? strlen(name) : 0;

		buffer_append(&bare, at + skipped, size - skipped);
		at += size;
	}
	cr_expect_eq(r, status, "%s: %d", line, r);
	cr_expect_str_eq(command_output, output, "%s: %s", line, command_output);
	cr_expect_str_eq(buffer_terminate(&bare), complaints, "%s: %s", line, bare.data);
}

void expect_output(const char *part)
{
	cr_expect(strstr(command_output, part), "%s\nis not in %s", part, command_output);
}

void expect_complaint(const char *part)
{
	cr_expect(strstr(command_complaints, part), "%s\nis not in %s", part, command_complaints);
}
