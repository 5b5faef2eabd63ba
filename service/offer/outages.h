/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/catalogue.h"
#include "loop/loop.h"
#include "util/text/text_list.h"

/*
 * The toolboxes whose servers (kind mcp) cannot be used:
 *
 *            a call is unavailable              mcp.grace_s over: expired()
 *   (none) ────────────────────────▶ waiting ──────────────────────────────▶ out
 *     ▲    ◀──────────────────────── (offered)                          (not offered)
 *     │     a call has reached it                                            │
 *     └────────── the server has listed its tools to a load ◀────────────────┘
 */
struct outage {
	char *id;
	uint64_t out_at_ms;
	bool is_out;
};

struct outages {
	struct loop_timer timer;
	loop_timer_function expired;
	void *data;
	struct outage *items;
	size_t n_items;
};

/* Call @expired with @data when a toolbox is out. 0 or -ENOMEM. */
int outages_init(
	struct outages *outages, struct loop *loop, loop_timer_function expired, void *data);

/* Takes zeroed ones. */
void outages_deinit(struct outages *outages);

/* The server of a toolbox, as the end of a call shows it. */
enum server_state {
	SERVER_REACHED,
	SERVER_UNAVAILABLE,
	SERVER_UNKNOWN, /* the call ended otherwise */
};

/* As outages_note(), for a package of kind mcp. */
void outages_note_server(
	struct outages *outages, const struct package *package, enum server_state state);

/* Note the end of a call for @package. Without memory nothing is noted. */
static inline void outages_note(
	struct outages *outages, const struct package *package, enum server_state state)
{
	if (package->kind == KIND_MCP)
		outages_note_server(outages, package, state);
}

/* Add the ids of the toolboxes now out to @ids. 0 or -ENOMEM. */
int outages_list(const struct outages *outages, struct text_list *ids);

/* Forget the toolboxes out before and in @catalogue now, and the toolboxes neither out nor in
 * @catalogue. */
void outages_end(struct outages *outages, const struct catalogue *catalogue);
