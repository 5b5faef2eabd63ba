/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/agent/agent.h"
#include "loop/loop.h"
#include "util/cleanup.h"

/*
 * toolbox-agent on the bus: the loop with a model, as a client of the bus and nothing more. It runs
 * no tool and knows no toolbox; toolboxd does, whichever answers on the bus.
 *
 *   bus ──▶ agent ─┬─ ovos.tools.chat… ─────▶ chats ─▶ turn ─┬─▶ asking ─▶ toolboxd, over the bus
 *                  ├─ fallback messages ───────┘              ├─▶ model  ─▶ its server, over HTTP
 *                  ├─ mycroft.stop, record_begin ─▶ cancel    └─▶ speak, delta, the response
 *                  └─ questions to a person ──▶ the clock of the turn is stopped
 *
 * The rooms core and offer are not part of it: a call goes the way of every other caller's.
 */
struct agent;

/* Connect to the bus of @config, which is taken over. Return 0; -ENOMEM; or another negative errno
 * after a line of the log. */
int agent_new(struct loop *loop, struct config_agent *config, struct agent **ret_agent);

/* Put @config, taken over, in force for all turns that begin from now on: earlier turns end by the
 * configuration before, and conversations go on. The address of the bus stays. Return as
 * agent_new(). */
int agent_reload(struct agent *agent, struct config_agent *config);

/* Free @agent, which may be NULL: its turns end without a response. */
void agent_free(struct agent *agent);

/* End all turns, leave the fallback skills, and stop the loop when all is sent. */
void agent_stop(struct agent *agent);

CLEANUP_DEFINE(agent, struct agent *, agent_free)
