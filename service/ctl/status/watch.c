/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/status/ask.h"
#include "ctl/status/status.h"
#include "ctl/terminal.h"

/*
 * toolboxctl status --watch: the status again each second, on the other screen of the terminal,
 * which has no lines but ours and gives the first one back at the end.
 *
 *   ask ─▶ draw, as many lines as there are rows ─▶ wait a second ─▶ ask …
 *     └─ the bus or the service is away: wait for it
 */

#define PERIOD_MS 1000

#define ENTER "\x1b[?1049h\x1b[?25l"
#define LEAVE "\x1b[?25h\x1b[?1049l"

#define HOME       "\x1b[H"
#define CLEAR_LINE "\x1b[K"
#define CLEAR_REST "\x1b[J"

static void leave_and_end(int signal_number)
{
	static const char leave[] = LEAVE;
	ssize_t n = write(STDOUT_FILENO, leave, sizeof(leave) - 1);

	(void)n;
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void enter_screen(void)
{
	signal(SIGINT, leave_and_end);
	signal(SIGTERM, leave_and_end);
	signal(SIGHUP, leave_and_end);
	fputs(ENTER, stdout);
}

static void leave_screen(void)
{
	fputs(LEAVE, stdout);
	fflush(stdout);
}

/* Print as many lines of @text as the terminal has rows, over what was there. */
static void draw(const struct buffer *text)
{
	cleanup(buffer_deinit) struct buffer screen = {0};
	size_t n_rows = terminal_height();
	const char *at = text->data;
	const char *end = at ? at + text->size : at;

	buffer_fail_with(&screen, text);
	buffer_append_string(&screen, HOME);
	for (size_t row = 1; at < end; row++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t size = stop ? (size_t)(stop - at) : (size_t)(end - at);

		if (row == n_rows && at + size + 1 < end) {
			buffer_append_string(&screen, "..." CLEAR_LINE);
			break;
		}
		buffer_append(&screen, at, size);
		buffer_append_string(&screen, row < n_rows ? CLEAR_LINE "\n" : CLEAR_LINE);
		at += size + 1;
	}
	buffer_append_string(&screen, CLEAR_REST);
	terminal_print(&screen);
	fflush(stdout);
}

/* Show @response. Return 0, or an enum ctl_status that is complained about after the screen was
 * left. */
static int show(struct ctl_session *session, const struct ctl_options *options,
	const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = ctl_response_status(response);

	if (options->json) {
		ctl_response_print(response);
		fflush(stdout);
		return r;
	}
	if (r == 0 && status_append(options, response, &text)) {
		draw(&text);
		return 0;
	}
	leave_screen();
	if (r != 0)
		ctl_response_complain(response);
	else
		r = status_expect_toolbox(session, status_toolbox(options));
	enter_screen();
	return r;
}

int status_watch(struct ctl_session *session, const struct ctl_options *options)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	bool has_screen = !options->json;
	bool is_there = true;
	int r;

	if (has_screen && terminal_width() == 0) {
		terminal_complain("--watch needs a terminal; into a file or pipe, add --json");
		return CTL_USAGE;
	}
	r = status_ask(session, status_toolbox(options), &response);
	if (r != 0)
		return r;
	ctl_session_stay(session);
	if (has_screen)
		enter_screen();
	while (r == 0 && !ferror(stdout)) {
		if (is_there)
			r = show(session, options, &response);
		if (r == 0)
			r = ctl_session_wait(session, PERIOD_MS);
		if (r == 0)
			r = status_ask(session, status_toolbox(options), &response);
		is_there = r == 0;
		if (r == CTL_NO_BUS)
			r = 0;
	}
	if (has_screen)
		leave_screen();
	return r;
}
