#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# mixed.sh ROOT BUILD RESULT.xml [ARGUMENT...]: a uroced of this machine's build/
# and one of BUILD, for arm64, with programs of Debian's from ROOT (root.sh), which
# qemu-user runs: test_mixed.py, with these arguments of pytest. All mounts are this
# script's own and go with it.
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD root=$(realpath "$1") build=$(realpath "$2") out=$(realpath -m "$3")
shift 3
mkdir -p /run/netns "$root"/{dev,proc,sys,tmp,run} "$root$top"
# shellcheck disable=SC2016  # expanded by the shell inside
exec tests/arm64/emulated.sh unshare --net bash -c '
	root=$1 top=$2 build=$3 out=$4
	shift 4
	mount -t tmpfs tmpfs /run/netns || exit 77
	for d in dev proc tmp; do
		mount --rbind "/$d" "$root/$d" || exit 1
	done
	# The tree is where it is outside, with the other build in the place of ours.
	mount --bind "$top" "$root$top" && mount --bind "$build" "$root$top/build" || exit 1
	export UROCE_ARM64_ROOT=$root
	exec /usr/bin/python3 -m pytest -q -p no:cacheprovider --junitxml "$out" \
		tests/arm64 "$@"' - "$root" "$top" "$build" "$out" "$@"
