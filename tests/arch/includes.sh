#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# usage: includes.sh SOURCE_DIR
# Who may include whom. Each rule: a folder, then a pattern of all that its
# files may name in #include, as written there with quotes or brackets.
set -u
cd "$1" || exit 1
status=0

rule()
{
	folder=$1
	[ -d "$folder" ] || return 0
	bad=$(find "$folder" -maxdepth "${3:-9}" -name '*.[ch]' -exec \
		grep -HnE '^[[:space:]]*#[[:space:]]*include' {} + |
		sed -E 's/[[:space:]]*\/\*.*//' |
		grep -vE "include[[:space:]]*($2)\$")
	if [ -n "$bad" ]; then
		echo "$folder may not include:"
		echo "$bad"
		status=1
	fi
}

freestanding='<(stdbool|stddef|stdint|string|stdlib|limits|errno|assert|inttypes)\.h>'
intrinsics='<(immintrin|wmmintrin|emmintrin)\.h>'
pure_util='"util/[^/"]*"'

rule util "$freestanding|$pure_util" 1
rule util '<.*>|"util/.*"'
rule kernel-abi '<(linux|rdma|asm)/.*>|<(stddef|stdint|assert)\.h>|"kernel-abi/.*"'
rule transport "$freestanding|$intrinsics|<isa-l/crc\.h>|$pure_util|\"transport/.*\""
rule cm "$freestanding|$pure_util|\"cm/.*\""
rule device '<(.*)>|"(device|transport|cm|kernel-abi|util)/.*"'
# The two halves of the device process meet in engine.h, and both stand on the
# same small ground.
ground='"device/(fault_rule|limits|log|loop|recorder|user)\.h"'
for folder in device/engine device/wire; do
	rule $folder "<.*>|$ground|\"(device/engine|device/wire|transport|kernel-abi|util)/.*\""
done
rule device "<.*>|\"device/[^/]*\"|\"device/engine/engine\.h\"|\"device/(uverbs|ucma)/.*\"|\"device/umad/umad\.h\"|\"device/nldev/nldev\.h\"|\"(cm|kernel-abi|util)/.*\"" 1
rule device/nldev "<.*>|\"device/[^/]*\"|\"device/engine/engine\.h\"|\"device/(nldev|uverbs|ucma)/.*\"|\"(cm|kernel-abi|util)/.*\""
rule device/umad "<.*>|\"device/[^/]*\"|\"device/engine/engine\.h\"|\"device/umad/.*\"|\"device/uverbs/objects\.h\"|\"(kernel-abi|util)/.*\""
for folder in device/uverbs device/ucma; do
	rule $folder "<.*>|\"device/[^/]*\"|\"device/engine/engine\.h\"|\"($folder|cm|kernel-abi|util)/.*\""
done
rule cli '<(.*)>|"(cli|kernel-abi|util)/.*"|"transport/(dump|frame|packet)\.h"'
rule providers/uroce '<.*>|"(kernel-abi|util|providers/uroce)/.*"|"(link/)?[^/]*"'
rule check '<.*>|"check/.*"|"kernel-abi/uroce-tunnel\.h"|'"$pure_util"
rule preload '<.*>|"(preload|kernel-abi|util)/.*"'
for folder in device cli preload; do
	if [ -d $folder ] && grep -rn --include='*.[ch]' 'infiniband/verbs.h' $folder; then
		echo "$folder may not use libibverbs"
		status=1
	fi
done
exit $status
