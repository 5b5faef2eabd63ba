/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * Reports to systemd, by its datagram protocol (sd_notify(3), "Notes"): one datagram of KEY=VALUE
 * lines to the socket that NOTIFY_SOCKET names. Without that nothing is sent.
 */

/* Read the variables that systemd has set, and remove them from the environment, since they are not
 * for children. Call it once, before anything else here. */
void notify_init(void);

/* Send READY=1: the first catalogue is in place, or a reload is done. */
void notify_ready(void);

/* Send READY=1 with @status as STATUS: there is nothing to serve, and the process ends. */
void notify_not_enabled(const char *status);

/* Send RELOADING=1, with the time (systemd 253 needs it). */
void notify_reloading(void);

/* Send STOPPING=1. */
void notify_stopping(void);

/* Send EXTEND_TIMEOUT_USEC: the start may take @ms from now on. */
void notify_extend(uint64_t ms);

/* Send WATCHDOG=1. */
void notify_alive(void);

/* Return the interval in ms at which notify_alive() is due: half of WATCHDOG_USEC. 0: systemd does
 * not watch this process. */
uint64_t notify_alive_interval_ms(void);
