/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * The revisions of the Model Context Protocol, in two eras:
 *
 *   legacy   2024-11-05 … 2025-11-25   a handshake (`initialize`) agrees on one for a session
 *   modern   2026-07-28                each request names its own, in `_meta`
 */
enum mcp_era { MCP_LEGACY, MCP_MODERN };

/* The one modern revision. */
#define MCP_VERSION_MODERN "2026-07-28"

/* The extension for tasks (mcp/task.h). */
#define MCP_TASKS_EXTENSION "io.modelcontextprotocol/tasks"

/* The key of a request's `_meta` for its revision. */
#define MCP_META_VERSION "io.modelcontextprotocol/protocolVersion"

/* Return the legacy revision called @text of @size bytes, a constant, or NULL. */
const char *mcp_version_legacy(const char *text, size_t size);

/* Return the latest legacy revision. */
const char *mcp_version_legacy_latest(void);
