#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# description: Count the words of a text.
# param text string Whose words are counted
# risk: read
set -eu

if [ -z "${TOOL_ARG_TEXT+given}" ]; then
	# An exit status other than 0 is a failure, which is reported with the end of stderr.
	echo "the text is too long: at most 100 KiB can be counted" >&2
	exit 1
fi
printf '%s\n' "$TOOL_ARG_TEXT" | wc -w
