/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "call/command.h"
#include "mcp/client/secrets.h"
#include "util/diagnostic.h"
#include "worker/driver.h"

/* The server described by a LOAD frame, and its tools, as far as the host needs them. */

enum listed_state {
	LISTED_GONE, /* the server does not list it now */
	LISTED_SAME,
	LISTED_CHANGED, /* it lists another one with the name */
};

struct listed_tool {
	char *name;       /* as the server calls it */
	char *pin;        /* mcp_pin() of the description seen by callers, as hexadecimal digits */
	uint32_t by_name; /* the index of the tool at this place when they are sorted by name */
	bool only_reads;  /* its risk is `read` */
	const char *method; /* instead of tools/call (mcp/client/resources.h); or NULL */
	enum listed_state state;
	/* over HTTP: [inputSchema], if arguments go into headers (mcp/client/headers.h); else
	 * NULL */
	char *schema;
};

struct mcp_configuration {
	char *url;              /* over HTTP, with its secrets; else NULL */
	char *proxy;            /* over HTTP, with its secrets; NULL: as the environment has it */
	char *ca;               /* over HTTP: a file of certificates beside the system's, or NULL */
	char **headers;         /* over HTTP: lines `NAME: VALUE` with their secrets, and a NULL */
	struct command command; /* over stdio: argv, cwd and env, as the manifest has them */
	char **arguments;   /* the program and its arguments, then NULL; the texts are borrowed */
	char **environment; /* the variables of the server: the above with secrets, then ours */
	struct mcp_secrets secrets;
	uint64_t start_ms;         /* the time for the start, up to the list */
	bool is_legacy;            /* the era of an earlier session */
	uint64_t list;             /* mcp_list_digest() of what callers see */
	bool has_resources;        /* resources of the server are tools, too */
	bool is_described;         /* else the list of tools is only asked for */
	struct listed_tool *tools; /* in the order of the LOAD frame */
	uint32_t n_tools;
};

/* Zero @ret_configuration before; deinit it in any case. 0, DRIVER_E_REFUSED, or a negative
 * errno. */
int mcp_configuration_read(const struct driver_load *load,
	struct mcp_configuration *ret_configuration, struct diagnostics *problems);

/* Return the tool called @name by the server, or NULL. */
struct listed_tool *mcp_configuration_find(
	const struct mcp_configuration *configuration, const char *name);

void mcp_configuration_deinit(struct mcp_configuration *configuration);
