#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# root.sh FOLDER RELEASE ARCHITECTURE PACKAGE...: Debian's packages for that
# architecture, unpacked into a root in FOLDER whose name says what is in it; made
# when missing. Prints the root. No program in it has run, so that no emulation is
# needed to make it.
set -u
folder=$1 release=$2 architecture=$3
shift 3
packages=$(IFS=,; echo "$*")
root=$folder/unpacked-$release-$architecture-$(echo "$packages" | sha256sum | cut -c1-12)
[ -d "$root" ] && echo "$root" && exit 0
trap 'rm -rf --one-file-system "$root.new"' EXIT
mkdir -p "$folder"
sources=$("$(dirname "$0")/../apt_sources.sh" "$release") || exit 1
mmdebstrap --mode=root --variant=extract --components=main \
	--architectures="$architecture" --skip=check/qemu \
	--aptopt='Acquire::Check-Valid-Until "false"' \
	--aptopt='APT::Install-Recommends "false"' \
	--include="$packages" "$release" "$root.new" - <<<"$sources" >&2 || exit 1
for kernel in "$root.new"/lib/modules/*; do
	[ ! -d "$kernel" ] || depmod -b "$root.new" "$(basename "$kernel")" || exit 1
done
rm -rf "$root.new"/usr/share/{man,locale} "$root.new"/var/{lib/apt,cache/apt}
mv "$root.new" "$root" && echo "$root"
