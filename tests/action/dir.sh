#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# container/setup-ci.sh runs nothing of a directory that others can write in.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d /tmp/uroce-ci-dir.XXXXXX) status=0
trap 'rm -rf "$work"' EXIT
plant() { # plant DIR: a program that says that it ran
	mkdir -p "$1/bin"
	printf '#!/bin/sh\ntouch "%s/ran"\n' "$work" >"$1/bin/uroce"
	chmod 755 "$1/bin/uroce"
}
try() { # try WANTED NAME: what report does with it; 0: used, 1: refused
	local got=0
	rm -f "$work/ran"
	UROCE_CI_DIR=$work/$2 container/setup-ci.sh report >/dev/null 2>&1 || got=$?
	[ -e "$work/ran" ] && ran=0 || ran=1
	[ "$got" = "$1" ] && [ "$ran" = "$1" ] && return
	echo "$2: status $got, ran $ran, wanted $1"
	status=1
}
plant "$work/own"
try 0 own
plant "$work/open" && chmod 777 "$work/open"
try 1 open
plant "$work/group" && chmod 775 "$work/group"
try 1 group
ln -s own "$work/link"
try 1 link
mkdir "$work/parent" && plant "$work/parent/own" && chmod 777 "$work/parent"
try 1 parent/own
chmod 1777 "$work/parent"
try 0 parent/own
if [ "$(id -u)" = 0 ]; then
	plant "$work/foreign" && chown -R 65534 "$work/foreign"
	try 1 foreign
fi
exit $status
