/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/tape.h"
#include "mcp/message.h"
#include "mcp/notification.h"
#include "mcp/response.h"
#include "mcp/server/lazy.h"
#include "mcp/server/tools.h"
#include "mcp/server/watch.h"
#include "util/buffer.h"
#include "util/list.h"
#include "util/text/text_view.h"

/*
 * A server of MCP: its requests in flight, the same for each door by which clients come. A door has
 * the bytes, the sessions and the way to the tools: http/mcp, and ctl/mcp for stdin and stdout.
 *
 *         door                         engine                                door
 *
 *   text ──mcp_take──▶ message ─▶ join ─▶ mcp/server/methods
 *                         │                 ├─ initialize, ping, … ─────────▶ respond
 *                         └─ refused ──┐    ├─ tools/list ◀──── list ───────▶ respond
 *                                      ▼    ├─ tools/call ────▶ call, or search ┐
 *                                  respond  ├─ tasks/… ───────▶ ask_job ────────┤
 *                                           └─ listen ────────▶ listen ┐        │
 *                                                                      ▼        ▼
 *   progress ─────────mcp_exchange_report──────────────▶ ┌───────────────┐ ─▶ notify
 *   the answer ───────mcp_exchange_answer──────────────▶ │   requests    │ ─▶ respond
 *   tools change ─────mcp_engine_changed───────────────▶ │   in flight   │ ─▶ notify
 *   a job ends ───────mcp_engine_report_job────────────▶ │               │ ─▶ notify
 *   notifications/cancelled, or the session ends ──────▶ └───────────────┘ ─▶ cancel
 *
 * A request, which its door allocates, has these stages:
 *
 *          ┌──────────────── refused, or its response is made at once ────────────┐
 *          │                                                                      ▼
 *        TAKEN ─▶ CALLING ─────────────────────────── answered ────────────────▶ OVER
 *          │         └──▶ CANCELLED ─── answered, where the door still does that ──┘
 *          └────▶ LISTENING ─────────────────────────── ended ────────────────────┘
 *
 * Requests of one session have ids of their own while they are in flight.
 */
enum mcp_stage {
	MCP_TAKEN,
	MCP_CALLING,
	MCP_CANCELLED_CALL,
	MCP_LISTENING,
	MCP_OVER,
};

struct mcp_engine {
	const struct mcp_door *door;
	struct mcp_server server; /* as its clients see it */
	struct list requests;     /* struct mcp_exchange, those in flight */
	size_t n_max;             /* the most of them; 0: the door has another bound */
};

struct mcp_exchange;

/* The functions of a request about tasks. */
struct mcp_task_role {
	/* The answer @data about a job. */
	void (*answer)(struct mcp_exchange *exchange, const struct json_tape *data);

	/* The change of the job @data, of any caller. NULL: nothing. */
	void (*report)(struct mcp_exchange *exchange, const struct json_tape *data);
};

/* A member of what its door keeps of one request. */
struct mcp_exchange {
	struct list link;
	struct mcp_engine *engine;
	struct mcp_message message;      /* its tokens are good until mcp_take() returns */
	const struct mcp_fields *fields; /* headers of its HTTP request, likewise; or NULL */
	struct buffer texts;             /* the id and the progress token, of a request in flight */
	struct mcp_progress progress;
	const char *session; /* the name of its session, which the door keeps; NULL: it has none */
	enum mcp_stage stage;
	bool has_content; /* the result of the call is rich content */
	bool is_lazy;     /* the call came by call_tool, or is a search */
	bool is_task;     /* the call becomes a task */
	const struct mcp_task_role
		*role; /* it is about tasks; NULL: a call, or a listener without */
	struct mcp_lazy_search search;
	struct mcp_watch watch; /* the tasks of a listener */
};

/* The functions of a door; `takes_report` and `listen` may be NULL: always, and nothing to do. */
struct mcp_door {
	/* Find the session of @exchange, or begin one with initialize. Return 0; MCP_E_REFUSED with
	 * @ret_error filled; or -ENOMEM. */
	int (*join)(struct mcp_exchange *exchange, struct mcp_error *ret_error);

	/* Send the response @text, which may be taken over, to @exchange; by HTTP with @status.
	 * NULL: the message has no response. Nothing further is sent to it. */
	void (*respond)(struct mcp_exchange *exchange, unsigned int status, struct buffer *text);

	/* Send @message, which may be taken over, to the client of @exchange, in flight. */
	void (*notify)(struct mcp_exchange *exchange, struct buffer *message);

	/* Return whether a report of progress with @value (NAN: unknown) can be sent now; of a
	 * listener, whether it has read earlier news of the list of tools. */
	bool (*takes_report)(struct mcp_exchange *exchange, double value);

