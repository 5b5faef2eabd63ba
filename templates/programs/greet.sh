#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# description: Greet somebody by name.
# param name string Who is greeted
# param greeting string? = Hello How
# risk: read
#
# The comments above define the tool; the program is never run to describe itself. Arguments are in the
# environment as TOOL_ARG_<NAME>. stdout is the result.
set -eu

printf '%s, %s!\n' "$TOOL_ARG_GREETING" "$TOOL_ARG_NAME"
