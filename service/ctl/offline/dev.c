/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/offline/private.h"
#include "ctl/terminal.h"
#include "ctl/watch.h"
#include "manifest/folders.h"

/*
 * toolboxctl dev: serve a toolbox that is being written.
 *
 *   words/build/toolbox.d   where a build has made one  ─┐
 *   toolbox.d               several toolboxes           ─┼─▶ service ─▶ its log: what a change did
 *   words/, words.json      one toolbox                 ─┘         └──▶ calls, as they happen
 *
 * It builds nothing: a rebuilt library is a change like any other.
 */

#define BUILT_FOLDER "/build/toolbox.d"

struct dev {
	char *path;  /* absolute */
	char *built; /* the folder that a build has made, below @path; NULL: there is none */
};

static bool has_entry(const struct dev *dev, const char *name)
{
	cleanup_free char *path = NULL;

	if (asprintf(&path, "%s/%s", dev->path, name) < 0)
		path = NULL;
	return path && access(path, F_OK) == 0;
}

static int find_path(const char *given, struct dev *dev)
{
	dev->path = realpath(given, NULL);
	if (!dev->path) {
		terminal_complain("%s: %s", given, strerror(errno));
		return CTL_USAGE;
	}
	if (!has_entry(dev, &BUILT_FOLDER[1]))
		return 0;
	if (asprintf(&dev->built, "%s" BUILT_FOLDER, dev->path) < 0)
		dev->built = NULL;
	return dev->built ? 0 : CTL_ERROR;
}

/* Print how to build what needs it. @given is the path as it was typed. */
static void print_hints(const struct dev *dev, const char *given)
{
	if (dev->built)
		fprintf(stderr,
			"%s" BUILT_FOLDER " is served. After a change of the sources:\n\n"
			"  cmake --build %s/build\n\n",
			given, given);
	else if (has_entry(dev, "CMakeLists.txt"))
		fprintf(stderr,
			"%s is served as it is. If it is to be built, build it and start again:\n\n"
			"  cmake -S %s -B %s/build\n"
			"  cmake --build %s/build\n\n",
			given, given, given, given);
	else if (has_entry(dev, "Makefile"))
		fprintf(stderr, "After a change of the sources:\n\n  make -C %s\n\n", given);
}

/* Print where it can be called. */
static void print_address(const struct bus_address *address)
{
	struct bus_address usual = bus_address_default;
	char url[BUS_URL_BYTES];

	bus_address_format(address, url);
	if (strcmp(address->host, usual.host) == 0 && address->port == usual.port &&
		strcmp(address->path, usual.path) == 0)
		fprintf(stderr, "Call it from another terminal; Ctrl-C ends it:\n\n"
				"  toolboxctl invoke TOOL\n\n");
	else
		fprintf(stderr,
			"Call it from another terminal; Ctrl-C ends it:\n\n"
			"  TOOLBOXD_BUS=%s toolboxctl invoke TOOL\n\n",
			url);
}

static int serve_and_watch(const struct dev *dev, const struct ctl_options *options)
{
	cleanup(private_service_cleanup) struct private_service *private = NULL;
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	const char *path = dev->built ? dev->built : dev->path;
	struct config_flags flags = {0};
	struct ctl_options patient = *options;
	int r;

	if (folders_is_registration(path)) {
		flags.toolbox_dirs = &path;
		flags.n_toolbox_dirs = 1;
	} else {
		flags.files = &path;
		flags.n_files = 1;
	}
	patient.timeout_ms = PRIVATE_TIMEOUT_MS;
	r = private_service_start_open(&flags, &private);
	if (r != 0)
		return r;
	print_address(&private->address);
	r = ctl_session_open_at(&patient, &private->address, &session);
	return r ? r : watch_calls(session, options, true);
}

int ctl_dev(const struct ctl_options *options)
{
	const char *given = options->positional[1];
	struct dev dev = {0};
	int r = find_path(given, &dev);

	if (r == 0) {
		print_hints(&dev, given);
		r = serve_and_watch(&dev, options);
	}
	free(dev.path);
	free(dev.built);
	return r;
}
