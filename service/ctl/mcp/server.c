/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "core/call/approval.h"
#include "ctl/command.h"
#include "ctl/mcp/door.h"
#include "ctl/mcp/lines.h"
#include "ctl/offline/private.h"
#include "ctl/terminal.h"
#include "util/clock.h"

/*
 * toolboxctl mcp: the life of a server of the Model Context Protocol, for one client at stdin and
 * stdout. ctl/mcp/door serves the messages.
 *
 * At the end of its input the calls in flight are answered, then it leaves. A client that stops its
 * server closes the input, too, and waits for the end of the process:
 *
 *   initialize, discover or list, answered ─▶ the input is empty ─▶ a further message: a client
 *     ─▶ the end of the input ─▶ MCP_STOP_MS later the calls in flight are cancelled
 *   all else is the output of a program, as of printf: its calls have until their deadlines
 *
 * When no reader of the responses is left, calls are cancelled at once.
 */

/* The lines of a file that are taken before others have their turn. */
#define FILE_LINES 64

/* The wait for something to happen, when nothing has to be done at a time. */
#define LONG_MS 3600000

/* The time that calls have when their client has closed the input to stop us; less than the two
 * seconds after which clients send SIGTERM. */
#define MCP_STOP_MS 1000

/* The time in which the cancelling of calls goes out at the end. */
#define LEAVE_MS 30

struct mcp_ctl {
	struct ctl_session *session;
	struct stdio_door door;
	struct lines lines;
	bool is_file;     /* stdin is a file: no client closes it */
	bool has_paused;  /* after a greeting there was no further message for a while */
	bool is_client;   /* after the pause a message came: a client waits */
	bool has_ended;   /* the input: the calls in flight are the last */
	uint64_t stop_ms; /* when they are cancelled; 0: they have their deadlines */
};

/* Cancel the calls in flight: no reader of their responses is left. */
static bool lose_readers(void *data)
{
	stdio_door_leave(data, CTL_DONE);
	return false;
}

static void end_input(struct mcp_ctl *mcp)
{
	mcp->has_ended = true;
	if (mcp->is_client)
		mcp->stop_ms = clock_now_ms() + MCP_STOP_MS;
	ctl_session_watch_readers(mcp->session, STDOUT_FILENO, lose_readers, &mcp->door);
	mcp->door.is_full_or_ending = true;
	stdio_door_wake(&mcp->door);
}

/* Return whether nothing can be read now, nor has the input ended. */
static bool is_input_empty(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, 0) == 0;
}

static bool read_input(void *data)
{
	struct mcp_ctl *mcp = data;
	bool had_paused = mcp->has_paused;

	if (!lines_read(&mcp->lines, STDIN_FILENO, stdio_door_take, &mcp->door)) {
		end_input(mcp);
		return false;
	}
	mcp->is_client = had_paused;
	mcp->has_paused = had_paused || (mcp->door.has_greeted && is_input_empty());
	return true;
}

/* Take lines of the file that stdin is, for as long as their requests have a place. Return whether
 * there are more lines to take at once. */
static bool take_file(struct mcp_ctl *mcp)
{
	int r = 1;

	for (size_t i = 0; i < FILE_LINES && r == 1 && !mcp->door.is_over &&
			   mcp_engine_has_room(&mcp->door.engine);
		i++)
		r = lines_next(&mcp->lines, STDIN_FILENO, stdio_door_take, &mcp->door);
	if (r < 0) {
		terminal_complain("stdin cannot be read: %s", strerror(-r));
		stdio_door_leave(&mcp->door, CTL_USAGE);
	} else if (r == 0) {
		end_input(mcp);
	}
	return r == 1 && mcp_engine_has_room(&mcp->door.engine);
}

/* ── its life ────────────────────────────────────────────────────────────────────────────────── */

/* Leave when the last calls are over, or their time is. Return the
 * shorter of the time until then and @wait_ms. */
