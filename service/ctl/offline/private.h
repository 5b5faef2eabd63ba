/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "bus/address.h"
#include "config/config.h"
#include "util/cleanup.h"

/*
 * A service for one command, in a process of its own.
 *
 *   toolboxctl ◀── ws://127.0.0.1, any port, with a token ──▶ private service ──▶ hosts
 *              └─────────────── dies with its parent ──────────────┘
 *
 * It is a whole service: configuration, sandbox, filters and limits are the daemon's. Only this
 * program knows the token, so no other client is on its bus. The person who runs the command would
 * be asked, so its calls need no approval.
 */
struct private_service {
	pid_t pid;
	struct bus_address address; /* with the token */
};

/* The time for a response. The service itself bounds the start of a toolbox and a call, by its
 * configuration, and its end is noticed at once. */
#define PRIVATE_TIMEOUT_MS 86400000

/* Return 0 when @path, the value of --toolbox-dir or NULL, is an existing folder, else CTL_USAGE
 * after a complaint. */
int private_expect_folder(const char *path);

/* Start a service with @flags, which must name files. Return 0 with *ret_private, which the caller
 * frees, or an enum ctl_status after a complaint. */
int private_service_start(const struct config_flags *flags, struct private_service **ret_private);

/* The same for a service open to others, too: on the configured bus if local and free, else on any
 * port, with the configured token and approval. It logs what a reload changes. */
int private_service_start_open(
	const struct config_flags *flags, struct private_service **ret_private);

/* End the service and its processes. Takes NULL. */
void private_service_free(struct private_service *private);

CLEANUP_DEFINE(private_service, struct private_service *, private_service_free)
