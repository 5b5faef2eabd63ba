/* SPDX-License-Identifier: Apache-2.0 */
#include "config/layers/file_shape.h"

#include <stdio.h>
#include <string.h>

#include "config/layers/shape.h"
#include "json/pointer.h"

/* schemas/remembered.schema.json, built in. */
extern const char remembered_schema_json[];

int config_mistake_set(struct config_mistake *mistake, uint32_t token, const char *text)
{
	mistake->token = token;
	snprintf(mistake->text, sizeof(mistake->text), "%s", text);
	return CONFIG_FILE_E_WRONG;
}

int config_file_check(
	const struct json_tape *tape, const char *name, struct config_mistake *ret_mistake)
{
	cleanup(config_shape_deinit) struct config_shape shape = {0};
	cleanup(schema_report_deinit) struct schema_report report = {0};
	struct config_place place = {0};
	uint32_t token = config_find_nul(tape, 0, tape->count);
	int r = config_shape_open(&shape, remembered_schema_json);

	if (token != JSON_NONE)
		return config_mistake_set(
			ret_mistake, token, "must not contain the character U+0000");
	place.node = r == 0 ? json_find(&shape.tape, json_find(&shape.tape, 0, "$defs"), name) : 0;
	if (r == 0)
		r = config_shape_check(&shape, &place, tape, 0, &report);
	if (r < 0 || report.n_violations == 0)
		return r;
	return config_mistake_set(ret_mistake,
		json_pointer_nearest(tape, report.violations[0].path),
		report.violations[0].message);
}
