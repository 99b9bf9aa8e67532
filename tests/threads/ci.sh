#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 600, full 1500
# ci.sh RESULT.xml: what TSan has to say, with build/tsan. A race is a failure
# whoever has it: a test, a program or the device beside it.
cd "$(dirname "$0")/../.." || exit 1
top=$PWD tmp=$(mktemp -d)
# shellcheck source=tests/beside.sh
. tests/beside.sh
trap 'rm -rf "$tmp"' EXIT
trap stop INT TERM
# No program sleeps for a second at its end, as TSan has it by default.
export TSAN_OPTIONS=log_path=$tmp/race:atexit_sleep_ms=0
status=0
# Of the rest, simulations, scenarios, corpora and the ABI have one thread, and so have
# some units; unit.uroce starts programs that cannot be given TSan; with a filter that
# ends at what it does not know, without what makes it fast, or with all that a user may
# have, a device has the same threads. Who is the device as well (`together`) has all the threads of who
# has it beside him, of which two are left: queues of several threads, and objects that
# come and go.
out=${1:-$tmp/result.xml}
fewer='|threads.apart.(shared_(cq|cq_ex|srq|channel)|one_sided|cq_laps|.*(queries|registrations|events|resizes)_beside)'
[ -n "${UROCE_FULL:-}" ] && fewer=
tests/ctest.sh build/tsan "$out" -j2 \
	-L '^(unit|device|threads)$' \
	-E "^(unit.(uroce|arena|count)|device.(lock|quota|.*_(strict|plain))$fewer)\$" || status=1
if [ "$(id -u)" = 0 ]; then
	# Python cannot be given TSan either; the device can, and so has the engines.
	export UROCE_ENGINE=device
	tests/device_of.sh build/tsan "$tmp/mixed" || status=1
	beside() { # beside NAME CMD...: two at a time
		finish 1
		begin "$1" "$tmp/$1.log" "${@:2}"
	}
	# Of each class one test: a device has the same threads for the others.
	each=(--some)
	[ -n "${UROCE_FULL:-}" ] && each=()
	beside suite env UROCE_BUILD="$tmp/mixed" /usr/bin/python3 pyverbs-tests/suite.py \
		"${each[@]}" ${1:+--xml "${1%.xml}-suite.xml"}
	beside verbs env UROCE_BUILD="$top/build/tsan" tests/pytest.sh "${out%.xml}-verbs.xml" \
		tests/e2e/test_verbs.py
	# Two engines in one process. The flood leaves others little of a processor
	# that TSan has made slow; of perftest, one that sends and receives, each way.
	engines=(-k "not test_flood and (not test_perftest or ib_send_bw)")
	[ -n "${UROCE_FULL:-}" ] && engines=()
	beside engines tests/pytest.sh "${out%.xml}-engines.xml" tests/e2e/test_engines.py \
		--build "$tmp/mixed" "${engines[@]}"
	# What looks at the engine from beside it: recorder, stories, the hostile card.
	some=(-k "test_requests or test_rnr or test_pingpong")
	[ -n "${UROCE_FULL:-}" ] && some=(tests/e2e/test_fault_rules.py) &&
		beside adverse /usr/bin/python3 tests/lab/run_adverse.py "$tmp/mixed" .
	beside stories tests/pytest.sh "${out%.xml}-beside.xml" \
		tests/e2e/test_{record,why,adverse}.py --build "$tmp/mixed" "${some[@]}"
	finish 0
fi
for log in "$tmp"/race.*; do
	[ -f "$log" ] || continue
	head -n 200 "$log"
	status=1
done
exit $status
