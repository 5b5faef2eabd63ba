/* SPDX-License-Identifier: Apache-2.0 */

/*
 * toolbox-mcp-host MISSING: what toolbox-host becomes for a toolbox of the kind mcp
 * (worker/mcp/driver.c).
 *
 *   toolboxd ──wire──▶ toolbox-host: sandbox ──exec──▶ this program ──pipes──▶ a server
 *
 * MISSING is what the sandbox could not do ("" for nothing).
 */

#include "worker/mcp/main.h"

int main(int argc, char **argv)
{
	return mcp_main(argc, argv, &mcp_stdio_driver);
}
