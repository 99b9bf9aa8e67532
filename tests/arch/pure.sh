#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# usage: pure.sh sanitize=SANITIZER NAME ARCHIVE
# The library needs nothing but the names below (allocation is for create
# functions, see hot_path.sh). Its members are merged first, as an archive
# also lists what its members want of each other.
set -eu
if [ "$1" != sanitize= ]; then
	echo "skipped: the ${1#*=} sanitizer adds calls of its own"
	exit 77
fi
allowed='memcpy memmove memset memcmp __memcpy_chk __memmove_chk __memset_chk
strlen strcmp malloc calloc free __stack_chk_fail ur_assert_failed
_GLOBAL_OFFSET_TABLE_ crc32_gzip_refl __cpu_model'

merged=$(mktemp)
trap 'rm -f "$merged"' EXIT
ld -r --whole-archive "$3" -o "$merged"
[ "$(nm --target=default "$merged" | grep -c ' T ')" -gt 0 ]
needs=
for symbol in $(nm --target=default -u "$merged" | awk '{ print $NF }'); do
	case " $(echo $allowed) " in
	*" $symbol "*) ;;
	*) needs="$needs $symbol" ;;
	esac
done
if [ -n "$needs" ]; then
	echo "$2/ needs:$needs"
	exit 1
fi
