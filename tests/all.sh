#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Run every test: install what they need, build (plain, ASan+UBSan, TSan),
# run the stages, and end with one line of totals over everything that ran.
#   tests/all.sh [STAGE...]     stages: see the table below; default all
# Results: build/results/STAGE.{xml,log}. Root is needed by the stages that
# make network namespaces.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
py=/usr/bin/python3
tests/install-deps.sh all || exit 1

res=$top/build/results
mkdir -p "$res"
rm -f "$res"/*
child=
stop() {
	trap '' INT TERM
	[ -n "$child" ] && kill -TERM "$child" 2>/dev/null && wait "$child"
	echo "interrupted" >&2
	exit 130
}
trap stop INT TERM
failed=0
run() { # run SECONDS NAME CMD...: one stage, its own time limit and log
	local limit=$1 name=$2 t0=$SECONDS rc
	shift 2
	printf '== %-12s ' "$name"
	timeout -k 20 "$limit" "$@" >"$res/$name.log" 2>&1 </dev/null &
	child=$!
	wait $child
	rc=$?
	child=
	printf '%s (%ds)\n' "$([ $rc = 0 ] && echo ok || echo "FAILED, status $rc")" $((SECONDS - t0))
	if [ $rc != 0 ]; then
		failed=1
		tail -n ${TAIL:-60} "$res/$name.log" | sed 's/^/   | /'
	fi
	return 0
}
want() { [ ${#stages[@]} = 0 ] || [[ " ${stages[*]} " == *" $1 "* ]]; }
stages=("$@")

build() { # build DIR OPTIONS...
	local dir=$1
	shift
	cmake -S . -B "$dir" -G Ninja -DUROCE_WERROR=ON "$@" && cmake --build "$dir"
}
export -f build
run 900 build bash -c 'build build'
run 900 build-asan bash -c 'build build/asan -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DUROCE_SANITIZE=address'
want tsan && run 900 build-tsan bash -c 'build build/tsan -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DUROCE_SANITIZE=thread'
[ $failed = 0 ] || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }

# Stage: what it runs. Everything ctest knows that needs no network first, then
# the same under ASan+UBSan, then the stages made of whole programs.
ct() { ctest --test-dir "$1" --no-tests=error --output-on-failure --timeout 300 \
	--output-junit "$2" "${@:3}"; }
pt() { $py -m pytest -q -p no:cacheprovider --junitxml "$1" "${@:2}"; }
export -f ct pt
export py res
big='e2e|conformance|interop|bench|package'
want fast && run 900 fast bash -c "ct build $res/fast.xml -j2 -LE '$big'"
want asan && run 1500 asan bash -c "ct build/asan $res/asan.xml -j2 -LE '$big|arch'"
want witness && run 300 witness bash -c "ct build $res/witness.xml -L interop"
want bench && run 600 bench bash -c "ct build $res/bench.xml -L bench"
for stage in tsan conformance e2e interop apps package; do
	script=tests/$stage/ci.sh
	[ $stage = conformance ] && script=pyverbs-tests/ci.sh
	[ $stage = tsan ] && script=tests/threads/ci.sh
	[ -f "$script" ] || continue
	want $stage && run "$(sed -n 's/^# limit: *\([0-9]*\).*/\1/p' $script | head -1)" \
		$stage bash $script "$res/$stage.xml"
done
$py tests/summary.py "$res"/*.xml || failed=1
exit $failed
