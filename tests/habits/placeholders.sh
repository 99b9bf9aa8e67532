#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Each placeholder stands in the files of its row of doc/placeholders.md, and
# nowhere else.
set -eu
cd "$(dirname "$0")/../.."
list=doc/placeholders.md
rows=0
bad=0
# shellcheck disable=SC2016 # the pattern's own quotes
sed -n 's/^| `\([^`]*\)` | [^|]* | \(.*\) |$/\1 \2/p' $list | tr -d '`' >"${TMPDIR:-/tmp}/placeholders.$$"
trap 'rm -f "${TMPDIR:-/tmp}/placeholders.$$"' EXIT
while read -r name files; do
	rows=$((rows + 1))
	has=$(grep -rlF --exclude-dir='build*' --exclude-dir=.git --exclude-dir=corpus \
		--exclude='*.pcap' "$name" . | sed 's,^\./,,' | grep -vx $list | sort | xargs)
	# shellcheck disable=SC2086 # names of files, without blanks
	listed=$(printf '%s\n' $files | sort | xargs)
	[ "$has" = "$listed" ] && continue
	echo "$name: it stands in $has; $list has $listed"
	bad=1
done <"${TMPDIR:-/tmp}/placeholders.$$"
echo "$rows placeholders"
[ $rows -ge 3 ] && exit $bad
