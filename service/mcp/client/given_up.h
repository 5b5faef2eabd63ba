/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The last ids of requests given up, whose late responses are no mistake of the server. Zeroed it
 * is empty. */
#define MCP_GIVEN_UP 64

struct mcp_given_up {
	uint64_t ids[MCP_GIVEN_UP];
	unsigned int n_ever;
};

/* Give up the request *@id (0: none): a response to it is ignored. */
static inline void mcp_give_up(struct mcp_given_up *given_up, uint64_t *id)
{
	if (*id == 0)
		return;
	given_up->ids[given_up->n_ever++ % MCP_GIVEN_UP] = *id;
	*id = 0;
}

/* Return whether @id belongs to a request given up; then forget it. */
static inline bool mcp_take_given_up(struct mcp_given_up *given_up, uint64_t id)
{
	for (unsigned int i = 0; i < MCP_GIVEN_UP; i++)
		if (given_up->ids[i] == id) {
			given_up->ids[i] = 0;
			return true;
		}
	return false;
}
