#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minimal.sh RELEASE FOLDER: a minimal Debian root in FOLDER, which is made. The first
# of a release is kept in build/roots (UROCE_ROOTS: in another folder), and the others
# are unpacked from it; with UROCE_FULL each is made anew. Root; packages come from
# where the host's do. Its dpkg waits for no disk: no test needs such a root after a crash.
set -u
cd "$(dirname "$0")/../.." || exit 1
release=$1 folder=$2
made() { # made FOLDER
	local sources
	sources=$(tests/apt_sources.sh "$release") || return 1
	unshare --mount --pid --ipc --uts --fork --kill-child=KILL \
		mmdebstrap --mode=root --variant=minbase --components=main \
		--aptopt='Acquire::Check-Valid-Until "false"' --dpkgopt=force-unsafe-io \
		"$release" "$1" - <<<"$sources" 2>&1 | tail -n 20
	[ "${PIPESTATUS[0]}" = 0 ]
}
if [ -n "${UROCE_FULL:-}" ]; then
	made "$folder"
	exit
fi
roots=$(realpath -m "${UROCE_ROOTS:-build/roots}")
kept=$roots/minimal-$release.tar
mkdir -p "$roots"
exec 8>"$roots/minimal-$release.lock"
flock 8
if [ -f "$kept" ]; then
	mkdir -p "$folder" && tar --numeric-owner --xattrs -C "$folder" -xpf "$kept"
else
	made "$folder" 8>&- && tar --numeric-owner --xattrs -C "$folder" -cf "$kept.new" . &&
		mv "$kept.new" "$kept"
fi
