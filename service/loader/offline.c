/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/offline.h"

#include <stdio.h>
#include <string.h>

#include "util/file/paths.h"
#include "loop/loop.h"

/* Descriptors of the loop, without hosts. */

struct load {
	struct loop *loop;
	diagnostic_function problem;
	void *data;
	struct catalogue *catalogue;
	int error; /* the loader's error */
};

static void on_problem(void *data, const struct diagnostic *problem)
{
	struct load *load = data;

	load->problem(load->data, problem);
}

static void on_done(void *data, struct catalogue *catalogue, struct policy *policy, int error)
{
	struct load *load = data;

	policy_free(policy);
	load->catalogue = catalogue;
	load->error = error;
	loop_stop(load->loop);
}

/* 0, or a negative errno. */
static int run(struct load *load, const struct loader_options *options, const char *const *files,
	size_t n_files)
{
	cleanup(loop_cleanup) struct loop *loop = NULL;
	struct loader *loader;
	int r = loop_new(&loop);

	if (r < 0)
		return r;
	load->loop = loop;
	if (files)
		r = loader_start_files(
			loop, options, files, n_files, on_problem, on_done, load, &loader);
	else
		r = loader_start(loop, options, on_problem, on_done, load, &loader);
	if (r == 0)
		r = loop_run(loop, -1);
	return r < 0 ? r : load->error;
}

int offline_load(const struct config *config, const char *const *files, size_t n_files,
	diagnostic_function problem, void *data, struct catalogue **ret_catalogue,
	enum offline_asking asking, char ret_reason[OFFLINE_WHY_BYTES])
{
	struct load load = {.problem = problem, .data = data};
	struct paths paths;
	struct loader_options options = {
		.config = config,
		.host_program = paths.host_program,
		.library_dir = paths.library_dir,
		.checks_off = true,
		.defers = asking == OFFLINE_ASKS_NOBODY,
		.asks_servers = asking == OFFLINE_ASKS_SERVERS,
	};
	int r = paths_find(&paths);

	if (r < 0) {
		snprintf(ret_reason, OFFLINE_WHY_BYTES,
			"cannot find toolbox-host, last looked for at %s", paths.host_program);
		return r;
	}
	r = run(&load, &options, files, n_files);
	if (r < 0) {
		snprintf(ret_reason, OFFLINE_WHY_BYTES, "cannot load the manifests: %s",
			strerror(-r));
		return r;
	}
	*ret_catalogue = load.catalogue;
	return 0;
}
