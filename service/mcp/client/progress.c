/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/progress.h"

#include "json/number.h"
#include "json/member.h"

double mcp_progress_share(const struct json_tape *tape, uint32_t params)
{
	uint32_t progress = json_find_typed(tape, params, "progress", JSON_NUMBER);
	uint32_t total = json_find_typed(tape, params, "total", JSON_NUMBER);
	double done;
	double all;

	if (progress == JSON_NONE || total == JSON_NONE ||
		json_number_f64(tape, progress, &done) != 0 ||
		json_number_f64(tape, total, &all) != 0 || all <= 0 || done < 0)
		return -1;
	return done < all ? done / all : 1;
}
