/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "worker/driver.h"

/* The main() of the program after the exec of a host, with the driver @kind. Return its exit
 * status. */
int mcp_main(int argc, char **argv, const struct driver *kind);
