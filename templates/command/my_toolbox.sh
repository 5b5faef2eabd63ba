#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The program behind two of the tools of my_toolbox: its first argument says which.
#
# The arguments of a call stand in the environment as TOOL_ARG_<NAME>, and all of them as one JSON
# object on stdin, where alone an argument of more than 100 KiB stands. What is printed is the
# result. Any other exit status than 0 is a failure, which is told with the end of stderr.
set -eu

fail() {
	echo "$*" >&2
	exit 1
}

[ -n "${TOOL_ARG_TEXT+given}" ] || fail "the text is too long: at most 100 KiB can be counted"

case $1 in
count_words)
	# The manifest says "output": "json", so this is an object.
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
