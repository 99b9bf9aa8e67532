#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1800, full 5400
# ci.sh RESULT.xml: uroce for arm64. In a root of this release with the cross
# compiler and arm64's libraries, which cannot all be beside the host's own: the
# tree built without a warning, and run by qemu-user what asks nothing of a
# kernel but to run programs: the tests of the kinds abi, unit and fuzz, scenarios of the
# connection manager, and some simulations, of the transport and of the connection manager
# (with UROCE_FULL all scenarios and simulations); icrc.sh;
# Debian's packages (packages.sh), with UROCE_FULL looked at by lintian; and between
# a host of this machine's architecture and one of arm64, by qemu-user too, every
# operation (mixed.sh); rdma-core's suite on that host of arm64, of each class one
# test. RESULT.xml says how each step went, RESULT-ctest.xml is ctest's,
# RESULT-mixed.xml and RESULT-newer.xml pytest's. What qemu-user cannot do a test
# finds out, and skips. The orders of memory that a real arm64 needs are held by
# order.* (tests/order); qemu-user has those of x86.
#
# With UROCE_FULL all simulations and all of the suite, too, FLUSH with the libraries
# of Debian 13, which can ask for it, and emulated machines with Debian's kernels for
# arm64, of pages of 4 and of 16 KiB, and with one of 64 KiB, made from Debian's
# sources (kernel.sh, guest.sh).
#
# What the install script installed is kept as for the stage debian13, which --prepare
# sees to as there.
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
[ -n "$UROCE_FULL" ] || test_kinds="abi;unit;scenario/cm;fuzz;sim/transport;sim/cm;interop" no_flags=-g
clean() { layers_end; }
trap clean EXIT
trap 'exit 130' INT TERM

cross() {
	# shellcheck disable=SC2016  # expanded by the shell inside
	inside sh -c 'CFLAGS=$(tests/deb_cflags.sh arm64) && export CFLAGS CMAKE_BUILD_TYPE=None && cmake -S . -B build -G Ninja -DUROCE_WERROR=ON \
			"-DUROCE_TEST_KINDS=$UROCE_TEST_KINDS" "-DUROCE_LINK_WHOLE=$UROCE_LINK_WHOLE" -DCMAKE_TOOLCHAIN_FILE=cmake/arm64.cmake && cmake --build build'
}
emulated() { inside tests/arm64/emulated.sh "$@"; }
run_tests() {
	# Without full what takes ten seconds and more of its own, and the inputs for a whole device,
	# whose rights qemu-user cannot show; sim.smoke, longer than
	# ctest would wait, is the next step's, and sim.mutants builds for the host.
	local left_out='^scenario.blind$|^unit.(uroce|maxima|peer_ring|count)$|^fuzz.(cmd|ucma|umad|netlink|client)$|^sim.(smoke|mutants|calm|aside|recovery|net(|.(reads|dcqcn|lossy|incast|marks|deaf|beside|tail|ecmp))|.*_[01])$'
	[ -n "$UROCE_FULL" ] && left_out='^sim.(smoke|mutants)$'
	emulated tests/ctest.sh build /src/build/results/ctest.xml -j2 \
		-L '^(abi|unit|scenario|fuzz|sim)$' -E "$left_out"
}

lint() {
	local debs=() deb left
	for deb in "$tree"/build/packages/*.deb; do
		[[ $deb == *-dbgsym_* ]] || debs+=("$deb")
	done
	left=$(mktemp -d) || return # it leaves files in TMPDIR
	TMPDIR=$left lintian --allow-root --fail-on error,warning \
		--suppress-tags initial-upload-closes-no-bugs,package-supports-alternative-init-but-no-init.d-script \
		"${debs[@]}"
	set -- $?
	rm -rf "$left"
	return "$1"
}
# Debian's programs for arm64, with what uroce's packages want.
programs="bash dash coreutils grep sed gzip mount util-linux
	iproute2 kmod procps busybox-static ibverbs-utils ibverbs-providers
	rdmacm-utils perftest python3 python3-pyverbs libisal2 libjson-c5 libsystemd0
	libseccomp2 libnl-route-3-200 libdw1"
[ -n "$UROCE_FULL" ] && programs+=" linux-image-cloud-arm64"
big_pages=linux-image-6.12-arm64-16k
# Of Debian 13, for both architectures: what uroce and the suite there want.
newer="base-files dash coreutils mount iproute2 python3 python3-pyverbs
	ibverbs-providers libisal2 libjson-c5 libsystemd0 libseccomp2
	libnl-route-3-200"
unpack() { # unpack VARIABLE RELEASE ARCHITECTURE PACKAGE...: sets it to the root
	local -n where=$1
	where=$(tests/arm64/root.sh "$roots" "${@:2}")
}
big_kernel() { # pages of 64 KiB; kept
	[ -d "$root64k" ] && return
	inside sh -c 'tests/install-deps.sh kernel && tests/arm64/kernel.sh build/kernel-64k' &&
		cp -r "$tree/build/kernel-64k" "$root64k.new" && mv "$root64k.new" "$root64k"
}
mixed() { # mixed NAME ROOT MARKS
	# That of the root: installed here it would be every program's.
	UROCE_QEMU=$(readlink -f "$kept/usr/bin/qemu-aarch64-static") \
	tests/arm64/mixed.sh "$2" "$tree/build" "${out%.xml}-$1.xml" -m "$3"
}
guest() { # guest NAME PAGESIZE [KERNEL]
	tests/arm64/guest.sh "$root64" "$tree/build/packages" "${out%.xml}-$1.xml" "${@:3}" &&
		grep -q "pages_of_$2_bytes" "${out%.xml}-$1.xml"
}

layers cross
step clone clone
step cross_build cross
[ "${1:-}" = --prepare ] && exit $failed
# What qemu-user runs has a user namespace of its own (emulated.sh).
emulate=step
if ! reason=$(unshare --user true 2>&1); then
	emulate() { without "no user namespaces here: $reason" "$1"; }
	emulate=emulate
fi
$emulate tests run_tests
step icrc inside tests/arm64/icrc.sh build
step packages inside tests/arm64/packages.sh build/packages
[ -z "$UROCE_FULL" ] || step lintian lint
long=
[ -n "$UROCE_FULL" ] || long=" and not long"
# shellcheck disable=SC2086  # names of packages
unpack root64 "$release" arm64 $programs || failed=1
$emulate mixed mixed mixed "$root64" "not newer$long"
if [ -n "$UROCE_FULL" ]; then
	# shellcheck disable=SC2086  # names of packages
	unpack root13 trixie arm64 $newer &&
		unpack near13 trixie "$(dpkg --print-architecture)" $newer || failed=1
	UROCE_NEAR_ROOT=$near13 $emulate newer mixed newer "$root13" newer
	$emulate sim_smoke emulated build/bin/sim --seeds 1..2000
	step guest guest guest 4096
	unpack root16k "$release" arm64 $big_pages || failed=1
	step guest_16k guest guest-16k 16384 "$root16k"
	root64k=$roots/kernel-64k-$release-$(sha256sum <tests/arm64/kernel-64k.config | cut -c1-12)
	step kernel_64k big_kernel
	step guest_64k guest guest-64k 65536 "$root64k"
fi
[ -s "$tree/build/results/ctest.xml" ] &&
	cp "$tree/build/results/ctest.xml" "${out%.xml}-ctest.xml"
result "$out"
exit $failed
