#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
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
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
# shellcheck disable=SC2086 # a list of objects
nm --target=default -uA $1 | sed 's,^[^:]*/,,; s/\.c\.o[^:]*:/ /' >"$tmp"
for part in dispatch port qp qp_run requester request responder rx_check answer \
	ack refuse execute completer finish retry replay ooo cc wq mem \
	inflight burst loopback uc ud fastpath fastpath_send fastpath_range packet frame icrc; do
	case $1 in
	*/"$part".c.o*) ;;
	*)
		echo "no object of $part"
		status=1
		;;
	esac
	if grep "^$part " "$tmp" |
		grep -wE 'malloc|calloc|realloc|free|mmap|brk'; then
		echo "$part allocates"
		status=1
	fi
done
exit $status
