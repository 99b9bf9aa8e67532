#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1200, full 5400
# ci.sh RESULT.xml: what the README says, on Debian 13. In a root of that
# release, entered in namespaces of its own: the install script, the build
# without a warning, the quick tests, the packages made, installed and used,
# and the ping-pongs, perftest and rping between two network namespaces. With
# UROCE_FULL a new root, and the stages fast, conformance, e2e and package
# whole. RESULT.xml says how each step went, RESULT-STAGE.xml are those inside.
#
# What the install script installed is kept in build/roots (UROCE_ROOTS: in
# another folder) and used again until it installs something else.
# shellcheck disable=SC2034,SC2154  # what tests/fresh/root.sh reads
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD out=${1:-$PWD/build/results/debian13.xml}
release=trixie suite=debian13
kinds="quick demo package" stages="quick package"
if [ -n "${UROCE_FULL:-}" ]; then
	kinds="fast conformance e2e package" stages=$kinds
fi
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
	echo "needs root and mmdebstrap (tests/install-deps.sh debian13)"
	exit 1
fi
# shellcheck source=tests/fresh/root.sh
. tests/fresh/root.sh
roots=$(realpath -m "${UROCE_ROOTS:-build/roots}")
# shellcheck disable=SC2086  # names of kinds
kept=$release-$(tests/install-deps.sh --list $kinds | sha256sum | cut -c1-12)
dir=$(mktemp -d /var/tmp/uroce-debian13.XXXXXX) || exit 1
mkdir -p "$dir"/root{,.upper,.work} "$roots"
chmod 755 "$dir" "$dir"/root*
clean() {
	end_child
	rm -rf --one-file-system "$dir" "$roots/$kept.new"
}
trap clean EXIT
trap 'exit 130' INT TERM

install_all() { # install_all KIND...: the script, in a new root that is kept
	local root=$roots/$kept.new
	rm -rf --one-file-system "${roots:?}/$release"-*
	minimal_root "$root" && clone && inside tests/install-deps.sh "$@" &&
		rm -rf "$root/src" "$root"/var/cache/apt/archives/*.deb &&
		mv "$root" "$roots/$kept"
}
results() { # results STAGE...: what it left, beside our own
	local xml
	for xml in "$root${below:+.upper}/src/build/results"/*.xml; do
		[ -s "$xml" ] && cp "$xml" "${out%.xml}-$(basename "$xml")"
	done
}
pairs() { # the stock programs, as far as `all.sh e2e` does not run in there
	local py="/usr/bin/python3 -m pytest -q -p no:cacheprovider" res=build/results
	inside sh -c "$py --junitxml $res/pairs.xml tests/e2e/test_pingpong.py \
			tests/e2e/test_perftest.py &&
		$py --junitxml $res/rping.xml -k rping tests/e2e/test_rdmacm.py"
}

# One run at a time makes or uses the roots.
exec 9>"$roots/lock"
flock 9
root=$roots/$kept.new
[ -n "${UROCE_FULL:-}" ] && rm -rf --one-file-system "${roots:?}/$kept"
# shellcheck disable=SC2086  # names of kinds
[ -d "$roots/$kept" ] || step install install_all $kinds
root=$dir/root
export below=$roots/$kept
if ! apart mount -t overlay overlay \
	-o "lowerdir=$below,upperdir=$root.upper,workdir=$root.work" "$root"; then
	# A folder that is itself an overlay cannot be above: a copy, then.
	cp -a "$below/." "$root" || exit 1
	below=
fi
# The packages are installed into this very root; with UROCE_FULL into a new one.
[ -n "${UROCE_FULL:-}" ] || package_root=/
step clone clone
# shellcheck disable=SC2086  # names of stages
step all.sh inside tests/all.sh $stages
[[ $stages == *e2e* ]] || step pairs pairs
results
result "$out"
exit $failed
