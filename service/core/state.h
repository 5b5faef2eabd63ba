/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "bus/bus.h"
#include "config/config.h"
#include "core/bus/bus_calls.h"
#include "core/call/approval.h"
#include "core/call/batch.h"
#include "core/job/job.h"
#include "core/call/calls.h"
#include "offer/disposal.h"
#include "core/request/door.h"
#include "core/call/events.h"
#include "core/guest/guests.h"
#include "core/history/history.h"
#include "core/listing/match.h"
#include "core/voice/conversation.h"
#include "core/voice/listening.h"
#include "core/voice/utterance.h"
#include "core/call/invocation.h"
#include "core/metrics/metrics.h"
#include "offer/offer.h"
#include "core/leftovers.h"
#include "core/proxy.h"
#include "core/call/audit_record.h"
#include "offer/reload.h"
#include "core/other_services.h"
#include "core/request/offload.h"
#include "core/listing/search.h"
#include "core/request/reload_request.h"
#include "core/request/waiting.h"
#include "core/request/request_scope.h"
#include "loop/loop.h"
#include "util/log.h"
#include "util/file/paths.h"

/*
 * The parts of the service, and the state outside of its parts. Only the files that combine parts
 * include this: service.c, which joins them, topics.c, which passes each request to its parts,
 * status.c and exposition.c, which show all parts, and the door of HTTP. One thread uses it.
 */
struct service {
	struct loop *loop;
	struct bus *bus;
	struct door *door; /* borrowed; NULL: there is none beside the bus */
	struct audience audience;
	struct config config;
	struct paths paths;
	struct request_scope scope; /* the scope of the request being served */
	struct disposal disposal;
	struct offer offer;
	struct calls calls;
	struct batches batches;
	struct jobs jobs;
	struct approval approval;
	struct events events;
	struct recorder recorder;
	struct limits limits;
	struct waiting_room waiting;
	struct offload offload;
	struct search search;
	struct history history;
	struct metrics metrics;
	struct invoker invoker;
	struct reload reload;
	struct reload_requests reload_requests;
	struct guests guests;
	struct other_services rivals;
	struct proxy proxy;         /* the bus, for the tools with the bus */
	struct bus_calls bus_calls; /* calls that are messages */
	struct log_rate malformed;  /* lines about frames other than messages */
	struct matcher matcher;
	struct utterances utterances;
	struct listening listening;
	struct conversations conversations;
	uint64_t started_ms;
	uint64_t stop_calls_ms;     /* stopping: when calls have had their time */
	struct loop_timer stopping; /* stopping: when to look again */
	struct loop_timer closed;   /* when to ask for more time of the start */
	struct loop_timer alive;    /* systemd's watchdog */
	struct leftovers leftovers;
	bool starts_again; /* stopping: the program is to start another service */
};
