/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json/tape.h"
#include "mcp/message.h"
#include "mcp/response.h"
#include "util/buffer.h"

/*
 * The extension io.modelcontextprotocol/tasks of MCP 2026-07-28 (SEP-2663): a task is a job, as the
 * response to ovos.tools.job.get describes it (contract.md, Jobs).
 *
 *   state                            status      beside it
 *   running                          working     statusMessage: the last words of progress, or
 *                                                what the job waits for
 *   done                             completed   result: the result of tools/call
 *   failed                           completed   the same, with isError
 *   failed, with a code of requests  failed      error, of JSON-RPC
 *     (call_result.h), unavailable
 *   cancelled                        cancelled   statusMessage: the error
 *
 * No task is input_required: our questions go to the person at the device, not to the client.
 */

/* The time between two polls of a client. */
#define MCP_POLL_MS 1000

/* Append the response to @message, tools/call, from the answer @data to the request for a job. */
void mcp_write_created_task(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const struct json_tape *data);

/* Append the response to @message, tasks/get, about the job @data. */
void mcp_write_task(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const struct json_tape *data);

/* Append notifications/tasks about the job @data, for @message, a subscriptions/listen. */
void mcp_write_task_changed(
	struct buffer *out, const struct mcp_message *message, const struct json_tape *data);

/* Fill @ret_error for the error @data, in place of a job; its message is appended to
 * @text. Return MCP_E_REFUSED. */
int mcp_refuse_task(const struct json_tape *data, struct buffer *text, struct mcp_error *ret_error);
