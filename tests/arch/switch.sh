#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# usage: switch.sh WHOLE TRANSPORT_ARCHIVE UROCED ENGINE_LIBRARY
# uroced has no data path: of the transport it links what knows no port and no queue pair (the codec,
# tables, counters, the modify table, the end of address vectors), and nothing else. Where each file
# is compiled for itself, the linker takes whole files, and nothing can be said.
set -eu
if [ "$1" != ON ] && [ "$1" != 1 ]; then
	echo "skipped: this build is not optimized as a whole"
	exit 77
fi
pure='av counters dump frame icrc modify_table opcode packet sport stats table'
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
nm --target=default -A --defined-only "$2" | awk -v pure="$pure" '
	BEGIN { n = split(pure, p, " "); for (i = 1; i <= n; i++) ok[p[i] ".c.o"] }
	{
		split($1, part, ":")
		if (!(part[2] in ok) && $(NF - 1) ~ /^[A-Z]$/)
			print $NF
	}' | sort -u >"$tmp/transport"
[ "$(wc -l <"$tmp/transport")" -gt 100 ]
# The linker adds to names what it made of a function: NAME.part.0.
of_transport() {
	nm "$1" | awk '{ sub(/\..*/, "", $NF); print $NF }' | sort -u |
		comm -12 - "$tmp/transport"
}
[ "$(of_transport "$4" | wc -l)" -gt 30 ] || {
	echo "the engine's library has nothing of the transport: this test sees nothing"
	exit 1
}
found=$(of_transport "$3")
if [ -n "$found" ]; then
	echo "uroced links of the transport:" $found
	exit 1
fi
