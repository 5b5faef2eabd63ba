/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/voice/trigger_groups.h"

#include <errno.h>
#include <string.h>

#include "manifest/voice/property.h"

static void check_trigger(const struct manifest_scope *scope, uint32_t token,
	const struct regex *trigger, const struct json_tape *schema)
{
	for (uint32_t i = 0; i < regex_n_groups(trigger); i++) {
		cleanup(buffer_deinit) struct buffer names = {0};
		const char *group = regex_group_name(trigger, i);

		if (property_is_declared(schema, group, strlen(group)))
			continue;
		property_write_names(schema, &names);
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, token,
			"the group '%s' is no property of the argument schema, which has %s; "
			"give the group such a name, or none: (?:…)",
			group, buffer_terminate(&names) && names.size > 0 ? names.data : "none");
		return;
	}
}

int manifest_trigger_groups_check(
	const struct manifest_scope *scope, uint32_t object, const struct tool *tool)
{
	cleanup(json_tape_cleanup) struct json_tape schema = {0};
	uint32_t list = json_find(scope->tape, object, "triggers");
	size_t n = 0;

	if (list == JSON_NONE || tool->triggers.n_items == 0)
		return 0;
	if (json_tape_read(&schema, tool->argument_schema, strlen(tool->argument_schema),
		    2 * JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	json_each(at, scope->tape, list) {
		check_trigger(scope, at, &tool->triggers.items[n++], &schema);
	}
	return 0;
}
