/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"
#include "json/reader.h"

/*
 * The risks of the tools of published OVOS ToolBoxes (toolboxes/python/ovos_risks.json, built in).
 * A ToolBox has no place for a risk, so without this table a shell is as unrated as a clock.
 */

/* Read the table into @ret_table. 0 or -ENOMEM. */
int published_read(struct json_tape *ret_table);

/* Return the risk of the tool @name of the ToolBox @toolbox_id in @table; TOOL_UNRATED when it is
 * not there. */
enum tool_risk published_risk(
	const struct json_tape *table, const char *toolbox_id, const char *name);
