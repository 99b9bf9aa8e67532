#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Run every test, and end with one line of totals over everything that ran.
#   tests/all.sh [full] [STAGE...]      default: all stages
# A stage is one of those in the table below. Only what the chosen ones need is
# installed and built; UROCE_TEST_KINDS="unit;abi" has the tests of those folders only.
# Each stage runs a representative part of its long matrices;
# `full` runs them whole (UROCE_FULL=1 says so to the stages).
# Results: build/results/STAGE.{xml,log}. Root is needed by the stages that
# make network namespaces.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
export py=/usr/bin/python3

# A device makes and takes away hundreds of small files, and ext4 looks past all that
# were freed a moment ago for each new one (recently_deleted()), which takes longer than
# the tests: temporary files are in memory, where there is enough, in a mount namespace
# of this run.
# shellcheck disable=SC2016  # expanded by the shell inside
in_memory() { # in_memory FOLDER CMD...
	unshare --mount sh -c 'mount -t tmpfs -o mode=1777 tmpfs "$0" && exec "$@"' "$@"
}
if [ -n "${UROCE_RUN_TMP:-}" ]; then
	trap 'cd / && umount -l "$UROCE_RUN_TMP" && rmdir "$UROCE_RUN_TMP"' EXIT
elif [ "$(id -u)" = 0 ] && [ -z "${TMPDIR:-}" ] && [ "$(stat -f -c %T /tmp)" != tmpfs ] &&
	awk '/^MemAvailable/ { exit $2 < 8e6 }' /proc/meminfo && in_memory /tmp true 2>/dev/null; then
	UROCE_RUN_TMP=$(mktemp -d /tmp/uroce.XXXXXX) || exit 1
	export UROCE_RUN_TMP TMPDIR=$UROCE_RUN_TMP
	chmod 755 "$TMPDIR"
	# shellcheck disable=SC2016  # expanded by the shell inside
	exec unshare --mount sh -c 'mount -t tmpfs -o mode=1777 tmpfs "$0" && exec "$@"' \
		"$TMPDIR" "$top/tests/all.sh" "$@"
fi

# Each stage, and the builds it uses.
declare -A builds=(
	[quick]=plain [basic]=plain [fast]=plain [asan]=asan [witness]=plain [bench]=plain
	[fuzz]=fuzz [tsan]="plain tsan" [conformance]=plain [e2e]="plain asan"
	[interop]=plain [apps]=plain [package]="" [fresh]=""
	[debian13]="" [arm64]=plain [action]="" [container]=plain [judges]=plain
	[gpu]="plain asan tsan"
)
# The order in which they run. The last ones fetch, unpack and build in a root of their own, or wait for
# most of their time: three run at a time, the longest first; with `full`, where some judge by time, one.
aside=" fresh arm64 debian13 package apps action gpu conformance bench container "
# shellcheck disable=SC2206  # names
order=(fast asan fuzz witness judges tsan e2e interop $aside)
script() { # script STAGE: the program of a stage that has its own folder
	case $1 in
	conformance) echo pyverbs-tests/ci.sh ;;
	tsan) echo tests/threads/ci.sh ;;
	*) echo "tests/$1/ci.sh" ;;
	esac
}
exists() {
	case $1 in
	quick | basic | fast | asan | fuzz | witness | bench) true ;;
	*) [ -f "$(script "$1")" ] ;;
	esac
}

