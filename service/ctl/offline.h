/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "core/config.h"
#include "core/loader.h"

/*
 * What a daemon would offer, without one: the same loader reads the manifests, and short-lived
 * hosts load the libraries.
 */

/*
 * Load the @n_files manifests @files, or, when @files is NULL, everything that is registered in the
 * folders that @config names. @problem is told each problem, with @data. 0 with *ret_catalogue
 * owned by the caller, or an enum ctl_status that has been told.
 */
int offline_load(const struct config *config, const char *const *files, size_t n_files,
	loader_problem_function problem, void *data, struct catalogue **ret_catalogue);
