/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "http/exchange.h"
#include "http/streams.h"

/*
 * The endpoint of MCP over HTTP (contract.md, MCP), of both eras (mcp/version.h), chosen for each
 * request:
 *
 *   POST     a message (mcp/server): its response is JSON, or a stream that has progress first
 *   GET      legacy: a stream that stays, by which a session is notified
 *   DELETE   legacy: the end of a session, with its calls and streams
 *
 * The end of its connection cancels a call of the modern era. In the legacy era it goes on, until
 * it is over or cancelled by a notification.
 */
struct mcp_endpoint;

/* Make the endpoint, whose streams are of @streams. Both are borrowed. Return 0, -EIO
 * without random bytes, or -ENOMEM. */
int mcp_endpoint_new(
	struct service *service, struct streams *streams, struct mcp_endpoint **ret_endpoint);

/* Free @endpoint, which may be NULL, after all connections and @streams. */
void mcp_endpoint_free(struct mcp_endpoint *endpoint);

/* Serve a request with the path of the endpoint; its segment, if any, is a toolbox. */
void mcp_endpoint_serve(struct mcp_endpoint *endpoint, const struct http_request *request);

/* Notify clients that the tools are others now. */
void mcp_endpoint_report_changed(struct mcp_endpoint *endpoint);

/* Notify the listeners to the job of @text, @size bytes: the data of
 * ovos.tools.job.completed. */
void mcp_endpoint_report_job(struct mcp_endpoint *endpoint, const char *text, size_t size);

/* Notify clients of the tools if the configuration in force names them in another way than
 * before. */
void mcp_endpoint_follow_configuration(struct mcp_endpoint *endpoint);
