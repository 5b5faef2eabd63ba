/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The schedule of a bus client, as functions of a time from the caller.
 *
 *   Back-off    0.5 s, 1, 2, 4, 8, 16, 30, 30, … each shortened at random by up to a quarter: the
 *               clients of a restarted bus do not all return at the same moment
 *
 *   Heartbeat   ├── 20 s ──┤ ping ├─ 10 s ─┤ answered? ─┬─ yes ─▶ next ping 20 s after the last one
 *                                                       └─ no ──▶ hang up
 */

#define BUS_BACKOFF_FIRST_MS 500
#define BUS_BACKOFF_MAX_MS   30000

#define BUS_PING_INTERVAL_MS 20000
#define BUS_PONG_WAIT_MS     10000

/* The bytes for busy sources before a client waits for the pong of a ping, and the longest such
 * wait. */
#define BUS_MARK_BYTES (256u << 10)
#define BUS_MARK_MS    1000

/* The time for resolving a name, connecting, TLS and upgrading; then a new attempt begins. */
#define BUS_CONNECT_WAIT_MS 20000

/* Return the delay before attempt number @attempt (0: the first after a loss). @chance is a random
 * number. */
uint64_t bus_backoff_delay_ms(uint32_t attempt, uint32_t chance);

struct bus_heartbeat {
	uint64_t pinged_ms; /* time of the last ping, or of the connection */
	bool is_awaited;    /* an answer to the last ping is awaited */
	bool has_received;  /* a pong or data arrived since the last ping */
};

enum bus_heartbeat_action {
	BUS_HEARTBEAT_WAIT,
	BUS_HEARTBEAT_PING,
	BUS_HEARTBEAT_HANG_UP,
};

/* Start the heartbeat of a connection opened at @now_ms. */
void bus_heartbeat_begin(struct bus_heartbeat *heartbeat, uint64_t now_ms);

/* Note the arrival of a pong or data. */
static inline void bus_heartbeat_receive(struct bus_heartbeat *heartbeat)
{
	heartbeat->has_received = true;
}

/* Return the due action at @now_ms. *ret_wait_ms is the time until the next call. */
enum bus_heartbeat_action bus_heartbeat_step(
	struct bus_heartbeat *heartbeat, uint64_t now_ms, uint64_t *ret_wait_ms);
