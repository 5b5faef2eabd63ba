/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/toolbox.h"
#include "config/reader.h"
#include "util/text/text_list.h"

/* The settings of one tool: `toolboxes.<id>.tools.<name>`. They replace what its manifest has. */
struct config_tool {
	char *name;          /* first, for text_compare() */
	bool is_enabled;     /* `enabled` is not false */
	bool is_opened;      /* it is true, whatever the manifest has */
	enum tool_risk risk; /* TOOL_UNRATED: not set */
	uint64_t timeout_ms; /* 0: not set */
	bool has_cooldown;
	uint64_t cooldown_s;
	bool has_parallel;
	bool is_parallel;
	char *description; /* NULL: not set */
	bool has_triggers;
	struct text_list triggers;
};

/* The settings of the tools of one toolbox. */
struct config_tools {
	struct config_tool *items; /* ordered by name */
	size_t n_items;
	uint64_t digest; /* the digest of all of them but `enabled`; 0: there are none */
};

/* Read the object `tools` of `toolboxes.<id>` at @value (JSON_NONE: there is none). */
void config_tools_read(struct config_reader *reader, uint32_t value, struct config_tools *tools);

/* Return the settings of the tool @name, or NULL. */
const struct config_tool *config_tools_find(const struct config_tools *tools, const char *name);

void config_tools_deinit(struct config_tools *tools);
