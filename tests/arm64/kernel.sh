#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# kernel.sh FOLDER: Debian's kernel sources built for arm64 with pages of 64 KiB,
# which no kernel of Debian's own has, into FOLDER as its packages would lie there.
# Of the kernel only what kernel-64k.config says. In a root with the cross compiler
# and `install-deps.sh kernel`.
set -eu
config=$(dirname "$(realpath "$0")")/kernel-64k.config
mkdir -p "$1"
out=$(realpath "$1")
dir=$(mktemp -d /var/tmp/uroce-kernel.XXXXXX)
trap 'rm -rf "$dir"' EXIT
tar -C "$dir" --strip-components=1 -xf /usr/src/linux-source-*.tar.xz
cd "$dir"
export ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-
make -s KCONFIG_ALLCONFIG="$config" allnoconfig
# An option that depends on another is left out without a word.
while read -r option; do
	grep -qx "$option" .config || { echo "not in the kernel: $option" && exit 1; }
done < <(grep '^CONFIG_' "$config")
make -s -j"$(nproc)" Image
version=$(make -s kernelrelease)
install -D -m 644 arch/arm64/boot/Image "$out/boot/vmlinuz-$version"
mkdir -p "$out/lib/modules/$version"
install -m 644 modules.builtin modules.builtin.modinfo "$out/lib/modules/$version/"
: >"$out/lib/modules/$version/modules.order"
