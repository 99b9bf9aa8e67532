#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Fetch the kernel and make the root image, once per build folder; again if `full`
# wants more in it, or the scripts that make it are others.
set -e
cd "$(dirname "$0")/../../.."
D=${UROCE_GUEST_DIR:-$PWD/build/guest}
export UROCE_GUEST_DIR=$D
mkdir -p "$D"
exec 9>"$D/lock"
flock 9
scripts=$(cd tests/interop/guest && cat fetch.sh mkrootfs.sh mkimage.sh vm-init | cksum)
made=$D/made-${scripts%% *}
[ -e "$made${UROCE_FULL:+-full}" ] || [ -e "$made-full" ] && exit
for step in fetch mkrootfs mkimage; do
	tests/interop/guest/$step.sh
done
rm -f "$D"/made*
: >"$made${UROCE_FULL:+-full}"
