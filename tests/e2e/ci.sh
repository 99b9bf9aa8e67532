#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1800, full 2700
# End-to-end tests; $1 is the JUnit file to write. Long matrices are thinned
# (tests/representative.py) unless UROCE_FULL is set. In parts, the longest first.
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) status=0 named='' files=()
# shellcheck source=tests/beside.sh
. tests/beside.sh
# shellcheck disable=SC2034  # two programs that poll, and three that wait
lanes=5
trap 'rm -rf "$tmp"' EXIT
trap stop INT TERM
declare -A groups=(
	[rdmacm]="rdmacm" [faults]="faults rdmacm_faults" [perftest]="perftest"
	[rules]="fault_rules rdma cli" [attacks]="attacks forged isolation confine"
	[doctor]="doctor doctor_fabric" [middleware]="middleware migration"
	# Whatever the daemon calls, its filter knows: these have one that ends at what
	# the filter does not know. With UROCE_FULL they have the ordinary one as well,
	# and connections of every program the strict one.
	[strict]="link v1 devices raw" [verbs]="verbs"
	[gpu]="gpu" # the stage of that name
)
files() { # files GROUP: sets `files`
	local name
	files=()
	for name in ${groups[$1]}; do files+=("tests/e2e/test_$name.py"); done
}
e2e() { # e2e GROUP
	files "$1"
	part "$1" "${files[@]}"
}
for group in "${!groups[@]}"; do
	files "$group"
	named+=" ${files[*]} "
done
# Four parts, twice as long as all others together: fewer would be the last to end.
quarters=("" "" "" "") n=0
for path in tests/e2e/test_*.py; do
	[[ $named == *" $path "* ]] && continue
	quarters[n++ % 4]+=" $path"
done
# shellcheck disable=SC2086  # names of files
for n in "${!quarters[@]}"; do part "rest$n" ${quarters[n]}; done
e2e rdmacm
e2e doctor
# What dies and is lost in a run with sanitizers below, does not here, but beside a
# bystander.
if [ -x build/asan/bin/uroced ] && [ -z "${UROCE_FULL:-}" ]; then
	part faults tests/e2e/test_rdmacm_faults.py
	UROCE_ENGINE=device part bystander tests/e2e/test_faults.py -k bystander
else
	e2e faults
fi
UROCE_DAEMON=uroced_strict e2e strict
# Programs have their engines in themselves, but here, and where tests say so: of them
# test_guest_engine.py has most corners. Engine processes have all.
UROCE_ENGINE=device UROCE_DAEMON=uroced_strict e2e verbs
UROCE_ENGINE=device part device tests/e2e/test_counters.py tests/e2e/test_card.py
[ -n "${UROCE_FULL:-}" ] && UROCE_ENGINE=device part device-full \
	tests/e2e/test_{perftest,rdmacm,wire,headers,why,record}.py
# A rule is looked up in one place, whoever compiled it.
rate=(--deselect tests/e2e/test_raw.py::test_rate_of_rules)
struck=(--deselect tests/e2e/test_fault_rules.py::test_coped_with)
[ -n "${UROCE_FULL:-}" ] && rate=() struck=()
[ -n "${UROCE_FULL:-}" ] && files strict && part ordinary "${files[@]}" tests/e2e/test_verbs.py
[ -n "${UROCE_FULL:-}" ] && UROCE_DAEMON=uroced_strict part strict-rdmacm tests/e2e/test_rdmacm.py
e2e perftest
# Who dies beside a bystander has died beside one before.
once=(--deselect tests/e2e/test_faults.py::test_bystander)
[ -n "${UROCE_FULL:-}" ] && once=()
# The engine without what makes it fast.
plain=()
[ -n "${UROCE_FULL:-}" ] && plain=(tests/e2e/test_faults.py)
UROCE_ENGINE_OPT=hold=0,gso=0,gro=0,loop=0,coalesce=0,credits=0,trains=0,path=0 \
	part plain tests/e2e/test_pingpong.py "${plain[@]}"
# Programs in other network namespaces than the device, whose packets go through it.
away=(fault_rules record)
[ -n "${UROCE_FULL:-}" ] && away+=(adverse check counters memory pingpong rdmacm_faults)
away=("${away[@]/#/tests/e2e/test_}")
UROCE_AWAY=1 part away "${away[@]/%/.py}" "${struck[@]}"
UROCE_AWAY=1 part away-xrc "tests/e2e/test_shared_engine.py::test_traffic[two hosts-False]"
# Engines in engine processes.
UROCE_ENGINE=device part engines tests/e2e/test_pingpong.py tests/e2e/test_raw.py \
	tests/e2e/test_guest_host.py "${rate[@]}"
e2e rules
e2e attacks
# Where there is a build with sanitizers: death, loss and raw frames once more with it.
[ -x build/asan/bin/uroced ] &&
	part asan --build build/asan tests/e2e/test_faults.py tests/e2e/test_raw.py "${once[@]}" "${rate[@]}"
# And with its device alone what looks at the engine from beside it.
beside=(-k "test_requests or test_rnr or test_pingpong")
[ -n "${UROCE_FULL:-}" ] && beside=(tests/e2e/test_fault_rules.py)
[ -x build/asan/bin/uroced ] && tests/device_of.sh build/asan "$tmp/mixed" &&
	part beside tests/e2e/test_{record,why,adverse}.py --build "$tmp/mixed" "${beside[@]}"
e2e middleware
result "$1"
exit $status
