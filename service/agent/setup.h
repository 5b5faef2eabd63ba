/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "agent/model/model.h"
#include "config/agent/agent.h"
#include "loop/loop.h"
#include "util/list.h"

/*
 * A configuration with the client of its model's server. A chat ends by the setup in force at its
 * request, also after a reload:
 *
 *   agent ──▶ setup in force ◀── chats of now
 *             setup before   ◀── chats of earlier; freed after the last one
 */
struct setup {
	struct list link; /* among the setups of the agent */
	struct config_agent config;
	struct model_settings settings;
	struct model *model;
	unsigned int n_chats;
	bool is_retired;        /* another setup is in force */
	struct loop_timer idle; /* armed without chats: this may be a callback of the model */
};

/* Make a setup of @config, taken over, in the list @setups. Return 0; -ENOMEM; or -ENOSYS after a
 * line of the log: there is no libcurl. */
int setup_new(struct loop *loop, struct list *setups, struct config_agent *config,
	struct setup **ret_setup);

/* Count a chat more, and return @setup; a chat less. */
struct setup *setup_hold(struct setup *setup);
void setup_release(struct setup *setup);

/* Free @setup, no longer in force, at once or after its last chat. */
void setup_retire(struct setup *setup);

/* Free all of @setups, without chats. Takes a zeroed list. */
void setups_free(struct list *setups);
