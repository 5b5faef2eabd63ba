/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/catalogue.h"
#include "util/buffer.h"

/*
 * Append a manual of UTCP 1.1 (utcp.io, Manual) of the tools of @view, which are called below the
 * URL @base. A client sends one argument as the body of its request, and all others in the query:
 * so the arguments of each tool are one object, `body`. @needs_token: calls need one, which a
 * client takes from its variable TOOLBOXD_TOKEN.
 */
void utcp_write(
	const struct catalogue *view, const char *base, bool needs_token, struct buffer *out);
