/* SPDX-License-Identifier: Apache-2.0 */
#include "core/state.h"

#include <string.h>

struct runner *state_runner(const struct service *service, const struct tool *tool)
{
	const char *id = tool->toolbox->id;

	return service->runners[catalogue_find_toolbox(service->catalogue, id, strlen(id))];
}
