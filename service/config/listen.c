/* SPDX-License-Identifier: Apache-2.0 */
#include "config/listen.h"

#include "json/member.h"
#include "json/number.h"

struct config_listen config_listen_read(
	const struct json_tape *tape, uint32_t value, uint32_t priority)
{
	struct config_listen listen = {.priority = priority};
	uint32_t given;
	uint64_t number;

	if (value == JSON_NONE || json_type_at(tape, value) == JSON_FALSE)
		return listen;
	listen.is_fallback = true;
	given = json_type_at(tape, value) == JSON_OBJECT
			? json_find_present(tape, value, "priority")
			: JSON_NONE;
	if (given != JSON_NONE && json_number_u64(tape, given, &number) == 0)
		listen.priority = (uint32_t)number;
	return listen;
}
