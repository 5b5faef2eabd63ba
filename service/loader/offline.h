/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "config/config.h"
#include "loader/loader.h"

/*
 * A load without a daemon, to see what one would offer: the same loader reads the manifests, and
 * short-lived hosts load the libraries, on a loop of its own.
 */

/* Room for the reason of a failure: a line for a person, with a path in it. */
#define OFFLINE_WHY_BYTES (PATH_MAX + 128)

/* The programs that a load asks for tools, where no manifest lists them. */
enum offline_asking {
	OFFLINE_ASKS_NOBODY,  /* for nothing: only known lists count */
	OFFLINE_ASKS_NEW,     /* also for lists that are not known */
	OFFLINE_ASKS_SERVERS, /* each server (kind mcp), too, even if its last list is known */
};

/*
 * Load the @n_files manifests @files, or, when @files is NULL, everything registered in the folders
 * of @config. Call @problem for each problem, with @data. 0 with *ret_catalogue owned by the
 * caller; a negative errno, with the reason in @ret_reason.
 */
int offline_load(const struct config *config, const char *const *files, size_t n_files,
	diagnostic_function problem, void *data, struct catalogue **ret_catalogue,
	enum offline_asking asking, char ret_reason[OFFLINE_WHY_BYTES]);
