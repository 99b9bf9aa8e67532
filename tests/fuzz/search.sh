#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# search.sh PROGRAM NAME: the fuzz target looks for inputs that crash or hang, for
# UROCE_FUZZ_SECONDS (2). What it finds on the way stays in build/fuzz/found/NAME
# for the next time, and an input that crashed it, or took a minute, beside it as
# NAME-crash-... or NAME-timeout-.... The run becomes a line of found/runs.tsv, which
# totals.py --add adds to those of before.
set -u
program=$(realpath "$1") name=$2
seeds=$(cd "$(dirname "$0")" && pwd)/corpus/$name
found=$(dirname "$program")/../found
# The targets make and remove thousands of files, by which ext4 becomes slow: 4 runs
# of netlink's corpus in a second where memory has 92.
[ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || export TMPDIR=/dev/shm
mkdir -p "$found/$name" && cd "$found" || exit 1
TIMEFORMAT='%U %S'
{
	time "$program" -max_total_time="${UROCE_FUZZ_SECONDS:-2}" -timeout=60 \
		-rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$name-" \
		"$name" "$seeds" >"$name.log" 2>&1
} 2>"$name.time"
status=$?
if [ $status != 0 ]; then
	# Where it was, and with what: between are the sanitizer's tables.
	grep -m 1 -A 45 -E 'ERROR: |runtime error: |check failed: ' "$name.log"
	tail -n 15 "$name.log"
fi
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$name.log")
awk -v name="$name" -v runs="$runs" \
	-v date="$(date -u +%F)" '{
		printf "%s: %d runs, %.0f s of a processor\n", name, runs, $1 + $2
		printf "%s\t%s\t%d\t%.0f\n", date, name, runs, $1 + $2 >>"runs.tsv"
	}' "$name.time"
exit $status
