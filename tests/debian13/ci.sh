#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1200, full 5400
# ci.sh RESULT.xml: what the README says, on Debian 13. In a root of that
# release, entered in namespaces of its own: the install script, the build
# without a warning, the ABI and units of what meets its libraries, Debian's packages made, installed and
# used, rdma-core's pyverbs suite on one device, and the ping-pongs, perftest and
# rping between two network namespaces. With UROCE_FULL a new root, all tests
# compiled, and the stages fast, conformance, e2e and package whole. RESULT.xml says
# how each step went, RESULT-STAGE.xml are those inside.
#
# What the install script installed is kept in build/roots (UROCE_ROOTS: in
# another folder) and used again until it installs something else. ci.sh --prepare
# only sees that it is there, and that what is compiled is in the cache.
# shellcheck disable=SC2034,SC2154  # what tests/fresh/root.sh reads
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD out=${1:-$PWD/build/results/debian13.xml}
release=trixie suite=debian13
kinds="basic demo conformance deb" stages=basic
if [ -n "${UROCE_FULL:-}" ]; then
	kinds="fast conformance e2e package" stages=$kinds
fi
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
	echo "needs root and mmdebstrap (tests/install-deps.sh debian13)"
	exit 1
fi
# shellcheck source=tests/fresh/root.sh
. tests/fresh/root.sh
[ -n "$UROCE_FULL" ] || test_kinds="abi;unit/cli;unit/device;unit/preload;unit/providers;unit/util" no_flags=-g
clean() { layers_end; }
trap clean EXIT
trap 'exit 130' INT TERM

results() { # what the stages inside left, beside our own
	local xml
	for xml in "$tree/build/results"/*.xml; do
		[ -s "$xml" ] && cp "$xml" "${out%.xml}-$(basename "$xml")"
	done
}
pairs() { # the stock programs of this release, each without most of its options
	local py="tests/pytest.sh build/results" perftest=tests/e2e/test_perftest.py name less=
	for name in all_sizes lat_options bw_options; do less+=" --deselect $perftest::test_$name"; done
	inside sh -c "$py/pairs.xml tests/e2e/test_pingpong.py $perftest $less &&
		$py/rping.xml -k 'rping and not persistent' tests/e2e/test_rdmacm.py"
}

# shellcheck disable=SC2086  # names of kinds
layers $kinds
# The packages are installed into this very root; with UROCE_FULL into a new one.
[ -n "${UROCE_FULL:-}" ] || package_root=/ packages="not rpm and not lintian"
step clone clone
if [ "${1:-}" = --prepare ]; then
	step build inside tests/all.sh build
	exit $failed
fi
# shellcheck disable=SC2086  # names of stages
step all.sh inside tests/all.sh $stages
[[ $stages == *package* ]] || step package inside tests/package/ci.sh build/results/package.xml
[[ $stages == *e2e* ]] || step pairs pairs
[[ $stages == *conformance* ]] ||
	step pyverbs inside /usr/bin/python3 pyverbs-tests/suite.py \
		--xml build/results/pyverbs.xml
results
result "$out"
exit $failed
