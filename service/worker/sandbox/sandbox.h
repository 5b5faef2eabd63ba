/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "call/toolbox_sandbox.h"
#include "util/buffer.h"
#include "worker/sandbox/landlock.h"
#include "worker/sandbox/seal.h"

/*
 * What a host gives up for good before the code of its toolbox runs (docs/sandbox.md):
 *
 *                 address space   privileges   files, devices   system calls
 *                 (setrlimit)     (no_new_…)   (landlock)       (seccomp)
 *   compute, net       ×              ×              ×                ×
 *   command            ×              ×
 *   none               ×
 *
 * A limit of address space applies when there is one, in every class. What the kernel does not have
 * is left out and said: the tools work all the same.
 */

enum sandbox_entered {
	SANDBOX_E_PATH = 1, /* a path of the toolbox's cannot be opened; the failure says which */
};

/*
 * Enter the sandbox that @sandbox describes, to load @seal in it (its name NULL: no library).
 * Nothing that is open is closed. @ret_missing gets what the kernel could not do, as a sentence, or
 * nothing. 0, SANDBOX_E_PATH, or a negative errno; then nothing may be loaded.
 */
int sandbox_enter(const struct toolbox_sandbox *sandbox, const struct seal *seal,
	struct buffer *ret_missing, struct landlock_failure *ret_failure);
