#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1800, full 5400
# ci.sh RESULT.xml: uroce for arm64. In a root of this release with the cross
# compiler and arm64's libraries, which cannot all be beside the host's own: the
# whole tree built without a warning, and run by qemu-user what asks nothing of a
# kernel but to run programs: the tests of the kinds abi, unit, scenario and
# fuzz, and some simulations; icrc.sh. RESULT.xml says how each step went, RESULT-ctest.xml is
# ctest's. What qemu-user cannot do a test finds out, and skips. The orders of
# memory that a real arm64 needs are held by order.* (tests/order); qemu-user has
# those of x86.
#
# With UROCE_FULL all simulations, too, and an emulated machine with a
# kernel for arm64 (guest.sh).
#
# What the install script installed is kept as for the stage debian13.
# shellcheck disable=SC2034,SC2154  # what tests/fresh/root.sh reads
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD out=${1:-$PWD/build/results/arm64.xml}
release=$(. /etc/os-release && echo "$VERSION_CODENAME") suite=arm64
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
	echo "needs root and mmdebstrap (tests/install-deps.sh arm64)"
	exit 1
fi
# shellcheck source=tests/fresh/root.sh
. tests/fresh/root.sh
clean() { layers_end; }
trap clean EXIT
trap 'exit 130' INT TERM

cross() {
	inside sh -c 'cmake -S . -B build -G Ninja -DUROCE_WERROR=ON \
			-DCMAKE_TOOLCHAIN_FILE=cmake/arm64.cmake && cmake --build build'
}
emulated() { inside tests/arm64/emulated.sh "$@"; }
run_tests() {
	# Without full what takes a minute of its own; sim.smoke, longer than
	# ctest would wait, is the next step's, and sim.mutants builds for the host.
	local left_out='^scenario.blind$|^sim.(smoke|mutants|calm|recovery|.*_[01])$'
	[ -n "$UROCE_FULL" ] && left_out='^sim.(smoke|mutants)$'
	emulated ctest --test-dir build --no-tests=error --output-on-failure \
		--timeout 300 -j2 -L '^(abi|unit|scenario|fuzz|sim)$' -E "$left_out" \
		--output-junit /src/build/results/ctest.xml
}

layers cross
step clone clone
step cross_build cross
step tests run_tests
step icrc inside tests/arm64/icrc.sh build
[ -n "$UROCE_FULL" ] && step sim_smoke emulated build/bin/sim --seeds 1..2000
[ -n "$UROCE_FULL" ] && step guest tests/arm64/guest.sh "$roots/guest-arm64" \
	"$tree/build" "${out%.xml}-guest.xml"
[ -s "$tree/build/results/ctest.xml" ] &&
	cp "$tree/build/results/ctest.xml" "${out%.xml}-ctest.xml"
result "$out"
exit $failed
