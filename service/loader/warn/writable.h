/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "loader/job.h"

/*
 * Files open to writes of other users: a manifest, its folder, and the library, programs or
 * interpreter of its package. Such a user decides what runs here, so each file gets a warning, as
 * in sshd, cron and sudo. Root and the daemon's user are no others.
 */

/* Warn of such files of the package of @job. The same ones as in the package before are not
 * reported again. */
void writable_report(struct load_job *job);
