/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "mcp/client/pin.h"
#include "mcp/client/tool_name.h"
#include "util/buffer.h"

/*
 * The pins of the tools of one server, as they were when each was seen first, and as a file keeps
 * them:
 *
 *   {"server": DIGEST,
 *    "tools": {NAME: {"pin": HEX, "risk": RISK, "definition"?: TEXT,
 *                     "changed"?: {"pin": HEX, "risk": RISK, "definition"?: TEXT}}, …}}
 *
 *   a list ─▶ each of its tools ─▶ the same │ new: it is pinned │ changed: beside its pin, until trusted
 *
 * RISK is the one that the server admitted (risk.h). A definition is the text that a pin is the
 * digest of (pin.h), to show a change by. It is left out where the file would grow over
 * MCP_PINS_TEXT_BYTES. A tool that is gone keeps its pin, so that it cannot come back as another.
 * NAME is the server's; two names that callers see as one (tool_name.h) have one pin, so that
 * neither takes the place of the other. A file of another server is one without pins.
 */

#define MCP_PINS_TEXT_BYTES ((size_t)8 << 20)

/* A larger file is refused. */
#define MCP_PINS_FILE_BYTES ((size_t)64 << 20)

/* The most tools in it; pins of tools that are gone are dropped beyond that. */
#define MCP_PINS_MAX 100000

enum mcp_pins_status {
	MCP_PINS_E_WRONG = 1, /* the text has another shape */
};

enum mcp_pin_verdict {
	MCP_PIN_SAME,
	MCP_PIN_NEW,
	MCP_PIN_CHANGED,
};

/* The pins of one file. Zeroed it has none; free it with mcp_pins_deinit(). */
struct mcp_pins {
	struct json_tape tape; /* its text must outlive it */
	struct mcp_pinned *items;
	size_t n_items;
	struct buffer tools; /* the members of "tools" that were written */
	size_t n_written;
	bool is_new;     /* the text to write is not that of the file */
	bool is_unknown; /* the file cannot be read, so no risk is known */
};

struct mcp_pinned {
	char *name;
	char shown[MCP_TOOL_NAME_BYTES + 1]; /* the name that callers see */
	uint32_t entry;                      /* its value */
	bool is_seen;
};

/* Read the text of a file, of @size bytes, that is for @server (NULL: for any); @size 0: there is
 * no file. Return 0, MCP_PINS_E_WRONG, or -ENOMEM. */
int mcp_pins_read(struct mcp_pins *pins, const char *text, size_t size, const char *server);

/* Compare the tool @tool of @tape, called @name, with its pin, and pin it if it is new. Return 0 or
 * -ENOMEM. */
int mcp_pins_see(struct mcp_pins *pins, const struct json_tape *tape, uint32_t tool,
	const char *name, enum mcp_pin_verdict *ret_verdict);

/* Return the risk of the tool @tool of @tape, called @name, unless the operator has named another:
 * the one that its server admits, or that of its pin if that is worse. Return 0 or -ENOMEM. */
int mcp_pins_risk(const struct mcp_pins *pins, const struct json_tape *tape, uint32_t tool,
	const char *name, const char **ret_risk);

/* Append the text of the file to @out, for @server. Return 0 or -ENOMEM. */
int mcp_pins_write(struct mcp_pins *pins, const char *server, struct buffer *out);

/* Append the text of the file that was read, with each change accepted, to @out. Return how many
 * there were, or -ENOMEM. */
int mcp_pins_trust(struct mcp_pins *pins, struct buffer *out);

void mcp_pins_deinit(struct mcp_pins *pins);