	/* Return the tools that @exchange sees, valid until the request is served; NULL: without
	 * memory. */
	const struct mcp_tools *(*list)(struct mcp_exchange *exchange);

	/* Begin the call @exchange of @tool, in the background if it `is_task`.
	 * @tool may be NULL: the list has no tool of this name, so the
	 * service judges the name. mcp_exchange_answer() follows, perhaps before this function
	 * returns. Return 0 or -ENOMEM. */
	int (*call)(struct mcp_exchange *exchange, const struct mcp_listed_tool *tool);

	/* Begin the search @exchange among the tools of the client, for the string at @query of the
	 * message, and note the names of the list in `search`. mcp_exchange_answer() follows with
	 * the response to ovos.tools.search in the format mcp. Return 0 or -ENOMEM. */
	int (*search)(struct mcp_exchange *exchange, uint32_t query);

	/* Get the job with the id @id, JSON, for @exchange, or cancel it (@cancels).
	 * mcp_exchange_answer() follows with the response, perhaps before this function returns.
	 * Return 0 or -ENOMEM. NULL: the server has no tasks. */
	int (*ask_job)(struct mcp_exchange *exchange, bool cancels, struct text_view id);

	/* Make ready to notify the client of @exchange. Return 0, or MCP_E_REFUSED with @ret_error
	 * filled. */
	int (*listen)(struct mcp_exchange *exchange, struct mcp_error *ret_error);

	/* End @exchange, which the client does not want any more. The door may free it. */
	void (*cancel)(struct mcp_exchange *exchange);
};

/* Make @engine ready, without requests, for a server of the version @version; @door is borrowed. */
void mcp_engine_init(
	struct mcp_engine *engine, const struct mcp_door *door, const char *version, size_t n_max);

/* Make @exchange ready, for mcp_take() or mcp_exchange_listen(). */
void mcp_exchange_init(struct mcp_exchange *exchange, struct mcp_engine *engine);

/* Free the members of @exchange, which is in flight no more. */
void mcp_exchange_deinit(struct mcp_exchange *exchange);

/* Return whether @exchange is in flight. */
bool mcp_exchange_is_open(const struct mcp_exchange *exchange);

/* Put @exchange, which was taken, in flight with the stage @stage. Return false, with the response
 * sent, when it cannot be. */
bool mcp_exchange_begin(struct mcp_exchange *exchange, enum mcp_stage stage);

/* Put @exchange, without a message, in flight as a listener (legacy). */
void mcp_exchange_listen(struct mcp_exchange *exchange);

/* Respond to @exchange with @text, a result. */
void mcp_exchange_respond(struct mcp_exchange *exchange, struct buffer *text);

/* Respond to @exchange with @error. */
void mcp_exchange_refuse(struct mcp_exchange *exchange, const struct mcp_error *error);

/* The same without memory for a result. */
void mcp_exchange_refuse_memory(struct mcp_exchange *exchange);

/* Take the answer to @exchange, the object at the root of @data: respond to a call with the answer
 * of its tool, or with its job; to a request about a task with the job. */
void mcp_exchange_answer(
	struct mcp_exchange *exchange, const struct json_tape *data, bool has_content);

/* The same with the text of an answer of ours, which is an error. */
void mcp_exchange_fail(struct mcp_exchange *exchange, const char *answer);

/* Respond to @exchange, a subscriptions/listen that ends; nothing for one without a message. */
void mcp_exchange_finish(struct mcp_exchange *exchange);

/* Report the progress of a call: the members `progress` and `text` of the object at the root of
 * @event. The client gets news alone, if its request has a progress token. */
void mcp_exchange_report(struct mcp_exchange *exchange, const struct json_tape *event);

/* Report progress with @text alone. */
void mcp_exchange_report_text(struct mcp_exchange *exchange, struct text_view text);

/* Notify the listeners of the change of a job, described by @data as in the response to
 * ovos.tools.job.get. */
void mcp_engine_report_job(struct mcp_engine *engine, const struct json_tape *data);

/* Notify the listeners that the list of tools has changed. */
void mcp_engine_changed(struct mcp_engine *engine);

/* Cancel the request of @session with the id @id (absent: all of them). */
void mcp_engine_cancel(struct mcp_engine *engine, const char *session, struct text_view id);

/* Return the first request in flight with the stage @stage, or NULL. */
struct mcp_exchange *mcp_engine_first(const struct mcp_engine *engine, enum mcp_stage stage);

/* Return whether there is room for another request. */
bool mcp_engine_has_room(const struct mcp_engine *engine);
