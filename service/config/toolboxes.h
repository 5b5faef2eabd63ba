/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call/toolbox_sandbox.h"
#include "catalogue/toolbox.h"
#include "config/reader.h"
#include "config/tools.h"

/* Whether a toolbox is offered only once its examples have passed. */
enum config_gate {
	CONFIG_GATE_UNSET, /* as its manifest has it */
	CONFIG_GATE_EXAMPLES,
	CONFIG_GATE_NONE,
};

/* The settings of one toolbox: `toolboxes.<id>`. */
struct config_toolbox {
	char *toolbox_id;
	bool is_enabled;  /* `enabled` is not false */
	bool is_opened;   /* it is true, whatever the manifest has */
	bool has_sandbox; /* there is a `sandbox` */
	bool has_process; /* there is a `limits` or `env` */
	enum config_gate gate;
	struct toolbox_sandbox sandbox; /* its members replace the members of the manifest's */
	struct toolbox_limits limits;   /* likewise; 0: no limit is set */
	bool has_prestart;              /* there is a `limits.prestart` */
	char *environment;              /* for its hosts (util/environment.h) */
	char *config;                   /* the keys for the toolbox itself, as an object, or NULL */
	uint64_t digest;                /* digest of all keys but `enabled` and `tools`, as JSON
	                                 * text; 0: there are none */
	struct config_tools tools;
};

/* Read the object `toolboxes` at @value (JSON_NONE: there is none): the settings of each
 * toolbox, by its id. Keys that are not ours are kept for the toolbox itself. */
void config_toolboxes_read(struct config_reader *reader, uint32_t value,
	struct config_toolbox **ret_toolboxes, size_t *ret_n);

/* Return the settings of the tool @name of @toolbox (may be NULL), or NULL. */
const struct config_tool *config_tool_find(const struct config_toolbox *toolbox, const char *name);

void config_toolboxes_free(struct config_toolbox *toolboxes, size_t n);
