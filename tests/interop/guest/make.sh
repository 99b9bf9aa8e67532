#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Fetch the kernel and make the root image, once per build folder; again if `full`
# wants more in it.
set -e
cd "$(dirname "$0")/../../.."
D=${UROCE_GUEST_DIR:-$PWD/build/guest}
export UROCE_GUEST_DIR=$D
mkdir -p "$D"
exec 9>"$D/lock"
flock 9
made=$D/made${UROCE_FULL:+-full}
[ -e "$made" ] || [ -e "$D/made-full" ] && exit
for step in fetch mkrootfs mkimage; do
	tests/interop/guest/$step.sh
done
: >"$made"
