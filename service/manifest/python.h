/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "json/reader.h"
#include "manifest/diagnose.h"

/*
 * Read the keys that only a manifest of the kind python has (contract.md, Python): the interpreter
 * and the entry points. Without an interpreter, or with "auto", these are tried: that of the
 * virtual environment in $VIRTUAL_ENV, of the one in ~/.venvs/ovos, and python3 of PATH. One with a
 * '/' that is not absolute begins at @folder, the manifest's. Mistakes are added to the problems. 0
 * or -ENOMEM.
 */
int manifest_python_read(const struct json_tape *tape, const char *folder, struct package *package,
	struct diagnostics *problems);
