/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/operator/state_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/file/paths.h"

static int refuse_folder(struct sandbox_refusal *refusal, const char *folder, const char *reason)
{
	snprintf(refusal->pointer, sizeof(refusal->pointer), "/sandbox/write");
	snprintf(refusal->text, sizeof(refusal->text), "its state folder%s%s %s", folder ? " " : "",
		folder ? folder : "", reason);
	return STATE_FOLDER_E_REFUSED;
}

int state_folder_find(struct package *package, struct sandbox_refusal *ret_refusal)
{
	cleanup_free char *state = NULL;
	int r;

	if (strcmp(package->id, STATE_FOLDER_OURS) == 0)
		return refuse_folder(ret_refusal, NULL,
			"would be the folder of our jobs: give the toolbox another id");
	r = paths_state(&state);
	if (r < 0)
		return r;
	if (!state)
		return refuse_folder(ret_refusal, NULL,
			"cannot be found: set STATE_DIRECTORY, XDG_STATE_HOME or HOME");
	free(package->state_folder);
	package->state_folder = NULL;
	return asprintf(&package->state_folder, "%s/%s", state, package->id) < 0 ? -ENOMEM : 0;
}

int state_folder_make(const struct package *package, struct sandbox_refusal *ret_refusal)
{
	const char *folder = package->state_folder;
	cleanup_free char *state = NULL;
	cleanup_free char *reason = NULL;
	int r;

	if (!folder)
		return 0;
	state = strndup(folder, strlen(folder) - strlen(package->id) - 1);
	if (!state)
		return -ENOMEM;
	r = file_make_folders(state);
	if (r == 0 && mkdir(folder, 0700) < 0 && errno != EEXIST)
		r = -errno;
	if (r == 0 || r == -ENOMEM)
		return r;
	return asprintf(&reason, "cannot be made: %s", strerror(-r)) < 0
		       ? -ENOMEM
		       : refuse_folder(ret_refusal, folder, reason);
}
