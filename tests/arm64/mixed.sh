#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# mixed.sh ROOT BUILD RESULT.xml [ARGUMENT...]: a uroced of this machine's build/
# and one of BUILD, for arm64, with programs of Debian's from ROOT (root.sh), which
# qemu-user runs: tests/arm64, with these arguments of pytest. UROCE_NEAR_ROOT:
# another root, of this machine's architecture, whose libraries and pyverbs suite
# are used here. All mounts are this script's own and go with it.
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD root=$(realpath "$1") build=$(realpath "$2") out=$(realpath -m "$3")
near=${UROCE_NEAR_ROOT:+$(realpath "$UROCE_NEAR_ROOT")}
shift 3
mkdir -p /run/netns
for each in "$root" ${near:+"$near" "$near$root"}; do
	mkdir -p "$each"/{dev,proc,sys,tmp,run/netns} "$each$top" || exit 1
done
# shellcheck disable=SC2016  # expanded by the shell inside
exec tests/arm64/emulated.sh unshare --net bash -c '
	root=$1 top=$2 build=$3 out=$4 near=$5
	shift 5
	# Namespaces that are made later are seen in the roots, too.
	mount -t tmpfs tmpfs /run/netns && mount --make-shared /run/netns || exit 77
	for each in "$root" ${near:+"$near"}; do
		mount --bind "$each" "$each" || exit 1
		for d in dev proc tmp run/netns; do
			mount --rbind "/$d" "$each/$d" || exit 1
		done
	done
	# The tree is where it is outside, with the other build in the place of ours.
	mount --bind "$top" "$root$top" && mount --bind "$build" "$root$top/build" || exit 1
	python=(/usr/bin/python3)
	if [ -n "$near" ]; then
		mount --bind "$top" "$near$top" && mount --rbind "$root" "$near$root" || exit 1
		export UROCE_NEAR_ROOT=$near
		python=(chroot "$near" /usr/bin/python3)
	fi
	# By this processor, once: each program there would compile all it imports.
	"${python[@]}" -m compileall -q -s "$root" "$root"/usr/lib/python3* >/dev/null
	export UROCE_ARM64_ROOT=$root
	exec tests/pytest.sh "$out" tests/arm64 "$@"' - "$root" "$top" "$build" "$out" "$near" "$@"
