#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# emulated.sh CMD...: where programs for arm64, and those they start, run by
# qemu-user. The kernel is told so in a user namespace of the command's own
# (Linux 6.7): the machine's other programs notice nothing. As root; exits with
# 77 where that cannot be. UROCE_QEMU: the emulator, where it is not installed.
set -u
qemu=${UROCE_QEMU:-$(command -v qemu-aarch64-static)} || { echo "no qemu-user-static"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/mapped"
# An ELF file of 64 bits, little-endian, executable or shared, EM_AARCH64; F:
# the emulator is opened here and now, whatever root the program has.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
# shellcheck disable=SC2016  # expanded by the shell inside
unshare --user --mount bash -c '
	read -r <"$1"
	formats=/proc/sys/fs/binfmt_misc
	mount -t binfmt_misc binfmt_misc $formats &&
		printf %s "$2" >$formats/register || exit 77
	shift 2
	exec "$@"' - "$dir/mapped" ":uroce-arm64:M::$magic:$mask:$qemu:F" "$@" <&0 &
child=$!
trap 'kill -TERM $child 2>/dev/null' INT TERM
own=$(readlink /proc/self/ns/user)
until [ "$(readlink /proc/$child/ns/user)" != "$own" ]; do sleep 0.02; done
kill -0 $child 2>/dev/null || { echo "no user namespace"; exit 77; }
echo 0 0 65536 >/proc/$child/gid_map && echo 0 0 65536 >/proc/$child/uid_map || exit 77
echo >"$dir/mapped"
wait $child
