/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "bus/envelope.h"
#include "catalogue/catalogue.h"
#include "config/config.h"
#include "config/paths.h"
#include "core/arguments.h"
#include "core/proxy.h"
#include "core/request.h"
#include "loader/loader.h"
#include "loader/watcher.h"
#include "regex/regex.h"
#include "runner/runner.h"
#include "util/log.h"

struct deferred;
struct invocation;
struct reload_waiter;

/*
 * Everything the service holds, for the files of service/core that serve requests: topics (the
 * table), invocation (calls), reload, status. One thread; nobody else touches it.
 */
struct service {
	struct loop *loop;
	struct bus *bus;
	const struct config_flags *flags;
	struct config config;
	struct paths paths;
	uint64_t started_ms;
	bool is_ready;        /* the first catalogue is in place */
	bool is_stopping;     /* no further calls are taken */
	bool is_sandbox_told; /* what this system cannot enforce was logged */

	/* What is offered now; runners[i] runs catalogue_toolbox(i). */
	struct catalogue *catalogue;
	struct runner **runners;
	size_t n_runners;
	struct runner **retired; /* runners of earlier catalogues that still have calls */
	size_t n_retired;

	struct proxy proxy; /* the bus, for the tools that are given it */

	/* One request at a time is read; these are used again for the next. */
	struct bus_envelope envelope;
	struct request request;
	struct arguments arguments;
	struct schema_context *context;
	struct regex_scratch *scratch; /* for triggers */
	struct log_rate malformed;
	struct log_rate reloads;  /* that anybody may ask for, … */
	struct log_rate problems; /* … and what each of them finds */
	struct log_rate costly;   /* triggers that take too many steps */

	/* Calls in flight, and spare ones. */
	struct invocation *invocations;
	struct invocation *spare;
	uint32_t n_in_flight;
	uint64_t last_call_id;
	uint64_t watched_until_ms; /* call events are broadcast, somebody watches */

	/* Requests that came before the first catalogue was there, and who answers them then. */
	void (*serve_deferred)(struct service *service);
	struct deferred *deferred;
	uint32_t n_deferred;

	/* A reload that is going on, who waits for it, and who waits for the one behind it. */
	struct loader *loader;
	struct buffer mistakes; /* of the configuration, for the answers; empty: none */
	unsigned int n_mistakes;
	uint64_t generation;
	struct reload_waiter *waiting;
	struct reload_waiter *waiting_next;
	uint32_t n_waiting;        /* in both lists */
	bool is_reload_wanted;     /* another one behind it */
	bool asks_again;           /* the next one asks interpreters anew what their tools are */
	uint64_t refresh_after_ms; /* when somebody may have them asked again */

	struct watcher *watcher; /* of what is registered; NULL: there is no inotify */
	struct loop_timer alive; /* systemd's watchdog */
	struct loop_timer drain; /* stopping: when to look again */
	uint64_t stop_calls_ms;  /* stopping: when calls have had their time */
};

/* The runner of the toolbox in the catalogue that @tool stands in. */
struct runner *state_runner(const struct service *service, const struct tool *tool);
