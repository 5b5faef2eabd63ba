/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "config/config.h"
#include "loop/loop.h"
#include "util/cleanup.h"

/*
 * The gate of a toolbox (`"gate": "examples"`): before a version is offered, the examples of its
 * tools are called in a process of their own, and the results compared.
 *
 *   gate_add()    examples of the offered tools with the risk read,      │   beside the loop
 *                 but for tools that have passed before (gate_note())   ─┐
 *   gate_start()                                                        ▼
 *                 arguments ─▶ a process ─▶ output schema ─▶ as expected? ─▶ the next example
 *                                  │             │                │
 *                                  └─────────────┴─ no ───────────┴─▶ failed(), the next toolbox
 *
 * An example without a result has to succeed. Each call has the deadline of its tool, all examples
 * of a toolbox have a time together (GATE_MS in the daemon), and GATE_HOSTS_MAX toolboxes are tried
 * at a time. Sandbox, memory and output are bounded as for any call.
 */
struct gate;

#define GATE_MS        10000
#define GATE_HOSTS_MAX 4

/* Return whether toolboxes of @kind may have a gate: their manifest has examples, and a process of
 * their own answers. */
bool gate_is_for(enum toolbox_kind kind);

/* The refusal of a gate for other kinds. */
#define GATE_KINDS                                                                                 \
	"only toolboxes of the kinds native and command have examples that can be called before "  \
	"they are offered; leave it out"

/* An example of @item's package failed: @text is one line with the example, and both values. Good
 * during the call only. */
typedef void (*gate_failed_function)(void *item, const char *text);

/* Every package was tried. The handler may free the gate. */
typedef void (*gate_done_function)(void *data);

/* Make a gate where all examples of a toolbox have @all_ms. @host_program and @config must outlive
 * it. 0 or -ENOMEM. */
int gate_new(struct loop *loop, const char *host_program, const struct config *config,
	uint64_t all_ms, struct gate **ret_gate);

/* Free the gate, which may be NULL. Its processes end, and no handler is called. */
void gate_free(struct gate *gate);

/* Return whether an offered tool of @package has an example to call, and has not passed. */
bool gate_awaits(const struct config *config, const struct package *package);

/* Note that the offered tools of @package have passed. */
void gate_note(const struct config *config, const struct package *package);

/* Add the examples of @package (borrowed), which gate_awaits(); failed() receives @item. Beside the
 * loop. 0 or -ENOMEM. */
int gate_add(struct gate *gate, struct package *package, void *item);

/* Return whether no package was added. */
bool gate_is_empty(const struct gate *gate);

/* Begin: from the loop, call @failed for some packages, then @done once. */
void gate_start(
	struct gate *gate, gate_failed_function failed, gate_done_function done, void *data);

CLEANUP_DEFINE(gate, struct gate *, gate_free)
