/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "worker/become.h"
#include "worker/driver.h"

/*
 * Kind `mcp`: the host becomes toolbox-mcp-host, which is a client of the Model Context Protocol. Other hosts
 * need not load the libraries of that.
 */

#define PROGRAM "toolbox-mcp-host"

static int load_mcp(const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	char program[PATH_MAX];
	int r = become_find(PROGRAM, program);

	(void)ret_driver;
	r = r ? r : become_prepare(load);
	if (r == 0) {
		execl(program, PROGRAM, load->missing, (char *)NULL);
		r = -errno;
	}
	return driver_refuse(problems, load->tape, json_find(load->tape, 0, "mcp"),
		"the program " PROGRAM " cannot be started: %s", strerrordesc_np(-r));
}

static void free_nothing(void *driver)
{
	(void)driver;
}

const struct driver mcp_driver = {
	.kind = "mcp",
	.load = load_mcp,
	.free = free_nothing,
};
