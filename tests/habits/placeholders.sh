#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Each placeholder stands in the files of its line of placeholders.tsv, and nowhere else.
set -eu
cd "$(dirname "$0")/../.."
list=tests/habits/placeholders.tsv
rows=0
bad=0
lines=$(grep -v '^#' $list)
tab=$(printf '\t')
while IFS=$tab read -r name _ files; do
	rows=$((rows + 1))
	has=$(grep -rlF --exclude-dir='build*' --exclude-dir=.git --exclude-dir=corpus \
		--exclude='*.pcap' "$name" . | sed 's,^\./,,' | grep -vx $list | sort | xargs)
	# shellcheck disable=SC2086 # names of files, without blanks
	listed=$(printf '%s\n' $files | sort | xargs)
	[ "$has" = "$listed" ] && continue
	echo "$name: it stands in $has; $list has $listed"
	bad=1
done <<END
$lines
END
echo "$rows placeholders"
[ $rows -ge 3 ] && exit $bad
