#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Serve a folder of toolboxes with a toolboxd of its own, which is its message bus as well, and make
# the calls in calls.sh beside this file. Nothing of the user's configuration is read.
#
# usage: run.sh TOOLBOXD TOOLBOXCTL FOLDER [OPTION OF TOOLBOXD]...
# Exit status: 0 every answer was as expected; 1 one was not, or toolboxd did not start.
set -eu

toolboxd=$1
toolboxctl=$2
folder=$3
shift 3
here=$(dirname "$0")
home=$(mktemp -d)
daemon=
failed=0

# alone COMMAND...: run it with nothing in its environment but what this script gives. It takes the
# place of the shell that it is called in.
alone() {
	exec env -i PATH="$PATH" HOME="$home" MYCROFT_SYSTEM_CONFIG="$home/none" \
		OVOS_DISTRIBUTION_CONFIG="$home/none" "$@"
}

end() {
	if [ -n "$daemon" ]; then
		kill "$daemon" 2>/dev/null || true
		wait "$daemon" 2>/dev/null || true
	fi
	rm -rf "$home"
}
trap end EXIT
trap 'exit 1' INT TERM

# The address is in the log as soon as toolboxd listens; calls wait until it is ready.
find_bus() {
	tries=100
	until bus=$(grep -o -m 1 'ws://127\.0\.0\.1:[0-9]*/core' "$home/log"); do
		tries=$((tries - 1))
		if [ "$tries" = 0 ] || ! kill -0 "$daemon" 2>/dev/null; then
			echo "toolboxd did not start:" >&2
			cat "$home/log" >&2
			exit 1
		fi
		sleep 0.1
	done
}

# The tools of an interpreter come a moment later than toolboxd: it asks for them meanwhile. Where none
# come, the calls will tell.
wait_for_tools() {
	tries=200
	while [ "$tries" -gt 0 ]; do
		case $(alone "$toolboxctl" --bus "$bus" --timeout 20 list --json) in
		'{"tools":[]}') sleep 0.1 ;;
		*) return ;;
		esac
		tries=$((tries - 1))
	done
}

# invoke TOOL [ARGUMENT]...: the answer, on one line. Its exit status is not ours.
invoke() {
	(alone "$toolboxctl" --bus "$bus" --timeout 20 invoke --json "$@") || true
}

# told OK EXPECTED CALL...: print how a call went; OK is true or false.
told() {
	ok=$1
	expected=$2
	shift 2
	if $ok; then
		echo "ok      $*"
	else
		failed=1
		printf 'FAILED  %s\n  expected %s\n  came     %s\n' "$*" "$expected" "$came"
	fi
}

# expect RESULT TOOL [ARGUMENT]...: the tool gives this result, as compact JSON.
expect() {
	answer="{\"name\":\"$2\",\"result\":$1}"
	shift
	came=$(invoke "$@")
	if [ "$came" = "$answer" ]; then told true "$answer" "$@"; else told false "$answer" "$@"; fi
}

# expect_error CODE TOOL [ARGUMENT]...: the answer is an error with this code.
expect_error() {
	answer="\"code\":\"$1\""
	shift
	came=$(invoke "$@")
	case $came in
	*"$answer"*) told true "$answer" "$@" ;;
	*) told false "$answer" "$@" ;;
	esac
}

alone "$toolboxd" --embedded-bus --bus ws://127.0.0.1:0/core --toolbox-dir "$folder" \
	"$@" </dev/null >"$home/log" 2>&1 &
daemon=$!
find_bus
wait_for_tools
. "$here/calls.sh"
exit "$failed"
