/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "call/toolbox_sandbox.h"

/*
 * The kinds of toolbox (contract.md, Kinds), and the values of a kind where neither manifest nor
 * configuration has another.
 *
 *              tools are in     its host calls            sandbox   hosts   coerce   deadline
 *   native     the manifest     functions, by libffi      compute   1                2.5 s
 *   plugin     its own table    its callbacks             compute   1                2.5 s
 *   command    the manifest     a program for each call   command   4                2.5 s
 *   python     its own tables   methods, in Python        command   4       yes      30 s
 *    with file functions, in Python, of one file    command   1                30 s
 *   mcp        a server's list  tools/call of the server  command   1                30 s
 *   bus        the manifest     none: messages are sent   -         0                2.5 s
 *   guest      its message      none: messages are sent   -         0                2.5 s
 */
enum toolbox_kind {
	KIND_NATIVE,
	KIND_PLUGIN,
	KIND_COMMAND,
	KIND_PYTHON,
	KIND_PYTHON_FILE, /* kind python with `file` */
	KIND_MCP,
	KIND_BUS,
	KIND_GUEST,
};
#define N_KINDS 8

struct kind_facts {
	const char *name; /* in manifests */
	enum sandbox_class sandbox;
	uint32_t workers;    /* at most, unless the manifest has a number; 0: it has no processes */
	uint32_t memory_mb;  /* limit of the address space; 0: none */
	uint64_t timeout_ms; /* deadline of a call */
	uint64_t most_ms;    /* limit of a call extended by progress; 0: progress does not extend
	                      * it */
	uint64_t
		/* its hosts may take so long to start, whatever the configuration has */
		start_least_ms;
	bool coerces;
	bool describes_tools; /* its hosts describe its tools */
	bool has_members;     /* they describe several toolboxes, with ids of their own
	                       * (package.h) */
	bool fills_defaults;  /* an absent argument has its schema's default; else the tool's
			      */
	bool has_guard;       /* with any sandbox: its calls may leave processes */
	bool has_bus;         /* its tools may speak and listen on the bus (core/proxy.h) */
	bool carries_calls;   /* a host runs several calls at a time (wire/wire.h) */
	bool has_ring;        /* a host of single calls puts answers into a ring (wire/ring.h) */
	bool asks_caller;     /* a call carries its caller (struct wire_invoke) */
	bool asks_session;    /* it is a message in the session of its caller */
	/* its hosts decide what arguments and results are good (catalogue/arguments.h) */
	bool judges;
};

/* The facts of each kind. */
extern const struct kind_facts kind_table[N_KINDS];

static inline const struct kind_facts *kind_facts(enum toolbox_kind kind)
{
	return &kind_table[kind];
}
