/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "loader/job.h"

/*
 * Checks of the manifest and the configuration together. Each function returns true, or false
 * after the failure of @job, without a package then.
 */

/* Check whether @job, read before, may have its sandbox. */
bool job_check_sandbox(struct load_job *job);

/* Check whether a toolbox with `concurrent` has one process. */
bool job_check_workers(struct load_job *job);

/* Check whether the kind of @job may have a gate, if there is one. */
bool job_check_gate(struct load_job *job);

/* Check whether the risks of the tools of @job stay as high as their messages need. */
bool job_check_risks(struct load_job *job);
