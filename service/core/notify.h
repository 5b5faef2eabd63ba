/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * What systemd is told, by its plain datagram protocol (sd_notify(3), "Notes"): one datagram of
 * KEY=VALUE lines to the socket that NOTIFY_SOCKET names. Without that nothing is sent.
 */

/* Take what systemd has put into the environment, and take it out of there: it is not for children.
 * Call it once, first. */
void notify_init(void);

/* READY=1: the first catalogue is in place, or a reload is done. */
void notify_ready(void);

/* RELOADING=1, with the moment (systemd 253 asks for it). */
void notify_reloading(void);

/* STOPPING=1 */
void notify_stopping(void);

/* WATCHDOG=1 */
void notify_alive(void);

/* How often notify_alive() is due, in ms: half of what WATCHDOG_USEC allows; 0: not asked for, or
 * not of us (WATCHDOG_PID). */
uint64_t notify_alive_interval_ms(void);
