/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "worker/driver.h"

/* The main() of a program that a host becomes, with the driver @kind. Return its exit status. */
int mcp_main(int argc, char **argv, const struct driver *kind);
