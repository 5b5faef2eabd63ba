/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "json/reader.h"
#include "manifest/diagnose.h"

/*
 * Read the keys of manifests of kind python alone (contract.md, Python): the interpreter and the
 * entry points. Without an interpreter, or with "auto", these are tried: the interpreter of the
 * virtual environment in $VIRTUAL_ENV, then in ~/.venvs/ovos, and python3 of PATH; for a file of
 * functions python3 of PATH alone. A relative path
 * with a '/' begins at @folder, the manifest's. Mistakes are added to the problems. 0 or -ENOMEM.
 */
int manifest_python_read(const struct json_tape *tape, const char *folder, struct package *package,
	struct diagnostics *problems);
