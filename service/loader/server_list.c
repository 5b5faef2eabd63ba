/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/server_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct package *server_list_find(const struct load_job *job)
{
	const struct catalogue *previous = job->jobs->options.previous;

	for (size_t i = 0; previous && i < catalogue_n_toolboxes(previous); i++) {
		struct package *package = catalogue_toolbox(previous, i, NULL, NULL)->package;

		if (package->is_entry && strcmp(package->id, job->id) == 0 &&
			strcmp(package->file, job->path) == 0)
			return package;
	}
	return NULL;
}

int server_list_read(struct load_job *job, const struct mcp_server_entry *entry,
	const struct origin *origin, struct package **ret_package)
{
	cleanup(diagnostics_deinit) struct diagnostics found = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	if (entry->is_disabled) {
		r = skipped_list_add(&job->skipped, NULL, "it is disabled in its file");
		return r ? r : MANIFEST_E_REFUSED;
	}
	if (!entry->manifest) {
		buffer_printf(&text, "the server '%s' %s", entry->name, entry->reason);
		if (!buffer_terminate(&text))
			return -ENOMEM;
		load_job_report(job, DIAGNOSTIC_ERROR, "", text.data);
		return MANIFEST_E_REFUSED;
	}
	r = manifest_read_text(job->jobs->reader, job->path, entry->manifest,
		strlen(entry->manifest), ret_package, &found);
	for (size_t i = 0; i < found.n_items; i++)
		load_job_report(
			job, found.items[i].severity, found.items[i].pointer, found.items[i].text);
	if (r != 0)
		return r;
	(*ret_package)->is_entry = true;
	r = origins_copy(&(*ret_package)->definition, origin);
	if (r < 0)
		package_unref(take_ptr(*ret_package));
	return r;
}

int server_list_keep(struct load_job *job)
{
	const struct catalogue *previous = job->jobs->options.previous;

	for (size_t i = 0; previous && i < catalogue_n_toolboxes(previous); i++) {
		struct package *package = catalogue_toolbox(previous, i, NULL, NULL)->package;
		struct load_job *kept;

		if (!package->is_entry || strcmp(package->file, job->path) != 0 ||
			load_jobs_have_id(job->jobs, package->id) || !load_job_keeps(job, package))
			continue;
		origins_accept(&package->definition);
		kept = load_jobs_add(job->jobs, job->path, false);
		if (!kept || !(kept->id = strdup(package->id)))
			return -ENOMEM;
		load_job_set_package(kept, package_ref(package));
	}
	return 0;
}
