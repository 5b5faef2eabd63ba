/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/tools/risk.h"

#include <string.h>

#include "json/member.h"
#include "util/array.h"

static const char *const risks[] = {"read", "write", "execute"};
#define N_RISKS ARRAY_SIZE(risks)

const char *mcp_admitted_risk(const struct json_tape *tape, uint32_t tool)
{
	uint32_t annotations = json_find_typed(tape, tool, "annotations", JSON_OBJECT);

	if (json_find_typed(tape, annotations, "readOnlyHint", JSON_TRUE) != JSON_NONE)
		return "read";
	return json_find_typed(tape, annotations, "destructiveHint", JSON_FALSE) != JSON_NONE
		       ? "write"
		       : "execute";
}

const char *mcp_risk_at(const struct json_tape *tape, uint32_t token)
{
	for (size_t i = 0; i < N_RISKS; i++)
		if (json_is_text(tape, token, risks[i]))
			return risks[i];
	return NULL;
}

static size_t find_rank(const char *risk)
{
	size_t rank = 0;

	while (rank < N_RISKS && strcmp(risk, risks[rank]) != 0)
		rank++;
	return rank;
}

const char *mcp_worse_risk(const char *one, const char *other)
{
	return find_rank(one) < find_rank(other) ? other : one;
}
