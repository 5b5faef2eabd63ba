/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deny.h"

/* without-jit COMMAND…: become the command, without machine code but from files. */

#define EXIT_USAGE 2

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: without-jit COMMAND [ARGUMENT]...\n", stderr);
		return EXIT_USAGE;
	}
	if (!deny_machine_code())
		return EXIT_FAILURE;
	execvp(argv[1], argv + 1);
	fprintf(stderr, "without-jit: %s: %s\n", argv[1], strerror(errno));
	return EXIT_FAILURE;
}
