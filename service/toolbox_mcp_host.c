/* SPDX-License-Identifier: Apache-2.0 */

/*
 * toolbox-mcp-host MISSING: what toolbox-host becomes for a toolbox of the kind mcp (worker/mcp/driver.c).
 *
 *   toolboxd ──wire──▶ toolbox-host: sandbox ──exec──▶ this program ──pipes──▶ a server of others
 *
 * MISSING is what the sandbox could not do ("" for nothing).
 */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "wire/wire.h"
#include "worker/driver.h"
#include "worker/worker.h"

#define EXIT_USAGE 2

int main(int argc, char **argv)
{
	struct stat status;
	int r;

	if (argc != 2 || fstat(WIRE_FD, &status) < 0 || !S_ISSOCK(status.st_mode)) {
		fprintf(stderr,
			"toolbox-mcp-host runs a server of the Model Context Protocol. toolboxd "
			"starts it; it is not a command for users.\n");
		return EXIT_USAGE;
	}
	/* A server that has ended is noticed by the error of a write. */
	signal(SIGPIPE, SIG_IGN);
	r = worker_go_on(WIRE_FD, argv[1], &mcp_session_driver);
	if (r)
		fprintf(stderr, "the host stops: %s\n", strerror(-r));
	return r ? 1 : 0;
}
