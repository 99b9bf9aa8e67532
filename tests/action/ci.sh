#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1200, full 3600
# ci.sh RESULT.xml: action.yml and the other forms for CI jobs, run as they stand
# in a clean root by a small runner (runner.py). Mounts, processes and network
# namespaces are this stage's own and go with it.
set -u
cd "$(dirname "$0")/../.." || exit 1
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
	echo "needs root and mmdebstrap (tests/install-deps.sh action)"
	exit 1
fi
UROCE_ACTION_ROOT=$(mktemp -d /var/tmp/uroce-action.XXXXXX) || exit 1
export UROCE_ACTION_ROOT
child=
clean() {
	[ -n "$child" ] && kill -KILL "$child" 2>/dev/null && wait "$child"
	rm -rf --one-file-system "$UROCE_ACTION_ROOT"
}
trap clean EXIT
trap 'exit 130' INT TERM
# The shell reaps what nobody waits for; names of namespaces are seen in here only.
mkdir -p /run/netns
unshare --mount --pid --ipc --uts --fork --kill-child=KILL --mount-proc \
	bash -c 'mount -t tmpfs tmpfs /run/netns && "$@"; exit $?' - tests/pytest.sh "$1" -s tests/action &
child=$!
wait "$child"
rc=$?
child=
exit $rc
