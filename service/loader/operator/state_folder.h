/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "loader/sandbox_max.h"

/*
 * The state folder of a toolbox: what it keeps over its processes, for this user alone
 * (contract.md, Paths of the operator).
 *
 *   manifest   "sandbox": {"write": ["$state_folder"]}
 *   sandbox    write  $STATE_DIRECTORY/ID, else $XDG_STATE_HOME/toolboxd/ID
 *   config     state_folder: the same path
 *
 * It is made once the toolbox is going to be offered. Our own files are beside these folders: their
 * names have a '.', but for one folder, whose name no toolbox with a state folder may have.
 */
#define STATE_FOLDER_SETTING "state_folder"
#define STATE_FOLDER_OURS    "jobs"

enum state_folder_status {
	STATE_FOLDER_E_REFUSED = 1, /* there is none, or it cannot be made */
};

/* Find the state folder of @package, and keep its path there. Return 0, STATE_FOLDER_E_REFUSED with
 * @ret_refusal, or -ENOMEM. */
int state_folder_find(struct package *package, struct sandbox_refusal *ret_refusal);

/* Make the state folder of @package, if it wants one: see state_folder_find(). */
int state_folder_make(const struct package *package, struct sandbox_refusal *ret_refusal);
