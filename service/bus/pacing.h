/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * When a client of the bus does what, as functions of a time that the caller gives.
 *
 *   Back-off    0.5 s, 1, 2, 4, 8, 16, 30, 30, … each shortened by up to a quarter, by chance, so
 *               that the clients of a bus that comes back do not all come back at once
 *
 *   Heartbeat   ├── 20 s ──┤ ping ├─ 10 s ─┤ heard? ─┬─ yes ─▶ next ping 20 s after the last one
 *                                                    └─ no ──▶ hang up
 */

#define BUS_BACKOFF_FIRST_MS 500
#define BUS_BACKOFF_MAX_MS   30000

#define BUS_PING_INTERVAL_MS 20000
#define BUS_PONG_WAIT_MS     10000

/* Names resolved, connected and upgraded in so long, or begun anew: libwebsockets can lose a
 * connection attempt without a word when memory is short. */
#define BUS_CONNECT_WAIT_MS 20000

/* How long to wait before attempt number @attempt (0: the first after a loss); @chance is any
 * random number. */
uint64_t bus_backoff_delay_ms(uint32_t attempt, uint32_t chance);

struct bus_heartbeat {
	uint64_t pinged_ms; /* when the last ping was asked for, or the connection began */
	bool is_awaited;    /* an answer to it */
	bool is_heard;      /* a pong, or any data, since */
};

enum bus_heartbeat_action {
	BUS_HEARTBEAT_WAIT,
	BUS_HEARTBEAT_PING,
	BUS_HEARTBEAT_HANG_UP,
};

/* The connection begins at @now_ms. */
void bus_heartbeat_begin(struct bus_heartbeat *heartbeat, uint64_t now_ms);

/* A pong, or data, came. */
static inline void bus_heartbeat_hear(struct bus_heartbeat *heartbeat)
{
	heartbeat->is_heard = true;
}

/* What is to be done at @now_ms; *ret_wait_ms: when to ask next. */
enum bus_heartbeat_action bus_heartbeat_step(
	struct bus_heartbeat *heartbeat, uint64_t now_ms, uint64_t *ret_wait_ms);
