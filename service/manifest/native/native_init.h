/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "util/diagnostic.h"

/*
 * The steps of a native toolbox that run once in each process, before its first call.
 *
 *   "init": [{"call": "git_libgit2_init", "args": [],
 *             "returns": {"type": "i32", "errors": "negative"},
 *             "finally": {"call": "git_libgit2_shutdown"}}]
 *
 * They are steps as of a tool (call/native/program.h) without arguments. Their names are `$$name`
 * in the tools.
 */

/* Read `init` of the manifest @tape, whose shape is right, into @package. Mistakes are added to
 * @problems. 0 or -ENOMEM. */
int manifest_native_init_read(
	const struct json_tape *tape, struct package *package, struct diagnostics *problems);
