/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/failure/failed.h"

#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

struct failed *failed_new(const char *id)
{
	cleanup_free struct failed *failed = calloc(1, sizeof(*failed));

	if (!failed)
		return NULL;
	failed->id = strdup(id);
	if (!failed->id)
		return NULL;
	atomic_init(&failed->references, 1);
	return take_ptr(failed);
}

void failed_unref(struct failed *failed)
{
	if (!failed || atomic_fetch_sub(&failed->references, 1) != 1)
		return;
	origins_deinit(&failed->files);
	if (failed->problems)
		diagnostics_deinit(failed->problems);
	free(failed->problems);
	free(failed->id);
	free(failed);
}