[ "${1:-}" = full ] && export UROCE_FULL=1 && shift
full=${UROCE_FULL:+1}
[ -n "$full" ] && aside=
stages=()
for stage in "${@:-${order[@]}}"; do
	if [ "$stage" = build ]; then
		stages+=(build)
	elif [ -z "${builds[$stage]+known}" ] || ! exists "$stage"; then
		# A stage that is not there yet is no part of the whole.
		[ $# = 0 ] && continue
		echo "$0: no stage $stage; there are: full build quick basic ${order[*]}" >&2
		exit 2
	else
		stages+=("$stage")
	fi
done
# Tests run programs of this tree as other users.
if [[ $(id -u) = 0 && " ${stages[*]} " =~ " "(e2e|tsan|gpu|container)" " ]] &&
	! setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$top"; then
	echo "$0: other users cannot enter $top, and tests run programs there as them: chmod o+x its folders" >&2
	exit 1
fi
tests/install-deps.sh "${stages[@]}" || exit 1

# What one stage has compiled the next does not compile again, nor a root of its
# own that has the same compiler, headers and flags. `full` compiles all of it. What
# a file includes the compiler says (CCACHE_DEPEND): to have each preprocessed first
# takes a third of the time in which all is compiled.
if [ -z "$full" ] && command -v ccache >/dev/null; then
	export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR=${CCACHE_DIR:-$top/build/ccache} \
		CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=locale CCACHE_DEPEND=1
	mkdir -p "$CCACHE_DIR"
fi

res=$top/build/results
mkdir -p "$res"
rm -f "$res"/*
# shellcheck source=tests/beside.sh
. tests/beside.sh
declare -A began=()
took=()
trap 'unprepared; stop' INT TERM
failed=0
start() { # start SECONDS NAME CMD...: one stage, its own time limit and log
	began[$2]=$SECONDS
	begin "$2" "$res/$2.log" timeout -k 20 "$1" "${@:3}"
}
ended() {
	printf '== %-12s %s (%ds)\n' "$1" \
		"$([ "$2" = 0 ] && echo ok || echo "FAILED, status $2")" $((SECONDS - began[$1]))
	took+=("$1 $((SECONDS - began[$1]))")
	if [ "$2" != 0 ]; then
		failed=1
		tail -n "${TAIL:-60}" "$3" | sed 's/^/   | /'
	fi
}
run() { # run SECONDS NAME CMD...: to its end
	start "$@"
	await "$2"
}
# In the time that the processors have nothing else to do, the roots of the longest
# stages are installed, and what is compiled in them goes into the cache. A session is a
# group of the scheduler's (sched(7), autogroup), so it has the lowest weight, too.
preparing=
prepare() { # prepare STAGE...: in the background, until unprepared
	# shellcheck disable=SC2016  # expanded by the shell inside
	setsid chrt --idle 0 bash -c '
		echo 19 >/proc/self/autogroup
		trap "kill \$!; wait; exit" TERM
		for stage; do "tests/$stage/ci.sh" --prepare & wait $!; done' \
		- "$@" >"$res/prepare.log" 2>&1 </dev/null &
	preparing=$!
}
unprepared() { # what is not ready by now, the stages do themselves
	[ -z "$preparing" ] || { kill -TERM "$preparing" && wait "$preparing"; } 2>/dev/null
	preparing=
}
limit() { # limit STAGE: seconds, of `# limit: 900` or `# limit: 900, full 2400`
	local line
	line=$(grep -m1 '^# limit:' "$(script "$1")")
	[[ $line =~ limit:\ *([0-9]+)(.*full\ ([0-9]+))? ]]
	local seconds=${BASH_REMATCH[1]:-900}
	[ -n "$full" ] && seconds=${BASH_REMATCH[3]:-$seconds}
	echo "$seconds"
}

build() { # build DIR OPTIONS...
	local dir=$1
	shift
	cmake -S . -B "$dir" -G Ninja -DUROCE_WERROR=ON "-DUROCE_LINK_WHOLE=${UROCE_LINK_WHOLE:-ON}" \
		"-DUROCE_TEST_KINDS=${UROCE_TEST_KINDS:-}" "$@" && cmake --build "$dir"
}
export -f build
export res
# A report has functions and lines; variables take a quarter longer to compile. Without `full`, what runs
# with ASan takes less time than its optimization.
debug="-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG='-O1 -g1'" plainly=${debug/-O1/-O0}
[ -n "$full" ] && plainly=$debug
# What runs there: transport and cm, which call no operating system, have one thread.
export asan_kinds="sim;unit;scenario;fuzz;abi;device;faults;threads;e2e/verbs" tsan_kinds="unit;device;threads;e2e/verbs"
[ -n "$full" ] || tsan_kinds=${tsan_kinds/unit/unit\/util;unit\/engine;unit\/device;unit\/providers;unit\/preload}
used=" "
for stage in "${stages[@]}"; do used+="${builds[$stage]-plain} "; done
# What it cannot fetch, the stage says once more.
case " ${stages[*]} " in *" interop "*) start 900 guest bash -c 'tests/interop/guest/make.sh || true' ;; esac
# `full` compiles as the README says.
plain=()
[ -z "$full" ] && plain=(CFLAGS="$(tests/deb_cflags.sh)" CMAKE_BUILD_TYPE=None)
case $used in *" plain "*) run 900 build env "${plain[@]}" bash -c 'build build' ;; esac
case $used in *" asan "*) start 900 build-asan bash -c "build build/asan $plainly -DUROCE_SANITIZE=address \"-DUROCE_TEST_KINDS=\$asan_kinds\"" ;; esac
case $used in *" tsan "*) start 900 build-tsan bash -c "build build/tsan $debug -DUROCE_SANITIZE=thread \"-DUROCE_TEST_KINDS=\$tsan_kinds\"" ;; esac
case $used in *" fuzz "*) start 900 build-fuzz bash -c "cmake --preset fuzz $plainly && cmake --build build/fuzz --target fuzz" ;; esac
finish 0
[ $failed = 0 ] || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
[ "${stages[*]}" = build ] && exit 0

ahead=()
for stage in arm64 debian13; do
	[ -z "$full" ] && [[ " ${stages[*]} " == *" $stage "* ]] && ahead+=("$stage")
done
# Where they come first, there is no such time.
[ ${#ahead[@]} = 0 ] || [[ $aside == *" ${stages[0]} "* ]] || prepare "${ahead[@]}"

strict_ones() { # the tests of the device that run with a strict filter, too: a|b|c
	ctest --test-dir build -N -R '^device.*_strict$' 2>/dev/null |
		sed -n 's/.*: device\.\(.*\)_strict$/\1/p' | paste -sd '|'
}
# What ctest knows and needs no network is `fast`, the quickest of that `quick`, and
# of that `basic` what a compiler, a library or a kernel may break; `asan` is the
# same under ASan+UBSan; then the stages made of whole programs.
big='e2e|conformance|interop|bench|package|apps'
declare -A labels=([quick]='unit|scenario|fuzz|abi|arch|habits|whole' [basic]='^(unit|scenario|fuzz|abi)$')
# The long networks of the simulation run the same code as the short ones, and to a
# sanitizer that is enough, as are the switches that seeds draw; the mutants it does not
# compile. What tests of the device do once more, with a filter that ends at what it does
# not know, with two engines or with an engine without what makes it fast, `fast` does.
# That nothing is lost where the n-th call fails a sanitizer says best. abi.musl has a build of its own.
again=(-E '^abi.musl$|^sim.(mutants|calm|.*_[01]|net(|.(reads|dcqcn|lossy|incast|marks|deaf|beside|tail|ecmp)))$|^device.*_(strict|two|plain)$')
# Where others follow, `fast` leaves them what they do as well: `asan` the loops of
# the n-th failure, threads of programs apart from the device, and with the ordinary
# filter what has a strict one here; `tsan` the threads together with it; `fresh` what is
# in `quick`, in the same build.
others='' twice=()
if [ -z "$full" ]; then
	[[ " ${stages[*]} " == *" asan "* ]] && others+='|faults' &&
		twice=(-E "^threads.apart|^device.($(strict_ones))$")
	[[ " ${stages[*]} " == *" asan "*" tsan "* ]] && others+='|threads'
	[[ " ${stages[*]} " == *" fresh "* ]] && others+="|${labels[quick]%|whole}"
else
	again=()
fi
for stage in "${stages[@]}"; do
	beside=0
	[[ $aside == *" $stage "* ]] && beside=2 && unprepared
	finish $beside
	case $stage in
	build) continue ;;
	quick | basic) run 300 "$stage" tests/ctest.sh build "$res/$stage.xml" -j2 -L "${labels[$stage]}" ;;
	fast) run 900 fast tests/ctest.sh build "$res/fast.xml" -j2 -LE "$big$others" "${twice[@]}" ;;
	asan) run 1500 asan tests/ctest.sh build/asan "$res/asan.xml" -j2 -LE "$big|arch|habits|whole" "${again[@]}" ;;
	# For as long as UROCE_FUZZ_SECONDS says, each target. What it finds is no chance.
	fuzz) run $((120 + 7 * ${UROCE_FUZZ_SECONDS:-2})) fuzz ctest --test-dir build/fuzz --no-tests=error --output-on-failure --output-junit "$res/fuzz.xml" --timeout 0 -j2 -L search ;;
	witness) run 300 witness tests/ctest.sh build "$res/witness.xml" -L interop ;;
	bench) start 600 bench tests/ctest.sh build "$res/bench.xml" -j2 -L bench ;;
	*)
		start "$(limit "$stage")" "$stage" bash "$(script "$stage")" "$res/$stage.xml"
		finish $beside
		;;
	esac
done
finish 0
for stage in "${stages[@]}"; do
	[ "$stage" = build ] || compgen -G "$res/$stage*.xml" >/dev/null || touch "$res/$stage.xml"
done

# When the whole last passed is kept beside the results.
kept=$top/build/full-passed
if [ -n "$full" ]; then
	echo "full: every stage whole"
elif [ -f "$kept" ]; then
	echo "full: last passed $(cat "$kept")"
else
	echo "full: not run here (tests/all.sh full)"
fi
echo "seconds: $SECONDS (${took[*]})"
$py tests/summary.py "$res"/*.xml || failed=1
if [ -n "$full" ] && [ $# = 0 ] && [ $failed = 0 ]; then
	echo "$(date -u +%F) at $(git rev-parse --short HEAD 2>/dev/null || echo 'no commit')" >"$kept"
fi
exit $failed
