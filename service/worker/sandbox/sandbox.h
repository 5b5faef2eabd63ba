/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "call/toolbox_sandbox.h"
#include "util/buffer.h"
#include "worker/sandbox/landlock.h"

/*
 * The rights given up by a host before the code of its toolbox runs (docs/sandbox.md):
 *
 *                 address space   privileges   files, devices   system calls
 *                 (setrlimit)     (no_new_…)   (landlock)       (seccomp)
 *   compute, net       ×              ×              ×                ×
 *   command            ×              ×              ×, if `read` or `write` is given
 *   none               ×
 *
 * The limit of address space applies in every class, if set. A restriction unknown to the kernel is
 * skipped and reported; the tools work all the same.
 */

enum sandbox_entered {
	SANDBOX_E_PATH = 1, /* a path of the toolbox cannot be opened; the failure names it */
};

/*
 * Enter the sandbox described by @sandbox, with the @places that the host needs. Open files stay
 * open. @tracer is the socket of worker/sandbox/trace.h (-1: none). @ret_missing gets a sentence
 * about restrictions missing in the kernel, or nothing; @ret_listener the descriptor of
 * worker/sandbox/syscalls.h, if there is one. Return 0, SANDBOX_E_PATH, or a negative errno; after
 * an error nothing may be loaded.
 */
int sandbox_enter(const struct toolbox_sandbox *sandbox, const struct landlock_places *places,
	int tracer, struct buffer *ret_missing, int *ret_listener,
	struct landlock_failure *ret_failure);

/* Return whether landlock restricts the files of this process. */
bool sandbox_confines_files(void);

/* Return whether its host needs a folder of its own for temporary files (util/file/host_folder.h):
 * in class command, if it may not write where its user may. */
bool sandbox_wants_folder(const struct toolbox_sandbox *sandbox);
