/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/address.h"
#include "config/layers/flags.h"
#include "config/listen.h"
#include "util/diagnostic.h"
#include "util/log.h"

/*
 * The section `agent`: the loop with a model (docs/agents.md). Only toolbox-agent reads this
 * section; toolboxd checks it with the rest.
 */

/* The longest key of a model's server. */
#define CONFIG_AGENT_KEY_BYTES 4096

/* The priority among the fallback skills: after toolboxd's own. */
#define CONFIG_AGENT_PRIORITY 90

struct config_agent {
	struct bus_address bus;
	char *base_url;    /* the server, without /chat/completions; NULL: the default */
	char *model;       /* NULL: the server chooses */
	char *system;      /* the system message; NULL: a default */
	char *temperature; /* a number as JSON; NULL: the server's */
	char *profile;     /* NULL: no narrowing */
	bool speaks;
	struct config_listen listen;
	bool follows_up;
	bool matches_first;
	uint32_t tools_max;
	uint32_t max_rounds;
	uint64_t turn_ms;
	uint32_t max_history_messages; /* 0: no limit */
	uint32_t max_history_tokens;   /* 0: no limit */
	bool masks_results;
	uint32_t result_max_chars;
	char *proxy;
	char *words; /* an object by language, as JSON; NULL: none */
	char *key_file;
	char *key;  /* the key of the server, or NULL. No log line has it */
	char *lang; /* the language of the device, or NULL */
	enum log_level log_level;
	enum log_format log_format;
	bool is_disabled; /* toolboxd.enabled is false */
};

/* The server of llama.cpp on this device. */
#define CONFIG_AGENT_BASE_URL "http://127.0.0.1:8080/v1"

/* Read the configuration of toolbox-agent, as config_read() does. The key comes from api_key_file,
 * else from TOOLBOX_AGENT_KEY, else OPENAI_API_KEY. Return 0, with *ret_closed whether a mistake
 * may hide a restriction; CONFIG_E_REFUSED; CONFIG_E_USAGE; or a negative errno: -EPERM for a file
 * of a key that others can read. The caller deinits @ret_agent after 0. */
int config_read_agent(const struct config_flags *flags, diagnostic_function report, void *data,
	struct config_agent *ret_agent, bool *ret_closed);

void config_agent_deinit(struct config_agent *agent);
