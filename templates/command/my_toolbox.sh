#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The program of two tools of my_toolbox: its first argument selects one.
#
# The arguments of a call are in the environment as TOOL_ARG_<NAME>, except those of more than 100 KiB,
# and all of them are one JSON object on stdin. stdout is the result. An exit status other than 0 is a
# failure, which is reported with the end of stderr.
set -eu

fail() {
	echo "$*" >&2
	exit 1
}

[ -n "${TOOL_ARG_TEXT+given}" ] || fail "the text is too long: at most 100 KiB can be counted"

case $1 in
count_words)
	# The manifest has "output": "json", so this is an object.
	words=$(printf '%s\n' "$TOOL_ARG_TEXT" | wc -w)
	printf '{"words": %d}\n' "$words"
	;;
longest_line)
	printf '%s\n' "$TOOL_ARG_TEXT" |
		awk 'length > length(longest) { longest = $0 } END { print longest }'
	;;
*)
	fail "no tool is called '$1'"
	;;
esac
