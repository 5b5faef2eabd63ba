/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "loader/job.h"
#include "mcp/client/servers.h"

/*
 * A list of servers in one file, as desktop programs keep it, makes a toolbox of each server. The
 * job of the file has no package; each server is a job of its own, with a package of its own, so a
 * wrong, changed or removed server concerns no other.
 *
 *   FILE ─▶ {"mcpServers": {NAME: …}} ─▶ the manifest that NAME means ─▶ a job called NAME
 */

/* Return the package of @job's server in the previous catalogue, borrowed; or NULL. */
struct package *server_list_find(const struct load_job *job);

/* Read the manifest meant by @entry of the file @origin, or note the mistakes in @job. 0 with
 * *ret_package (one reference), MANIFEST_E_REFUSED, or a negative errno. */
int server_list_read(struct load_job *job, const struct mcp_server_entry *entry,
	const struct origin *origin, struct package **ret_package);

/* Offer the packages of the now unreadable file of @job in the previous catalogue. 0 or -ENOMEM. */
int server_list_keep(struct load_job *job);
