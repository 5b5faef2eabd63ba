/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "loader/job.h"

/*
 * Manifests whose hosts describe several toolboxes (kind python): the job of the file has the
 * package, each member toolbox is a job of its own, so ids, filters and limits apply to it as to
 * any other.
 *
 *   described before, still valid ─┐
 *   cached by an earlier start ────┼─▶ members ─ the same text as before? ─▶ the members of before
 *   a short-lived host ────────────┘                                         go on with their hosts
 */

/* Begin @job, with a package just read, of a kind with members. They become jobs now if a valid
 * description is known; else a host is asked, and members_accept() follows. 0 or -ENOMEM. */
int members_begin(struct load_job *job);

/* Make jobs of the members described by the host of @job: the @size bytes of JSON text at
 * @described. 0 or -ENOMEM. */
int members_accept(struct load_job *job, const char *described, size_t size);

/* Offer the members of @job in the previous catalogue. 0 or -ENOMEM. */
int members_keep(struct load_job *job);
