/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "loader/loader.h"

/*
 * A load without a daemon, to see what one would offer: the same loader reads the manifests, and
 * short-lived hosts load the libraries, on a loop of its own.
 */

/* Room for the reason of a failure: a line for a person, with a path in it. */
#define OFFLINE_WHY_BYTES (PATH_MAX + 128)

/*
 * Load the @n_files manifests @files, or, when @files is NULL, everything registered in the folders
 * of @config. @asks_servers: ask servers (kind mcp) for their tools, even if their last list is
 * known. Call @problem for each problem, with @data. 0 with *ret_catalogue owned by the caller; a
 * negative errno, with the reason in @ret_reason.
 */
int offline_load(const struct config *config, const char *const *files, size_t n_files,
	diagnostic_function problem, void *data, struct catalogue **ret_catalogue,
	bool asks_servers, char ret_reason[OFFLINE_WHY_BYTES]);
