/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "loader/job.h"
#include "manifest/folders.h"

/* Make the catalogue of @jobs, which are all done, and of the masks of @listing. Jobs with a
 * repeated id or without room fail; a failed job keeps its last good version. NULL without
 * memory. */
struct catalogue *assemble_catalogue(struct load_jobs *jobs, const struct folders_listing *listing);
