/* SPDX-License-Identifier: Apache-2.0 */

/*
 * toolbox-host TOOLBOX_ID: the process that a toolbox runs in.
 *
 * toolboxd starts it with the wire as descriptor 3 (host/process.h). It confines itself, loads the
 * toolbox of the first frame, and answers calls until the wire is closed. No crash of its toolbox
 * affects any other process.
 */

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "wire/wire.h"
#include "worker/confine.h"
#include "worker/send.h"
#include "worker/serve.h"

#define EXIT_USAGE 2

#ifdef TOOLBOXD_SANITIZED
/* A toolbox that crashes must end by its signal, as without sanitizers. Leaks of a toolbox are not
 * reported. */
const char *__asan_default_options(void);

__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:"
	       "detect_leaks=0";
}
#endif

static bool is_socket(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

int main(int argc, char **argv)
{
	int r;

	if (argc != 2 || !is_socket(WIRE_FD)) {
		fprintf(stderr, "toolbox-host runs the tools of a toolbox. toolboxd starts it; it "
				"is not a command for users.\n");
		return EXIT_USAGE;
	}
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	r = confine(WIRE_FD);
	if (r)
		fprintf(stderr, "cannot confine the host: %s\n", strerror(-r));
	else if ((r = send_join_ring()))
		fprintf(stderr, "cannot map the memory for answers: %s\n", strerror(-r));
	else if ((r = serve_daemon(WIRE_FD)))
		fprintf(stderr, "the host stops: %s\n", strerror(-r));
	(void)argv;
	return r ? 1 : 0;
}
