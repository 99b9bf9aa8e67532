#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# debian/release.sh FOLDER [RELEASE-ARCHITECTURE...]: the files of a release, which
# action.yml takes by `packages`: Debian's packages of this tree for Debian 12 and 13,
# amd64 and arm64, and SHA256SUMS of them all, in FOLDER. A version ends in ~deb12 or
# ~deb13, so that all have names of their own. Some only: bookworm-amd64, trixie-arm64.
# The same tree gives the same files, bit by bit.
#
# Each is built in a root of that release, which is kept in build/roots (UROCE_ROOTS: in
# another folder); those for arm64 by a cross compiler. On amd64, as root, with
# mmdebstrap.
# shellcheck disable=SC2034,SC2154  # what tests/fresh/root.sh reads
set -u
cd "$(dirname "$0")/.." || exit 1
if [ $# = 0 ] || [[ $1 == -* ]]; then
	sed -n '3,/^#$/{s/^# \{0,1\}//;p}' "$0" >&2
	exit 2
fi
top=$PWD out=$(realpath -m "$1")
shift
targets=("${@:-bookworm-amd64 bookworm-arm64 trixie-amd64 trixie-arm64}")
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null ||
	[ "$(dpkg --print-architecture)" != amd64 ]; then
	echo "$0: needs root, mmdebstrap and amd64" >&2
	exit 1
fi
# shellcheck source=tests/fresh/root.sh
. tests/fresh/root.sh
# What ccache has compiled names its sources by another path.
unset CCACHE_DIR
declare -A number=([bookworm]=12 [trixie]=13)

packages() { # in the root, where /src is the tree
	# shellcheck disable=SC2016  # expanded by the shell inside
	inside sh -c 'sed -i "1s/)/$1)/" debian/changelog &&
		dpkg-buildpackage -b -uc -us $2' - "~deb${number[$release]}" \
		"${packages_of:+-aarm64 -Pcross,nocheck}"
}
made() { # made RELEASE ARCHITECTURE: its files are in $out
	release=$1 suite=deb kinds=deb
	# Both are as the stage arm64 has them.
	[ "$2" = arm64 ] && suite=arm64 kinds=cross packages_of=arm64
	trap layers_end EXIT
	trap 'exit 130' INT TERM
	layers "$kinds"
	step clone clone
	step packages packages || return
	local deb
	for deb in "$root${below:+.upper}"/*.deb; do
		[[ $deb == *-dbgsym_* ]] || cp "$deb" "$out" || return
	done
}
mkdir -p "$out" && rm -f "$out"/*.deb "$out/SHA256SUMS" || exit 1
# shellcheck disable=SC2068  # words
for target in ${targets[@]}; do
	release=${target%-*} arch=${target#*-}
	if [ -z "${number[$release]:-}" ] || [[ $arch != amd64 && $arch != arm64 ]]; then
		echo "$0: no $target" >&2
		exit 2
	fi
	(made "$release" "$arch") || exit 1
done
cd "$out" && sha256sum -- *.deb >SHA256SUMS && sha256sum --check --quiet SHA256SUMS && ls -l
