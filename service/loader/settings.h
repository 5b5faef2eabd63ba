/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/package.h"
#include "config/config.h"
#include "runner/worker.h"

/*
 * Apply the configuration to @package, just read from its manifest and without another holder yet:
 * the sandbox, limits and environment of `toolboxes.<id>` replace the manifest's, and the rest of
 * it is merged into the package's `config`. For kind python the `config` is by entry point, each
 * from its first place among the manifest, `toolboxes`, `PHAL.ovos-phal-plugin-tools`. Return 0 or
 * -ENOMEM.
 */
int settings_apply(const struct config *config, struct package *package);

/* Return the digest of all settings of @config in the processes of @package; 0: there are none. */
uint64_t settings_digest(const struct config *config, const struct package *package);

/* Return whether the configuration lets @tool be offered: its manifest or the operator has enabled
 * the toolbox and the tool, and the filter does not leave the tool out. */
bool settings_offer(const struct config *config, const struct tool *tool);

/* Return the time of a call of @tool, by the tool, its toolbox, the configuration or its kind. */
static inline uint64_t settings_timeout_ms(const struct config *config, const struct tool *tool)
{
	const struct package *package = tool->toolbox->package;

	if (tool->timeout_ms)
		return tool->timeout_ms;
	if (package->limits.timeout_ms)
		return package->limits.timeout_ms;
	return config->timeout_ms ? config->timeout_ms : kind_facts(package->kind)->timeout_ms;
}

/* Return how a host of @package is started, by @host_program (borrowed). */
struct worker_options settings_worker_options(
	const struct config *config, const struct package *package, const char *host_program);

/* Return whether @config leaves out the toolbox @toolbox_id as a whole, whatever tools are in it:
 * no code of the toolbox may run, not even for a description. A toolbox of Python is known by its
 * @entry_point (else NULL), too, for lack of an id before its description. */
bool settings_leave_out(
	const struct config *config, const char *toolbox_id, const char *entry_point);

/* Return whether no tool of @package, whatever its tools are, is offered by @config, a struct
 * config. A package with members is not judged: its toolboxes are not known yet. */
bool settings_leave_out_package(const void *config, const struct package *package);

/* Return why no code of @package may run: a constant text, or a text of @package; NULL: it may, if
 * the filter leaves a tool of it. */
const char *settings_package_refusal(const struct config *config, const struct package *package);

/* Return why the whole of @toolbox is left out, a text of @config or of the package or a constant;
 * NULL: it is not. */
const char *settings_toolbox_refusal(const struct config *config, const struct toolbox *toolbox);

/* Return why settings_offer() is false for @tool: a constant text, or one of @config or of the tool
 * or its package. */
const char *settings_refusal(const struct config *config, const struct tool *tool);

/* Return whether @config lets any tool of @toolbox be offered. Before the description of its tools,
 * a toolbox only has to be enabled. */
bool settings_offer_any(const struct config *config, const struct toolbox *toolbox);
