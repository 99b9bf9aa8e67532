#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Download and unpack Debian's stock kernel into kernel/ (nothing is installed on the host).
set -e
# The guest lives in $UROCE_GUEST_DIR (default build/guest).
D=${UROCE_GUEST_DIR:-$PWD/build/guest}; mkdir -p "$D"; cd "$D"
mkdir -p debs kernel share run
KV=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: linux-image-//p' | head -1)
(cd debs; apt-get download "linux-image-$KV")
for d in debs/*.deb; do dpkg -x $d kernel; done
