/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "mcp/client/pin.h"
#include "mcp/client/tools/tool_name.h"
#include "util/buffer.h"

/*
 * The pins of the tools of one server, as they were when each was seen first, and as a file keeps
 * them:
 *
 *   {"server": DIGEST,
 *    "tools": {NAME: {"pin": HEX, "risk": RISK, "definition"?: TEXT,
 *                     "changed"?: {"pin": HEX, "risk": RISK, "definition"?: TEXT}}, …}}
 *
 *   a list ─▶ each tool ─▶ the same │ new: it is pinned │ changed: beside its pin, until trusted
 *
 * RISK is the risk admitted by the server (risk.h). A definition is the text under the digest of a
 * pin (pin.h), for showing a change. It is left out where the file would grow over
 * MCP_PINS_TEXT_BYTES. A missing tool keeps its pin, so the name cannot come back as another tool.
 * NAME is the server's; two names that callers see as the same (tool_name.h) share a pin, so
 * neither takes the place of the other. The file of another server counts as empty.
 */

#define MCP_PINS_TEXT_BYTES ((size_t)8 << 20)

/* A larger file is refused. */
#define MCP_PINS_FILE_BYTES ((size_t)64 << 20)

/* The most tools in it; beyond this number pins of missing tools are dropped. */
#define MCP_PINS_MAX 100000

enum mcp_pins_status {
	MCP_PINS_E_WRONG = 1, /* the text has another shape */
};

enum mcp_pin_verdict {
	MCP_PIN_SAME,
	MCP_PIN_NEW,
	MCP_PIN_CHANGED,
};

/* The pins of one file. Zeroed it is empty; free it with mcp_pins_deinit(). */
struct mcp_pins {
	struct json_tape tape; /* its text must outlive it */
	struct mcp_pinned *items;
	size_t n_items;
	struct buffer tools; /* the written members of "tools" */
	size_t n_written;
	bool is_new;     /* the text to write differs from the file */
	bool is_unknown; /* the file cannot be read, so no risk is known */
};

struct mcp_pinned {
	char *name;
	char shown[MCP_TOOL_NAME_BYTES + 1]; /* the name seen by callers */
	uint32_t entry;                      /* its value */
	bool is_seen;
};

/* Read the text of a file, of @size bytes, that is for @server (NULL: for any); @size 0: there is
 * no file. Return 0, MCP_PINS_E_WRONG, or -ENOMEM. */
int mcp_pins_read(struct mcp_pins *pins, const char *text, size_t size, const char *server);

/* Compare the tool @tool of @tape, called @name, with its pin, and pin a new tool. Return 0 or
 * -ENOMEM. */
int mcp_pins_see(struct mcp_pins *pins, const struct json_tape *tape, uint32_t tool,
	const char *name, enum mcp_pin_verdict *ret_verdict);

/* Return the risk of the tool @tool of @tape, called @name, unless the operator has named another:
 * the risk admitted by its server, or the pinned risk if worse. */
const char *mcp_pins_risk(
	const struct mcp_pins *pins, const struct json_tape *tape, uint32_t tool, const char *name);

/* Append the text of the file to @out, for @server. Return 0 or -ENOMEM. */
int mcp_pins_write(struct mcp_pins *pins, const char *server, struct buffer *out);

/* Append the text of the read file, with each change accepted, to @out. Return how many there were,
 * or -ENOMEM. */
int mcp_pins_trust(struct mcp_pins *pins, struct buffer *out);

void mcp_pins_deinit(struct mcp_pins *pins);
