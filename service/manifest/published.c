/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/published.h"

#include <string.h>

#include "util/assert.h"

extern const char ovos_risks_json[];

int published_read(struct json_tape *ret_table)
{
	int r = json_tape_read(
		ret_table, ovos_risks_json, strlen(ovos_risks_json), JSON_DEPTH_DEFAULT, NULL);

	check(r <= 0);
	return r;
}

enum tool_risk published_risk(
	const struct json_tape *table, const char *toolbox_id, const char *name)
{
	uint32_t at = json_find(table, 0, "toolboxes");

	at = json_find(table, at, toolbox_id);
	if (at != JSON_NONE)
		at = json_find(table, json_find(table, at, "tools"), name);
	return at != JSON_NONE ? tool_risk_at(table, at) : TOOL_UNRATED;
}
