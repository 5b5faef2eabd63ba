/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/session/parts.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "ctl/terminal.h"
#include "util/clock.h"

/*
 * The wait for a response: its time, which can be paused and begun anew, the signals that end it,
 * and the wait for events alone.
 *
 *   run ─┬─ stopped: answered, failed, an event has set the clock
 *        ├─ a tick ──▶ on_tick
 *        └─ a signal, or the time is over ─▶ on_interrupt: a new time, or the end
 */

/* The interval of ticks, see ctl_session_interrupts(). */
#define TICK_MS 500

void session_complain_away(struct ctl_session *session, const char *reason)
{
	if (!session->is_away)
		terminal_complain("the service is away (%s); waiting for it", reason);
	session->is_away = true;
}

void session_fail(struct ctl_session *session, int status)
{
	session->error = status;
	loop_stop(session->loop);
}

/* Serve for a part of the time that is left. Return the result of loop_run(), -ETIME only when all
 * of it is over. */
static int run_part(struct ctl_session *session, uint64_t *left_ms)
{
	bool was_paused = session->clock.is_paused;
	uint64_t *clock_ms = was_paused ? &session->clock.pause_ms : left_ms;
	bool is_part = session->interrupt.on_tick && *clock_ms > TICK_MS;
	uint64_t began_ms = clock_now_ms();
	uint64_t passed_ms;
	int r;

	session->clock.is_new = false;
	r = loop_run(session->loop, (int)(is_part ? TICK_MS : *clock_ms));
	passed_ms = clock_now_ms() - began_ms;
	/* An event may have set the time of a pause anew. */
	if (!was_paused || !session->clock.is_new)
		*clock_ms -= passed_ms < *clock_ms ? passed_ms : *clock_ms;
	if (r != -ETIME || !(is_part || was_paused))
		return r;
	if (is_part)
		session->interrupt.on_tick(session->interrupt.data);
	else
		session->clock.is_paused = false;
	session->clock.is_new = true;
	return 0;
}

/* Let the caller take the signal or the end of the time. Return 0 to go on with a new time, -EINTR
 * after a signal, or -ETIME. */
static int take_interrupt(struct ctl_session *session, uint64_t *left_ms)
{
	int signal_number = session->interrupt.signal;

	session->interrupt.signal = 0;
	session->clock.is_paused = false;
	*left_ms = session->interrupt.on_interrupt
			   ? session->interrupt.on_interrupt(session->interrupt.data, signal_number)
			   : 0;
	session->clock.is_new = *left_ms > 0;
	if (*left_ms > 0)
		return 0;
	return signal_number ? -EINTR : -ETIME;
}

/* Serve until the loop is stopped or the time of the request is over, which does not pass while it
 * is paused. Return the result of loop_run(), or -EINTR after a signal. */
static int run_clock(struct ctl_session *session)
{
	uint64_t left_ms = session->clock.timeout_ms;
	int r;

	session->clock.is_paused = session->clock.is_new = session->clock.is_restarted = false;
	do {
		r = run_part(session, &left_ms);
		if (session->clock.is_restarted)
			left_ms = session->clock.timeout_ms;
		session->clock.is_restarted = false;
		if (!session->request.is_answered && session->error == 0 &&
			(session->interrupt.signal || r == -ETIME))
			r = take_interrupt(session, &left_ms);
	} while (r == 0 && session->clock.is_new && !session->request.is_answered &&
		 session->error == 0);
	return r;
}

static bool is_alive(const struct ctl_session *session)
{
	return session->http.client ? http_transfer_is_connected(session->http.transfer)
				    : session->request.is_alive;
}

int session_await(struct ctl_session *session)
{
	uint64_t waited_ms = session->clock.timeout_ms;
	int r = run_clock(session);

	if (r != -ETIME || session->clock.patience_ms <= waited_ms || !is_alive(session))
		return r;
	session->clock.timeout_ms = session->clock.patience_ms - waited_ms;
	r = run_clock(session);
	session->clock.timeout_ms = session->clock.patience_ms;
	return r;
}

void ctl_session_set_timeout(struct ctl_session *session, uint64_t timeout_ms)
{
	session->clock.timeout_ms = timeout_ms;
}

void ctl_session_set_patience(struct ctl_session *session, uint64_t patience_ms)
{
	session->clock.patience_ms = patience_ms;
}

static void on_signal(void *data, int signal_number)
{
	struct ctl_session *session = data;

	session->interrupt.signal = signal_number;
	loop_stop(session->loop);
}

/* Return whether SIGHUP, the end of the terminal, is ignored, as by nohup. */
static bool outlives_terminal(void)
{
	struct sigaction action;

	return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int ctl_session_interrupts(struct ctl_session *session, ctl_interrupt_function interrupt,
	void (*tick)(void *data), void *data)
{
	int r = 0;

	session->interrupt.on_interrupt = interrupt;
	session->interrupt.on_tick = tick;
	session->interrupt.data = data;
	if (!session->interrupt.takes_signals)
		r = loop_add_signal(session->loop, SIGINT, on_signal, session);
	if (r == 0 && !session->interrupt.takes_signals)
		r = loop_add_signal(session->loop, SIGTERM, on_signal, session);
	if (r == 0 && !session->interrupt.takes_signals && !outlives_terminal())
		r = loop_add_signal(session->loop, SIGHUP, on_signal, session);
	session->interrupt.takes_signals = true;
	if (r == 0)
		return 0;
	terminal_complain("signals cannot be taken: %s", strerror(-r));
	return CTL_ERROR;
}

int ctl_session_signal(const struct ctl_session *session)
{
	return session->interrupt.signal;
}

int ctl_session_wait(struct ctl_session *session, uint64_t timeout_ms)
{
	int r;

	session->is_waiting = true;
	r = loop_run(session->loop, (int)timeout_ms);
	session->is_waiting = false;
	if (session->error != 0)
		return session->error;
	if (r == 0 || r == -ETIME)
		return 0;
	terminal_complain("cannot listen: %s", strerror(-r));
	return CTL_NO_BUS;
}

void ctl_session_wake(struct ctl_session *session)
{
	if (session->is_waiting)
		loop_stop(session->loop);
}
static void set_clock(struct ctl_session *session, bool is_paused)
{
	session->clock.is_paused = is_paused;
	session->clock.is_new = true;
	loop_stop(session->loop);
}

void ctl_session_pause(struct ctl_session *session, uint64_t most_ms)
{
	session->clock.pause_ms = most_ms;
	set_clock(session, true);
}

void ctl_session_resume(struct ctl_session *session)
{
	set_clock(session, false);
}

void ctl_session_restart(struct ctl_session *session)
{
	session->clock.is_restarted = true;
	set_clock(session, false);
}
