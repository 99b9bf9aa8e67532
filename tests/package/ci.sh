#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 900, full 2700
# ci.sh RESULT.xml: Debian's packages and Fedora's, installed and used. As root in
# process and mount namespaces of this stage: what a test has started, a container too,
# ends with it, however it ends.
cd "$(dirname "$0")/../.." || exit 1
run=(tests/pytest.sh "$1" tests/package ${UROCE_PACKAGE_TESTS:+-k "$UROCE_PACKAGE_TESTS"})
[ "$(id -u)" = 0 ] || exec "${run[@]}"
child=
clean() {
	[ -n "$child" ] && kill -KILL "$child" 2>/dev/null && wait "$child"
	child=
}
# The tests clean up when they are told to end; who is killed takes all along.
tell() {
	[ -n "$child" ] && pkill -TERM -P "$child" && wait "$child"
	exit 130
}
trap clean EXIT
trap tell INT TERM
mkdir -p /run/netns
# shellcheck disable=SC2016  # expanded by the shell inside
setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child=KILL --mount-proc \
	sh -c 'mount -t tmpfs tmpfs /run/netns && exec "$@"' - "${run[@]}" &
child=$!
wait "$child"
rc=$?
child=
exit $rc
