#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1200, full 3600
# ci.sh RESULT.xml: what the README says of a fresh machine. In a new minimal
# Debian 12 root, entered in namespaces of its own: the install script, the
# build and the quick tests; with UROCE_FULL the stages fast and package. A
# package that the install script forgets is missed here. RESULT.xml says how each step went, RESULT-STAGE.xml
# are those of the stages inside.
# shellcheck disable=SC2034,SC2154  # what tests/fresh/root.sh reads
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD out=${1:-$PWD/build/results/fresh.xml}
release=bookworm suite=fresh
stages=quick
kinds="unit;scenario;fuzz;abi;arch;habits;device" # of tests that are compiled, all of quick
[ -n "${UROCE_FULL:-}" ] && stages="fast package" kinds=
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
	echo "needs root and mmdebstrap (tests/install-deps.sh fresh)"
	exit 1
fi
root=$(mktemp -d /var/tmp/uroce-fresh.XXXXXX) || exit 1
# shellcheck source=tests/fresh/root.sh
. tests/fresh/root.sh
test_kinds=$kinds
clean() {
	end_child
	rm -rf --one-file-system "$root"
}
trap clean EXIT
trap 'exit 130' INT TERM

step minimal_root tests/fresh/minimal.sh "$release" "$root"
step clone clone
# shellcheck disable=SC2086  # names of stages
step all.sh inside tests/all.sh $stages
for stage in $stages; do
	for xml in "$root/src/build/results/$stage"*.xml; do
		[ -s "$xml" ] && cp "$xml" "${out%.xml}-$(basename "$xml")"
	done
done
result "$out"
exit $failed
