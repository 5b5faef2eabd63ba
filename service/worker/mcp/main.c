/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/mcp/main.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "wire/wire.h"
#include "worker/confine.h"
#include "worker/serve.h"

#define EXIT_USAGE 2

int mcp_main(int argc, char **argv, const struct driver *kind)
{
	struct stat status;
	int r;

	if (argc != 2 || fstat(WIRE_FD, &status) < 0 || !S_ISSOCK(status.st_mode)) {
		fprintf(stderr,
			"this program runs a server of the Model Context Protocol. toolboxd "
			"starts it; it is not a command for users.\n");
		return EXIT_USAGE;
	}
	/* The end of a server is noticed by the error of a write. */
	signal(SIGPIPE, SIG_IGN);
	r = confine_again();
	r = r ? r : serve_daemon_as(WIRE_FD, argv[1], kind);
	if (r)
		fprintf(stderr, "the host stops: %s\n", strerror(-r));
	return r ? 1 : 0;
}
