#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# icrc.sh BUILD: which instructions the ICRC is made of on arm64. ISA-L chooses
# by processor: carry-less multiplication (PMULL), or CRC-32's own (CRC32X)
# where that is faster, as on a Cortex-A57. unit.icrc is run by qemu-user as
# either, and those that it came to are counted; none are in the program itself.
set -u
build=$1 rc=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
icrc=$build/bin/unit_icrc
instructions='[[:space:]](pmull2?|crc32x)[[:space:]]'
if aarch64-linux-gnu-objdump -d "$icrc" | grep -qE "$instructions"; then
	echo "they are not ISA-L's"
	exit 1
fi
while read -r cpu instruction; do
	qemu-aarch64-static -cpu "$cpu" -d in_asm -D "$log" "$icrc" || rc=1
	n=$(grep -cE "[[:space:]]${instruction}2?[[:space:]]" "$log")
	echo "$cpu: $instruction at $n places"
	[ "$n" -gt 0 ] || rc=1
done <<'END'
max pmull
cortex-a57 crc32x
END
exit $rc
