/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "loader/job.h"

/*
 * Files that other users may write: a manifest, its folder, and the library, programs or
 * interpreter of its package. Such a user decides what runs here, so each is a warning, as those of
 * sshd, cron and sudo are. Root and the daemon's user are no others.
 */

/* Warn of such files of the package of @job. The same ones as in the package before are not
 * reported again. */
void writable_report(struct load_job *job);
