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
intrinsics='<(cpuid|immintrin|wmmintrin|emmintrin)\.h>'
pure_util='"util/[^/"]*"'

rule util "$freestanding|$pure_util" 1
rule util '<.*>|"util/.*"'
rule kernel-abi '<(linux|rdma|asm)/.*>|<(stddef|stdint|assert)\.h>|"kernel-abi/.*"'
rule transport "$freestanding|$intrinsics|<isa-l/crc\.h>|$pure_util|\"transport/.*\""
rule cm "$freestanding|$pure_util|\"cm/.*\""
rule engine/ground '<.*>|"engine/ground/.*"|"(kernel-abi|util)/.*"'
rule engine '<.*>|"(engine|transport|kernel-abi|util)/.*"'
# Its folders: engine/README.md.
floor() { # floor FOLDER 'OTHERS'
	rule "engine/$1" "<.*>|\"engine/([^/]*|(ground|$1${2:+|$2})/[^/]*)\"|\"(transport|kernel-abi|util)/.*\"" 1
}
floor core 'faults|gpu|grant|gsi|inproc|record|wire|raw'
floor wire 'core|local|faults|raw'
floor wire/v1 'core|faults|wire'
floor raw 'core|wire'
floor local 'core|wire|grant|faults|inproc'
floor grant 'core|wire'
floor inproc 'core|wire|grant|faults|record'
floor inproc/ops 'inproc|gpu|raw'
floor gpu core
floor gsi core
floor faults 'core|grant|gsi|record'
floor record 'core|grant'
# Control meets the engine at its door and on the ground that both stand on.
door='"engine/(engine|fault_rule)\.h"|"transport/(modify_table|table)\.h"|"engine/ground/[^/]*"|"(kernel-abi|util)/.*"'
below='"device/[^/]*"'
rule device "<.*>|$door|\"cm/.*\"|\"device/.*\""
rule device/confine "<.*>|$door|\"device/confine/.*\""
rule device/apart "<.*>|$door|\"device/(apart/apart|confine/confine|memory)\.h\""
rule device/tree "<.*>|$door|$below|\"device/tree/.*\""
rule device/settings "<.*>|$door|$below|\"device/(settings|tree)/.*\"|\"device/report/record\.h\""
rule device/uverbs "<.*>|$door|$below|\"device/uverbs/.*\"|\"device/report/why\.h\""
rule device/ucma "<.*>|$door|$below|\"(device/ucma|cm)/.*\"|\"device/report/(record|why)\.h\"|\"device/tree/sysfs\.h\""
rule device/umad "<.*>|$door|$below|\"device/umad/.*\"|\"device/uverbs/objects\.h\"|\"device/tree/(sysfs|tree)\.h\""
rule device/nldev "<.*>|$door|$below|\"device/(nldev|uverbs|ucma)/.*\"|\"device/tree/sysfs\.h\""
rule device/report "<.*>|$door|$below|\"device/(report|uverbs|ucma)/.*\"|\"device/(settings/setting|confine/confine)\.h\""
# The daemon starts and ends them; it knows no object of theirs.
rule device "<.*>|$door|$below|\"device/(confine/confine|nldev/nldev|report/(record|status|why)|settings/(setting|traffic_class)|tree/sysfs|ucma/ucma|umad/umad|uverbs/(kept_programs|ufile))\.h\"" 1
rule cli '<(.*)>|"(cli|kernel-abi|util)/.*"|"transport/(dump|frame|packet)\.h"'
rule providers/uroce '<.*>|"(kernel-abi|util|providers/uroce)/.*"|"(link/)?[^/]*"'
rule check '<.*>|"check/[^/]*"|"kernel-abi/uroce-tunnel\.h"|'"$pure_util" 1
rule check/tool '<.*>|"check/(tool/.*|ids\.def)"|"util/os/(elf|preload|standard_fds)\.h"'
rule preload '<.*>|"(preload|kernel-abi|util)/.*"'
for folder in engine device cli preload; do
	if [ -d $folder ] && grep -rn --include='*.[ch]' 'infiniband/verbs.h' $folder; then
		echo "$folder may not use libibverbs"
		status=1
	fi
done
exit $status
