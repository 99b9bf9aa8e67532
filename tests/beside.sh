# shellcheck shell=bash disable=SC2034,SC2154  # status, and tmp, a folder: of who sources this
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Jobs side by side: to be sourced by a script that has
#   ended NAME STATUS LOG      called for each job that ends
# Most jobs here wait, or use one processor, for most of their time.
declare -A running=() logs=() # by pid and by name

begin() { # begin NAME LOG CMD...: in the background
	"${@:3}" >"$2" 2>&1 </dev/null &
	running[$!]=$1 logs[$1]=$2
}
finish() { # finish N: until no more than N jobs run
	local pid name rc
	while ((${#running[@]} > $1)); do
		wait -n -p pid "${!running[@]}"
		rc=$?
		name=${running[$pid]}
		unset "running[$pid]"
		ended "$name" $rc "${logs[$name]}"
	done
}
await() { # await NAME: until it has ended
	while [[ " ${running[*]} " == *" $1 "* ]]; do
		finish $((${#running[@]} - 1))
	done
}
stop() { # a signal's handler: none is left
	trap '' INT TERM
	kill -TERM "${!running[@]}" 2>/dev/null && wait "${!running[@]}"
	echo "interrupted" >&2
	exit 130
}

# ---- parts of a stage, each a pytest of its own: `lanes` at a time, one with `full` ----

parts=() lanes=2
part() { # part NAME ARGUMENT...
	[ -n "${UROCE_FULL:-}" ] && lanes=1
	finish $((lanes - 1))
	parts+=("$1")
	begin "$1" "$tmp/$1.log" tests/pytest.sh "$tmp/$1.xml" "${@:2}"
}
ended() {
	echo "==== $1: status $2"
	cat "$3"
	[ "$2" = 0 ] || status=1
}
result() { # result FILE: all of it; a part that left nothing is a failure
	local name
	finish 0
	{
		echo "<testsuites>"
		for name in "${parts[@]}"; do
			sed 's/<?xml[^>]*>//; s/<\/\?testsuites[^>]*>//g' "$tmp/$name.xml" ||
				echo "<testsuite><testcase name='$name'><failure message='no result'/></testcase></testsuite>"
		done
		echo "</testsuites>"
	} >"${1:-/dev/null}"
}
