#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# description: Greet somebody by name.
# param name string Who is greeted
# param greeting string? = Hello How
# risk: read
#
# The comments above say how the tool is called; the program is never run to describe itself.
# Arguments stand in the environment as TOOL_ARG_<NAME>. What is printed is the result.
set -eu

printf '%s, %s!\n' "$TOOL_ARG_GREETING" "$TOOL_ARG_NAME"
