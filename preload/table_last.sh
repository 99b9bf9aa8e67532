#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# usage: table_last.sh LIBRARY
# Puts the table of the library's segments (the program headers) behind all
# else, where the ELF header lets it be. A library of which the end is missing
# is then one that the dynamic linker cannot read, and says so; with the table
# in front it maps what is not there, and every program that preloads it ends
# by SIGBUS. To be done last: strip(1) does not know such a file.
set -eu
file=$1
number() {
	od -An -tu"$2" -j"$1" -N"$2" --endian="$order" "$file" | tr -d ' '
}

case $(od -An -tx1 -N6 "$file" | tr -d ' ') in
7f454c460201) order=little word=8 offset=32 sizes=54 ;;
7f454c460202) order=big word=8 offset=32 sizes=54 ;;
7f454c460101) order=little word=4 offset=28 sizes=42 ;;
7f454c460102) order=big word=4 offset=28 sizes=42 ;;
*) echo "$file is no ELF file" >&2 && exit 1 ;;
esac
from=$(number "$offset" "$word")
bytes=$(($(number "$sizes" 2) * $(number $((sizes + 2)) 2)))
end=$(stat -c %s "$file")
[ $((from + bytes)) != "$end" ] || exit 0
# Beyond the page that the last segment ends in, whatever its size: the
# dynamic linker fills the rest of that with zeros.
to=$(((end / 65536 + 1) * 65536))
dd if="$file" of="$file" bs=1 skip="$from" seek=$to count=$bytes conv=notrunc \
	status=none
for i in $(seq 0 $((word - 1))); do
	[ "$order" = little ] && shift=$((8 * i)) || shift=$((8 * (word - 1 - i)))
	# shellcheck disable=SC2059 # the octal digits are the format's
	printf "\\$(printf %03o $(((to >> shift) & 255)))"
done | dd of="$file" bs=1 seek="$offset" conv=notrunc status=none
