#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# usage: hot_path.sh "OBJECT..."
# What runs for each packet allocates nothing. Every part named below must be
# there, so that a renamed file does not leave the test without a subject.
set -eu
status=0
case $1 in
*/qp*.o*) ;;
*)
	echo "skipped: no QP in the library yet"
	exit 77
	;;
esac
for part in dispatch port qp qp_run requester request responder judge answer \
	ack refuse execute completer finish retry replay ooo cc wq mem \
	inflight train gsi loop uc ud middle packet frame icrc; do
	found=
	for object in $1; do
		case $(basename "$object") in
		"$part".*o) found="$found $object" ;;
		esac
	done
	if [ -z "$found" ]; then
		echo "no object of $part"
		status=1
		continue
	fi
	for object in $found; do
		if nm -u "$object" | grep -wE 'malloc|calloc|realloc|free|mmap|brk'; then
			echo "$(basename "$object") allocates"
			status=1
		fi
	done
done
exit $status