static uint64_t await_end(struct mcp_ctl *mcp, uint64_t wait_ms)
{
	uint64_t now_ms = clock_now_ms();

	if (!stdio_door_has_calls(&mcp->door) || (mcp->stop_ms > 0 && now_ms >= mcp->stop_ms))
		stdio_door_leave(&mcp->door, CTL_DONE);
	else if (mcp->stop_ms > 0 && mcp->stop_ms - now_ms < wait_ms)
		wait_ms = mcp->stop_ms - now_ms;
	return wait_ms;
}

static int serve_client(struct mcp_ctl *mcp, const struct ctl_options *options)
{
	int r = stdio_door_open(&mcp->door, options, mcp->session);

	if (r == CTL_DONE)
		r = ctl_session_interrupts(mcp->session, NULL, NULL, NULL);
	if (r != CTL_DONE)
		return r;
	ctl_session_stay(mcp->session);
	r = ctl_session_read(mcp->session, STDIN_FILENO, read_input, mcp);
	mcp->is_file = r == -EPERM;
	mcp->door.is_full_or_ending = mcp->is_file;
	r = mcp->is_file ? CTL_DONE : r;
	while (r == CTL_DONE && !mcp->door.is_over && !ctl_session_signal(mcp->session)) {
		uint64_t began_ms = clock_now_ms();
		uint64_t wait_ms =
			stdio_door_report_asking(&mcp->door) || stdio_door_has_calls(&mcp->door)
				? APPROVAL_REPORT_MS
				: LONG_MS;

		mcp->door.has_woken = false;
		if (mcp->is_file && !mcp->has_ended && take_file(mcp))
			wait_ms = 0;
		if (mcp->has_ended)
			wait_ms = await_end(mcp, wait_ms);
		if (mcp->door.is_over)
			break;
		r = ctl_session_wait(mcp->session, wait_ms);
		if (r != CTL_DONE || mcp->door.has_woken || ctl_session_signal(mcp->session))
			continue;
		if (clock_now_ms() - began_ms < wait_ms)
			stdio_door_begin_again(&mcp->door);
		else if (wait_ms > 0)
			stdio_door_ask_calls(&mcp->door);
	}
	if (r == CTL_DONE && stdio_door_end(&mcp->door))
		ctl_session_wait(mcp->session, LEAVE_MS);
	return r == CTL_DONE ? mcp->door.status : r;
}

static int open_session(
	const struct ctl_options *options, struct private_service **service, struct mcp_ctl *mcp)
{
	struct config_flags flags = {.keeps_approval = true};
	struct ctl_options patient = *options;
	int r;

	if (!options->standalone && options->toolbox_dir) {
		terminal_complain("--toolbox-dir needs --standalone");
		return CTL_USAGE;
	}
	if (!options->standalone) {
		r = ctl_session_open(options, &mcp->session);
		if (r != 0 || !ctl_session_is_http(mcp->session))
			return r;
		terminal_complain("over HTTP the service itself has MCP, at /mcp");
		return CTL_USAGE;
	}
	r = private_expect_folder(options->toolbox_dir);
	if (r != 0)
		return r;
	if (options->toolbox_dir) {
		flags.toolbox_dirs = &options->toolbox_dir;
		flags.n_toolbox_dirs = 1;
	}
	patient.timeout_ms = PRIVATE_TIMEOUT_MS;
	r = private_service_start(&flags, service);
	return r ? r : ctl_session_open_at(&patient, &(*service)->address, &mcp->session);
}

int ctl_mcp(const struct ctl_options *options)
{
	cleanup(private_service_cleanup) struct private_service *service = NULL;
	struct mcp_ctl mcp = {0};
	int r = open_session(options, &service, &mcp);

	if (r == CTL_DONE)
		r = serve_client(&mcp, options);
	stdio_door_deinit(&mcp.door);
	ctl_session_close(mcp.session);
	buffer_deinit(&mcp.lines.bytes);
	return r;
}
