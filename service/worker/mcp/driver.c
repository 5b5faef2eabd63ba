/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "worker/exec_host.h"
#include "worker/driver.h"

/*
 * Kind `mcp`: the host becomes a client of the Model Context Protocol, over stdio or HTTP. Other
 * hosts need not load the client's libraries.
 */

#define STDIO_PROGRAM "toolbox-mcp-host"
#define HTTP_PROGRAM  "toolbox-mcp-http-host"

static int load_mcp(const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	uint32_t server = json_find(load->tape, 0, "mcp");
	bool is_http = server != JSON_NONE && json_find(load->tape, server, "url") != JSON_NONE;
	const char *name = is_http ? HTTP_PROGRAM : STDIO_PROGRAM;
	char program[PATH_MAX];
	int r = exec_host_find(name, X_OK, program);

	(void)ret_driver;
	r = r ? r : exec_host_hide(load);
	if (r == 0) {
		execle(program, name, load->missing, (char *)NULL, exec_host_environment());
		r = -errno;
	}
	return driver_refuse(problems, load->tape, server, "the program %s cannot be started: %s",
		name, strerrordesc_np(-r));
}

const struct driver mcp_driver = {
	.kind = "mcp",
	.load = load_mcp,
};
